package why

import (
	"bytes"
	"slices"
	"strings"
)

// text is a file as lines. Files of more than maxLines lines or maxBytes bytes, and those that are not
// text, have no lines here: nothing is claimed of them.
type text []string

const (
	maxBytes = 4 << 20
	maxLines = 50_000
)

func isText(data []byte) bool {
	return len(data) <= maxBytes && bytes.IndexByte(data[:min(len(data), 8000)], 0) < 0 && bytes.Count(data, []byte("\n")) <= maxLines
}

// split splits the content of a blob, with one copy of which the lines are parts.
func split(all string) text {
	if all == "" {
		return text{}
	}
	return strings.Split(strings.TrimSuffix(all, "\n"), "\n")
}

// What match says of a line that has no partner.
const (
	alone    = -1 // the other text has no such line there
	doubtful = -2 // it may have one: the texts differ too much to tell
)

// numbering gives equal lines the same number, so that texts are compared fast.
type numbering struct {
	of       map[string]int32
	inA, inB []int32 // how often the texts of a match have each line, for doubt; all 0 before it and after it
}

func (n *numbering) numbers(t text) []int32 {
	if n.of == nil {
		n.of = map[string]int32{}
	}
	out := make([]int32, len(t))
	for i, line := range t {
		id, known := n.of[line]
		if !known {
			id = int32(len(n.of)) //nolint:gosec // bounded by what one command reads
			n.of[line] = id
		}
		out[i] = id
	}
	return out
}

// match returns for each line of b, as numbers, the place of its partner in a, or one of the values above.
func (n *numbering) match(a, b []int32) []int {
	if more := len(n.of) - len(n.inA); more > 0 {
		n.inA, n.inB = append(n.inA, make([]int32, more)...), append(n.inB, make([]int32, more)...)
	}
	m := matching{numbering: n, a: a, b: b, to: make([]int, len(b))}
	m.matchRange(0, len(a), 0, len(b))
	m.slideBoth()
	for _, id := range a {
		m.inA[id]++
	}
	for _, id := range b {
		m.inB[id]++
	}
	m.doubt()
	for _, id := range a {
		m.inA[id] = 0
	}
	for _, id := range b {
		m.inB[id] = 0
	}
	return m.to
}

// doubt finds lines that may as well be new as old. Between two lines that both texts have once, b
// has a line more often or less often than a, or elsewhere: it cannot be told which of them is the
// one that was there. It can where all lines of a stay in front and those after them are only added
// or only removed, and one of them is in one text only: a function comes or goes, and slide says
// where it is.
func (m *matching) doubt() {
	i, k := 0, 0
	for l := 0; l <= len(m.b); l++ {
		if l < len(m.b) && (m.to[l] < 0 || m.inA[m.b[l]] != 1 || m.inB[m.b[l]] != 1) {
			continue
		}
		j := len(m.a)
		if l < len(m.b) {
			j = m.to[l]
		}
		m.doubtIn(i, j, k, l)
		i, k = j+1, l+1
	}
}

// hasOther reports whether one of these lines is not in the other text at all.
func hasOther(lines, other []int32) bool {
	return slices.ContainsFunc(lines, func(id int32) bool { return other[id] == 0 })
}

// doubtIn is doubt for a[i:j] and b[k:l].
func (m *matching) doubtIn(i, j, k, l int) {
	from, to := ends(m.a[i:j], m.b[k:l])
	if added, removed := m.b[k+from:l-to], m.a[i+from:j-to]; len(added)+len(removed) == 0 ||
		from == j-i && hasOther(added, m.inA) || from == l-k && hasOther(removed, m.inB) {
		return
	}
	left := map[int32]int{} // how many more a has
	for _, id := range m.a[i:j] {
		left[id]++
	}
	moved, doubts := map[int32]bool{}, false
	for x := k; x < l; x++ {
		if _, had := left[m.b[x]]; had {
			left[m.b[x]]--
			moved[m.b[x]] = moved[m.b[x]] || m.to[x] < 0
		}
	}
	for id, n := range left {
		moved[id] = moved[id] || n != 0
		doubts = doubts || moved[id] && slices.Contains(m.b[k:l], id)
	}
	for x := k; x < l; x++ {
		// Those that stay in front stay, unless there are more of them.
		if _, had := left[m.b[x]]; had && doubts && (x >= k+from || moved[m.b[x]]) {
			m.to[x] = doubtful
		}
	}
}

// ends returns how many lines two texts have in common at the beginning, and of the rest at the end.
func ends(a, b []int32) (from, to int) {
	for from < len(a) && from < len(b) && a[from] == b[from] {
		from++
	}
	for from < len(a)-to && from < len(b)-to && a[len(a)-to-1] == b[len(b)-to-1] {
		to++
	}
	return from, to
}

