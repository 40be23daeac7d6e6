package chart

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"git-checkpoint/internal/test/bench"
)

// Of returns all charts of a report, by file name. Charts without data are left out.
func Of(r *bench.Report) map[string]string {
	pictures := map[string]string{
		"files.svg": files(r).SVG(), "history.svg": history(r).SVG(),
		"repository.svg": repository(r).SVG(), "disk.svg": disk(r).SVG(),
	}
	for name, picture := range pictures {
		if picture == "" {
			delete(pictures, name)
		}
	}
	return pictures
}

// where describes with what the numbers were measured.
func where(r *bench.Report) string {
	return fmt.Sprintf("%s, %s, %d processors, warm cache; medians of one run.", r.Git, r.System, r.Processors)
}

// files charts the cost over the number of files in the worktree.
func files(r *bench.Report) Lines {
	l := Lines{
		Title: "Ten files changed: cost over the files of the worktree", Note: where(r) + " * measured on another day",
		XLabel: "files in the worktree", YLabel: "milliseconds",
	}
	for _, of := range []struct{ row, ours, theirs string }{
		{"files/create/", "create", "A: git's own snapshot"},
		{"files/rollback/", "rollback", "A + git restore"},
	} {
		ours, theirs := Series{Name: of.ours, Dash: Ours}, Series{Name: of.theirs, Dash: Yardstick}
		for _, row := range below(r, of.row) {
			ours.Points = append(ours.Points, Point{float64(row.Files), row.Ours.Median})
			if row.Theirs != nil {
				theirs.Points = append(theirs.Points, Point{float64(row.Files), row.Theirs.Median})
			}
		}
		if len(ours.Points) > 0 {
			l.Series = append(l.Series, ours, theirs)
		}
	}
	// Published values are only shown beside measured ones.
	if len(l.Series) > 0 {
		l.Series = append(l.Series, published()...)
	}
	return l
}

// history charts the cost over the number of checkpoints in a session. The value of the
// short session is the other side of each row.
func history(r *bench.Report) Lines {
	l := Lines{Title: "Cost over the checkpoints of a session", Note: where(r), XLabel: "checkpoints in the session", YLabel: "milliseconds"}
	const short = 10
	for _, name := range []string{"create", "rollback", "status", "resume", "show", "diff"} {
		s := Series{Name: name, Dash: Ours}
		for _, row := range below(r, "session/"+name+"/") {
			n, err := strconv.Atoi(row.Name[strings.LastIndexByte(row.Name, '/')+1:])
			if err != nil || row.Theirs == nil {
				continue
			}
			// The first point is the short session, which every row is compared with.
			if len(s.Points) == 0 {
				s.Points = append(s.Points, Point{short, row.Theirs.Median})
			}
			s.Points = append(s.Points, Point{float64(n), row.Ours.Median})
		}
		if len(s.Points) > 0 {
			l.Series = append(l.Series, s)
		}
	}
	return l
}

// repository charts the cost over what the repository has besides the worktree.
func repository(r *bench.Report) Bars {
	c := Bars{
		Title: "The same worktree in a large repository", Note: where(r), YLabel: "milliseconds",
		Names: []string{"small repository", "2M packed objects", "and 10,000 refs of ours"},
	}
	for _, name := range []string{"create", "rollback", "status"} {
		rows := below(r, "large/"+name)
		if len(rows) == 0 || rows[0].Theirs == nil {
			continue
		}
		g := Group{Name: name, Values: []float64{rows[0].Theirs.Median}}
		for _, row := range rows {
			g.Values = append(g.Values, row.Ours.Median)
		}
		c.Groups = append(c.Groups, g)
	}
	return c
}

// disk charts what a day leaves on disk per checkpoint.
func disk(r *bench.Report) Bars {
	c := Bars{Title: "What a day of an agent leaves on the disk", Note: where(r), YLabel: "KiB per checkpoint", Names: []string{"KiB"}}
	for _, of := range []struct{ row, name string }{
		{"day/bytes/evening", "in the evening"}, {"day/bytes/gc", "after git gc"}, {"day/bytes/pruned", "after prune --gc"},
	} {
		for _, row := range below(r, of.row) {
			c.Groups = append(c.Groups, Group{of.name, []float64{row.Ours.Median}})
		}
	}
	return c
}

// below returns the rows whose names start with a prefix.
func below(r *bench.Report, prefix string) []bench.Row {
	return slices.DeleteFunc(slices.Clone(r.Rows), func(row bench.Row) bool { return !strings.HasPrefix(row.Name, prefix) })
}
