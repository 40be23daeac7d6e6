//go:build linux

package snapshot

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
	"pgregory.net/rapid"

	"git-checkpoint/internal/git"
)

// Both scanners give the same result for any worktree: names that sort around a directory's,
// files and directories in each other's place, links, special files, repositories, ignored names;
// and for any index: conflicts, flags, submodules.
func TestScannersAgree(t *testing.T) {
	names := []string{"a", "a-b", "a.b", "ab", "a0", "b", "\xff", "A", "e x", ".gitignore"}
	root := t.TempDir()
	rapid.Check(t, func(rt *rapid.T) {
		dir, err := os.MkdirTemp(root, "world") //nolint:usetesting // one for each world
		if err != nil {
			rt.Fatal(err)
		}
		run := func(args ...string) {
			cmd := exec.Command("git", args...)
			cmd.Dir = dir
			if out, err := cmd.CombinedOutput(); err != nil {
				rt.Fatalf("git %q: %v: %s", args, err, out)
			}
		}
		run("init", "-q")
		draw := func() string {
			depth := rapid.IntRange(1, 3).Draw(rt, "depth")
			parts := make([]string, depth)
			for i := range parts {
				parts[i] = rapid.SampledFrom(names).Draw(rt, "name")
			}
			return filepath.Join(append([]string{dir}, parts...)...)
		}
		change := func() {
			p := draw()
			if info, err := os.Stat(filepath.Dir(p)); err == nil && !info.IsDir() {
				return // opening a pipe blocks
			}
			switch rapid.SampledFrom([]string{"file", "file", "file", "dir", "link", "fifo", "gone", "repo", "commit", "ignore"}).Draw(rt, "change") {
			case "file":
				os.MkdirAll(filepath.Dir(p), 0o777) //nolint:errcheck // a file may be in the way
				if info, err := os.Lstat(p); err == nil && !info.Mode().IsRegular() {
					return // so does writing to one
				}
				os.WriteFile(p, []byte(draw()+"x"), 0o666) //nolint:errcheck // its directory may be missing
			case "dir":
				os.RemoveAll(p)                                 //nolint:errcheck // it may not be there
				os.MkdirAll(p, 0o777)                           //nolint:errcheck // a file may be in the way
				os.WriteFile(filepath.Join(p, "b"), nil, 0o666) //nolint:errcheck // as above
			case "link":
				os.RemoveAll(p)          //nolint:errcheck // it may not be there
				os.Symlink("nowhere", p) //nolint:errcheck // its directory may be missing
			case "fifo":
				if filepath.Base(p) != ".gitignore" { // git would open this pipe and block
					unix.Mkfifo(p, 0o666) //nolint:errcheck // something may be there
				}
			case "gone":
				os.RemoveAll(p) //nolint:errcheck // it may not be there
			case "repo":
				if os.MkdirAll(p, 0o777) == nil {
					exec.Command("git", "init", "-q", p).Run() //nolint:errcheck // a file may be in the way
				}
			case "commit": // where no repository is, in the one above
				cmd := exec.Command("git", "-c", "user.name=n", "-c", "user.email=e", "commit", "-q", "--allow-empty", "-m", "x")
				cmd.Dir = p
				cmd.Run() //nolint:errcheck // there may be no directory
			case "ignore":
				os.WriteFile(filepath.Join(dir, ".gitignore"), []byte(rapid.SampledFrom(names).Draw(rt, "ignored")+"\n"), 0o666) //nolint:errcheck // a directory may be there
			}
		}
		for range rapid.IntRange(0, 20).Draw(rt, "before") {
			change()
		}
		exec.Command("git", "-C", dir, "add", "-A").Run() //nolint:errcheck // what git refuses stays untracked
		listed, err := exec.Command("git", "-C", dir, "ls-files", "-z").Output()
		if err != nil {
			rt.Fatal(err)
		}
		for _, p := range (git.Result{Stdout: listed}).Paths() {
			switch how := rapid.SampledFrom([]string{"", "", "", "--assume-unchanged", "--skip-worktree", "intent", "conflict"}).Draw(rt, "flag"); how {
			case "":
			case "intent":
				run("--literal-pathspecs", "rm", "-q", "-f", "--cached", p)
				exec.Command("git", "-C", dir, "--literal-pathspecs", "add", "-N", "--", p).Run() //nolint:errcheck // it may be ignored
			case "conflict":
				cmd := exec.Command("git", "-C", dir, "update-index", "-z", "--index-info")
				cmd.Stdin = strings.NewReader("0 " + strings.Repeat("0", 40) + "\t" + p + "\x00" +
					"100644 " + strings.Repeat("1", 40) + " 1\t" + p + "\x00100755 " + strings.Repeat("2", 40) + " 2\t" + p + "\x00")
				if out, err := cmd.CombinedOutput(); err != nil {
					rt.Fatalf("%v: %s", err, out)
				}
			default:
				run("update-index", how, "--", p)
			}
		}
		run("config", "core.fileMode", rapid.SampledFrom([]string{"true", "false"}).Draw(rt, "fileMode"))
		for range rapid.IntRange(0, 12).Draw(rt, "after") {
			change()
		}
		repo, err := git.Open(t.Context(), git.Options{Dir: dir})
		if err != nil {
			rt.Fatal(err)
		}
		defer repo.Close()
		shot, err := New(repo)
		if err != nil {
			rt.Fatal(err)
		}
		defer shot.Close()
		native, ok := shot.scanner.(*nativeScanner)
		if !ok {
			rt.Fatalf("%T", shot.scanner)
		}
		index, err := shot.capturer.openIndex(t.Context())
		if err != nil {
			rt.Fatal(err)
		}
		defer index.remove()
		ours, err := native.Scan(t.Context(), index)
		if err != nil {
			rt.Fatal(err)
		}
		theirs, err := native.git.Scan(t.Context(), index)
		if err != nil {
			rt.Fatal(err)
		}
		if a, b := told(shot, ours), told(shot, theirs); a != b {
			rt.Fatalf("native:\n%s\ngit:\n%s", a, b)
		}
	})
}

// told returns what both scanners must agree on. They may differ in which files may have changed,
// since a capture compares the content of these.
func told(shot *Worktree, s Scan) string {
	var out []string
	for _, t := range s.Tracked {
		info, err := shot.files.Lstat(t.Path)
		switch {
		case err == nil && info == nil:
			out = append(out, "deleted "+t.Path)
		case t.Mode == git.ModeGitlink || t.Mode == 0 && err == nil && !info.IsDir():
			out = append(out, fmt.Sprintf("changed %o %s", t.Mode, t.Path))
		}
	}
	for kind, paths := range map[string][]string{"untracked": s.Untracked, "nested": s.Nested, "special": s.Special} {
		for _, p := range paths {
			out = append(out, kind+" "+p)
		}
	}
	slices.Sort(out)
	return strings.Join(slices.Compact(out), "\n")
}
