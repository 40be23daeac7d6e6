package record

import "iter"

// apart is a text that was found sound, taken apart: its values in the order in which
// they stand there, each with how many are inside. A record is looked through once then,
// for its form, its members and its checksum. It has nothing of a text that is too long
// for that, or needs more than one pass.
type apart struct {
	data  []byte
	nodes []node
	names []extent // of the members of open objects
	known [knownTexts]string
}

// node is one value: where it stands, its name with the quotes where it is a member, and
// how many nodes it is with those inside.
type node struct {
	name       extent
	start, end int32
	size       int32
	escaped    bool // a text with escapes
}

// maxApart is the longest text that is taken apart: the nodes take ten times its memory
// at most.
const maxApart = 256 << 10

// take is check, and takes the text apart where it can.
func (a *apart) take(data []byte, limits Limits) error {
	a.data, a.nodes = data, a.nodes[:0]
	if len(data) > maxApart {
		return check(data, limits)
	}
	return checkInto(a, data, limits)
}

// outermost is the value that the text is; false where it was not taken apart.
func (a *apart) outermost() (value, bool) {
	if len(a.nodes) == 0 {
		return value{}, false
	}
	return a.value(0), true
}

func (a *apart) value(at int) value {
	n := &a.nodes[at]
	return value{raw: a.data[n.start:n.end], apart: a, at: at}
}

// next is the node that begins next.
func (a *apart) next() int {
	if a == nil {
		return 0
	}
	return len(a.nodes)
}

func (a *apart) begin(start int) int {
	a.nodes = append(a.nodes, node{start: int32(start)}) //nolint:gosec // of at most maxApart
	return len(a.nodes) - 1
}

func (a *apart) end(at, end int, escaped bool) {
	n := &a.nodes[at]
	n.end, n.size, n.escaped = int32(end), int32(len(a.nodes)-at), escaped //nolint:gosec // of at most maxApart
}

func (a *apart) called(at int, name extent) {
	if a != nil {
		a.nodes[at].name = name
	}
}

// Records say the same again and again, so short texts are kept for the next ones.
const (
	knownTexts = 64
	knownSize  = 64
)

// text is what stands in a text without escapes, between its quotes.
func (a *apart) text(raw []byte) string {
	if len(raw) == 0 || len(raw) > knownSize {
		return string(raw)
	}
	at := (len(raw)*7 + int(raw[0]) + 31*int(raw[len(raw)-1]) + 17*int(raw[len(raw)/2])) % knownTexts
	if a.known[at] != string(raw) {
		a.known[at] = string(raw)
	}
	return a.known[at]
}

// value is one value of a text that passed check.
type value struct {
	raw   []byte // as written
	apart *apart // nil: it is looked through when it is asked
	at    int    // its node
}

// text is unquote of a value.
func (v value) text() string {
	if v.apart == nil || v.apart.nodes[v.at].escaped {
		return unquote(v.raw)
	}
	return v.apart.text(v.raw[1 : len(v.raw)-1])
}

// members yields the members of an object, names as written.
func (v value) members() iter.Seq2[[]byte, value] {
	return func(yield func([]byte, value) bool) {
		if v.apart == nil {
			for name, raw := range written(v.raw) {
				if !yield(name, value{raw: raw}) {
					return
				}
			}
			return
		}
		nodes := v.apart.nodes
		for i, end := v.at+1, v.at+int(nodes[v.at].size); i < end; i += int(nodes[i].size) {
			if n := nodes[i].name; !yield(v.apart.data[n.start:n.end], v.apart.value(i)) {
				return
			}
		}
	}
}

// elements yields the elements of an array.
func (v value) elements() iter.Seq[value] {
	return func(yield func(value) bool) {
		if v.apart == nil {
			for raw := range elements(v.raw) {
				if !yield(value{raw: raw}) {
					return
				}
			}
			return
		}
		nodes := v.apart.nodes
		for i, end := v.at+1, v.at+int(nodes[v.at].size); i < end; i += int(nodes[i].size) {
			if !yield(v.apart.value(i)) {
				return
			}
		}
	}
}
