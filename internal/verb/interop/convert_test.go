package interop

import (
	"os"
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

// A node of crunch's execution graph may be its status alone; it is a task all the same.
func TestNodesMayBeAStatus(t *testing.T) {
	w, from, to := newWorld(t), t.TempDir(), filepath.Join(t.TempDir(), "out")
	dir := filepath.Join(from, crunchHome, "7", crunchDir)
	if err := os.MkdirAll(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	doc := "checkpoint_id: CP-ready-20261120-0a1b\ncreated_at: 2026-11-20T10:00:00Z\nexecution_graph:\n  node_states:\n    batch_1: done\n    batch_2: failed\n"
	if err := os.WriteFile(filepath.Join(dir, "CP-ready-20261120-0a1b.yaml"), []byte(doc), 0o666); err != nil {
		t.Fatal(err)
	}
	in := w.bringIn(from)
	if _, err := w.tryExport(ExportRequest{To: to, Format: UltraCreate, Sessions: in.Sessions}); err != nil {
		t.Fatal(err)
	}
	for file, said := range documents(t, to) {
		if strings.HasSuffix(file, ".json") && !strings.Contains(said, `"completed_tasks":[{"id":"batch_1","status":"done"}]`) {
			t.Errorf("%s says %s", file, said)
		}
	}
}
