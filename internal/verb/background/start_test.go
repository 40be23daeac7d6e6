package background_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/test/verbtest"
	"git-checkpoint/internal/verb/background"
)

// reportTo is the variable by which a process of TestStarted knows what it is.
const reportTo = "BACKGROUND_TEST_REPORT"

// report is what such a process knows.
type report struct {
	Args, Env []string
	Dir       string
}

// TestMain is also the program that is started in the background: this test binary.
func TestMain(m *testing.M) {
	file := os.Getenv(reportTo)
	if file == "" {
		os.Exit(m.Run())
	}
	dir, err := os.Getwd()
	if err == nil {
		var text []byte
		if text, err = json.Marshal(report{os.Args, os.Environ(), dir}); err == nil {
			err = os.WriteFile(file+".part", text, 0o666)
		}
	}
	if err == nil {
		err = os.Rename(file+".part", file)
	}
	if err != nil {
		os.Exit(1)
	}
	os.Exit(0)
}

// tries reports whether start tries to start a process, and what it warns of beside that. No
// process starts: the environment has a variable that none can have, so the try fails at once, with
// a warning. This way nothing has to be waited for.
func tries(s *checkpoint.Service, start func()) (tried bool, warned string) {
	s.Env = append(slices.Clone(s.Env), "IMPOSSIBLE=\x00")
	s.Store.Warn = func(line string) {
		if strings.Contains(line, "did not start") {
			tried = true
		} else {
			warned += line
		}
	}
	start()
	return tried, warned
}

// crowd makes as many files as there are names, in a directory of .git.
func crowd(w *verbtest.World, dir, leaf string, count int) {
	for i := range count {
		w.Write(filepath.Join(".git", dir, fmt.Sprintf(leaf, i)), "")
	}
}

// age sets the time of a file back.
func age(w *verbtest.World, file string, by time.Duration) {
	w.Helper()
	at := time.Now().Add(-by)
	if err := os.Chtimes(filepath.Join(w.Dir, file), at, at); err != nil {
		w.Fatal(err)
	}
}

