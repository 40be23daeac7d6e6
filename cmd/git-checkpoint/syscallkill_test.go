//go:build linux

package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// changing are the system calls that can change what a kill leaves. A kill before any other one leaves
// what a kill before the next of these leaves.
const changing = "open,openat,openat2,creat,close,write,pwrite64,writev,copy_file_range,ftruncate,fallocate,mkdir,mkdirat,rmdir,unlink,unlinkat," +
	"rename,renameat,renameat2,link,linkat,symlink,symlinkat,chmod,fchmod,fchmodat,utimensat,fsync,fdatasync,flock,clone,clone3,vfork,execve,exit_group"

// A rollback that brings many files back and is killed at any system call leaves every file as it was,
// as it will be, or between the two, which status says then; and it can be finished and taken back.
// GIT_CHECKPOINT_KILLS says how often it is killed.
func TestKilledAtSystemCalls(t *testing.T) {
	if _, err := exec.LookPath("strace"); err != nil {
		t.Skip("NOT TESTED: strace is not installed")
	}
	w := newWorld(t)
	for i := range 200 {
		w.write(fmt.Sprintf("many/%d/%d", i%8, i), fmt.Sprintf("content %d\n", i))
	}
	database := func(of string) {
		w.write("app.db", "SQLite format 3\x00 of "+of)
		w.write("app.db-wal", "log of "+of)
	}
	database("then")
	before, _ := w.fill()
	database("now")
	w.write("app.db-journal", "\xd9\xd5\x05\xf9\x20\xa1\x63\xd7 of now")
	// Half of the directories are gone and come back in one rename each, the others are empty.
	w.run("sh", "-c", "rm -r many/[4-7] && rm many/*/*")
	after := w.look()
	ends, kills := []string{"--continue", "--abort"}, 4
	if n := os.Getenv("GIT_CHECKPOINT_KILLS"); n != "" {
		var err error
		if kills, err = strconv.Atoi(n); err != nil {
			t.Fatal(err)
		}
	}
	calls := w.copied(t).traced(math.MaxInt)
	t.Logf("%d kills at %d calls", kills, calls)
	for i := range kills {
		at, end := 1+i*calls/kills, ends[i%len(ends)]
		t.Run(fmt.Sprint(at, end), func(t *testing.T) {
			t.Parallel()
			w := w.copied(t)
			if w.traced(at) < at {
				t.Log("it had ended by then")
			}
			w.named(before, after)
			w.sameMoment()
			w.unlock(end)
			w.settle(end, before, after)
			w.whole()
		})
	}
}

// traced runs the rollback, and kills it with all that it started when it has made so many changing
// system calls, or a few more. It returns how many were seen.
func (w *world) traced(most int) (calls int) {
	w.t.Helper()
	from, to, err := os.Pipe()
	if err != nil {
		w.t.Fatal(err)
	}
	defer from.Close() //nolint:errcheck // it was read
	cmd := exec.Command("strace", "-f", "-qq", "-o", "/dev/fd/3", "-e", "trace="+changing, "git-checkpoint", "rollback", "1", "-y", "--branch")
	cmd.Dir, cmd.Env, cmd.ExtraFiles, cmd.SysProcAttr = w.dir, w.env, []*os.File{to}, &syscall.SysProcAttr{Setpgid: true}
	var out strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := errors.Join(cmd.Start(), to.Close()); err != nil {
		w.t.Fatal(err)
	}
	for lines := bufio.NewReaderSize(from, 16); calls < most; {
		line, err := lines.ReadSlice('\n')
		if err == io.EOF {
			break
		}
		if len(line) > 0 && line[len(line)-1] == '\n' {
			calls++
		}
	}
	syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) //nolint:errcheck // it may have ended
	io.Copy(io.Discard, from)                       //nolint:errcheck // it ends when all have ended that have the pipe
	cmd.Wait()                                      //nolint:errcheck // it was killed
	w.t.Logf("%d calls, exit code %d\n%s", calls, cmd.ProcessState.ExitCode(), out.String())
	return calls
}

// sameMoment checks that what is beside the database is of its time, whatever is not there yet.
func (w *world) sameMoment() {
	w.t.Helper()
	read := func(file string) string {
		data, err := os.ReadFile(filepath.Join(w.dir, file))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			w.t.Fatal(err)
		}
		return string(data)
	}
	_, of, _ := strings.Cut(read("app.db"), " of ")
	for _, side := range []string{"app.db-wal", "app.db-journal"} {
		if data := read(side); data != "" && !strings.HasSuffix(data, " of "+of) {
			w.t.Errorf("%s: %q is beside the database of %s", side, data, of)
		}
	}
}

// copied returns a copy of the repository.
func (w *world) copied(t *testing.T) *world {
	t.Helper()
	c := &world{t: t, dir: filepath.Join(t.TempDir(), "repo"), env: w.env}
	if out, err := exec.Command("cp", "-a", w.dir, c.dir).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return c
}

// unlock removes the locks of refs that a killed git left, as git asks people to. Whatever cannot go on
// because of one has to name it, and how to go on.
func (w *world) unlock(end string) {
	w.t.Helper()
	for _, lock := range w.locks() {
		if !slices.Contains([]string{".git/HEAD.lock", ".git/ORIG_HEAD.lock", ".git/refs/heads/main.lock"}, strings.TrimPrefix(lock, w.dir+"/")) {
			continue
		}
		out, code := w.try("git-checkpoint", "rollback", end)
		if code == 0 {
			out, code = w.try("git-checkpoint", "rollback", "1", "-y", "--branch")
		}
		if code != 0 && code != 3 && !strings.Contains(out, `if none is running, remove "`+w.dir) {
			w.t.Errorf("%s is there, exit code %d\n%s", lock, code, out)
		}
		w.remove(lock)
	}
}

// named demands that every file, index entry and HEAD is on one of the two sides, and that status says
// how to go on if not all of them are on the same side.
func (w *world) named(before, after string) {
	w.t.Helper()
	now := w.look()
	if now == before || now == after {
		return
	}
	sides := [2][]string{strings.Split(before, "\n"), strings.Split(after, "\n")}
	lines := strings.Split(now, "\n")
	for _, line := range lines {
		if !slices.Contains(sides[0], line) && !slices.Contains(sides[1], line) {
			w.t.Errorf("on neither side: %s", line)
		}
	}
	for _, line := range sides[0] {
		if slices.Contains(sides[1], line) && !slices.Contains(lines, line) {
			w.t.Errorf("on both sides, and gone: %s", line)
		}
	}
	out := w.run("git-checkpoint", "status")
	if !strings.Contains(out, "rollback --continue") || !strings.Contains(out, "rollback --abort") {
		w.t.Errorf("status does not say how to go on:\n%s", out)
	}
}
