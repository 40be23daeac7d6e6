package why

import (
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
)

// match is numbering.match for lines.
func match(a, b text) []int {
	n := numbering{}
	return n.match(n.numbers(a), n.numbers(b))
}

// A match is a common subsequence: partners are equal and in order.
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
		last := -1
		for i, at := range match(a, b) {
			if at < 0 {
				continue
			}
			if at <= last || a[at] != b[i] {
				t.Fatalf("%v %v: line %d has the partner %d", a, b, i, at)
			}
			last = at
		}
	}
	for _, c := range []struct{ a, b, want string }{
		{"a b c", "a b c d", "0 1 2 -1"},
		{"a x } b x } c", "a x } n x } b x } c", "0 1 2 -1 -1 -1 3 4 5 6"}, // a function comes
		{"a x } n x } b x } c", "a x } b x } c", "0 1 2 6 7 8 9"},          // it goes
		{"1 } } 2", "3 } } 4", "-1 1 2 -1"},                                // lines around equal ones change
		{"a b", "b a", "-1 0"},
	} {
		var got []string
		for _, at := range match(strings.Fields(c.a), strings.Fields(c.b)) {
			got = append(got, strconv.Itoa(at))
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%s, %s: %v", c.a, c.b, got)
		}
	}
}

// Of texts that differ in many lines, those that both have once are partners, and the others may be.
func TestMatchFar(t *testing.T) {
	var a, b text
	for i := range 3000 {
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
	for range 2000 {
		a, b = append(a, "x", "old"), append(b, "new", "x")
	}
	if to := match(a, b); to[len(to)/2+1] != doubtful && to[len(to)/2+1] < 0 {
		t.Errorf("it is %d", to[len(to)/2+1])
	}
}
