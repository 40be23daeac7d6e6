package chart

// published is what others' programs were seen to take for the same work, in
// milliseconds over files. It was measured on two processors with git 2.39 and a warm
// cache, on another day than the rest of the picture.
func published() []Series {
	return []Series{
		{"Entire CLI, checkpoint *", Published, []Point{{1000, 126}, {50_000, 2120}}},
		{"Entire CLI, rewind *", Published, []Point{{1000, 763}, {50_000, 12_080}}},
	}
}
