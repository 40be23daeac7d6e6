package main

import (
	"cmp"
	"crypto/sha1" //nolint:gosec // git's
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// fanOut is a repository in which an agent makes worktrees, works in them, and loses them.
type fanOut struct {
	*world
	*rand.Rand
	mu     sync.Mutex
	took   map[string]time.Duration // by hooks that nothing killed, by event
	held   map[string]bool          // the contents that a hook has captured, or that went with a worktree
	agreed bool                     // to .worktreeinclude as it is
	nr     int
	cuts   int // how often a kill left what git fails over
}

// hook runs a hook in a directory, and kills it at some moment if that is asked for.
func (f *fanOut) hook(dir, event, text string, killed bool) (said string, code int) {
	return f.ready(dir, event, text, killed)()
}

// beside runs a hook while something else is done.
func (f *fanOut) beside(event, text string, do func()) (said string, code int) {
	hook, done := f.ready(f.dir, event, text, false), make(chan struct{})
	go func() {
		defer close(done)
		said, code = hook()
	}()
	cuts := f.cuts
	do()
	<-done
	if code != 0 && f.cuts > cuts { // of the other one, which git failed over here
		said, code = f.hook(f.dir, event, text, false)
	}
	return said, code
}

// repair has doctor repair what git fails over, where it was killed while it made a worktree.
func (f *fanOut) repair() {
	files, err := filepath.Glob(filepath.Join(f.dir, ".git", "worktrees", "*", "commondir"))
	for _, file := range files {
		if info, err := os.Stat(file); err == nil && info.Size() == 0 {
			f.cuts++
			f.try("git-checkpoint", "doctor", "--fix")
		}
	}
	if err != nil {
		f.t.Fatal(err)
	}
}

// ready draws when a hook is killed, and returns what runs it.
func (f *fanOut) ready(dir, event, text string, killed bool) func() (said string, code int) {
	f.nr++
	file := fmt.Sprintf("%s-payload-%d", f.dir, f.nr)
	payload, err := json.Marshal(map[string]string{"session_id": "fan", "cwd": dir, "hook_event_name": event, "name": text, "worktree_path": text, "prompt": text})
	if err != nil {
		f.t.Fatal(err)
	}
	writeFile(f.t, file, string(payload))
	f.mu.Lock()
	defer f.mu.Unlock()
	after := time.Hour
	if killed {
		after = time.Duration(f.Float64() * 1.2 * float64(cmp.Or(f.took[event], time.Second/2)))
	}
	return func() (said string, code int) {
		began := time.Now()
		said, code = f.shoot(after, syscall.SIGKILL, "sh", "-c", "cd '"+dir+"' && exec git-checkpoint hook claude "+event+" <'"+file+"' 2>'"+file+"-stderr'")
		if killed {
			f.repair()
			return said, code
		}
		f.mu.Lock()
		defer f.mu.Unlock()
		f.took[event] = time.Since(began)
		return said, code
	}
}

// contents returns what is in the files of a worktree that git does not ignore.
func (f *fanOut) contents(dir string) (all []string) {
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() || e.Name() == ".git" || e.Name() == ".env" || filepath.Base(filepath.Dir(path)) == "kept" {
			return nil //nolint:nilerr // it is not there any more
		}
		data, err := os.ReadFile(path)
		all = append(all, string(data))
		return err
	})
	if err != nil {
		f.t.Fatal(err)
	}
	return all
}

func blob(content string) string {
	return fmt.Sprintf("%x", sha1.Sum(fmt.Appendf(nil, "blob %d\x00%s", len(content), content))) //nolint:gosec // git's
}

// create has a hook make a worktree. It begins with what is here, and standard output is its path and nothing else.
func (f *fanOut) create() (dir string) {
	names := []string{"fix", "../../up", "/etc/passwd", "-rf", "a\nb", "$(touch hit)", "", ".git", "ü ü", strings.Repeat("x", 5000), "con", "a..b", "HEAD", "refs/heads/main"}
	killed := f.IntN(2) == 0
	said, code := f.hook(f.dir, "WorktreeCreate", names[f.IntN(len(names))], killed)
	dir, whole := strings.CutSuffix(said, "\n")
	if code == 0 && (!whole || strings.Contains(dir, "\n") || filepath.Dir(dir) != filepath.Dir(f.dir)) {
		f.t.Fatalf("standard output is %q", said)
	}
	if code != 0 {
		if !killed || said != "" && !whole { // it may be killed after its last word
			f.t.Fatalf("exit code %d, standard output %q", code, said)
		}
		return ""
	}
	for file, there := range map[string]bool{"a": true, "untracked": true, ".env": f.agreed, "kept/in": f.agreed, "kept/new\nline": f.agreed, "kept/absolute": false, "kept/out": false, "other": false} {
		data, err := os.ReadFile(filepath.Join(dir, file))
		if there && string(data) != "worked "+file+"\n" || !there && !errors.Is(err, fs.ErrNotExist) {
			f.t.Fatalf("%s of %s is %q (%v); agreed to it: %v", file, dir, data, err, f.agreed)
		}
	}
	return dir
}

