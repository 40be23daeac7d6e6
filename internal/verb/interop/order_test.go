package interop

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/verb/session"
	"git-checkpoint/internal/verb/transfer"
)

// What a list names stays in its order, whatever the times say, and the others come before the
// first that is later.
func TestOrderOfDocuments(t *testing.T) {
	documents := func(spec string) (all []*transfer.ImportDocument) {
		for word := range strings.FieldsSeq(spec) {
			key, hour, _ := strings.Cut(word, "@")
			at, err := time.Parse("15", hour)
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, &transfer.ImportDocument{Key: key, At: at})
		}
		return all
	}
	for _, c := range []struct{ documents, listed, want string }{
		{"c@03 a@01 b@02", "", "a b c"},
		{"a@01 b@02 c@03", "c b a", "c b a"},
		{"a@03 b@01 x@02", "a b", "x a b"},
		{"x@02 b@01 a@03", "b a", "b x a"},
		{"y@05 x@05 a@05", "a", "a x y"},
	} {
		listed := strings.Fields(c.listed)
		got := ordered(documents(c.documents), func(d *transfer.ImportDocument) int { return slices.Index(listed, d.Key) + 1 })
		var keys []string
		for _, d := range got {
			keys = append(keys, d.Key)
		}
		if strings.Join(keys, " ") != c.want {
			t.Errorf("%s, listed %q: order is %q, want %q", c.documents, c.listed, keys, c.want)
		}
	}
}

// crunch's index names documents by their id, which a renamed file does not have in its name; latest
// leads to a file. The branch of the issue is that of the last document.
func TestCrunchIndexNamesIDs(t *testing.T) {
	dir := filepath.Join(t.TempDir(), ".claude/crunch/57/checkpoints")
	write := func(name, text string) {
		if err := os.MkdirAll(dir, 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	write("index.yaml", "checkpoints:\n  - checkpoint_id: CP-one\n  - checkpoint_id: CP-two\nlatest: CP-one\n")
	write("a-renamed.yaml", "checkpoint_id: CP-two\ncreated_at: \"2026-01-01T00:00:00Z\"\nissue_snapshot: {branch: new}\n")
	write("b-renamed.yaml", "checkpoint_id: CP-one\ncreated_at: \"2026-01-02T00:00:00Z\"\nissue_snapshot: {branch: old}\n")
	read := func() *reading {
		root, err := os.OpenRoot(strings.TrimSuffix(dir, "/.claude/crunch/57/checkpoints"))
		if err != nil {
			t.Fatal(err)
		}
		defer root.Close() //nolint:errcheck // a test
		r := &reading{tree: &tree{root: root}}
		crunch{}.read(r)
		if len(r.problems)+len(r.warnings) > 0 || len(r.sessions) != 1 || len(r.sessions[0].Steps) != 2 {
			t.Fatalf("problems %v, warnings %q, %d sessions", r.problems, r.warnings, len(r.sessions))
		}
		return r
	}
	in := read().sessions[0]
	if got := in.Steps[0].Document.OwnID + " " + in.Steps[1].Document.OwnID; got != "CP-one CP-two" {
		t.Errorf("the order is %s", got)
	}
	if in.Current != "b-renamed" || in.Branch != "new" {
		t.Errorf("current is %q, the branch %q", in.Current, in.Branch)
	}
	write("latest", "a-renamed.yaml\n")
	if in := read().sessions[0]; in.Current != "a-renamed" {
		t.Errorf("with a file latest, current is %q", in.Current)
	}
}

// A session of orchestrate that is closed as failed here has its imported document in failed/, with that status.
func TestFailedHereIsInFailed(t *testing.T) {
	w, to := newWorld(t), t.TempDir()
	w.bringIn("testdata/samples/orchestrate")
	w.takeOut(to, Orchestrate)
	before := documents(t, to)
	for p := range before {
		if strings.HasPrefix(p, "checkpoints/failed/") {
			continue
		}
		again := t.TempDir()
		id := strings.TrimSuffix(filepath.Base(p), ".json")
		w.Must(func(ctx context.Context, s *checkpoint.Service) error {
			_, err := session.Close(ctx, s, id, "failed")
			return err
		})
		w.takeOut(again, Orchestrate)
		after := documents(t, again)
		if failed := "checkpoints/failed/" + id + ".json"; after[failed] != strings.Replace(before[p], `"in_progress"`, `"failed"`, 1) || after[p] != "" {
			t.Errorf("%s is not in failed/: %q", p, after)
		}
		return
	}
	t.Error("no document is open")
}

// What a program has open is read with its log, and nothing is written beside it. The log of an earlier
// copy must not stay beside a newer copy of the database.
func TestOpenDatabaseIsRead(t *testing.T) {
	dir, to := t.TempDir(), t.TempDir()
	file := filepath.Join(dir, "a.db")
	db, err := openDatabase(file, "mode=rwc&_pragma=journal_mode(wal)")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close() //nolint:errcheck // a test
	for _, row := range []string{"a", "b"} {
		if _, err := writeRows(db, []*ultraRow{{ID: row}}, nil, nil); err != nil {
			t.Fatal(err)
		}
	}
	sides := func() (all []string) {
		for _, side := range []string{"", "-wal", "-journal"} {
			data, err := os.ReadFile(file + side)
			all = append(all, fmt.Sprint(string(data), err))
		}
		return all
	}
	before := sides()
	rows, err := readDatabase(file)
	if len(rows) != 2 || err != nil || !slices.Equal(sides(), before) {
		t.Errorf("%d rows, %v", len(rows), err)
	}
	if _, err := db.Exec("PRAGMA journal_mode = delete"); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(to, "a.db-wal"), []byte("frames of the first try"), 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := copyDatabase(file, to); err != nil {
		t.Error(err)
	}
	if _, err := os.Lstat(filepath.Join(to, "a.db-wal")); !os.IsNotExist(err) {
		t.Errorf("the log stays: %v", err)
	}
}
