package why

import (
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// A match is a common subsequence: partners are equal and in order. Of small texts it is a longest one if
// the doubtful lines are counted.
func TestMatch(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		draw := func() (x text) {
			for range random.IntN(12) {
				x = append(x, strconv.Itoa(random.IntN(5)))
			}
			return x
		}
		a, b := draw(), draw()
		last, found := -1, 0
		for i, at := range match(a, b) {
			if at == doubtful {
				found = -1 << 20
			}
			if at < 0 {
				continue
			}
			if at <= last || a[at] != b[i] {
				t.Fatalf("%v %v: line %d has the partner %d", a, b, i, at)
			}
			last, found = at, found+1
		}
		if want := longest(a, b); found >= 0 && found != want {
			t.Fatalf("%v %v: %d partners, not %d", a, b, found, want)
		}
	}
	for _, c := range []struct{ a, b, want string }{
		{"a b c", "a b c d", "0 1 2 -1"},
		{"f {,x,},", "f {,x,},g {,y,},", ""},
		{"a b", "b a", ""},
	} {
		if c.want == "" {
			continue
		}
		var got []string
		for _, at := range match(strings.Fields(c.a), strings.Fields(c.b)) {
			got = append(got, strconv.Itoa(at))
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%s, %s: %v", c.a, c.b, got)
		}
	}
}

// Of texts that differ in more lines than are looked at, lines that both have once are partners, and the
// others may be.
func TestMatchFar(t *testing.T) {
	var a, b text
	for i := range 3 * maxEdits {
		a, b = append(a, "old "+strconv.Itoa(i)), append(b, "new "+strconv.Itoa(i))
		if i%500 == 250 {
			a, b = append(a, "both "+strconv.Itoa(i)), append(b, "both "+strconv.Itoa(i))
		}
	}
	found := 0
	for i, at := range match(a, b) {
		if at >= 0 {
			if found++; a[at] != b[i] {
				t.Fatal("partners that differ")
			}
		}
	}
	if found != 6 {
		t.Errorf("%d partners", found)
	}
	a, b = nil, nil
	for range 2 * maxEdits {
		a, b = append(a, "x", "old"), append(b, "new", "x")
	}
	if to := match(a, b); to[len(to)/2+1] != doubtful && to[len(to)/2+1] < 0 {
		t.Errorf("it is %d", to[len(to)/2+1])
	}
}

// Texts that differ in too many lines are known to without a search, and only these.
func TestLeastEdits(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	for range 500 {
		draw := func() (x text) {
			for range random.IntN(12) {
				x = append(x, strconv.Itoa(random.IntN(5)))
			}
			return x
		}
		a, b := draw(), draw()
		n := &numbering{inA: make([]int32, 5)}
		m := matching{numbering: n, a: n.numbers(a), b: n.numbers(b)}
		if got, want := m.leastEdits(0, len(a), 0, len(b)), len(a)+len(b)-2*longest(a, b); got > want {
			t.Fatalf("%v %v: at least %d edits, but %d do", a, b, got, want)
		}
		if slices.Max(m.inA) != 0 {
			t.Fatalf("%v %v: counts are left: %v", a, b, m.inA)
		}
	}
	var a, b text
	for i := range maxEdits {
		a, b = append(a, "old "+strconv.Itoa(i)), append(b, "new "+strconv.Itoa(i))
	}
	n := numbering{}
	n.match(n.numbers(a), n.numbers(b))
	if len(n.trace) != 0 {
		t.Errorf("a search read %d places", len(n.trace))
	}
}

func longest(a, b text) int {
	best := make([][]int, len(a)+1)
	for i := range best {
		best[i] = make([]int, len(b)+1)
	}
	for i := range a {
		for j := range b {
			best[i+1][j+1] = max(best[i][j+1], best[i+1][j])
			if a[i] == b[j] {
				best[i+1][j+1] = best[i][j] + 1
			}
		}
	}
	return best[len(a)][len(b)]
}
