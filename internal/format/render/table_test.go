package render

import (
	"regexp"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

var colourCode = regexp.MustCompile(`\x1b\[[0-9;]*m`)

func sample() Table {
	return Table{
		Columns: []Column{{Title: "#", Align: Right}, {Title: "checkpoint"}, {Title: "message", Min: 6}, {Title: "files", Align: Right}},
		Rows: [][]Cell{
			{{{Text: "3"}}, {{ID, "cp-03-design"}, {Dim, " (current)"}}, {{Text: "設計の変更 é"}}, {{Text: "12"}}},
			{{{Text: "3+1"}}, {{ID, "cp-03-design+1"}}, {{Text: "tab\tand \x1b[2J"}}, {{Text: "7"}}},
			{{{Text: "4"}}, {{ID, "cp-04"}}},
		},
	}
}

func show(t *testing.T, v View, table Table) string {
	t.Helper()
	var b strings.Builder
	if err := v.Table(&b, table); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestTableAligned(t *testing.T) {
	want := "" +
		"  #  checkpoint              message           files\n" +
		"  3  cp-03-design (current)  設計の変更 é         12\n" +
		"3+1  cp-03-design+1          tab\\tand \\x1b[2J      7\n" +
		"  4  cp-04\n"
	if got := show(t, View{Layout: Aligned}, sample()); got != want {
		t.Errorf("got:\n%s\nwant:\n%s", got, want)
	}
}

func TestTableTruncated(t *testing.T) {
	for _, c := range []struct {
		width int
		want  string
	}{
		{48, "" +
			"  #  checkpoint              message       files\n" +
			"  3  cp-03-design (current)  設計の変更 é     12\n" +
			"3+1  cp-03-design+1          tab\\tand \\x…      7\n" +
			"  4  cp-04\n"},
		{42, "" + // "message" at its Min
			"  #  checkpoint              messa…  files\n" +
			"  3  cp-03-design (current)  設計…      12\n" +
			"3+1  cp-03-design+1          tab\\t…      7\n" +
			"  4  cp-04\n"},
		{32, "" + // now the others too
			"  #  checkpoint    messa…  files\n" +
			"  3  cp-03-desig…  設計…      12\n" +
			"3+1  cp-03-desig…  tab\\t…      7\n" +
			"  4  cp-04\n"},
		{28, "" + // and the last one has no room any more
			"  #  checkpoint       messa…\n" +
			"  3  cp-03-design (…  設計…\n" +
			"3+1  cp-03-design+1   tab\\t…\n" +
			"  4  cp-04\n"},
		{4, "" + // the first one is always there
			"  #\n" +
			"  3\n" +
			"3+1\n" +
			"  4\n"},
	} {
		got := show(t, View{Layout: Aligned, Width: c.width}, sample())
		if got != c.want {
			t.Errorf("width %d, got:\n%s\nwant:\n%s", c.width, got, c.want)
		}
		for line := range strings.Lines(got) {
			if w := Width(strings.TrimSuffix(line, "\n")); w > c.width {
				t.Errorf("width %d: %q takes %d", c.width, line, w)
			}
		}
	}
}

// A column that nothing stands in is for programs only, unless it has no title.
func TestTableEmptyColumns(t *testing.T) {
	table := Table{
		Columns: []Column{{Title: "name"}, {Title: "topic"}, {}, {Title: "marks"}},
		Rows:    [][]Cell{{{{Text: "one"}}, nil, nil, {{Text: "active"}}}, {{{Text: "two"}}}},
	}
	if got, want := show(t, View{Layout: Aligned}, table), "name    marks\none     active\ntwo\n"; got != want {
		t.Errorf("got:\n%s\nwant:\n%s", got, want)
	}
	if got, want := show(t, View{}, table), "name\ttopic\t\tmarks\none\t\t\tactive\ntwo\t\t\t\n"; got != want {
		t.Errorf("got:\n%s\nwant:\n%s", got, want)
	}
}

func TestTableTabbed(t *testing.T) {
	want := "" +
		"#\tcheckpoint\tmessage\tfiles\n" +
		"3\tcp-03-design (current)\t設計の変更 é\t12\n" +
		"3+1\tcp-03-design+1\ttab\\tand \\x1b[2J\t7\n" +
		"4\tcp-04\t\t\n"
	if got := show(t, View{Width: 10}, sample()); got != want {
		t.Errorf("got:\n%s\nwant:\n%s", got, want)
	}
}

func TestTableColours(t *testing.T) {
	plain := show(t, View{Layout: Aligned, Width: 40}, sample())
	coloured := show(t, View{Layout: Aligned, Width: 40, Style: Coloured}, sample())
	if !strings.Contains(coloured, "\x1b[33mcp-03-design+1\x1b[0m") || !strings.HasPrefix(coloured, "  \x1b[1m#\x1b[0m") {
		t.Errorf("colours are missing: %q", coloured)
	}
	if got := colourCode.ReplaceAllString(coloured, ""); got != plain {
		t.Errorf("colours moved the text:\n%s\nwant:\n%s", got, plain)
	}
}

func TestTableWithoutTitles(t *testing.T) {
	table := Table{Columns: []Column{{}, {}}, Rows: [][]Cell{{{{Text: "session"}}, {{Text: "demo"}}}}}
	if got := show(t, View{Layout: Aligned}, table); got != "session  demo\n" {
		t.Errorf("got %q", got)
	}
	if got := show(t, View{}, table); got != "session\tdemo\n" {
		t.Errorf("got %q", got)
	}
}

// A cell of many megabytes is cut before it is measured.
func TestTableHugeCell(t *testing.T) {
	huge := Table{Columns: []Column{{Min: 1}}, Rows: [][]Cell{{{{Text: strings.Repeat("設", 1<<20)}}}}}
	if got := show(t, View{Layout: Aligned, Width: 9}, huge); got != "設設設設…\n" {
		t.Errorf("got %.40q", got)
	}
	if cells := huge.escaped(View{Layout: Aligned, Width: 9}.longest())[0]; len(cells[0][0].Text) > 64*9+3 {
		t.Errorf("%d bytes were kept", len(cells[0][0].Text))
	}
}

func TestTableProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		columns := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) Column {
			return Column{
				Title: hostileText().Draw(t, "title"),
				Align: rapid.SampledFrom([]Align{Left, Right}).Draw(t, "align"),
				Min:   rapid.IntRange(0, 5).Draw(t, "min"),
			}
		}), 1, 5).Draw(t, "columns")
		cell := rapid.Map(rapid.SliceOfN(hostileText(), 0, 3), func(texts []string) (c Cell) {
			for _, text := range texts {
				c = append(c, Span{ID, text})
			}
			return c
		})
		table := Table{columns, rapid.SliceOfN(rapid.SliceOfN(cell, 0, 6), 0, 4).Draw(t, "rows")}
		width := rapid.IntRange(len(columns)*(1+ColumnGap), 60).Draw(t, "width")
		for _, v := range []View{{}, {Layout: Aligned}, {Layout: Aligned, Width: width, Style: Coloured}} {
			var b strings.Builder
			if err := v.Table(&b, table); err != nil {
				t.Fatal(err)
			}
			text := colourCode.ReplaceAllString(b.String(), "")
			lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
			shown := table
			if v.Layout == Aligned {
				shown = table.filled()
			}
			if text != "" && len(lines) != len(shown.escaped(1<<30)) {
				t.Fatalf("%d lines for %d rows", len(lines), len(table.Rows))
			}
			for _, line := range lines {
				if v.Layout == Tabbed {
					if text != "" && strings.Count(line, "\t") != len(columns)-1 {
						t.Fatalf("fields of %q", line)
					}
					line = strings.ReplaceAll(line, "\t", "")
				}
				if bad := firstBad(line); bad != "" {
					t.Fatalf("%s in %q", bad, line)
				}
				if v.Width > 0 && Width(line) > v.Width {
					t.Fatalf("%q takes %d of %d", line, Width(line), v.Width)
				}
			}
		}
	})
}

