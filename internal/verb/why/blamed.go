package why

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/format/render"
	"git-checkpoint/internal/git"
	"git-checkpoint/internal/storage/store"
	"git-checkpoint/internal/sys/lazy"
)

// blamed asks git blame about the lines of a request. whole has all lines of the file as it is now, if some
// of them are not committed.
func blamed(ctx context.Context, s *store.Store, req Request, path string) (lines []Place, whole text, err error) {
	args := append([]string{}, req.Options...)
	for _, l := range req.Lines {
		args = append(args, "-L", l)
	}
	CompletePath(ctx, s, "HEAD", path)
	said, out, err := blame(ctx, s.Repo, append(args, "--", path))
	if err != nil {
		return nil, nil, err
	}
	if said != "" {
		return untracked(ctx, s.Repo, req, path, said)
	}
	lines, some := ParseBlame(out), false
	raw, _ := linesAt(ctx, s.Repo, path)
	for _, l := range lines {
		// Git may see other text than the file has: other line ends, another encoding.
		some = some || l.Commit == "" || l.Line > len(raw) || raw[l.Line-1] != l.Text
	}
	if some {
		// All lines, but no history.
		if said, out, err = blame(ctx, s.Repo, []string{"^HEAD", "--", path}); err != nil || said != "" {
			return lines, nil, err
		}
		for _, l := range ParseBlame(out) {
			whole = append(whole, l.Text)
		}
	}
	return lines, whole, nil
}

// Refused is the error for what git blame said of the options, of an object that it cannot read, or of a list of
// commits to ignore that a setting names and that is not here.
func Refused(repo *git.Repo, said string) error {
	if strings.Contains(said, "annot read blob ") || strings.Contains(said, "unable to read tree ") {
		return fmt.Errorf("%s: %w", said, git.ErrUnreadable)
	}
	hint := ""
	for _, file := range repo.Config.All("blame.ignoreRevsFile") {
		if _, err := os.Stat(filepath.Join(repo.WorkTree, file)); err != nil && !filepath.IsAbs(file) {
			hint = "blame.ignoreRevsFile in git's configuration names it, and git blame refuses without it; an empty file does, or `git config --unset blame.ignoreRevsFile`"
		}
	}
	return checkpoint.Usage(hint, "%s", said)
}

// blame runs git blame. said is why it refused.
func blame(ctx context.Context, repo *git.Repo, args []string) (said, out string, err error) {
	res, err := repo.Run(ctx, git.Cmd{Args: append([]string{"--no-pager", "blame", "--porcelain", "--no-textconv"}, args...)})
	if e := (*git.Error)(nil); errors.As(err, &e) && e.Code > 0 {
		return cmp.Or(git.FirstLine(e.Stderr), err.Error()), "", nil
	}
	return "", string(res.Stdout), err
}

// untracked answers for a file that git blame does not take, because it is in no commit yet.
func untracked(ctx context.Context, repo *git.Repo, req Request, path, said string) ([]Place, text, error) {
	whole, there := linesAt(ctx, repo, path)
	switch {
	case !absent().MatchString(said):
		return nil, nil, noLines(repo, said)
	case !there:
		return nil, nil, checkpoint.Failure(checkpoint.KindNotFound, "", "there is no regular file %q", name.Clip(path, name.Said))
	case nested(repo.WorkTree, path) != "":
		dir := nested(repo.WorkTree, path)
		return nil, nil, checkpoint.Failure(checkpoint.KindNotFound, "`git -C "+name.Quoted(repo.Typed(dir))+" checkpoint` asks there", "%q is in a repository of its own, %q", name.Clip(path, name.Said), dir)
	case whole == nil:
		return nil, nil, checkpoint.Failure(checkpoint.KindNotFound, "", "%s is too large to follow lines in it", name.Clip(path, name.Said))
	}
	if len(req.Lines) == 0 && len(whole) > 0 {
		req.Lines = []string{fmt.Sprintf("1,%d", len(whole))}
	}
	var lines []Place
	for _, l := range req.Lines {
		from, to, err := rangeOf(l, len(whole), path)
		if err != nil {
			return nil, nil, err
		}
		for n := from; n <= to; n++ {
			lines = append(lines, Place{Path: path, From: n, Line: n, Text: whole[n-1]})
		}
	}
	return lines, whole, nil
}

// absent matches what git blame says of a file that is in no commit, or is no file.
var absent = lazy.Pattern(`^(no such (path|ref)|cannot stat|Cannot lstat|unsupported file type)`)