// With gc.auto at 64, packing starts when more than 32 objects, 8 refs of the session or 25 packs are
// loose. Each of these begins with enough of one kind, or with one too few.
func TestStartPack(t *testing.T) {
	t.Parallel()
	objects := func(w *verbtest.World) { crowd(w, "objects/17", "%038d", 1) } // git's sample: one of 256 directories
	refs := func(w *verbtest.World) { crowd(w, "refs/checkpoints/job", "%d", 9) }
	set := func(keys ...string) func(*verbtest.World) {
		return func(w *verbtest.World) {
			refs(w)
			for i := 0; i < len(keys); i += 2 {
				w.Git("config", keys[i], keys[i+1])
			}
		}
	}
	left := func(leaf string, ago time.Duration) func(*verbtest.World) {
		return func(w *verbtest.World) {
			refs(w)
			w.Write(".git/checkpoint/"+leaf, "x")
			age(w, ".git/checkpoint/"+leaf, ago)
		}
	}
	for what, c := range map[string]struct {
		lay  func(w *verbtest.World)
		want bool
		warn string
	}{
		"nothing":                 {func(*verbtest.World) {}, false, ""},
		"objects":                 {objects, true, ""},
		"refs":                    {refs, true, ""},
		"refs, not enough":        {func(w *verbtest.World) { crowd(w, "refs/checkpoints/job", "%d", 8) }, false, ""},
		"refs of another session": {func(w *verbtest.World) { crowd(w, "refs/checkpoints/other", "%d", 9) }, false, ""},
		"tags":                    {func(w *verbtest.World) { crowd(w, "refs/tags/checkpoint/job", "%d", 9) }, true, ""},
		"packs":                   {func(w *verbtest.World) { crowd(w, "objects/pack", "pack-%d.pack", 26) }, true, ""},
		"packs, not enough":       {func(w *verbtest.World) { crowd(w, "objects/pack", "pack-%d.pack", 25) }, false, ""},
		"packs that are to stay": {func(w *verbtest.World) {
			crowd(w, "objects/pack", "%d.pack", 26)
			crowd(w, "objects/pack", "%d.keep", 1)
		}, false, ""},
		"objects, precious":      {func(w *verbtest.World) { objects(w); w.Git("config", "extensions.preciousObjects", "true") }, false, ""},
		"refs, objects precious": {set("extensions.preciousObjects", "true"), true, ""},
		"no gc":                  {set("gc.auto", "0"), false, ""},
		"gc.auto is no number":   {set("gc.auto", "some"), false, ""},
		"no maintenance":         {set("maintenance.auto", "false"), false, ""},
		"switched off":           {set("checkpoint.autoPack", "false"), false, ""},
		"switched to nonsense":   {set("checkpoint.autoPack", "perhaps"), false, "checkpoint.autoPack"},
		"any pack is too much": {func(w *verbtest.World) {
			crowd(w, "objects/pack", "%d.pack", 17)
			w.Git("config", "gc.autoPackLimit", "2")
		}, true, ""},
		"what a repack leaves": {func(w *verbtest.World) {
			crowd(w, "objects/pack", "%d.pack", 16)
			w.Git("config", "gc.autoPackLimit", "2")
		}, false, ""},
		"packs without a limit": {func(w *verbtest.World) {
			crowd(w, "objects/pack", "%d.pack", 99)
			w.Git("config", "gc.autoPackLimit", "0")
		}, false, ""},
		"one packs already":        {left(background.PackLock, 0), false, ""},
		"one was killed":           {left(background.PackLock, background.StaleAfter+time.Hour), true, ""},
		"its lock is of tomorrow":  {left(background.PackLock, -24*time.Hour), true, ""},
		"it has just failed":       {left(background.PackFailed, 0), false, ""},
		"it failed two hours ago":  {left(background.PackFailed, 2*time.Hour), true, ""},
		"its failure is to come":   {left(background.PackFailed, -24*time.Hour), true, ""},
		"a push runs, not packing": {left(background.PushLock, 0), true, ""},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			w := verbtest.Unborn(t, "repo")
			w.Git("config", "gc.auto", "64")
			c.lay(w)
			s := w.Open()
			tried, warned := tries(s, func() { background.StartPack(s, "job") })
			if tried != c.want || !strings.Contains(warned, c.warn) || c.warn == "" && warned != "" {
				t.Errorf("tried is %v, warned %q", tried, warned)
			}
		})
	}
}

// A push starts if the user asked for it, and says what the last one was refused for.
func TestStartPush(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		set, refused string
		want         bool
		warn         string
	}{
		{"", "", false, ""}, {"", "no consent", false, ""}, {"false", "no consent", false, ""}, {"perhaps", "", false, "checkpoint.autoPush"},
		{"true", "", true, ""}, {"true", "no consent", true, "no consent"},
	} {
		w := verbtest.Unborn(t, "repo")
		if c.set != "" {
			w.Git("config", "checkpoint.autoPush", c.set)
		}
		if c.refused != "" {
			w.Write(".git/checkpoint/"+background.PushRefused, c.refused)
		}
		s := w.Open()
		tried, warned := tries(s, func() { background.StartPush(s, "job") })
		if tried != c.want || !strings.Contains(warned, c.warn) || c.warn == "" && warned != "" {
			t.Errorf("%+v: tried is %v, warned %q", c, tried, warned)
		}
	}
}

