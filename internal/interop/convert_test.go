package interop

import (
	"path/filepath"
	"strings"
	"testing"
)

// A member is listed as left out exactly if the other layout does not have it.
func TestConversionTellsWhatStays(t *testing.T) {
	for _, c := range []struct{ from, to, goes, stays string }{
		{GoTeam, UltraCreate, "metrics", "output spec"}, {GoTeam, Orchestrate, "topic", "output spec"},
		{UltraCreate, GoTeam, "metrics", "decisions"}, {UltraCreate, Crunch, "tasks", "decisions"},
		{Orchestrate, Pipeline, "tasks", "research_results"}, {Crunch, UltraCreate, "tasks", "issue_snapshot.body"},
		{Pipeline, Crunch, "tasks", "gates"}, {Pipeline, GoTeam, "topic", "artifacts"},
	} {
		w := newWorld(t)
		in := w.bringIn(filepath.Join("testdata", "samples", c.from))
		a, err := w.tryExport(ExportRequest{To: filepath.Join(t.TempDir(), "out"), Format: c.to, Sessions: in.Sessions})
		if err != nil {
			t.Fatal(err)
		}
		var left []string
		for _, l := range a.LeftOut {
			left = append(left, l.What)
		}
		said := strings.Join(left, ", ")
		if strings.Contains(said, c.goes) || !strings.Contains(said, c.stays) {
			t.Errorf("%s as %s leaves out %s", c.from, c.to, said)
		}
	}
}
