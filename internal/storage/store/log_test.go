package store

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"git-checkpoint/internal/format/journal"
	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/git"
	"git-checkpoint/internal/test/gittest"
)

// log reads a journal as a new process would.
func (f *fixture) log(session name.Session) *journal.Log {
	f.Helper()
	l, err := New(Options{Repo: f.Repo}).Log(f.Context(), session)
	if err != nil {
		f.Fatal(err)
	}
	return l
}

func (f *fixture) status(session name.Session, words ...string) {
	f.Helper()
	var c Change
	for _, w := range words {
		c.Events = append(c.Events, journal.Event{Kind: journal.KindStatus, Status: w})
	}
	f.mustChange(session, c)
}

// The cache returns what the repository has, after few and after many new commits.
func TestLogFromCache(t *testing.T) {
	for _, format := range gittest.Formats() {
		t.Run(format, func(t *testing.T) {
			f := newFixture(t, "--object-format="+format)
			f.create("demo", milestone{})
			f.log("demo")
			cached := f.path("checkpoint", "journal-demo")
			for _, many := range []int{1, 3, 52, 2} {
				stale, err := os.ReadFile(cached)
				if err != nil {
					t.Fatal(err)
				}
				words := make([]string, many)
				for i := range words {
					words[i] = fmt.Sprint("status ", i)
				}
				f.status("demo", words...)
				fresh, err := os.ReadFile(cached)
				if err != nil || !bytes.HasPrefix(fresh, stale) {
					t.Errorf("the cache was not extended: %v", err)
				}
				if err := os.WriteFile(cached, stale, 0o666); err != nil { // as another worktree has it
					t.Fatal(err)
				}
				warm := f.log("demo")
				if again, _ := os.ReadFile(cached); !bytes.Equal(again, fresh) {
					t.Error("reading did not bring the cache up to date")
				}
				if err := os.Remove(cached); err != nil {
					t.Fatal(err)
				}
				cold := f.log("demo")
				if !bytes.Equal(warm.Encode(), cold.Encode()) {
					t.Errorf("warm and cold differ after %d commits", many)
				}
			}
		})
	}
}

// A cache with any kind of damage is discarded, and a new one is written.
func TestDamagedCache(t *testing.T) {
	f := newFixture(t)
	for range 3 {
		f.create("demo", milestone{})
	}
	cached := f.path("checkpoint", "journal-demo")
	good, err := os.ReadFile(cached)
	if err != nil {
		t.Fatal(err)
	}
	want := f.log("demo").Encode()
	damage := map[string][]byte{
		"empty": {}, "short": good[:len(good)-3], "text": []byte("hello"), "twice": append(slices.Clone(good), good[30:]...),
	}
	for _, at := range []int{0, 10, 40, len(good) / 2, len(good) - 1} {
		flipped := slices.Clone(good)
		flipped[at] ^= 4
		damage[fmt.Sprint("flipped ", at)] = flipped
	}
	for what, data := range damage {
		if err := os.WriteFile(cached, data, 0o666); err != nil {
			t.Fatal(err)
		}
		if got := f.log("demo").Encode(); !bytes.Equal(got, want) {
			t.Errorf("%s: another journal", what)
		}
		if again, err := os.ReadFile(cached); err != nil || !bytes.Equal(again, good) {
			t.Errorf("%s: the cache was not written anew: %v", what, err)
		}
	}
}

// If a ref was set back or moved to another history, the ref is believed and the cache is not.
func TestLogAfterRewrite(t *testing.T) {
	f := newFixture(t)
	f.create("demo", milestone{})
	old := f.Git("rev-parse", "refs/checkpoints/demo/journal")
	f.status("demo", "paused")
	f.Git("update-ref", "refs/checkpoints/demo/journal", old)
	if l := f.log("demo"); string(l.Tip().OID) != old || l.Len() != 2 {
		t.Errorf("%v, %d nodes", l.Tip(), l.Len())
	}
	f.status("demo", "failed")
	if st := f.log("demo").Fold(); st.Status != "failed" || len(st.Events()) != 3 {
		t.Errorf("%+v", st)
	}
}

