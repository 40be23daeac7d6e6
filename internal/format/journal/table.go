package journal

// table is a hash table of entries by the hash of their ids, with open addressing and linear
// probing. It holds only the entries' numbers; the ids stay in the nodes, and the caller's function
// compares them. A map from ids to entries would take four times the memory for ten thousand
// checkpoints.
type table struct {
	slots []int32 // entry+1 or 0; the length is a power of two
}

// newTable returns a table with room for count entries. At most two thirds of the slots get used.
func newTable(count int) *table {
	size := 16
	for 2*size < 3*count {
		size *= 2
	}
	return &table{slots: make([]int32, size)}
}

// find returns the entry with this hash for which isIt is true, or none.
func (t *table) find(hash uint32, isIt func(x int32) bool) int32 {
	return t.slots[t.slot(hash, isIt)] - 1
}

// slot returns the slot of the entry with this hash for which isIt is true, or the free slot where
// it belongs. isIt may be called for entries with other hashes.
func (t *table) slot(hash uint32, isIt func(x int32) bool) uint32 {
	mask := uint32(len(t.slots) - 1)
	at := hash & mask
	for t.slots[at] != 0 && !isIt(t.slots[at]-1) {
		at = (at + 1) & mask
	}
	return at
}

// add adds entry x unless an equal one exists, and returns the one that the table has.
func (t *table) add(hash uint32, x int32, isSame func(x int32) bool) int32 {
	at := t.slot(hash, isSame)
	if t.slots[at] == 0 {
		t.slots[at] = x + 1
	}
	return t.slots[at] - 1
}
