package journal

// table has entries by the hash of their ids. Of several with one hash, or where that place is taken, each is at the next free
// one. It holds only the entries' numbers; the ids stay in the nodes, and the caller's function compares them: to
// copy all ids for a map would take four times the memory for ten thousand checkpoints.
type table map[uint32]int32

// find returns the entry with this hash for which isIt is true, or none, and its place, or the free one where it
// belongs. isIt may be called for entries with other hashes.
func (t table) find(hash uint32, isIt func(x int32) bool) (x int32, at uint32) {
	for at = hash; ; at++ {
		x, taken := t[at]
		if !taken {
			return none, at
		}
		if isIt(x) {
			return x, at
		}
	}
}