// Two processes read the same cache and add to the journal. One extends the file; the other one
// notices that and does not damage it.
func TestCacheOfTwoWriters(t *testing.T) {
	f := newFixture(t)
	f.create("demo", milestone{})
	other := &fixture{f.Repository, New(Options{Repo: f.Repo})}
	if _, err := other.State(t.Context(), "demo"); err != nil {
		t.Fatal(err)
	}
	f.status("demo", "paused")
	other.status("demo", "failed") // knows less of the file than there is
	data, err := os.ReadFile(f.path("checkpoint", "journal-demo"))
	if err != nil {
		t.Fatal(err)
	}
	if l, err := journal.Decode(data); err != nil || l.Len() != 3 {
		t.Errorf("%v", err)
	}
	if st := f.log("demo").Fold(); st.Status != "failed" || len(st.Events()) != 4 {
		t.Errorf("%+v", st)
	}
}

// Nothing breaks if the cache cannot be written.
func TestCacheCannotBeWritten(t *testing.T) {
	f := newFixture(t)
	f.create("demo", milestone{})
	if err := os.Remove(f.path("checkpoint", "journal-demo")); err != nil {
		t.Fatal(err)
	}
	f.Write(f.path("checkpoint", "journal-demo", "x"), "a directory is in the way")
	f.status("demo", "failed")
	if st := f.log("demo").Fold(); st.Status != "failed" {
		t.Errorf("%+v", st)
	}
	if left, _ := filepath.Glob(f.path("checkpoint", TempPrefix+"*")); len(left) != 0 {
		t.Errorf("temporaries: %q", left)
	}
}

func TestBrokenJournal(t *testing.T) {
	f := newFixture(t)
	if _, err := f.Store.Log(t.Context(), "demo"); !errors.Is(err, ErrNoSession) {
		t.Errorf("%v", err)
	}
	f.create("demo", milestone{})
	f.create("demo", milestone{})
	damage := func(what string) {
		t.Helper()
		os.Remove(f.path("checkpoint", "journal-demo")) //nolint:errcheck // it may be gone
		f.Store = New(Options{Repo: f.Repo})
		var damaged *DamagedError
		if _, err := f.Store.Log(t.Context(), "demo"); !errors.As(err, &damaged) || errors.Is(err, ErrNoSession) {
			t.Errorf("%s: %v", what, err)
		}
		if _, _, err := create(t.Context(), f.Store, "demo", milestone{}); !errors.As(err, &damaged) {
			t.Errorf("%s: %v", what, err)
		}
	}
	tip := f.Git("rev-parse", "refs/checkpoints/demo/journal")
	f.Git("update-ref", "refs/checkpoints/demo/journal", "HEAD")
	damage("not a journal")
	f.Git("update-ref", "refs/checkpoints/demo/journal", f.Git("rev-parse", "HEAD^{tree}"))
	damage("not a commit")
	f.Git("update-ref", "refs/checkpoints/demo/journal", f.Git("-c", "i18n.commitEncoding=ISO-8859-1", "commit-tree", "-p", tip,
		"-m", "status\n\nCheckpoint-Event: 1 status\nTime: 2026-11-20T09:43:11.123Z\nStatus: caf\xe9\nSession: demo\n", string(journal.EmptyTreeSHA1)))
	damage("another encoding")
	f.Git("update-ref", "refs/checkpoints/demo/journal", tip)
	f.drop(name.OID(f.Git("rev-parse", tip+"~1")))
	damage("a hole")
	f.drop(name.OID(tip))
	damage("no tip")
}

// A journal that a shallow clone has cut off is not taken for a complete one.
func TestShallowJournal(t *testing.T) {
	f := newFixture(t)
	f.create("demo", milestone{})
	f.create("demo", milestone{})
	tip := f.Git("rev-parse", "refs/checkpoints/demo/journal")
	f.drop(name.OID(f.Git("rev-parse", tip+"~1")))
	f.Write(f.path("shallow"), tip+"\n")
	os.Remove(f.path("checkpoint", "journal-demo")) //nolint:errcheck // the log below tells
	if _, err := f.open(f.Dir).Log(t.Context(), "demo"); !errors.Is(err, git.ErrShallow) {
		t.Errorf("%v", err)
	}
}