// work is what happens in a worktree before it goes.
func (f *fanOut) work(dir string) {
	for range f.IntN(4) {
		f.nr++
		writeFile(f.t, filepath.Join(dir, "new-"+strconv.Itoa(f.nr%3)), fmt.Sprintf("content %d\n", f.nr))
		switch f.IntN(4) {
		case 0:
			f.run("sh", "-c", "cd '"+dir+"' && git add -A && git commit -qm work")
		case 1:
			f.hook(dir, "Stop", "", true)
		case 2:
			if _, code := f.hook(dir, "Stop", "", false); code != 0 {
				f.t.Fatalf("exit code %d", code)
			}
			for _, content := range f.contents(dir) {
				f.held[content] = true
			}
		}
	}
}

// remove takes a worktree away. A hook that says it did has captured what was there; one that is killed, or refuses, has
// captured it or left it.
func (f *fanOut) remove(dir string) {
	edited := f.agreed && f.IntN(4) == 0 // without a copy, it is an ignored file as any other
	if edited {
		writeFile(f.t, filepath.Join(dir, ".env"), "edited\n")
	}
	switch f.IntN(6) {
	case 0:
		f.run("git", "worktree", "remove", "--force", dir)
	case 1:
		if err := os.RemoveAll(dir); err != nil {
			f.t.Fatal(err)
		}
	case 2:
	default:
		was, killed := f.contents(dir), f.IntN(2) == 0
		said, code := f.hook(f.dir, "WorktreeRemove", dir, killed)
		_, err := os.Lstat(dir)
		if said != "" || !killed && (code == 0) == edited || (code == 0) != (err != nil) && !killed {
			f.t.Fatalf("edited: %v, exit code %d, standard output %q; %v", edited, code, said, err)
		}
		if data, err := os.ReadFile(filepath.Join(dir, ".env")); edited && string(data) != "edited\n" {
			f.t.Fatalf("the copy that was edited is %q (%v)", data, err)
		}
		still := map[string]bool{}
		for _, content := range f.contents(dir) {
			still[content] = true
		}
		for _, content := range was {
			f.held[content] = f.held[content] || !still[content]
		}
	}
}

// pair makes two worktrees at once, and removes them at once.
func (f *fanOut) pair() {
	var dir string
	said, code := f.beside("WorktreeCreate", "fix", func() { dir = f.create() })
	other := strings.TrimSuffix(said, "\n")
	if code != 0 || other == dir || filepath.Dir(other) != filepath.Dir(f.dir) {
		why, _ := f.try("sh", "-c", "cat '"+f.dir+"-payload-'*-stderr")
		f.t.Fatalf("beside %q: exit code %d, standard output %q, and the hooks so far\n%s", dir, code, said, why)
	}
	if dir == "" {
		f.remove(other)
		return
	}
	f.work(dir)
	f.land(dir)
	was := f.contents(other)
	if said, code = f.beside("WorktreeRemove", other, func() { f.remove(dir) }); said != "" || code != 0 {
		f.t.Fatalf("beside %q: exit code %d, standard output %q", dir, code, said)
	}
	for _, content := range was {
		f.held[content] = true
	}
}

// land brings back what a turn left in a worktree, and undoes that.
func (f *fanOut) land(dir string) {
	f.hook(dir, "Stop", "", false)
	before, was := f.look(), f.contents(dir)
	said, code := f.try("git-checkpoint", "promote", strings.TrimPrefix(dir, f.dir+"-"), "-y")
	if code == 0 {
		for _, content := range was {
			f.held[content] = true
			if !strings.Contains(f.look(), fmt.Sprintf("%q", content)) {
				f.t.Fatalf("after promote %q is not here:\n%s", content, said)
			}
		}
		f.run("git-checkpoint", "undo", "-y")
	}
	if now := f.look(); now != before || code != 0 && code != 3 && code != 4 {
		f.t.Fatalf("exit code %d\n%s\nthis worktree is\n%s\nand was\n%s", code, said, now, before)
	}
}

