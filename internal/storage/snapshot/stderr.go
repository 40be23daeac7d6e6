package snapshot

// git exits with 0 from diff-files and ls-files even if it could not read a directory or a file;
// it reports that on stderr only. A capture must not take such a file for deleted, so stderr is
// parsed. A line that is not understood fails the capture.

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"
)

// unreadable returns the paths that git could not read, according to its stderr.
//
// In its messages git replaces control characters, so a path taken from one may not exist, and a
// name with a newline breaks a line in two. If that happens, this function searches the worktree
// for directories that cannot be read and removes the messages about them from the text.
func (s *gitScanner) unreadable(stderr []byte) ([]string, error) {
	out, err := classify(stderr)
	if err == nil && !slices.ContainsFunc(out, func(p string) bool { return len(p) < cutPath && !s.files.Denies(p) }) {
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

// withoutFilesOf removes the lines about tracked files below a directory from text.
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

// deniedDirs returns the directories that cannot be read, dir included, at any depth.
func (s *gitScanner) deniedDirs(dir string) (out []string) {
	entries, err := s.files.ReadDir(dir)
	if errors.Is(err, fs.ErrPermission) {
		return []string{dir}
	}
	for _, e := range entries {
		if p := path.Join(dir, e.Name()); e.IsDir() && e.Name() != ".git" && !s.files.IsGit(p) {
			out = append(out, s.deniedDirs(p)...)
		}
	}
	return out
}

// garbled returns a name as git writes it in a warning.
func garbled(p string) string {
	out := []byte(p)
	for i, c := range out {
		if c < ' ' && c != '\t' && c != '\n' || c == 0x7f {
			out[i] = '?'
		}
	}
	return string(out)
}

// cutPath is a length of paths in bytes. A warning about a longer one may be cut off, at 4,096 bytes, and most
// systems read nothing below such a directory.
const cutPath = 3700

// tooLong reports whether git makes no file of this name on any disk.
func tooLong(p string) bool {
	return len(p) > 4095 || slices.ContainsFunc(strings.Split(p, "/"), func(part string) bool { return len(part) > 255 })
}

// classify evaluates what git wrote to stderr while it exited with 0. It returns the directories
// (ending in "/") and files that git could not look into. Known messages without consequences are
// ignored. Any other line is an error.
func classify(stderr []byte) (unreadable []string, err error) {
	for _, line := range strings.Split(strings.TrimSpace(string(stderr)), "\n") {
		switch {
		case line == "", strings.HasPrefix(line, "hint: "):
		case len(line) > cutPath+255 && strings.HasPrefix(line, "warning: "):
			_, p, _ := strings.Cut(line, "'")
			p = p[:min(cutPath+1, len(p))]
			unreadable = append(unreadable, p[:strings.LastIndexByte(p, '/')+1])
		case strings.HasPrefix(line, "warning: unable to access '/"): // the user's rules, in another account's home
		case strings.HasSuffix(line, ": Too many levels of symbolic links"), strings.HasSuffix(line, ": File name too long"): // nothing is there
		case regexp.MustCompile(`^error: (BOM is (required|prohibited) in '.*' if encoded as |failed to encode '.*' from ).*$`).MatchString(line):
			// The file is not in the encoding that its attributes name; it counts as changed, and is hashed.
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
