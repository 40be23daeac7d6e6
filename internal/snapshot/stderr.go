package snapshot

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"
)

// unreadable is what classify makes of what git said. A name with a line break or other
// control characters comes garbled: where one that git names is not there, or a line is
// not understood, the directories that cannot be read are looked for here.
func (s *gitScanner) unreadable(stderr []byte) ([]string, error) {
	out, err := classify(stderr)
	if err == nil && !slices.ContainsFunc(out, func(p string) bool { return !s.tree.denies(p) }) {
		return out, nil
	}
	text := string(stderr)
	var found []string
	for _, dir := range s.deniedDirs(".") {
		warning := "warning: could not open directory '" + garbled(dir) + "/': Permission denied\n"
		if rest := withoutFilesOf(dir, strings.ReplaceAll(text, warning, "")); rest != text {
			found, text = append(found, dir+"/"), rest
		}
	}
	if len(found) == 0 {
		return out, err
	}
	out, err = classify([]byte(text))
	return append(found, out...), err
}

// withoutFilesOf takes the lines about tracked files below a directory out of a text.
func withoutFilesOf(dir, text string) string {
	const end = ": Permission denied\n"
	for at := 0; at < len(text); {
		if strings.HasPrefix(text[at:], dir+"/") {
			if n := strings.Index(text[at:], end); n >= 0 {
				text = text[:at] + text[at+n+len(end):]
				continue
			}
		}
		next := strings.IndexByte(text[at:], '\n')
		if next < 0 {
			break
		}
		at += next + 1
	}
	return text
}

// denies reports whether a path is there and cannot be read; that of a directory ends in
// "/".
func (w *worktree) denies(p string) bool {
	if dir, ok := strings.CutSuffix(p, "/"); ok {
		_, err := w.readDir(dir)
		return errors.Is(err, errPermission)
	}
	info, err := w.lstat(p)
	return errors.Is(err, errPermission) || info != nil && info.Mode().IsRegular() && !w.readable(p)
}

// deniedDirs are the directories that may not be read, at any depth.
func (s *gitScanner) deniedDirs(dir string) (out []string) {
	entries, err := s.tree.readDir(dir)
	if errors.Is(err, fs.ErrPermission) {
		return []string{dir}
	}
	for _, e := range entries {
		if e.IsDir() && e.Name() != ".git" {
			out = append(out, s.deniedDirs(path.Join(dir, e.Name()))...)
		}
	}
	return out
}

// garbled is a name as git writes it in a warning.
func garbled(p string) string {
	out := []byte(p)
	for i, c := range out {
		if c < ' ' && c != '\t' && c != '\n' || c == 0x7f {
			out[i] = '?'
		}
	}
	return string(out)
}

// encodingError is what git says of a file that is not in the encoding that it should be
// in, as it compares it.
func encodingError() *regexp.Regexp {
	return regexp.MustCompile(`^error: (BOM is (required|prohibited) in '.*' if encoded as |failed to encode '.*' from ).*$`)
}

// classify reads what git said on stderr while it exited with 0: directories and
// files that it could not look into are collected, known noise is passed over,
// and anything else fails the capture, because a successful scan may lie.
func classify(stderr []byte) (unreadable []string, err error) {
	for _, line := range strings.Split(strings.TrimSpace(string(stderr)), "\n") {
		switch {
		case line == "", strings.HasPrefix(line, "hint: "):
		case strings.HasSuffix(line, ": Too many levels of symbolic links"): // it is not there
		case encodingError().MatchString(line): // the file counts as changed, and is looked at
		case strings.HasPrefix(line, "warning: could not open directory '"):
			p, _, _ := strings.Cut(strings.TrimPrefix(line, "warning: could not open directory '"), "': ")
			unreadable = append(unreadable, strings.TrimSuffix(p, "/")+"/")
		case strings.HasSuffix(line, ": Permission denied") && !strings.HasPrefix(line, "fatal: "):
			p := strings.TrimSuffix(line, ": Permission denied")
			for _, prefix := range []string{"error: ", "warning: ", "unable to access '"} {
				p = strings.TrimPrefix(p, prefix)
			}
			unreadable = append(unreadable, strings.TrimSuffix(p, "'"))
		case strings.HasPrefix(line, "warning: unable to access '") && strings.Contains(line, "gitignore"):
		default:
			return nil, fmt.Errorf("git reported a problem while the worktree was scanned: %s", line)
		}
	}
	return unreadable, nil
}
