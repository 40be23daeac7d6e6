package interop

import (
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const (
	goodTeam     = `{"checkpoint": {"id": "cp-1-20260203T100500Z", "session_id": "s-1", "step_number": 1, "created_at": "2026-02-03T10:05:00Z", "state": {"topic": "t"}}}`
	goodUltra    = `{"checkpoint_id": "cp_20260211_091500_phase1", "project_id": "p", "phase": "phase_1", "timestamp": "2026-02-11T09:15:00.000Z", "state": {}}`
	goodCrunch   = "checkpoint_id: CP-a\ncreated_at: \"2026-02-03T10:05:00Z\"\nissue_number: 5\nworkflow_state:\n  current_phase: enrich\n"
	goodPipeline = `{"prd": "PRD-001", "status": "paused", "timestamp": "2026-03-01T08:15:00Z"}`
	goodOrch     = `{"workflow_type": "implement", "workflow_state": {}, "created_at": "2026-03-01T08:15:00Z"}`

	teamFile   = "checkpoints/s-1/cp-02-requirements.json"
	crunchFile = ".claude/crunch/5/checkpoints/CP-b.yaml"
	ultraFile  = ".ultra-state/checkpoints/cp_20260211_091600_phase2.json"
	prdFile    = ".claude/skills/build-pipeline/checkpoints/PRD-002.json"
	orchFile   = "checkpoints/implement_b_20260301_081500.json"
)

// bomb is a list of lists of aliases.
func bomb() string {
	s := "a0: &a0 [x, x, x, x, x, x, x, x, x]\n"
	for i := range 11 {
		s += fmt.Sprintf("a%d: &a%d [%s]\n", i+1, i+1, strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*a%d, ", i), 9), ", "))
	}
	return s
}

func members20001() string {
	var b strings.Builder
	for i := range 20_001 {
		fmt.Fprintf(&b, "k%d: v\n", i)
	}
	return b.String()
}

// Malicious input in place of a document is reported with file and position, and none of it is
// imported. The other documents are imported only with KeepGoing.
func TestRefusedDocuments(t *testing.T) {
	goods := map[string][2]string{
		GoTeam: {"checkpoints/s-1/cp-01-init.json", goodTeam}, UltraCreate: {".ultra-state/checkpoints/cp_20260211_091500_phase1.json", goodUltra},
		Crunch: {".claude/crunch/5/checkpoints/CP-a.yaml", goodCrunch}, Pipeline: {".claude/skills/build-pipeline/checkpoints/PRD-001.json", goodPipeline},
		Orchestrate: {"checkpoints/implement_a_20260301_081500.json", goodOrch},
	}
	second := strings.NewReplacer("cp-1-2", "cp-2-2", `step_number": 1`, `step_number": 2`).Replace(goodTeam)
	inState := func(raw string) string { return strings.Replace(second, `"t"`, raw, 1) }
	more := func(raw string) string { return strings.Replace(goodCrunch, "CP-a", "CP-b", 1) + raw }
	for _, c := range []struct{ format, file, content, want string }{
		{GoTeam, teamFile, second[:60], "line 1, offset 60: not JSON"},
		{GoTeam, teamFile, inState(strings.Repeat("[", 200) + strings.Repeat("]", 200)), "nested more than 95 deep"},
		{GoTeam, teamFile, inState(`1, "topic": 2`), `"checkpoint.state.topic": a second member of this name`},
		{GoTeam, teamFile, inState("\"\xff\""), "not UTF-8"},
		{GoTeam, teamFile, "", "not JSON"},
		{GoTeam, teamFile, "[]", "neither state nor step_number"},
		{GoTeam, teamFile, strings.Replace(second, `step_number": 2`, `step_number": -2`, 1), "step_number -2 is not a step"},
		{GoTeam, teamFile, strings.Replace(second, `{"topic": "t"}`, `"done"`, 1), "its state is not an object"},
		{GoTeam, teamFile, strings.Replace(second, "cp-2-20260203T100500Z", "../../x", 1), `id "../../x" is not a plain file name`},
		{GoTeam, teamFile, strings.Replace(second, "cp-2-20260203T100500Z", `a\u001b[31m`, 1), "is not a plain file name"},
		{GoTeam, teamFile, strings.Replace(second, "cp-2-", "cp-1-", 1), "other contents"},
		{GoTeam, "checkpoints/s-1/manifest.json", `{"manifest": `, "not JSON"},
		{GoTeam, "checkpoints/a\xffb/cp-01-init.json", goodTeam, "is not a plain file name"},
		{GoTeam, "checkpoints/a\nb/cp-01-init.json", goodTeam, `checkpoints/a\nb: the id "a\nb" is not a plain file name`},
		{GoTeam, "checkpoints/S-1/cp-01-init.json", goodTeam, "another document has the same session"},
		{UltraCreate, ultraFile, strings.NewReplacer("0_phase1", "1_phase2", `"p"`, `"../p"`).Replace(goodUltra), "project_id: the id"},
		{UltraCreate, ultraFile, goodUltra + "x", "not JSON"},
		{UltraCreate, ultraFile, strings.Replace(goodUltra, "{}", "[]", 1), "it has no state"},
		{Orchestrate, orchFile, `{"workflow_type": "implement"}`, "it has no workflow_state"},
		{Orchestrate, "checkpoints/failed/implement_a_20260301_081500.json", strings.Replace(goodOrch, "{}", `{"a": 1}`, 1), "other contents"},
		{Pipeline, prdFile, strings.Replace(goodPipeline, "PRD-001", "../PRD-002", 1), "is not of the form PRD-014"},
		{Pipeline, prdFile, strings.Replace(goodPipeline, "2026-03-01T08:15:00Z", "soon", 1), "not an ISO 8601 time"},
		{Pipeline, prdFile, strings.Replace(goodPipeline, "2026-03-01", "0001-01-01", 1), "not an ISO 8601 time from 1970 on"},
		{Crunch, crunchFile, strings.NewReplacer("CP-a", "CP-b", "2026", "1969").Replace(goodCrunch), "no created_at that is a time from 1970 on"},
		{Pipeline, prdFile, strings.Replace(goodPipeline, "paused", "failed", 1), "other contents"},
		{Crunch, crunchFile, more("x: [1"), "not YAML"},
		{Crunch, crunchFile, more("x: 1\nx: 2\n"), `line 7: a second member called "x"`},
		{Crunch, crunchFile, more(bomb()), "its aliases expand to more than"},
		{Crunch, crunchFile, more("x: &a [*a]\n"), "line 6"},
		{Crunch, crunchFile, more("x: !!python/object:os.system [id]\n"), "line 6: the tag"},
		{Crunch, crunchFile, more("b: &b {c: 1}\nx:\n  <<: *b\n"), "line 8: a merge key"},
		{Crunch, crunchFile, more("---\nb: 1\n"), "more than one document"},
		{Crunch, crunchFile, more("x: " + strings.Repeat("[", 5000)), "line 6"},
		{Crunch, crunchFile, more("x: " + strings.Repeat("[", 150) + strings.Repeat("]", 150)), "nested more than 95 deep"},
		{Crunch, crunchFile, more(strings.ReplaceAll(strings.ReplaceAll(members20001(), "k", "? k"), ": v", "\n: v")), "more than 60000 lines"},
		{Crunch, crunchFile, more("x: a\x00b\n"), "line 6: a control character"},
		{Crunch, crunchFile, more("x: \xff\n"), "line 6: not UTF-8"},
		{Crunch, crunchFile, strings.Replace(more(""), "CP-b", "../CP-b", 1), "is not a plain file name"},
		{Crunch, crunchFile, strings.Replace(more("x: 1\n"), "CP-b", "CP-a", 1), "other contents"},
		{Crunch, crunchFile, strings.Replace(more(""), "issue_number: 5", "issue_number: 6", 1), "issue_number 6 in the directory of 5"},
		{Crunch, ".claude/crunch/5/checkpoints/index.yaml", "a: [", "not YAML"},
	} {
		g := &gen{dir: t.TempDir()}
		g.write(goods[c.format][0], []byte(goods[c.format][1]))
		g.write(c.file, []byte(c.content))
		refused(t, g.dir, c.format, c.file, c.want)
	}
}

// refused reads a layout with one good document and one that has to be refused.
func refused(t *testing.T, dir, format, file, want string) {
	t.Helper()
	in, err := place{dir: dir}.open()
	if err != nil {
		t.Fatal(err)
	}
	defer in.root.Close() //nolint:errcheck // only read
	r := &reading{tree: in}
	layouts()[format].read(r)
	if len(r.problems) != 1 || !strings.Contains(r.problems[0].String(), want) || !strings.EqualFold(filepath.Dir(r.problems[0].Path), filepath.Dir(file)) && !strings.EqualFold(r.problems[0].Path, filepath.Dir(file)) && r.problems[0].Path != file {
		t.Errorf("%s with %q: %v", file, want, r.problems)
	}
	documents := 0
	for _, s := range r.sessions {
		documents += len(s.Steps)
	}
	if documents != 1 {
		t.Errorf("%s with %q: %d documents are left", file, want, documents)
	}
}

// Links out of the directory, and files that are not regular.
func TestRefusedFiles(t *testing.T) {
	outside := filepath.Join(t.TempDir(), "outside.json")
	if err := os.WriteFile(outside, []byte(goodTeam), 0o666); err != nil {
		t.Fatal(err)
	}
	for want, make := range map[string]func(string) error{
		"a symbolic link points out":             func(p string) error { return os.Symlink(outside, p) },
		"a broken symbolic link is in the way":   func(p string) error { return os.Symlink("nowhere", p) },
		"too many levels of symbolic links":      func(p string) error { return os.Symlink(filepath.Base(p), p) },
		"it is not a regular file":               func(p string) error { return os.Mkdir(p, 0o777) },
		"bytes; the limit is 52428800":           func(p string) error { return os.WriteFile(p, nil, 0o666) },
		"a symbolic link points out of the dire": func(p string) error { return os.Symlink("../../../outside.json", p) },
	} {
		g := &gen{dir: t.TempDir()}
		g.write("checkpoints/s-1/cp-01-init.json", []byte(goodTeam))
		file := filepath.Join(g.dir, filepath.FromSlash(teamFile))
		if err := make(file); err != nil {
			t.Fatal(err)
		}
		if strings.HasPrefix(want, "bytes") {
			if err := os.Truncate(file, maxDocument+1); err != nil {
				t.Fatal(err)
			}
		}
		refused(t, g.dir, GoTeam, teamFile, want)
	}
}

// Files that are not databases, and databases that are not ultra-create's.
func TestRefusedDatabases(t *testing.T) {
	const table = `CREATE TABLE checkpoints (id TEXT PRIMARY KEY, project_id TEXT, phase TEXT, state TEXT, timestamp TEXT)`
	for want, script := range map[string]string{
		`has another column, "project"`:           `CREATE TABLE checkpoints (id, project, phase, state, timestamp)`,
		"has no column state":                     `CREATE TABLE checkpoints (id, project_id, phase, timestamp)`,
		`has a trigger, "t"`:                      table + `; CREATE TRIGGER t AFTER INSERT ON checkpoints BEGIN SELECT 1; END`,
		"is a view, not a table":                  `CREATE TABLE z (id, project_id, phase, state, timestamp); CREATE VIEW checkpoints AS SELECT * FROM z`,
		"projects.db#cp_a: parsing JSON":          table + `; INSERT INTO checkpoints VALUES ('cp_a', 'p', 'phase_1', '{', '2026-02-11T09:15:00Z')`,
		`the id "../cp" is not a plain file name`: table + `; INSERT INTO checkpoints VALUES ('../cp', 'p', 'phase_1', '{}', '2026-02-11T09:15:00Z')`,
		"a row has no id":                         table + `; INSERT INTO checkpoints VALUES (NULL, NULL, NULL, NULL, NULL)`,
		"projects.db#cp_b: project_id: the id":    table + `; INSERT INTO checkpoints VALUES ('cp_b', '../p', 'phase_1', '{}', '2026-02-11T09:15:00Z')`,
		"it is not a SQLite database":             "",
	} {
		g := &gen{dir: t.TempDir()}
		g.write(".ultra-state/checkpoints/cp_20260211_091500_phase1.json", []byte(goodUltra))
		g.write(ultraDatabase, []byte("no database, but some text of more than a few bytes"))
		if script != "" {
			file := filepath.Join(g.dir, filepath.FromSlash(ultraDatabase))
			if err := os.Remove(file); err != nil {
				t.Fatal(err)
			}
			db, err := sql.Open("sqlite", file)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := db.Exec(script); err != nil {
				t.Fatal(err)
			}
			db.Close() //nolint:errcheck // a test
		}
		refused(t, g.dir, UltraCreate, ultraDatabase, want)
	}
}
