package journal

import "slices"

// table finds entries by the hash of their ids. It holds numbers of what may be it, and the
// ids stay where they are: a map of ten thousand takes four times the memory.
type table struct {
	slots []int32 // a power of two of them: an entry and one, or nothing
	late  []int32 // entries to be looked at one by one
}

// mostLate is for how many it is not worth to make a table.
const mostLate = 64

// newTable has room for a number of entries.
func newTable(count int) *table {
	size := 16
	for 2*size < 3*count {
		size *= 2
	}
	return &table{slots: make([]int32, size)}
}

// find gives the entry of a hash that is the one, or none.
func (t *table) find(hash uint32, isIt func(x int32) bool) int32 {
	if at := t.slot(hash, isIt); t.slots[at] != 0 {
		return t.slots[at] - 1
	}
	for _, x := range t.late {
		if isIt(x) {
			return x
		}
	}
	return none
}

// slot is where the entry of a hash is that is the one, or would be.
func (t *table) slot(hash uint32, isIt func(x int32) bool) uint32 {
	mask := uint32(len(t.slots) - 1)
	at := hash & mask
	for t.slots[at] != 0 && !isIt(t.slots[at]-1) {
		at = (at + 1) & mask
	}
	return at
}

// add adds an entry, unless one is the same already, and gives the one that is there.
func (t *table) add(hash uint32, x int32, isSame func(x int32) bool) int32 {
	at := t.slot(hash, isSame)
	if t.slots[at] == 0 {
		t.slots[at] = x + 1
	}
	return t.slots[at] - 1
}

// with is the table and one entry more.
func (t *table) with(x int32) *table {
	return &table{t.slots, append(slices.Clip(t.late), x)}
}
