package travel

// DeleteAtMost bounds how many refs one push deletes, and returns what ends that.
func DeleteAtMost(n int) (end func()) {
	was := maxDeletes
	maxDeletes = n
	return func() { maxDeletes = was }
}
