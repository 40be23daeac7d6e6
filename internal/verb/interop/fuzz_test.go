package interop

import (
	"encoding/json"
	"os"
	"path"
	"path/filepath"
	"testing"

	"github.com/tidwall/gjson"

	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/verb/transfer"
)

// Any input to the YAML reader ends in JSON or an error, and the JSON survives a round trip through
// our own writer.
func FuzzYAML(f *testing.F) {
	for _, seed := range []string{
		"a: 1", "a: &b [1, *b]", "a: &x 1\nb: *x", "- - ? a\n    : b", "a: |+\n  x\n\n", "%YAML 1.2\n---\na: !!str 1", "{a: [b, {c: d}]}", "<<: {a: b}",
		"a: 0x10\nb: 1_000\nc: .inf\nd: 90071992547409931\ne: +1.5e400", "\"\\u2028\": '''' # c", "a: >-\n  b\n  c\n...\n", "a:\r  b: 1\r  c: 2\r",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		doc, err := yamlToJSON(data)
		if err != nil {
			return
		}
		if !json.Valid(doc) {
			t.Fatalf("%q is not JSON: %s", data, doc)
		}
		if doc, err = transfer.ParseDocument(doc); err != nil {
			return
		}
		again, err := yamlToJSON(jsonToYAML(doc))
		if err != nil {
			t.Fatalf("%q as %s was written as %s: %v", data, doc, jsonToYAML(doc), err)
		}
		if was, is := spelled(gjson.ParseBytes(doc)), spelled(gjson.ParseBytes(again)); string(was) != string(is) {
			t.Errorf("%q says %s, and written by us %s", data, was, is)
		}
	})
}

// Any content of a document becomes sessions or problems, and no session has a name or key that is
// a path to another place.
func FuzzLayouts(f *testing.F) {
	for i, seed := range []string{
		`{"checkpoint": {"id": "cp-1-20260203T100500Z", "step_number": 1, "created_at": "2026-02-03T10:05:00Z", "state": {}}}`,
		`{"checkpoint_id": "x", "project_id": "p", "phase": "phase_1", "timestamp": "2026-02-11T09:15:00.000Z", "state": {}}`,
		`{"workflow_type": "implement", "workflow_state": {}, "created_at": "2026-03-01T08:15:00Z"}`,
		"checkpoint_id: CP-a\ncreated_at: 2026-02-03T10:05:00Z\nworkflow_state: {current_phase: enrich}",
		`{"prd": "PRD-001", "status": "paused", "timestamp": "2026-03-01T08:15:00Z"}`,
	} {
		f.Add(byte(i), []byte(seed), []byte(`{"manifest": {"checkpoints": [{"id": "cp-01-init"}], "rollback_history": [{"to": "cp-01-init", "time": "2026-03-01T08:15:00Z"}]}}`))
	}
	places := map[string][2]string{
		GoTeam:      {"checkpoints/s/cp-01-init.json", "checkpoints/s/manifest.json"},
		UltraCreate: {".ultra-state/checkpoints/cp_20260211_091500_phase1.json", ".ultra-state/checkpoints/b.json"},
		Orchestrate: {"checkpoints/implement_a_20260301_081500.json", "checkpoints/failed/b.json"},
		Crunch:      {".claude/crunch/1/checkpoints/CP-a.yaml", ".claude/crunch/1/checkpoints/index.yaml"},
		Pipeline:    {".claude/skills/build-pipeline/checkpoints/PRD-001.json", ".claude/skills/build-pipeline/checkpoints/b.json"},
	}
	f.Fuzz(func(t *testing.T, which byte, document, beside []byte) {
		format := Formats()[int(which)%5]
		dir := t.TempDir()
		for i, content := range [][]byte{document, beside} {
			file := filepath.Join(dir, filepath.FromSlash(places[format][i]))
			if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(file, content, 0o666); err != nil {
				t.Fatal(err)
			}
		}
		in, err := place{dir: dir}.open()
		if err != nil {
			t.Fatal(err)
		}
		defer in.root.Close() //nolint:errcheck // only read
		r := &reading{tree: in}
		layouts()[format].read(r)
		for _, s := range r.sessions {
			if s.Session != string(name.SessionFor(s.Session)) {
				t.Errorf("session %q", s.Session)
			}
			for _, step := range s.Steps {
				if d := step.Document; d != nil && (!filepath.IsLocal(d.Path) || path.Clean(d.Key) != d.Key || d.At.IsZero()) {
					t.Errorf("document %q at %q of %s", d.Key, d.Path, d.At)
				}
			}
		}
	})
}
