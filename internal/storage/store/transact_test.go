package store

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"git-checkpoint/internal/format/journal"
	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/git"
	"git-checkpoint/internal/test/gittest"
	"git-checkpoint/internal/test/scripttest"
)

func TestCreate(t *testing.T) {
	for _, format := range gittest.Formats() {
		t.Run(format, func(t *testing.T) {
			f := newFixture(t, "--object-format="+format)
			f.Git("config", "core.logAllRefUpdates", "always")
			one, two := f.create("demo", milestone{}), f.create("demo", milestone{iteration: "review"})
			f.Git("fsck", "--strict", "--no-dangling")
			if out := f.Git("fsck", "--lost-found"); out != "" {
				t.Errorf("fsck: %s", out)
			}
			if got, want := f.tags("demo"), fmt.Sprintf("step-1=%s step-2=%s step-2.review=%s", one, two, two); got != want {
				t.Errorf("tags %q, not %q", got, want)
			}
			for _, id := range []name.ID{one, two} {
				note := f.Git("notes", "--ref", "checkpoints", "show", string(f.commit("demo", id)))
				got, err := f.Stored(t.Context(), f.commit("demo", id))
				if err != nil || note+"\n" != string(got.Raw) || !strings.Contains(note, string(id)) {
					t.Errorf("note %q: %v", note, err)
				}
				if text := f.Git("cat-file", "-p", string(got.Commit)+":checkpoint.json"); text != note {
					t.Errorf("%q", text)
				}
			}
			st, err := f.State(t.Context(), "demo")
			if err != nil || st.Current != two || len(st.Checkpoints()) != 2 || st.Workflow != "go-team" {
				t.Errorf("%+v %v", st, err)
			}
			if _, err := os.Lstat(f.path("logs", "refs", "checkpoints")); err == nil {
				t.Error("a reflog was written")
			}
			if got := f.Git("log", "--format=%an %ae %ad|%cn", "--date=raw", "-1", "refs/checkpoints/demo/journal"); !strings.HasPrefix(got, "Ann ann@example.com ") || !strings.HasSuffix(got, "+0000|Ann") {
				t.Errorf("%q", got)
			}
		})
	}
}

// Every writer succeeds, and each gets its own step.
func TestParallelCreates(t *testing.T) {
	for i, format := range gittest.Formats() {
		for k, writers := range []int{8, 16} {
			t.Run(fmt.Sprint(format, " ", writers), func(t *testing.T) {
				scripttest.OneIn(t, 2, i+k)
				f := newFixture(t, "--object-format="+format)
				var wg sync.WaitGroup
				worst := make([]int, writers)
				for i := range writers {
					s := f.open(f.Dir)
					wg.Go(func() {
						_, res, err := create(t.Context(), s, "demo", milestone{})
						if err != nil {
							t.Error(err)
						}
						worst[i] = res.Tries
					})
				}
				wg.Wait()
				t.Log("tries", worst)
				checkRace(t, f, writers)
			})
		}
	}
}

