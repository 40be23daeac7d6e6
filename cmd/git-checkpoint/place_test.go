//go:build linux

package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"git-checkpoint/internal/test/scripttest"
)

// elsewhere is a worktree on another file system than its git directory.
func elsewhere(t *testing.T) *world {
	t.Helper()
	w := newWorld(t)
	top, err := os.MkdirTemp("/dev/shm", "git-checkpoint-test-") //nolint:usetesting // that one is on another file system
	if err != nil {
		t.Skip("there is no second file system to write to")
	}
	t.Cleanup(func() { os.RemoveAll(top) }) //nolint:errcheck // in memory
	var a, b syscall.Stat_t
	if syscall.Stat(top, &a) != nil || syscall.Stat(w.dir, &b) != nil || a.Dev == b.Dev {
		t.Skip("there is no second file system")
	}
	w.run("git", "init", "-q", "--separate-git-dir", filepath.Join(t.TempDir(), "git"), top)
	w.dir = top
	return w
}

// Where the git directory is on another file system, rollback and undo are as exact,
// and what a kill leaves can be finished, taken back, and is swept.
func TestElsewhere(t *testing.T) {
	for i, step := range []string{"", "staged", "begun", "aside", "place", "index", "event"} {
		for k, end := range []string{"--continue", "--abort"} {
			t.Run(step+end, func(t *testing.T) {
				scripttest.OneIn(t, 5, 2*i+k)
				t.Parallel()
				w := elsewhere(t)
				before, after := w.fill()
				w.env = append(w.env, "GIT_CHECKPOINT_FAILPOINT="+step)
				_, code := w.try("git-checkpoint", "rollback", "1", "-y", "--branch")
				w.env = w.env[:len(w.env)-1]
				if (code == -1) != (step != "") {
					t.Errorf("exit code %d", code)
				}
				if step == "staged" { // nothing had begun: it is left to be swept
					left, err := filepath.Glob(filepath.Join(w.dir, ".git-checkpoint-staging-*"))
					if err != nil || len(left) != 1 {
						t.Fatalf("left are %v", left)
					}
					if out := w.run("git", "status", "--porcelain", "--untracked-files=all"); strings.Contains(out, "staging") {
						t.Errorf("git would add what was left:\n%s", out)
					}
					old := time.Now().Add(-25 * time.Hour)
					if err := os.Chtimes(left[0], old, old); err != nil {
						t.Fatal(err)
					}
					w.run("git-checkpoint", "create", "--always")
				}
				w.settle(end, before, after)
				if left, _ := filepath.Glob(filepath.Join(w.dir, ".git-checkpoint-*")); len(left) > 0 { //nolint:errcheck // the pattern is right
					t.Errorf("left are %v", left)
				}
				w.run("git", "fsck", "--strict")
			})
		}
	}
}

// mounted runs a script in a mount namespace of its own, where it may mount.
func (w *world) mounted(script string) (string, int) {
	w.t.Helper()
	flags := "-rm"
	if os.Getuid() == 0 {
		flags = "-m"
	}
	if exec.CommandContext(w.t.Context(), "unshare", flags, "mount", "-t", "tmpfs", "none", w.t.TempDir()).Run() != nil {
		w.t.Skip("mounting is not allowed")
	}
	return w.try("unshare", flags, "sh", "-ec", script)
}