// What is started is this program, in the worktree, with the environment of this one, except for
// the index that git names to a hook and that is gone when the hook has ended.
func TestStarted(t *testing.T) {
	t.Parallel()
	for what, c := range map[string]struct {
		start func(*checkpoint.Service)
		args  []string
	}{
		"pack": {func(s *checkpoint.Service) { background.StartPack(s, "job") }, []string{"git-checkpoint", "__pack"}},
		"push": {func(s *checkpoint.Service) { background.StartPush(s, "job") }, []string{"git-checkpoint", "push", "--background", "--session", "job"}},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			w := verbtest.Unborn(t, "repo")
			w.Git("config", "gc.auto", "64")
			w.Git("config", "checkpoint.autoPush", "true")
			crowd(w, "refs/checkpoints/job", "%d", 9)
			s := w.Open()
			file := filepath.Join(w.Root, "report")
			s.Env = append(slices.Clone(s.Env), reportTo+"="+file, "GIT_INDEX_FILE=next-index", "GIT_INDEX_VERSION=4")
			c.start(s)
			if len(w.Warned) > 0 {
				t.Fatal(w.Warned)
			}
			got := awaited(t, file)
			if !slices.Equal(got.Args, c.args) || got.Dir != w.Dir || !slices.Contains(got.Env, "GIT_INDEX_VERSION=4") || !slices.Contains(got.Env, "HOME="+w.Root) {
				t.Errorf("%+v", got)
			}
			if slices.ContainsFunc(got.Env, func(kv string) bool { return strings.HasPrefix(kv, "GIT_INDEX_FILE=") }) {
				t.Errorf("it has the index of a hook: %q", got.Env)
			}
		})
	}
}

// awaited reads the report of a process as soon as it is there.
func awaited(t *testing.T, file string) (r report) {
	t.Helper()
	for range 60_000 {
		text, err := os.ReadFile(file)
		if err == nil {
			if err = json.Unmarshal(text, &r); err == nil {
				return r
			}
		}
		if !os.IsNotExist(err) {
			t.Fatal(err)
		}
		time.Sleep(time.Millisecond)
	}
	t.Fatal("nothing was started")
	return r
}

// Packing makes loose refs and objects few, removes the note of an earlier failure, and leaves no
// lock.
func TestPack(t *testing.T) {
	t.Parallel()
	w := verbtest.New(t)
	w.Save("one")
	w.Write(".git/checkpoint/"+background.PackFailed, "no space\n")
	before := w.Git("for-each-ref")
	s := w.Open()
	if err := background.Pack(t.Context(), s.Repo); err != nil {
		t.Fatal(err)
	}
	if counted := w.Git("count-objects", "-v"); !strings.HasPrefix(counted, "count: 0\n") || !w.Exists(".git/packed-refs") {
		t.Errorf("left loose: %s", counted)
	}
	if after := w.Git("for-each-ref"); after != before {
		t.Errorf("refs were\n%s\nand are\n%s", before, after)
	}
	for _, leaf := range []string{background.PackFailed, background.PackLock} {
		if w.Exists(".git/checkpoint/" + leaf) {
			t.Errorf("%s is left", leaf)
		}
	}
}

// While one process packs, another one does nothing, and leaves the lock to it.
func TestPackOnce(t *testing.T) {
	t.Parallel()
	w := verbtest.New(t)
	w.Save("one")
	release, ok := background.Lock(filepath.Join(w.Dir, ".git", "checkpoint", background.PackLock))
	if !ok {
		t.Fatal("a free lock is not taken")
	}
	if err := background.Pack(t.Context(), w.Open().Repo); err != nil {
		t.Error(err)
	}
	if w.Exists(".git/packed-refs") || !w.Exists(".git/checkpoint/"+background.PackLock) {
		t.Error("it packed beside the first one, or took its lock")
	}
	release()
	if err := background.Pack(t.Context(), w.Open().Repo); err != nil || !w.Exists(".git/packed-refs") {
		t.Errorf("after the first one: %v", err)
	}
}

// Packing that fails says so to its caller, and to whoever reads its file later. The lock is free
// for the next one.
func TestPackFails(t *testing.T) {
	t.Parallel()
	w := verbtest.New(t)
	w.Git("config", "core.packedRefsTimeout", "0") // of git: to wait for the lock
	w.Write(".git/packed-refs.lock", "")
	err := background.Pack(t.Context(), w.Open().Repo)
	if err == nil {
		t.Fatal("nothing failed")
	}
	said, _, _ := strings.Cut(w.Read(".git/checkpoint/"+background.PackFailed), "\n")
	if said == "" || !strings.Contains(err.Error(), said) {
		t.Errorf("kept is %q, the error %v", said, err)
	}
	if w.Exists(".git/checkpoint/" + background.PackLock) {
		t.Error("the lock is left")
	}
}
