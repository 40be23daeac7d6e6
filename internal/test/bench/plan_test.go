package bench

import (
	"slices"
	"strings"
	"testing"
)

// Names of rows are unique, and a full run has every row with a budget.
func TestPlan(t *testing.T) {
	b := &bench{Options: Options{Effort: Full()}, made: map[string]*repository{}}
	seen := map[string]bool{}
	for _, j := range b.plan() {
		if j.row.Name == "" || j.row.Work == "" || j.measure == nil {
			t.Errorf("an empty row: %+v", j.row)
		}
		if seen[j.row.Name] {
			t.Errorf("two rows are %q", j.row.Name)
		}
		seen[j.row.Name] = true
	}
	for _, name := range []string{
		"files/create/1000", "files/create/20000", "files/create/100000", "files/look/1000", "files/rollback/100000", "status/porcelain/20000", "first/create/20000", "first/rollback/100000", "text/create/20000", "text/rollback/20000", "untracked/create/20000", "large/create", "large/create/refs",
		"session/create/1000", "session/create/10000", "session/resume/10000", "session/status/10000", "session/show/10000", "session/diff/10000",
		"long/list/100000", "long/create/100000", "long/validate/100000", "list/10000", "validate/10000", "validate/ids/10000", "validate/deep/10000", "count/objects", "count/bytes/loose", "count/bytes/packed", "memory/own", "hook/unchanged/1000", "hook/before/1000", "hook/before/20000", "fork/20000", "beside/stash/1000", "beside/stash/20000", "beside/copy/1000", "beside/copy/20000", "blame/200", "why/10000", "why/first/10000", "why/size/10000", "blame/beyond/2000", "page/timeline/1000", "page/timeline/all/10000", "page/step/10000", "hook/edit/20000", "travel/push/10000", "travel/fetch/10000", "travel/sync/10000", "start/version", "huge/create/1000000", "huge/memory/1000000", "huge/before/1000000", "day/bytes/pruned", "day/gc", "delete/20000",
	} {
		if !seen[name] {
			t.Errorf("there is no row %q", name)
		}
	}
}

// A quick run makes one repository of 20,000 files; what needs repositories of its own has fewer.
func TestPlanQuick(t *testing.T) {
	b := &bench{Options: Options{Effort: Quick()}, made: map[string]*repository{}}
	for _, j := range b.plan() {
		part, _, _ := strings.Cut(j.row.Name, "/")
		if j.row.Files > b.Effort.Many && !slices.Contains([]string{"files", "status", "memory"}, part) {
			t.Errorf("%s needs another repository of %d files", j.row.Name, j.row.Files)
		}
	}
}

// With a path of Entire the plan has rows beside it; without, there are none.
func TestPlanEntire(t *testing.T) {
	for path, want := range map[string][]string{"": nil, "entire": {"beside/entire/1000", "beside/entire/20000", "beside/entire/rewind/20000"}} {
		b := &bench{Options: Options{Effort: Full(), Entire: path}}
		var got []string
		for _, j := range b.plan() {
			if strings.Contains(j.row.Name+j.row.Work, "ntire") {
				got = append(got, j.row.Name)
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("with %q: %q, not %q", path, got, want)
		}
	}
}

// A directory above several changed files is written once; so is the top.
func TestParents(t *testing.T) {
	b := &bench{Options: Options{Effort: Full()}}
	touched := b.blank("x", 1000).touched()
	if len(touched) != changed {
		t.Fatalf("%d paths", len(touched))
	}
	// Two directories of 500 files, ten directories below them that are written to, and the
	// top.
	if got := len(parents(touched)); got != 13 {
		t.Errorf("%d directories above %q", got, touched)
	}
	if got := len(parents([]string{"a"})); got != 1 {
		t.Errorf("%d directories above a file at the top", got)
	}
}

// A session grows from the next shorter one that is kept, and the shortest one from
// nothing.
func TestShorter(t *testing.T) {
	e := Effort{Lengths: []int{10, 1000, 10000}}
	var line []int
	for n := 10000; n > 0; n = e.shorter(n) {
		line = append(line, n)
	}
	if want := []int{10000, 8000, 6000, 4000, 2000, 1000, 10}; !slices.Equal(line, want) {
		t.Errorf("%v, not %v", line, want)
	}
}