// Files of a file system that is mounted inside the worktree go aside and come back by
// copies.
func TestMountInside(t *testing.T) {
	scripttest.Long(t)
	w := newWorld(t)
	out, code := w.mounted(`
		mkdir m; mount -t tmpfs none m
		printf one >m/f; printf gone >m/gone; ln -s f m/l; git add -A; git commit -qm one
		git-checkpoint create
		printf two >m/f; chmod 600 m/f; rm m/gone m/l; mkdir m/new; printf new >m/new/x; printf out >top
		git-checkpoint rollback 1 -y
		[ "$(cat m/f m/gone)" = onegone ]; [ "$(readlink m/l)" = f ]; [ ! -e m/new ]; [ ! -e top ]
		git-checkpoint undo -y
		[ "$(cat m/f m/new/x top)" = twonewout ]; [ ! -e m/gone ]; [ "$(stat -c %a m/f)" = 600 ]
		touch -d @978307200 m/f
		for step in aside place:1 place:2 place:3; do
			GIT_CHECKPOINT_FAILPOINT=$step git-checkpoint rollback 1 -y && exit 1
			git-checkpoint rollback --abort
			[ "$(cat m/f m/new/x top)" = twonewout ]; [ ! -e m/gone ]; [ "$(stat -c %a%Y m/f)" = 600978307200 ]
			[ -z "$(find . -name .git-checkpoint-\*)" ]
		done
		git fsck --strict`)
	if code != 0 {
		t.Errorf("exit code %d\n%s", code, out)
	}
}

// On a disk that is full a create makes no checkpoint and a rollback moves no file; the
// next ones work when there is room.
func TestFullDisk(t *testing.T) {
	scripttest.Long(t)
	w := newWorld(t)
	out, code := w.mounted(`
		mkdir m; mount -t tmpfs -o size=4m none m; cd m
		git init -q; head -c 800000 /dev/urandom >a; printf b >b; git add -A; git commit -qm one
		git-checkpoint create
		printf small >a; printf c >b; rm -f filler
		head -c 300000 /dev/urandom >big
		dd if=/dev/zero of=.git/filler bs=4096 2>/dev/null || true
		git for-each-ref >../refs
		git-checkpoint create && exit 1
		git-checkpoint rollback 1 -y && exit 1
		git for-each-ref | cmp - ../refs
		[ "$(cat a b)" = smallc ]; [ -z "$(find . -name \*.lock)" ]
		for k in 4 16 64 200 300 300; do
			truncate -s -${k}k .git/filler
			git-checkpoint rollback 1 -y || { [ "$(cat a b)" = smallc ]; [ -z "$(find . -name \*.lock)" ]; continue; }
			break
		done
		rm .git/filler
		git-checkpoint rollback 1 -y
		[ "$(cat b)" = b ]; [ "$(stat -c %s a)" = 800000 ]
		git-checkpoint undo -y
		[ "$(cat a b)" = smallc ]
		git fsck --strict --no-dangling`)
	if code != 0 {
		t.Errorf("exit code %d\n%s", code, out)
	}
}

// Where the system lets no file become large, which says so at the same places as a quota
// does, a create makes no checkpoint and a rollback moves no file; without the limit both
// go on.
func TestSizeLimit(t *testing.T) {
	scripttest.Long(t)
	w, _, _ := twoSides(t)
	random := func(name string, size int) {
		data := make([]byte, size)
		for i, r := 0, rand.New(rand.NewPCG(1, uint64(size))); i < size; i++ { // no secret
			data[i] = byte(r.UintN(256))
		}
		w.write(name, string(data))
	}
	limited := func(args string) (string, int) {
		return w.try("sh", "-c", "ulimit -f 200; exec git-checkpoint "+args) // of 512 bytes
	}
	random("big", 300_000)
	random("huge", 5_000_000) // git writes that one
	for _, gone := range []string{"big", "nothing"} {
		refs, was := w.run("git", "for-each-ref"), w.look()
		if out, code := limited("create"); code != 1 || w.run("git", "for-each-ref") != refs || w.look() != was {
			t.Errorf("create: exit code %d\n%s", code, out)
		}
		w.run("rm", "-f", gone)
	}
	random("big", 300_000)
	id := w.created()
	w.run("rm", "huge")
	w.write("big", "small\n")
	w.write("edited", "again\n")
	refs, was := w.run("git", "for-each-ref"), w.look()
	if out, code := limited("rollback -y " + id); code != 1 || w.run("git", "for-each-ref") != refs || w.look() != was {
		t.Errorf("rollback: exit code %d\n%s", code, out)
	}
	if out, code := w.try("git-checkpoint", "rollback", "--continue"); code != 3 {
		t.Errorf("something is left to be finished: exit code %d\n%s", code, out)
	}
	w.run("git-checkpoint", "rollback", id, "-y")
	w.run("git-checkpoint", "undo", "-y")
	if now := w.look(); now != was {
		t.Errorf("this is there:\n%s", now)
	}
	w.whole()
}