// collect has git collect garbage, which it refuses while a `git worktree add` that was killed is there: doctor names it.
func (f *fanOut) collect() {
	said, _ := f.try("git-checkpoint", "doctor")
	for _, m := range regexp.MustCompile("`git checkpoint (fork --remove \\S+)` removes it").FindAllStringSubmatch(said, -1) {
		f.run("sh", "-c", "git-checkpoint "+m[1]+" -y")
	}
	f.run("git", "gc", "-q", "--prune=now")
}

// An agent makes worktrees and loses them in all ways, and its hooks are killed at any moment: what a completed hook captured
// is in a checkpoint, a copied secret is in no object, and the worktree that it was called from is as it was.
// GIT_CHECKPOINT_ROUNDS says how many times, and SEED with which random numbers.
func TestKilledWorktreeHooks(t *testing.T) {
	seed, err := strconv.ParseUint(os.Getenv("SEED"), 10, 64)
	if err != nil {
		seed = rand.Uint64() //nolint:gosec // no secret
	}
	for round := range rounds(1) {
		t.Run(fmt.Sprint(seed+uint64(round)), func(t *testing.T) { //nolint:gosec // it is small
			f := &fanOut{world: newWorld(t), Rand: rand.New(rand.NewPCG(seed+uint64(round), 0)), took: map[string]time.Duration{}, held: map[string]bool{}} //nolint:gosec // no secret
			f.run("sh", "-c", `printf '.env\nkept\nother\n' >.gitignore; printf '.env\nkept/*\n../other\n/etc/passwd\na\n' >.worktreeinclude; echo begun >a
				git add .; git commit -qm Begin; git-checkpoint agent add claude --worktrees -y; git config checkpoint.worktreeInclude $(git rev-parse :.worktreeinclude)
				git config checkpoint.agent.deadline 2m`)
			for _, file := range []string{"a", "untracked", ".env", "other", "kept/target", "kept/new\nline"} {
				f.write(file, "worked "+file+"\n")
			}
			f.run("sh", "-c", "cd kept; echo worked kept/in >target; ln -s target in; ln -s /etc/passwd absolute; ln -s ../../../secret out; echo secret >../../secret")
			switch f.IntN(4) {
			case 0:
				f.run("sh", "-c", "echo /other >>.worktreeinclude")
			case 1:
				f.run("sh", "-c", "mv .worktreeinclude kept/rules; ln -s kept/rules .worktreeinclude")
			default:
				f.agreed = true
			}
			before := f.look()
			for range 2 + f.IntN(7) {
				if f.IntN(3) == 0 {
					f.pair()
				} else if dir := f.create(); dir != "" {
					f.work(dir)
					if f.IntN(3) == 0 {
						f.land(dir)
					}
					f.remove(dir)
				}
				if f.IntN(4) == 0 {
					f.collect()
				}
			}
			f.collect()
			if now := f.look(); now != before {
				t.Fatalf("this worktree is\n%s\nand was\n%s", now, before)
			}
			objects := f.run("git", "rev-list", "--objects", "--no-object-names", "--glob=refs/checkpoints")
			for content, held := range f.held {
				if held && !strings.Contains(objects, blob(content)) {
					t.Errorf("%q is in no checkpoint", content)
				}
			}
			for _, secret := range []string{"worked .env\n", "edited\n"} {
				if _, code := f.try("git", "cat-file", "-e", blob(secret)); code == 0 {
					t.Errorf("%q is in the repository", secret)
				}
			}
			f.try("git-checkpoint", "doctor", "--fix")
			f.run("git-checkpoint", "validate", "--all")
			f.run("git-checkpoint", "save", "-m", "afterwards")
			for i, m := range regexp.MustCompile(`"back":"git checkpoint ([^"]*)"`).FindAllStringSubmatch(f.run("git-checkpoint", "fork", "--list", "--json"), -1) {
				f.run("sh", "-c", fmt.Sprintf("git-checkpoint %s ../back-%d", m[1], i))
			}
		})
	}
}