// nested returns the directory above a path that is a repository inside this one, such as a submodule; "": there is none.
func nested(worktree, path string) string {
	for dir := filepath.Dir(path); dir != "."; dir = filepath.Dir(dir) {
		if _, err := os.Lstat(filepath.Join(worktree, dir, ".git")); err == nil {
			return filepath.ToSlash(dir)
		}
	}
	return ""
}

// noLines is the error for what git blame said of the lines or the options.
func noLines(repo *git.Repo, said string) error {
	said = strings.TrimSpace(said)
	switch {
	case strings.Contains(said, "invalid line number"):
		return checkpoint.Failure(checkpoint.KindNotFound, "", "there is no such line: lines are counted from 1")
	case strings.Contains(said, " has only "), strings.Contains(said, "no match"):
		return checkpoint.Failure(checkpoint.KindNotFound, "", "%s", said)
	}
	return Refused(repo, said)
}

var numbers = lazy.Pattern(`^(\d{1,9})(?:,(\+?)(\d{1,9}))?$`)

// rangeOf parses N, N,M or N,+COUNT for a file with this many lines.
func rangeOf(typed string, lines int, path string) (from, to int, err error) {
	m := numbers().FindStringSubmatch(typed)
	if m == nil {
		return 0, 0, checkpoint.Usage("name them by number, such as 10,20", "%q is in no commit yet, so git cannot find the lines %q", name.Clip(path, name.Said), name.Clip(typed, name.Said))
	}
	from, _ = strconv.Atoi(m[1]) //nolint:errcheck // these are digits
	to = lines
	if m[3] != "" {
		to, _ = strconv.Atoi(m[3]) //nolint:errcheck // likewise
		if m[2] == "+" {
			to += from - 1
		}
	}
	if to = min(to, lines); from < 1 || from > lines {
		return 0, 0, checkpoint.Failure(checkpoint.KindNotFound, "", "file %s has only %s", name.Clip(path, name.Said), render.Count(lines, "line", "lines"))
	}
	return from, max(from, to), nil
}

// linesAt reads a file of the worktree, with the line ends that git makes of its own. One of more than maxBytes is there, but
// is not read.
func linesAt(ctx context.Context, repo *git.Repo, path string) (text, bool) {
	at := filepath.Join(repo.WorkTree, filepath.FromSlash(path))
	info, err := os.Lstat(at)
	if err != nil || !info.Mode().IsRegular() || info.Size() > maxBytes {
		return nil, err == nil && info.Mode().IsRegular()
	}
	data, err := os.ReadFile(at)
	if unix := bytes.ReplaceAll(data, []byte("\r\n"), []byte("\n")); len(unix) < len(data) {
		if is, unread := repo.Output(ctx, "hash-object", "--", path); unread == nil && name.OID(is) == git.HashObject(repo.Format, "blob", unix) {
			data = unix
		}
	}
	return split(string(data)), err == nil
}

// ParseBlame reads the output of git blame --porcelain. Each line has a header with its commit. The data
// of a commit follow only the first time, its path again where that changes, and then comes the content
// after a tab.
func ParseBlame(out string) (lines []Place) {
	commits := map[name.OID]*Place{}
	of, from, line := &Place{}, 0, 0
	for row := range strings.Lines(out) {
		row = strings.TrimSuffix(row, "\n")
		if content, ends := strings.CutPrefix(row, "\t"); ends {
			l := *of
			l.Text, l.From, l.Line = content, from, line
			lines = append(lines, l)
			continue
		}
		switch key, value, _ := strings.Cut(row, " "); key {
		case "author":
			of.Author = value
		case "author-time":
			at, _ := strconv.ParseInt(value, 10, 64) //nolint:errcheck // git writes a number
			of.Time = checkpoint.Time{Time: time.Unix(at, 0).UTC()}
		case "filename":
			if of.Path = value; value[0] == '"' {
				of.Path, _ = strconv.Unquote(value) //nolint:errcheck // git quotes as Go does
			}
		case "summary":
			of.Subject = value
		default:
			oid, err := name.ParseOID(key)
			if fields := strings.Fields(value); err == nil && len(fields) > 1 {
				from, _ = strconv.Atoi(fields[0]) //nolint:errcheck // git writes numbers
				line, _ = strconv.Atoi(fields[1]) //nolint:errcheck // likewise
				if of = commits[oid]; of == nil {
					of = &Place{Commit: oid}
					if commits[oid] = of; oid.IsZero() {
						of.Commit = ""
					}
				}
			}
		}
	}
	return lines
}
