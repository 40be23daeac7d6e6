package scripttest

import (
	"crypto/sha256"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
)

// worldsKey is the key of the remembered worlds in the values of a script.
type worldsKey struct{}

// state is what a repository and its worktree looked like: a map of names to contents for
// each part.
type state map[string]map[string]string

// parts returns the parts of a state in the order in which differences are reported.
func parts() []string {
	return []string{"refs", "heads", "index", "indexfile", "config", "worktree", "mtimes"}
}

// world implements the verb world.
func world(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 1 || len(args) > 2 {
		ts.Fatalf("usage: world name [dir]")
	}
	worlds(ts)[args[0]] = look(ts, directory(ts, args[1:]))
}

// sameworld implements the verb sameworld.
func sameworld(ts *testscript.TestScript, neg bool, args []string) {
	var wanted []string
	for len(args) > 0 && strings.HasPrefix(args[0], "-") {
		wanted = append(wanted, args[0][1:])
		args = args[1:]
	}
	if len(args) < 1 || len(args) > 2 {
		ts.Fatalf("usage: sameworld [-part...] name [dir]")
	}
	for _, part := range wanted {
		if !slices.Contains(parts(), part) {
			ts.Fatalf("no such part: %s", part)
		}
	}
	before, known := worlds(ts)[args[0]]
	if !known {
		ts.Fatalf("no world was remembered as %q", args[0])
	}
	if len(wanted) == 0 {
		wanted = parts()
	}
	found := differences(before, look(ts, directory(ts, args[1:])), wanted)
	switch {
	case neg && len(found) == 0:
		ts.Fatalf("nothing has changed since %q", args[0])
	case !neg && len(found) > 0:
		ts.Fatalf("changed since %q:\n%s", args[0], strings.Join(found, "\n"))
	}
}

// worlds returns the remembered states of a script, by name.
func worlds(ts *testscript.TestScript) map[string]state {
	known, is := ts.Value(worldsKey{}).(map[string]state)
	if !is {
		ts.Fatalf("this script was not set up by package scripttest")
	}
	return known
}

// directory returns the directory from the arguments of a verb, or the current one.
func directory(ts *testscript.TestScript, args []string) string {
	if len(args) == 1 {
		return ts.MkAbs(args[0])
	}
	return ts.MkAbs(".")
}

// look reads the state with plain git and the file system, and never with the tested
// program.
func look(ts *testscript.TestScript, dir string) state {
	git := func(args ...string) string {
		command := exec.Command("git", append([]string{"-C", dir}, args...)...)
		command.Env = append(os.Environ(), "HOME="+ts.Getenv("HOME"), "GIT_CONFIG_NOSYSTEM=1", "GIT_OPTIONAL_LOCKS=0")
		out, err := command.CombinedOutput()
		if err != nil {
			return "exit: " + err.Error() + "\n" + string(out)
		}
		return string(out)
	}
	// Scripts look often, and processes are slow, so one call of git finds all paths.
	names := []string{"config", "info/exclude", "HEAD", "index"}
	asked := []string{"rev-parse", "--show-toplevel"}
	for _, name := range names {
		asked = append(asked, "--git-path", name)
	}
	answers := strings.Split(git(asked...), "\n")
	top, held := answers[0], map[string]string{}
	for i, name := range names {
		held[name] = "none"
		if i+1 < len(answers) {
			held[name] = contentOf(dir, answers[i+1])
		}
	}
	s := state{
		"refs":      lines(git("for-each-ref", "--format=%(refname) %(objectname)")),
		"heads":     {"HEAD": held["HEAD"]},
		"index":     {"index": git("-C", top, "ls-files", "-s", "-v", "-t"), "status": git("-C", top, "status", "--porcelain=v2")},
		"indexfile": {"bytes": fmt.Sprintf("%x", sha256.Sum256([]byte(held["index"])))},
		"config":    {"config": held["config"], "exclude": held["info/exclude"]},
	}
	for name, oid := range s["refs"] {
		if strings.HasPrefix(name, "refs/heads/") || name == "refs/stash" {
			s["heads"][name] = oid
		}
	}
	var err error
	s["worktree"], s["mtimes"], err = files(top)
	ts.Check(err)
	return s
}

// contentOf returns the content of a file, whose name git reports relative to dir.
func contentOf(dir, name string) string {
	if !filepath.IsAbs(name) {
		name = filepath.Join(dir, name)
	}
	content, err := os.ReadFile(name)
	if err != nil {
		return "none"
	}
	return string(content)
}

// lines maps the first word of each line to the rest.
func lines(text string) map[string]string {
	found := map[string]string{}
	for line := range strings.Lines(text) {
		name, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		found[name] = value
	}
	return found
}

// files returns the type, permissions and content of every file below top, except for .git,
// and their modification times.
func files(top string) (contents, times map[string]string, err error) {
	contents, times = map[string]string{}, map[string]string{}
	err = filepath.WalkDir(top, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel(top, path)
		if err != nil {
			return err
		}
		if name == ".git" {
			if entry.IsDir() {
				return fs.SkipDir
			}
			return nil
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		if entry.IsDir() {
			// Git ignores empty directories, and others show by their files.
			return nil
		}
		times[name] = info.ModTime().String()
		contents[name], err = content(path, info)
		return err
	})
	return contents, times, err
}

// content describes a file: its type and mode, its size and a hash.
func content(path string, info fs.FileInfo) (string, error) {
	switch {
	case info.Mode()&fs.ModeSymlink != 0:
		target, err := os.Readlink(path)
		return "link to " + target, err
	case !info.Mode().IsRegular():
		return info.Mode().String(), nil
	}
	bytes, err := os.ReadFile(path)
	return fmt.Sprintf("%v %d bytes %x", info.Mode(), len(bytes), sha256.Sum256(bytes)), err
}

// differences lists what differs between two states in the given parts.
func differences(before, after state, wanted []string) (found []string) {
	for _, part := range wanted {
		names := maps.Clone(before[part])
		maps.Copy(names, after[part])
		for _, name := range slices.Sorted(maps.Keys(names)) {
			was, had := before[part][name]
			is, has := after[part][name]
			switch {
			case !had:
				found = append(found, fmt.Sprintf("%s: %s is new: %s", part, name, is))
			case !has:
				found = append(found, fmt.Sprintf("%s: %s is gone", part, name))
			case was != is:
				found = append(found, fmt.Sprintf("%s: %s was %s and is %s", part, name, was, is))
			}
		}
	}
	return found
}
