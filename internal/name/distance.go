package name

// Distance is the number of letters to insert, drop, change or swap with their neighbour
// to get from a to b, for suggestions. A word that is far too long is not measured.
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
