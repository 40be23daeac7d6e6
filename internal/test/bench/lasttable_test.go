package bench

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func rowsOfATable() []Row {
	return []Row{
		{
			Name: "files/create/1000", Work: "`create` ÷ A", Files: 1000, Unit: "ms", First: 1.2, Then: 0.8,
			Ours: Spread{17.1, 18.2, 19.3}, Theirs: &Spread{22, 23, 24.5}, Ratio: &Spread{0.75, 0.79, 0.82},
		},
		{Name: "count/objects", Work: "objects of a `create`", Files: 1000, Unit: "objects", Ours: Spread{24, 24, 24}, First: 28},
		{Name: "start/version", Work: "start", Unit: "ms", Ours: Spread{3, 3.5, 4}, Theirs: &Spread{2, 2.5, 3}, Ratio: &Spread{1.4, 1.5, 1.6}},
	}
}

// The table that a run writes into the document can be read again, and the text around it
// stays.
func TestLastTable(t *testing.T) {
	report := &Report{Program: "git-checkpoint version 1", Git: "git version 2.39.5", LoadAtEnd: "0.10", Rows: rowsOfATable()}
	const document = "# Performance\n\nBefore.\n\n" + begins + "an older one\n" + ends + "\nAfter.\n\n| not | this |\n|---|---|\n"
	renewed, err := Renew(document, report)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(renewed, "# Performance\n\nBefore.\n\n"+begins) || !strings.HasSuffix(renewed, ends+"\nAfter.\n\n| not | this |\n|---|---|\n") {
		t.Errorf("the text around the table changed:\n%s", renewed)
	}
	if strings.Contains(renewed, "older") {
		t.Error("the older table is still there")
	}
	found, err := LastTable(renewed)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(report.Rows, found); diff != "" {
		t.Error(diff)
	}
	if again, err := Renew(renewed, report); err != nil || again != renewed {
		t.Errorf("a second time changes it: %v", err)
	}
}

// A document without a table has no rows. A broken row, or missing marks around the table,
// is an error.
func TestLastTableBroken(t *testing.T) {
	if rows, err := LastTable("# Performance\n"); err != nil || rows != nil {
		t.Errorf("%v, %v", rows, err)
	}
	for _, line := range []string{
		"| a | b | 1 | fast | | | |",
		"| a | b | 1 | 2.0 (1.0) ms | | | |",
		"| a | b | 1 | 2.0 (3.0–4.0) ms | | | |",
		"| a | b | many | 2.0 ms | | | |",
		"| a | b | 1 | 2.0 ms | | | ≤x: no |",
		"| a | b | 1 | 2.0 ms |",
		"| a | b | 1 | 2.0 ms | | 1.0.0 | |",
		"| a | b | 1 | 2.0 ms | | 1.0 | |",
	} {
		if rows, err := LastTable(header + line + "\n"); err == nil {
			t.Errorf("%s was read as %v", line, rows)
		}
	}
	for _, document := range []string{"", begins, ends + begins} {
		if _, err := Renew(document, &Report{}); err == nil {
			t.Errorf("%q was renewed", document)
		}
	}
}

func FuzzLastTable(f *testing.F) {
	f.Add(header + rowsOfATable()[0].String())
	f.Add(header + "| | | | 1.2 (1.1–1.3) ms | | | , ≤ |\n")
	f.Fuzz(func(_ *testing.T, document string) {
		rows, err := LastTable(document)
		if err != nil {
			return
		}
		for _, r := range rows { // what was read can be compared and printed
			_ = r.String() + r.Kept()
		}
		Compare(rows, rows)
	})
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
