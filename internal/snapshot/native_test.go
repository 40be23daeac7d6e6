//go:build linux

package snapshot

import (
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
// files and directories in each other's place, links, special files, repositories, ignored names.
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
			switch rapid.SampledFrom([]string{"file", "file", "file", "dir", "link", "fifo", "gone", "repo", "ignore"}).Draw(rt, "change") {
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
			case "ignore":
				os.WriteFile(filepath.Join(dir, ".gitignore"), []byte(rapid.SampledFrom(names).Draw(rt, "ignored")+"\n"), 0o666) //nolint:errcheck // a directory may be there
			}
		}
		for range rapid.IntRange(0, 20).Draw(rt, "before") {
			change()
		}
		exec.Command("git", "-C", dir, "add", "-A").Run() //nolint:errcheck // what git refuses stays untracked
		for range rapid.IntRange(0, 12).Draw(rt, "after") {
			change()
		}
		repo, err := git.Open(t.Context(), git.Options{Dir: dir})
		if err != nil {
			rt.Fatal(err)
		}
		defer repo.Close() //nolint:errcheck // read only
		shot, err := New(repo)
		if err != nil {
			rt.Fatal(err)
		}
		defer shot.Close()
		native, ok := shot.scanner.(*nativeScanner)
		if !ok {
			rt.Fatalf("%T", shot.scanner)
		}
		index, err := shot.openIndex(t.Context())
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
		if a, b := told(ours), told(theirs); a != b {
			rt.Fatalf("native:\n%s\ngit:\n%s", a, b)
		}
	})
}

// told returns what both scanners must agree on. They may differ in which files may have changed,
// since a capture compares the content of these.
func told(s Scan) string {
	var out []string
	for _, t := range s.Tracked {
		if t.Deleted {
			out = append(out, "deleted "+t.Path)
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