// The same with several sessions and one Store that all writers share.
func TestParallelSessions(t *testing.T) {
	f := newFixture(t)
	var wg sync.WaitGroup
	for i := range 16 {
		wg.Go(func() {
			session := name.Session([]string{"one", "two"}[i%2])
			if _, _, err := create(t.Context(), f.Store, session, milestone{}); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	for _, session := range []name.Session{"one", "two"} {
		if st, err := f.State(t.Context(), session); err != nil || len(st.Checkpoints()) != 8 {
			t.Errorf("%s: %v", session, err)
		}
	}
	if notes, err := f.Notes(t.Context()); err != nil || len(notes) != 16 {
		t.Errorf("%d notes, %v", len(notes), err)
	}
}

// childEnv turns the test binary into a writer. Its value has the repository and the number of
// checkpoints.
const childEnv = "STORE_TEST_CHILD"

func TestMain(m *testing.M) {
	dir, isChild := os.LookupEnv(childEnv)
	if !isChild {
		os.Exit(m.Run())
	}
	ctx := context.Background()
	repo, err := git.Open(ctx, git.Options{Dir: dir})
	for i := 0; err == nil && i < 2; i++ {
		_, _, err = create(ctx, New(Options{Repo: repo}), "demo", milestone{})
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func TestParallelProcesses(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	f := newFixture(t)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			cmd := exec.Command(self)
			cmd.Env = append(append([]string(nil), f.Env...), childEnv+"="+f.Dir)
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("%v: %s", err, out)
			}
		})
	}
	wg.Wait()
	checkRace(t, f, 16)
}

func checkRace(t *testing.T, f *fixture, writers int) {
	t.Helper()
	st, err := f.State(t.Context(), "demo")
	if err != nil {
		t.Fatal(err)
	}
	steps := map[int]bool{}
	for _, c := range st.Checkpoints() {
		steps[c.Step] = true
	}
	if len(steps) != writers || len(st.Checkpoints()) != writers {
		t.Errorf("%d checkpoints, %d steps", len(st.Checkpoints()), len(steps))
	}
	if sums, err := f.Summaries(t.Context(), "demo"); err != nil || len(sums) != writers {
		t.Errorf("%d summaries, %v", len(sums), err)
	}
	if notes, err := f.Notes(t.Context()); err != nil || len(notes) != writers {
		t.Errorf("%d notes, %v", len(notes), err)
	}
	if got := strings.Fields(f.tags("demo")); len(got) != writers {
		t.Errorf("tags: %q", got)
	}
	f.Git("fsck", "--strict", "--no-dangling")
}

// Worktrees share everything except the active session and the caches.
func TestLinkedWorktree(t *testing.T) {
	f := newFixture(t)
	f.Git("worktree", "add", "-q", "../linked")
	linked := f.open(f.Dir + "/../linked")
	one := f.create("demo", milestone{})
	two, _, err := create(t.Context(), linked, "demo", milestone{})
	if err != nil {
		t.Fatal(err)
	}
	if st, err := f.State(t.Context(), "demo"); err != nil || st.Current != two || st.Entry(one) == nil || st.Entry(two).Step != 2 {
		t.Errorf("%+v %v", st, err)
	}
	if err := linked.SetActiveSession("demo"); err != nil {
		t.Fatal(err)
	}
	if got, err := f.ActiveSession(); got != "" || err != nil {
		t.Errorf("%q %v", got, err)
	}
	here, _ := f.WorktreeID()
	there, _ := linked.WorktreeID()
	if here == there {
		t.Errorf("both are %q", here)
	}
}

func TestReftable(t *testing.T) {
	f := newFixture(t)
	if out, err := f.Try("", "init", "-q", "--ref-format=reftable", "../reftable"); err != nil {
		t.Skipf("this git has none: %s", strings.SplitN(out, "\n", 2)[0])
	}
	f.Dir += "/../reftable"
	f.Git("commit", "-q", "--allow-empty", "-m", "first")
	f.Store = f.open(f.Dir)
	var wg sync.WaitGroup
	for range 4 {
		s := f.open(f.Dir)
		wg.Go(func() {
			if _, _, err := create(t.Context(), s, "demo", milestone{}); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	checkRace(t, f, 4)
}

// A lock that somebody has left is named in the error after a limited time, and is not removed.
func TestStaleLock(t *testing.T) {
	f := newFixture(t)
	f.create("demo", milestone{})
	f.patience = 300 * time.Millisecond
	for _, lock := range []string{"refs/checkpoints/demo/journal.lock", "refs/notes/checkpoints.lock"} {
		f.Write(f.path(lock), "")
		before := f.Git("for-each-ref")
		start := time.Now()
		_, _, err := create(t.Context(), f.Store, "demo", milestone{})
		var busy *BusyError
		if !errors.As(err, &busy) || !strings.HasSuffix(busy.Lock, lock) || !strings.Contains(err.Error(), lock) {
			t.Errorf("%v", err)
		}
		if time.Since(start) > 20*time.Second {
			t.Errorf("it took %s", time.Since(start))
		}
		if after := f.Git("for-each-ref"); after != before {
			t.Errorf("refs changed:\n%s\n%s", before, after)
		}
		if err := os.Remove(f.path(lock)); err != nil {
			t.Errorf("the lock is gone: %v", err)
		}
	}
	f.create("demo", milestone{})
}

func TestTransactEnds(t *testing.T) {
	f := newFixture(t)
	f.create("demo", milestone{})
	f.Write(f.path("refs/checkpoints/demo/journal.lock"), "")
	c, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	if _, _, err := create(c, f.Store, "demo", milestone{}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("%v", err)
	}
	own := errors.New("no")
	if _, err := f.Transact(t.Context(), "demo", func(context.Context, View) (Change, error) { return Change{}, own }); !errors.Is(err, own) {
		t.Errorf("%v", err)
	}
	before := f.Git("for-each-ref")
	res := f.mustChange("demo", Change{})
	if len(res.Events) != 0 || res.State == nil || f.Git("for-each-ref") != before {
		t.Errorf("an empty change changed something: %+v", res)
	}
}

// Events of a later version are skipped when reading, and nothing is written on top of them.
func TestLaterVersion(t *testing.T) {
	f := newFixture(t)
	f.create("demo", milestone{})
	tip := f.Git("rev-parse", "refs/checkpoints/demo/journal")
	message := "dance\n\nCheckpoint-Event: 1 dance\nTime: 2026-11-20T09:43:11.123Z\nSession: demo\n"
	next := f.Git("commit-tree", "-p", tip, "-m", message, string(journal.EmptyTreeSHA1))
	f.Git("update-ref", "refs/checkpoints/demo/journal", next)
	built := false
	_, err := f.Transact(t.Context(), "demo", func(context.Context, View) (Change, error) {
		built = true
		return Change{}, nil
	})
	var later *ReadOnlyError
	if !errors.As(err, &later) || built {
		t.Errorf("%v, built: %v", err, built)
	}
	if st, err := f.State(t.Context(), "demo"); err != nil || len(st.Checkpoints()) != 1 {
		t.Errorf("%v", err)
	}
}

func TestTwin(t *testing.T) {
	f := newFixture(t)
	f.create("Demo", milestone{})
	var twin *TwinError
	if _, _, err := create(t.Context(), f.Store, "demo", milestone{}); !errors.As(err, &twin) || twin.Existing != "Demo" {
		t.Errorf("%v", err)
	}
	f.create("Demo", milestone{})
	f.create("demo2", milestone{})
}

// An id that is taken loses like any other race; build draws another one.
func TestTakenID(t *testing.T) {
	f := newFixture(t)
	fixed := time.Date(2026, 11, 20, 9, 43, 11, 0, time.UTC)
	f.Now = func() time.Time { return fixed }
	// The id of one; then a taken id and a pause, twice; then a free id.
	numbers := []uint32{7, 0, 1, 0, 1, 8}
	f.Random = func() uint32 {
		n := numbers[0]
		numbers = numbers[1:]
		return n
	}
	one := f.create("demo", milestone{step: 1})
	f.Git("update-ref", "refs/checkpoints/demo/cp-01-20261120T094311000Z-0000", string(f.commit("demo", one)))
	two, res, err := create(t.Context(), f.Store, "demo", milestone{step: 1})
	if err != nil || two != "cp-01-20261120T094311000Z-0008" || res.Tries != 3 {
		t.Errorf("%s after %d tries: %v", two, res.Tries, err)
	}
}

// Objects that vanish after they were written are reported. Those of the store itself are written
// again.
func TestVerify(t *testing.T) {
	f := newFixture(t)
	gone := name.OID(strings.Repeat("12", 20))
	_, err := f.change("demo", Change{
		Events: []journal.Event{{Kind: journal.KindStart}}, Verify: []name.OID{gone, gone},
	})
	var missing *MissingObjectsError
	if !errors.As(err, &missing) || len(missing.OIDs) != 1 || missing.OIDs[0] != gone || !errors.Is(err, git.ErrMissing) {
		t.Errorf("%v", err)
	}
	a := &attempt{store: f.Store, written: map[name.OID]object{}}
	oid, err := a.write(t.Context(), "blob", []byte("swept away"))
	if err != nil {
		t.Fatal(err)
	}
	f.drop(oid)
	if err := a.verify(t.Context()); err != nil {
		t.Error(err)
	}
	if got := f.Git("cat-file", "-p", string(oid)); got != "swept away" {
		t.Errorf("%q", got)
	}
}

// A change whose objects are gone is taken back, unless the caller writes them again.
func TestTakenBack(t *testing.T) {
	f := newFixture(t)
	f.create("demo", milestone{})
	refs := func() string { return f.Git("for-each-ref") }
	before, gone := refs(), name.OID(strings.Repeat("12", 20))
	for _, mends := range []bool{false, true} {
		_, err := f.change("demo", Change{Events: []journal.Event{{Kind: journal.KindStatus, Status: "complete"}}, Verify: []name.OID{gone}, Mends: mends})
		var missing *MissingObjectsError
		if !errors.As(err, &missing) || missing.TakenBack == mends || (refs() == before) == mends {
			t.Errorf("mends %v: %v\n%s", mends, err, refs())
		}
		if seen := f.Seen("demo"); len(seen) != 1 || f.Git("rev-parse", "refs/checkpoints/demo/journal") != string(seen[0]) {
			t.Errorf("mends %v: this worktree believes that it saw %v", mends, seen)
		}
	}
}

// If git writes the refs, an ordinary create starts one process. If no file has changed it writes
// eight objects: the record, M with its tree, C, the event, and the notes commit with two trees.
func TestCreateIsCheap(t *testing.T) {
	f := newFixture(t)
	f.Git("config", "core.filesRefLockTimeout", "100") // elsewhere it starts none
	f.create("demo", milestone{})
	f.create("demo", milestone{})
	bin := t.TempDir()
	log := filepath.Join(bin, "log")
	real, err := exec.LookPath("git")
	if err != nil {
		t.Fatal(err)
	}
	shim := filepath.Join(bin, "git")
	f.Write(shim, fmt.Sprintf("#!/bin/sh\necho \"$@\" >> '%s'\nexec '%s' \"$@\"\n", log, real))
	if err := os.Chmod(shim, 0o777); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", bin+":"+os.Getenv("PATH"))
	s := f.open(f.Dir)
	if _, err := s.State(t.Context(), "demo"); err != nil { // starts cat-file
		t.Fatal(err)
	}
	before := strings.Fields(f.Git("count-objects"))[0]
	if err := os.Remove(log); err != nil {
		t.Fatal(err)
	}
	if _, _, err := create(t.Context(), s, "demo", milestone{}); err != nil {
		t.Fatal(err)
	}
	started, err := os.ReadFile(log)
	if n := strings.Count(string(started), "\n"); err != nil || n != 1 || !strings.Contains(string(started), "update-ref --stdin") {
		t.Errorf("%d processes: %s %v", n, started, err)
	}
	var was, is int
	fmt.Sscan(before, &was)                                   //nolint:errcheck // git prints a number
	fmt.Sscan(strings.Fields(f.Git("count-objects"))[0], &is) //nolint:errcheck // as above
	if is-was > 8 {
		t.Errorf("%d new objects", is-was)
	}
}

// The empty tree of journal commits is an object like any other and must be written.
func TestEmptyTreeIsWritten(t *testing.T) {
	for format, empty := range map[string]name.OID{"sha1": journal.EmptyTreeSHA1, "sha256": journal.EmptyTreeSHA256} {
		f := newFixture(t, "--object-format="+format)
		f.drop(empty) // of the first commit
		f.mustChange("demo", Change{Events: []journal.Event{{Kind: journal.KindStart}}})
		if _, err := os.Lstat(f.Loose(empty)); err != nil {
			t.Error(err)
		}
	}
}

func TestRemove(t *testing.T) {
	f := newFixture(t)
	one, two := f.create("demo", milestone{}), f.create("demo", milestone{})
	first, second := f.commit("demo", one), f.commit("demo", two)
	if _, err := f.change("demo", Change{Remove: []Removal{{ID: one, Commit: second}}}); err == nil || !strings.Contains(err.Error(), " is "+first.Short()+", not "+second.Short()) {
		t.Errorf("%v", err)
	}
	f.Git("pack-refs", "--all")
	f.drop(second)
	f.mustChange("demo", Change{
		Events: []journal.Event{{Kind: journal.KindPrune, Tombstones: []journal.Tombstone{{ID: one, Commit: first}, {ID: two, Commit: second}}}},
		Remove: []Removal{{ID: one}, {ID: two}, {ID: someID}},
	})
	if got := f.Git("for-each-ref", "--format=%(refname)", "refs/checkpoints", "refs/tags"); got != "refs/checkpoints/demo/journal" {
		t.Errorf("%q", got)
	}
	if notes, err := f.Notes(t.Context()); len(notes) != 0 || err != nil {
		t.Errorf("%v %v", notes, err)
	}
}

func TestChangeIsChecked(t *testing.T) {
	f := newFixture(t)
	before := f.Git("for-each-ref")
	oid := f.Repo.Head.OID
	for what, c := range map[string]Change{
		"id":      {Create: []NewCheckpoint{{ID: "../heads/main", Commit: oid, RecordBlob: oid}}},
		"commit":  {Create: []NewCheckpoint{{ID: "cp-01-20261120T094311123Z-4f2a", Commit: "x", RecordBlob: oid}}},
		"removal": {Remove: []Removal{{ID: "journal"}}},
		"note":    {Notes: []NewNote{{Commit: "1"}}},
		"session": {Events: []journal.Event{{Kind: journal.KindStart, Session: "other"}}},
		"event":   {Events: []journal.Event{{Kind: journal.KindCreate}}},
	} {
		if _, err := f.change("demo", c); err == nil {
			t.Errorf("%s: it was written", what)
		}
	}
	if f.Git("for-each-ref") != before {
		t.Error("refs changed")
	}
}
