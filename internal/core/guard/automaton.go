package guard

// automaton finds many keywords in one pass over a text, without regard to the case of
// ASCII letters (Aho and Corasick, 1975). Bytes that occur in no keyword share class 0,
// which keeps the table of transitions small enough for the processor's cache.
type automaton struct {
	class   [256]uint8
	classes int
	// next is the table of transitions, indexed by state*classes + class. State 0 is the
	// start.
	next []uint16
	// ends lists, per state, the keywords that end there.
	ends [][]int
	// lengths of the keywords, to compute where a match starts.
	lengths []int
}

// newAutomaton builds the trie of the words, which have to be in lower case except for a
// few, and then turns it into a deterministic automaton.
func newAutomaton(words []string) *automaton {
	a := &automaton{classes: 1}
	for _, word := range words {
		a.lengths = append(a.lengths, len(word))
		for _, b := range []byte(word) {
			if a.class[lower(b)] == 0 {
				a.class[lower(b)] = uint8(a.classes) // fewer than 256
				a.classes++
			}
		}
	}
	for b := byte('A'); b <= 'Z'; b++ {
		a.class[b] = a.class[lower(b)]
	}
	a.grow()
	for k, word := range words {
		state := 0
		for _, b := range []byte(word) {
			at := state*a.classes + int(a.class[b])
			if a.next[at] == 0 {
				a.next[at] = uint16(len(a.ends)) // a few hundred
				a.grow()
			}
			state = int(a.next[at])
		}
		a.ends[state] = append(a.ends[state], k)
	}
	a.link()
	return a
}

// grow adds a state without transitions.
func (a *automaton) grow() {
	a.next = append(a.next, make([]uint16, a.classes)...)
	a.ends = append(a.ends, nil)
}

// link computes the missing transitions. Each state gets those of its longest proper suffix
// that is a state too. Breadth-first order makes sure that the suffix, being shorter, is
// complete already.
func (a *automaton) link() {
	suffix := make([]int, len(a.ends))
	var queue []int
	for c := range a.classes {
		if to := int(a.next[c]); to != 0 {
			queue = append(queue, to)
		}
	}
	for ; len(queue) > 0; queue = queue[1:] {
		state := queue[0]
		a.ends[state] = append(a.ends[state], a.ends[suffix[state]]...)
		for c := range a.classes {
			at, fallback := state*a.classes+c, a.next[suffix[state]*a.classes+c]
			if to := int(a.next[at]); to != 0 {
				suffix[to] = int(fallback)
				queue = append(queue, to)
			} else {
				a.next[at] = fallback
			}
		}
	}
}

// find calls hit for each keyword in text, with the offset of its first byte. It stops when
// hit returns false.
func (a *automaton) find(text []byte, hit func(keyword, at int) bool) {
	state := 0
	for i, b := range text {
		state = int(a.next[state*a.classes+int(a.class[b])])
		if ends := a.ends[state]; ends != nil {
			for _, k := range ends {
				if !hit(k, i+1-a.lengths[k]) {
					return
				}
			}
		}
	}
}

func lower(b byte) byte {
	if 'A' <= b && b <= 'Z' {
		return b + 'a' - 'A'
	}
	return b
}