// A directory that may not be written to is found before a rollback changes anything; one that may not be read, and a file, are listed as left out.
func TestNoPermission(t *testing.T) {
	w, _, _ := twoSides(t)
	unread := true
	if os.Getuid() == 0 {
		unread = w.obeying()
	}
	w.write("locked/in", "in\n")
	w.run("git-checkpoint", "create", "-m", "two")
	w.write("locked/in", "other\n")
	w.write("closed/x", "x\n")
	w.write("secret", "s\n")
	w.run("chmod", "000", "closed", "secret")
	w.run("chmod", "555", "locked")
	defer w.try("chmod", "-f", "755", "closed", "secret", "locked")
	if out := w.run("git-checkpoint", "create", "-m", "three"); unread && (!strings.Contains(out, "closed/ (unreadable)") || !strings.Contains(out, "secret (unreadable)")) {
		t.Errorf("not all is listed as left out:\n%s", out)
	}
	files := func() string {
		return w.run("sh", "-c", "ls -lR --time-style=full-iso . | grep -v ^total; cat locked/in edited staged; git ls-files -s")
	}
	was := files()
	if out, code := w.try("git-checkpoint", "rollback", "2", "-y"); code != 4 || !strings.Contains(out, "locked/ (you have no right to write in this directory)") {
		t.Errorf("exit code %d\n%s", code, out)
	}
	if is := files(); is != was {
		t.Errorf("this is left:\n%s\nand was:\n%s", is, was)
	}
	w.run("chmod", "755", "locked")
	if !unread { // what is in it was captured, and has to go
		w.run("chmod", "755", "closed")
	}
	w.run("git-checkpoint", "rollback", "2", "-y")
	if out := w.run("cat", "locked/in"); out != "in\n" {
		t.Errorf("locked/in is %q", out)
	}
}

// Where the git directory cannot be written, what only reads works and leaves nothing
// behind, and what has to write says so.
func TestReadOnlyRepository(t *testing.T) {
	scripttest.Long(t)
	w, _, _ := twoSides(t)
	if os.Getuid() == 0 {
		w.obeying()
	}
	w.run("git-checkpoint", "rollback", "1", "-y") // so that there is something to undo
	w.run("git-checkpoint", "undo", "-y")
	w.write("grown", strings.Repeat("n\n", 3<<20)) // git keeps it, and not this program
	w.write("grown-small", "n\n")
	w.write("edited", "edited again\n")
	want := map[string]string{}
	reading := []string{"status", "diff 1", "diff -p 1 -- edited", "resume", "rollback -n 1", "show -p 1", "list", "validate", "create -n", "redo -n"}
	for _, c := range reading {
		want[c], _ = w.try(append([]string{"git-checkpoint"}, strings.Fields(c)...)...)
	}
	temp := t.TempDir()
	w.env = append(w.env, "TMPDIR="+temp)
	w.run("chmod", "-R", "a-w", ".git")
	defer w.try("chmod", "-R", "u+w", ".git")
	for _, c := range reading {
		if out, code := w.try(append([]string{"git-checkpoint"}, strings.Fields(c)...)...); code != 0 || steady(out) != steady(want[c]) {
			t.Errorf("%s: exit code %d\n%s\nand where it may write:\n%s", c, code, out, want[c])
		}
	}
	w.run("git-checkpoint", "export", filepath.Join(t.TempDir(), "all.bundle"), "-y")
	for _, c := range []string{"create", "rollback 1 -y", "pin 1"} {
		if out, code := w.try(append([]string{"git-checkpoint"}, strings.Fields(c)...)...); code != 1 || !strings.Contains(out, "denied") {
			t.Errorf("%s: exit code %d\n%s", c, code, out)
		}
	}
	if left, err := os.ReadDir(temp); err != nil || len(left) > 0 {
		t.Errorf("left are %v (%v)", left, err)
	}
}