// The cut falls in one span; those before it stay, those after it go.
func TestCellCut(t *testing.T) {
	cell := Cell{{ID, "cp-03"}, {Dim, " (current)"}}
	for columns, want := range map[int]string{20: "cp-03 (current)", 15: "cp-03 (current)", 14: "cp-03 (curren…", 6: "cp-03…", 5: "cp-0…", 1: "…", 0: ""} {
		if got := cell.cut(columns); got.Text() != want || len(got) != 1 && got[1].Role != Dim {
			t.Errorf("%d: %+v, want %q", columns, got, want)
		}
	}
}

func TestTruncate(t *testing.T) {
	for _, c := range []struct {
		in      string
		columns int
		want    string
	}{
		{"checkpoint", 10, "checkpoint"},
		{"checkpoint", 9, "checkpoi…"},
		{"checkpoint", 1, "…"},
		{"checkpoint", 0, ""},
		{"設計", 4, "設計"},
		{"設計", 3, "設…"},
		{"設計", 2, "…"},
		{"ae\u0301b", 3, "ae\u0301b"},
		{"ae\u0301bc", 3, "ae\u0301…"},
		{"👩\u200d👧👩\u200d👧", 3, "👩\u200d👧…"},
	} {
		if got := Truncate(c.in, c.columns); got != c.want {
			t.Errorf("Truncate(%q, %d) = %q, want %q", c.in, c.columns, got, c.want)
		}
	}
}

func FuzzTruncate(f *testing.F) {
	f.Add("設計e\u0301 👩\u200d👧", 3)
	f.Fuzz(func(t *testing.T, s string, columns int) {
		s = Escape(s)
		got := Truncate(s, columns)
		if Width(got) > max(columns, 0) {
			t.Fatalf("Truncate(%q, %d) = %q takes %d", s, columns, got, Width(got))
		}
		if Width(s) <= columns && got != s {
			t.Fatalf("Truncate(%q, %d) = %q although it fits", s, columns, got)
		}
	})
}