// slideBoth slides what has no partner, in both texts.
func (m *matching) slideBoth() {
	back := make([]int, len(m.a))
	for i := range back {
		back[i] = alone
	}
	invert(m.to, back)
	slide(m.a, back)
	for i, at := range m.to {
		if at >= 0 {
			m.to[i] = alone
		}
	}
	invert(back, m.to)
	slide(m.b, m.to)
}

// invert notes for each line of one text the line whose partner it is.
func invert(from, to []int) {
	for i, at := range from {
		if at >= 0 {
			to[at] = i
		}
	}
}

// slide moves each block of lines without partners down as far as it goes, as git does: of several
// equal places for a new function that is the one after the function before.
func slide(t []int32, to []int) {
	for from := 0; from < len(t); from++ {
		if to[from] != alone {
			continue
		}
		end := from + 1
		for end < len(t) {
			if to[end] == alone {
				end++
				continue
			}
			if to[end] < 0 || t[from] != t[end] {
				break
			}
			to[from], to[end] = to[end], alone
			from, end = from+1, end+1
		}
		from = end - 1
	}
}

// matching is one comparison, with lines as numbers.
type matching struct {
	*numbering
	a, b []int32
	to   []int
}

// matchRange matches a[i:j] with b[k:l].
func (m *matching) matchRange(i, j, k, l int) {
	for ; i < j && k < l && m.a[i] == m.b[k]; i, k = i+1, k+1 {
		m.to[k] = i
	}
	for ; i < j && k < l && m.a[j-1] == m.b[l-1]; j, l = j-1, l-1 {
		m.to[l-1] = j - 1
	}
	for x := k; x < l; x++ {
		m.to[x] = alone
	}
	if i == j || k == l {
		return
	}
	anchors := m.anchors(i, j, k, l)
	if len(anchors) == 0 {
		return // a line that both have may be the same one or not: see doubt
	}
	for _, at := range append(anchors, [2]int{j, l}) {
		m.matchRange(i, at[0], k, at[1])
		if i, k = at[0]+1, at[1]+1; at[1] < l {
			m.to[at[1]] = at[0]
		}
	}
}

// anchors returns pairs of lines that both ranges have once, or, without any, of those that both have equally often, first with
// first and so on. They are in an order that both have.
func (m *matching) anchors(i, j, k, l int) [][2]int {
	type times struct{ inA, inB, last int } // how often both have a line, and where the first has it last
	met := make(map[int32]times, j-i)
	for x := i; x < j; x++ {
		met[m.a[x]] = times{inA: met[m.a[x]].inA + 1, last: x}
	}
	for x := k; x < l; x++ {
		if t, is := met[m.b[x]]; is {
			t.inB++
			met[m.b[x]] = t
		}
	}
	var once, often [][2]int
	for x := k; x < l; x++ {
		if t := met[m.b[x]]; t.inA == 1 && t.inB == 1 {
			once = append(once, [2]int{t.last, x})
		}
	}
	if len(once) > 0 {
		return increasing(once)
	}
	at := map[int32][]int{}
	for x := i; x < j; x++ {
		at[m.a[x]] = append(at[m.a[x]], x)
	}
	for x := k; x < l; x++ {
		if id := m.b[x]; met[id].inA > 0 && met[id].inA == met[id].inB {
			often, at[id] = append(often, [2]int{at[id][0], x}), at[id][1:]
		}
	}
	return increasing(often)
}

// increasing returns a longest part of pairs whose first members increase.
func increasing(pairs [][2]int) [][2]int {
	var ends []int // by length: the pair that ends a row of this length and is smallest
	before := make([]int, len(pairs))
	for i, p := range pairs {
		at, _ := slices.BinarySearchFunc(ends, p[0], func(e, first int) int { return pairs[e][0] - first })
		if before[i] = -1; at > 0 {
			before[i] = ends[at-1]
		}
		if at == len(ends) {
			ends = append(ends, i)
		} else {
			ends[at] = i
		}
	}
	var out [][2]int
	if len(ends) > 0 {
		for i := ends[len(ends)-1]; i >= 0; i = before[i] {
			out = append(out, pairs[i])
		}
	}
	slices.Reverse(out)
	return out
}

// sameLines returns how many bytes of whole lines two files have in common at the beginning, and of the rest
// at the end.
func sameLines(a, b []byte) (from, behind int) {
	const step = 256 // bytes that are compared at once
	most := min(len(a), len(b))
	for from+step <= most && bytes.Equal(a[from:from+step], b[from:from+step]) {
		from += step
	}
	for from < most && a[from] == b[from] {
		from++
	}
	from = bytes.LastIndexByte(b[:from], '\n') + 1
	most -= from
	for behind+step <= most && bytes.Equal(a[len(a)-behind-step:len(a)-behind], b[len(b)-behind-step:len(b)-behind]) {
		behind += step
	}
	for behind < most && a[len(a)-behind-1] == b[len(b)-behind-1] {
		behind++
	}
	first := bytes.IndexByte(b[len(b)-behind:], '\n') + 1
	if first == 0 {
		return from, 0
	}
	return from, behind - first
}
