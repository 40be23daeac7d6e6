package chart

// published returns the times of other programs for the same work, in milliseconds by
// number of files. They were measured on another day than the rest, on two processors with
// git 2.39 and a warm cache.
func published() []Series {
	return []Series{
		{"Entire CLI, checkpoint *", Published, []Point{{1000, 126}, {50_000, 2120}}},
		{"Entire CLI, rewind *", Published, []Point{{1000, 763}, {50_000, 12_080}}},
	}
}
