package bench

import (
	"strings"
	"testing"
)

func rowsOfATable() []Row {
	return []Row{
		{
			Name: "files/create/1000", Work: "`create` ÷ A", Files: 1000, Unit: "ms", First: 1.2, Then: 0.8,
			Ours: Spread{17.1, 18.2, 19.3}, Theirs: &Spread{22, 23, 24.5}, Ratio: &Spread{0.75, 0.79, 0.82},
		},
		{Name: "count/objects", Work: "objects of a `create`", Files: 1000, Unit: "objects", Ours: Spread{24, 24, 24}, First: 28},
		{Name: "start/version", Work: "start", Unit: "ms", Ours: Spread{3, 3.5, 4}, Theirs: &Spread{2, 2.5, 3}, Ratio: &Spread{1.4, 1.5, 1.6}, First: 1},
		{Name: "large/status", Work: "status", Unit: "ms", Ours: Spread{3, 3.5, 4}, First: 5},
	}
}

// The table that a run writes into the document has what people ask about and what misses its budget, and the text around
// it stays.
func TestTable(t *testing.T) {
	report := &Report{Program: "git-checkpoint version 1", Git: "git version 2.39.5", LoadAtEnd: "0.10", Rows: rowsOfATable()}
	const document = "# Performance\n\nBefore.\n\n" + begins + "an older one\n" + ends + "\nAfter.\n\n| not | this |\n|---|---|\n"
	renewed, err := Renew(document, report)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(renewed, "# Performance\n\nBefore.\n\n"+begins) || !strings.HasSuffix(renewed, ends+"\nAfter.\n\n| not | this |\n|---|---|\n") {
		t.Errorf("the text around the table changed:\n%s", renewed)
	}
	for text, there := range map[string]bool{"older": false, "files/create/1000": true, "start/version": true, "large/status": false} {
		if strings.Contains(renewed, text) != there {
			t.Errorf("%s: %v\n%s", text, !there, renewed)
		}
	}
	if again, err := Renew(renewed, report); err != nil || again != renewed {
		t.Errorf("a second time changes it: %v", err)
	}
	for _, document := range []string{"", begins, ends + begins} {
		if _, err := Renew(document, &Report{}); err == nil {
			t.Errorf("%q was renewed", document)
		}
	}
}

// A row got worse if neither median is within the middle half of the other. Anything less
// is noise.
func TestCompareTables(t *testing.T) {
	timed := func(low, median, high float64) []Row {
		return []Row{{Name: "a/b", Unit: "ms", Ours: Spread{1, 1, 1}, Ratio: &Spread{low, median, high}, Theirs: &Spread{1, 1, 1}}}
	}
	counted := func(n float64, unit string) []Row {
		return []Row{{Name: "a/b", Unit: unit, Ours: Spread{n, n, n}}}
	}
	for _, test := range []struct {
		name      string
		last, now []Row
		want      string
	}{
		{"clearly worse", timed(0.9, 1, 1.1), timed(1.2, 1.3, 1.4), "1 got worse"},
		{"its half touches, its median does not", timed(0.9, 1, 1.1), timed(1.05, 1.2, 1.3), "1 got worse"},
		{"the median is within the spread", timed(0.9, 1, 1.2), timed(1.05, 1.15, 1.3), "none got worse"},
		{"the old median is within the spread", timed(0.9, 1, 1.1), timed(0.95, 1.2, 1.5), "none got worse"},
		{"better", timed(0.9, 1, 1.1), timed(0.5, 0.6, 0.7), "1 got better"},
		{"better is not worse", timed(0.9, 1, 1.1), timed(0.5, 0.6, 0.7), "none got worse"},
		{"one object more", counted(24, "objects"), counted(25, "objects"), "24 objects"},
		{"as many objects", counted(24, "objects"), counted(24, "objects"), "Of 1 rows that the last table has too, none"},
		{"a time alone is the machine's", counted(24, "ms"), counted(99, "ms"), "Of 0 rows"},
		{"another unit is another row", counted(24, "KiB"), counted(99, "objects"), "Of 0 rows"},
		{"no longer beside anything", timed(0.9, 1, 1.1), counted(99, "ms"), "Of 0 rows"},
		{"no table", nil, timed(1, 1, 1), "no last table"},
	} {
		if got := Compare(test.last, test.now); !strings.Contains(got, test.want) {
			t.Errorf("%s: %q is not in:\n%s", test.name, test.want, got)
		}
	}
}

// Whether a budget is kept is judged by the ratio or the counted value, rounded as in the
// table.
func TestKept(t *testing.T) {
	at := func(median float64) *Spread { return &Spread{median, median, median} }
	for _, test := range []struct {
		row  Row
		want string
	}{
		{Row{Ours: *at(9), Ratio: at(0.8), First: 1.2, Then: 0.8}, "then"},
		{Row{Ours: *at(9), Ratio: at(0.804), First: 1.2, Then: 0.8}, "then"},
		{Row{Ours: *at(9), Ratio: at(0.81), First: 1.2, Then: 0.8}, "first"},
		{Row{Ours: *at(9), Ratio: at(1.21), First: 1.2, Then: 0.8}, "no"},
		{Row{Ours: *at(28), First: 28}, "first"},
		{Row{Ours: *at(29), First: 28}, "no"},
		{Row{Ours: *at(70), Then: 64}, "no"},
		{Row{Ours: *at(29)}, ""},
	} {
		if got := test.row.Kept(); got != test.want {
			t.Errorf("%+v: %q, not %q", test.row, got, test.want)
		}
	}
}
