package transfer_test

import (
	"slices"
	"testing"
	"time"

	"github.com/tidwall/gjson"

	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/test/verbtest"
	"git-checkpoint/internal/verb/transfer"
)

// repository makes a repository with one commit on main and returns the service in it, with what
// runs git there.
func repository(t *testing.T) (*checkpoint.Service, func(args ...string) string) {
	t.Helper()
	w := verbtest.New(t)
	return w.Open(), w.Git
}

// document is one of pipeline's, at an hour of the day.
func document(t *testing.T, key string, hour int, text string) transfer.ImportStep {
	t.Helper()
	doc, err := transfer.ParseDocument([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return transfer.ImportStep{Document: &transfer.ImportDocument{
		Key: key, Path: key + ".json", JSON: doc, At: time.Date(2026, 3, 1, hour, 0, 0, 0, time.UTC),
		Kept: []transfer.ImportFile{{Name: "document.json", Content: []byte(text)}},
	}}
}

func bringIn(t *testing.T, s *checkpoint.Service, dry bool, in transfer.ImportSession) []string {
	t.Helper()
	got, err := transfer.Import(t.Context(), s.Rules, []transfer.ImportSession{in}, dry)
	if err != nil {
		t.Fatal(err)
	}
	actions := []string{}
	for _, d := range got {
		actions = append(actions, d.Action)
	}
	return actions
}

func archive(t *testing.T, s *checkpoint.Service) *transfer.Archive {
	t.Helper()
	a, err := transfer.ReadArchive(t.Context(), s.Rules, "shop")
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// Each document becomes a checkpoint with its own time, state and original; importing again adds
// nothing, another spelling is no change, and a changed document adds one checkpoint.
func TestImportCanBeRepeated(t *testing.T) {
	s, git := repository(t)
	before := git("rev-parse", "HEAD") + git("status", "--porcelain") + git("config", "--local", "--list")
	in := transfer.ImportSession{Session: "shop", Format: "default", Topic: "books", Branch: "main", CreatedAt: time.Date(2026, 3, 1, 8, 0, 0, 0, time.UTC),
		Steps: []transfer.ImportStep{document(t, "one", 9, `{"n": 1}`), document(t, "two", 10, `{"n": 2}`)}}
	expect := func(about string, dry bool, want ...string) {
		t.Helper()
		if got := bringIn(t, s, dry, in); !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", about, got, want)
		}
	}
	expect("a dry run", true, "added", "added")
	if _, err := transfer.ReadArchive(t.Context(), s.Rules, "shop"); checkpoint.KindOf(err) != checkpoint.KindNotFound {
		t.Errorf("after a dry run: %v", err)
	}
	expect("the first time", false, "added", "added")
	expect("again", false, "unchanged", "unchanged")
	in.Steps[1] = document(t, "two", 10, "{\n  \"n\": 2\n}")
	expect("another spelling", false, "unchanged", "unchanged")
	in.Steps[1] = document(t, "two", 10, `{"n": 3}`)
	expect("changed", false, "unchanged", "changed")

	a := archive(t, s)
	if len(a.Checkpoints) != 3 || a.Touched {
		t.Fatalf("%d checkpoints, touched %v", len(a.Checkpoints), a.Touched)
	}
	first, last := a.Checkpoints[0], a.Checkpoints[2]
	if n := gjson.GetBytes(first.Record.State, "n").Raw; n != "1" || string(first.Import.Files["document.json"]) != `{"n": 1}` || first.Record.CreatedAt.Hour() != 9 {
		t.Errorf("the first is %s at %v, from %q", first.Record.State, first.Record.CreatedAt, first.Import.Files)
	}
	if n := gjson.GetBytes(last.Record.State, "n").Raw; n != "3" || a.Current != last.Record.ID {
		t.Errorf("the last is %s, current %s", last.Record.State, a.Current)
	}
	if after := git("rev-parse", "HEAD") + git("status", "--porcelain") + git("config", "--local", "--list"); after != before {
		t.Errorf("before:\n%s\nafter:\n%s", before, after)
	}
}

// A commit and a branch are linked only if they exist here.
func TestImportLinksWhatExists(t *testing.T) {
	s, git := repository(t)
	here := git("rev-parse", "HEAD")[:40]
	known, unknown := document(t, "known", 9, `{"n": 1}`), document(t, "unknown", 10, `{"n": 2}`)
	known.Document.Commit, known.Document.Branch = here[:12], "main"
	unknown.Document.Commit, unknown.Document.Branch = "0123456789abcdef0123456789abcdef01234567", "elsewhere"
	bringIn(t, s, false, transfer.ImportSession{Session: "shop", Format: "default", CreatedAt: known.Document.At, Steps: []transfer.ImportStep{known, unknown}})
	a := archive(t, s)
	if c := a.Checkpoints[0].Record; string(c.Git.Head) != here || c.Git.Branch != "refs/heads/main" || c.Snapshot.Tree == "" {
		t.Errorf("known: %+v, tree %q", c.Git, c.Snapshot.Tree)
	}
	if c := a.Checkpoints[1].Record; c.Git.Head != "" || c.Git.Branch != "" || c.Snapshot.Tree != "" {
		t.Errorf("unknown: %+v, tree %q", c.Git, c.Snapshot.Tree)
	}
}

// A rollback of the other system is one here, and its current document is current.
func TestImportGoesBack(t *testing.T) {
	s, _ := repository(t)
	in := transfer.ImportSession{Session: "shop", Format: "default", CreatedAt: time.Date(2026, 3, 1, 8, 0, 0, 0, time.UTC), Steps: []transfer.ImportStep{
		document(t, "one", 9, `{"n": 1}`), document(t, "two", 10, `{"n": 2}`),
		{Rollback: &transfer.ImportRollback{From: "two", To: "one", At: time.Date(2026, 3, 1, 11, 0, 0, 0, time.UTC), Reason: "too early"}},
	}}
	bringIn(t, s, false, in)
	bringIn(t, s, false, in)
	a := archive(t, s)
	if a.Current != a.Checkpoints[0].Record.ID || a.Checkpoints[1].Live || !a.Checkpoints[1].Discarded {
		t.Errorf("current is %s, the second live %v", a.Current, a.Checkpoints[1].Live)
	}
	if len(a.Rollbacks) != 1 || a.Rollbacks[0].Reason != "too early" || !a.Rollbacks[0].Imported {
		t.Errorf("rollbacks are %+v", a.Rollbacks)
	}
	if len(a.Checkpoints) != 2 {
		t.Errorf("imported twice, there are %d checkpoints", len(a.Checkpoints))
	}
}