// steady is an answer without what the clock says.
func steady(out string) string {
	lines := strings.SplitAfter(out, "\n")
	return strings.Join(slices.DeleteFunc(lines, func(l string) bool { return strings.HasPrefix(l, "Age\t") }), "")
}

// A directory that may not be read is listed whatever its name is, although git's warnings
// garble it, or break it into lines that look like others.
func TestUnreadableNames(t *testing.T) {
	w, _, _ := twoSides(t)
	if os.Getuid() == 0 && !w.obeying() {
		t.Skip("root can read everything here")
	}
	names := []string{"new\nline", "x\nerror: tracked", "con\x01trol", "it's': Permission denied", "\xff", "plain"}
	for _, n := range names {
		w.write(filepath.Join(n, "file"), "x\n")
	}
	w.run("git", "add", "x\nerror: tracked")
	w.run("git", "commit", "-q", "-m", "two")
	w.run(append([]string{"chmod", "000"}, names...)...)
	defer w.try(append([]string{"chmod", "755"}, names...)...)
	for _, scanner := range []string{"native", "git"} {
		w.run("git", "config", "checkpoint.scanner", scanner)
		out := w.run("git-checkpoint", "create", "--json", "--always")
		for _, n := range []string{`"new\nline/"`, `"x\nerror: tracked/"`, `"con\u0001trol/"`, `"it's': Permission denied/"`, `"%FF/"`, `"plain/"`} {
			if !strings.Contains(out, `{"path":`+n+`,`) {
				t.Errorf("%s: %s is not listed:\n%s", scanner, n, out)
			}
		}
		if n := strings.Count(out, `"reason":"unreadable"`); n != len(names) {
			t.Errorf("%s: %d paths are listed:\n%s", scanner, n, out)
		}
	}
	if out := w.run("git-checkpoint", "create", "--always"); !strings.Contains(out, `warning: not captured: new\nline/ (unreadable)`) {
		t.Errorf("this is warned of:\n%s", out)
	}
}

// obeying goes on as a root whom permissions stop too, and says whether they keep it
// from reading as well.
func (w *world) obeying() (unread bool) {
	w.t.Helper()
	for _, caps := range []string{"-dac_override,-dac_read_search", "-dac_override"} {
		w.as = []string{"setpriv", "--bounding-set=" + caps}
		if exec.CommandContext(w.t.Context(), w.as[0], w.as[1], "true").Run() == nil {
			return strings.Contains(caps, "read")
		}
	}
	w.t.Skip("root cannot be stopped here")
	return false
}

// A fetch of records with 250,000 members each, as anybody may push them, stays below 256 MiB.
func TestFetchMemory(t *testing.T) {
	if into := os.Getenv("FETCH_INTO"); into != "" { // a program counts the memory of the one that starts it, too
		cmd := exec.Command("git", "checkpoint", "fetch", "../there.git")
		cmd.Dir = into
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		if most := cmd.ProcessState.SysUsage().(*syscall.Rusage).Maxrss; most > 256<<10 {
			t.Errorf("it took %d KiB", most)
		}
		return
	}
	if testing.Short() {
		t.Skip("slow")
	}
	w := newWorld(t)
	members := make([]string, 250_000)
	for i := range members {
		members[i] = fmt.Sprintf(`"k%d":%d`, i, i)
	}
	w.write("../state", "{"+strings.Join(members, ",")+"}")
	w.run("git", "init", "-q", "--bare", "../there.git")
	for _, content := range []string{"1", "2", "3"} {
		w.write("file", content)
		w.run("git", "checkpoint", "create", "-q", "--state", "../state")
	}
	w.run("git", "checkpoint", "push", "-q", "-y", "../there.git")
	w.run("git", "init", "-q", "../here")
	w.env = append(w.env, "FETCH_INTO="+filepath.Join(w.dir, "../here"))
	w.run(os.Args[0], "-test.run=^TestFetchMemory$", "-test.v")
}