// Two clones make the same merge and can both continue from it.
func TestJoin(t *testing.T) {
	f := newFixture(t)
	one := f.create("demo", milestone{step: 1})
	root := f.Git("rev-parse", "refs/checkpoints/demo/journal")
	two := f.create("demo", milestone{step: 2})
	theirs := f.log("demo")
	f.Git("update-ref", "refs/checkpoints/demo/journal", root)
	f.Git("update-ref", "-d", string(name.CheckpointRef("demo", two)))
	three := f.create("demo", milestone{step: 3})
	mine := f.log("demo")
	if l, err := f.LogAt(t.Context(), theirs.Tip().OID, mine); err != nil || !bytes.Equal(l.Encode(), theirs.Encode()) {
		t.Errorf("%v", err)
	}
	joined, err := f.Join(t.Context(), mine, theirs)
	if err != nil {
		t.Fatal(err)
	}
	again, err := f.Join(t.Context(), theirs, mine)
	if err != nil || again.Tip().OID != joined.Tip().OID {
		t.Errorf("%v: %v and %v", err, again.Tip(), joined.Tip())
	}
	for what, pair := range map[string][2]*journal.Log{"older": {joined, mine}, "newer": {mine, joined}, "nil": {nil, joined}, "other nil": {joined, nil}} {
		if l, err := f.Join(t.Context(), pair[0], pair[1]); err != nil || l.Tip().OID != joined.Tip().OID {
			t.Errorf("%s: %v", what, err)
		}
	}
	entry := theirs.Fold().Entry(two)
	blob, err := f.RecordBlob(t.Context(), entry.Event().Commit)
	if err != nil {
		t.Fatal(err)
	}
	res := f.mustChange("demo", Change{
		Base: joined, Create: []NewCheckpoint{{ID: two, Commit: entry.Event().Commit, RecordBlob: blob}},
		Events: []journal.Event{{Kind: journal.KindStatus, Status: "joined"}},
	})
	if res.State.Status != "joined" || len(res.State.Checkpoints()) != 3 {
		t.Errorf("%+v", res.State)
	}
	if got := f.tags("demo"); got != fmt.Sprintf("step-1=%s step-2=%s step-3=%s", one, two, three) {
		t.Errorf("%q", got)
	}
	if l := f.log("demo"); l.Tip().OID != res.Tip || len(l.Events()) != 5 {
		t.Errorf("another journal was read back: %v, %d events", l.Tip(), len(l.Events()))
	}
	if _, err := f.change("demo", Change{Base: mine}); err == nil || !strings.Contains(err.Error(), "base") {
		t.Errorf("a base that lost events: %v", err)
	}
	f.Git("fsck", "--strict", "--no-dangling")
}

// What counts as seen in this worktree are events. A merge may be replaced by another one, and then
// the journal was not set back.
func TestSeenWithoutMerges(t *testing.T) {
	f := newFixture(t)
	f.create("demo", milestone{step: 1})
	root := f.Git("rev-parse", "refs/checkpoints/demo/journal")
	f.status("demo", "paused")
	theirs := f.log("demo")
	f.Git("update-ref", "refs/checkpoints/demo/journal", root)
	f.Forget("demo") //nolint:errcheck // as another clone
	f.status("demo", "failed")
	mine := f.log("demo")
	joined, err := f.Join(t.Context(), mine, theirs)
	if err != nil {
		t.Fatal(err)
	}
	set := func(tip name.OID) {
		f.Git("update-ref", "refs/checkpoints/demo/journal", string(tip))
		f.log("demo")
	}
	set(joined.Tip().OID)
	want := []name.OID{mine.Tip().OID, theirs.Tip().OID}
	slices.Sort(want)
	later := journal.MergeOf(mine.Tip(), journal.Tip{OID: theirs.Tip().OID, CommitterTime: mine.Tip().CommitterTime.Add(time.Hour)})
	merged := mergeCommit(&later)
	merged.Tree = git.HashObject("sha1", "tree", nil)
	other, err := f.Repo.Commits.Write(t.Context(), merged)
	if err != nil {
		t.Fatal(err)
	}
	set(other)
	seen := f.Seen("demo")
	slices.Sort(seen)
	if !slices.Equal(seen, want) {
		t.Errorf("seen are %v, not the events %v", seen, want)
	}
	set(mine.Tip().OID) // one of the two events is gone
	if seen := f.Seen("demo"); !slices.Contains(seen, theirs.Tip().OID) {
		t.Errorf("seen are %v, and %s was", seen, theirs.Tip().OID)
	}
}
