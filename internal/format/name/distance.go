package name

// Distance returns how many letters (bytes) must be inserted, deleted, replaced, or swapped with
// their neighbour to get from a to b. It is for suggestions after a typing mistake. If a is more
// than three times as long as b, or b is very long, it returns the longer length without computing
// anything.
//
// It computes one row of the usual dynamic-programming table per letter of a, and keeps two rows
// because a swap refers to the row before the previous one.
func Distance(a, b string) int {
	if len(a) > 3*len(b) || len(b) > 128 {
		return max(len(a), len(b))
	}
	before, row := []int(nil), make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		next := make([]int, len(b)+1)
		next[0] = i + 1
		for j := range len(b) {
			change := row[j]
			if a[i] != b[j] {
				change++
			}
			next[j+1] = min(row[j+1]+1, next[j]+1, change)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				next[j+1] = min(next[j+1], before[j-1]+1)
			}
		}
		before, row = row, next
	}
	return row[len(b)]
}
