package attempt

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/format/render"
	"git-checkpoint/internal/git"
)

// Included are the ignored files that the .worktreeinclude of a worktree names, so that its forks get a copy.
type Included struct {
	// Blob is the id of the file as a blob. A person agrees to exactly this content, because a commit may have
	// brought it along, and an agent that sees only its worktree could read what it names.
	Blob   name.OID
	Files  []IncludedFile
	Bytes  int64
	Agreed bool // says that the configuration has consent to it
}

// IncludedFile is one of the files, with its size in bytes.
type IncludedFile struct {
	Path string
	Size int64
}

const includeFile = ".worktreeinclude"

// IncludeKey is the configuration key with the id of the .worktreeinclude that somebody agreed to.
const IncludeKey = "checkpoint.worktreeInclude"

// Include reads .worktreeinclude at the top of the worktree. It is nil if there is none, or if it is behind a link
// or names nothing.
func Include(ctx context.Context, repo *git.Repo) (*Included, error) {
	root, err := os.OpenRoot(repo.WorkTree)
	if err != nil {
		return nil, err
	}
	defer root.Close() //nolint:errcheck // it was only read
	if info, err := root.Lstat(includeFile); err != nil || !info.Mode().IsRegular() {
		return nil, nil //nolint:nilerr // there is none
	}
	rules, err := root.ReadFile(includeFile)
	if err != nil {
		return nil, err
	}
	// Git reads a copy, so that its rules are those of the blob.
	file, err := os.CreateTemp("", "git-checkpoint-include-")
	if err != nil {
		return nil, err
	}
	defer os.Remove(file.Name()) //nolint:errcheck // a temporary file
	_, err = file.Write(rules)
	if err = errors.Join(err, file.Close()); err != nil {
		return nil, err
	}
	inc := &Included{Blob: git.HashObject(repo.Format, "blob", rules)}
	consent, _ := repo.Config.Get(IncludeKey)
	inc.Agreed = consent == string(inc.Blob)
	var lists [2][]string
	for i, rule := range []string{"--exclude-standard", "--exclude-from=" + file.Name()} {
		listed, err := repo.Run(ctx, git.Cmd{Args: []string{"ls-files", "-z", "--others", "--ignored", rule}, Dir: repo.WorkTree})
		if err != nil {
			return nil, err
		}
		lists[i] = listed.Paths()
	}
	for _, p := range lists[1] {
		if _, is := slices.BinarySearch(lists[0], p); is && !strings.HasSuffix(p, "/") { // what ends so is a repository
			f := IncludedFile{Path: p}
			if info, err := root.Lstat(filepath.FromSlash(p)); err == nil && info.Mode().IsRegular() {
				f.Size = info.Size()
			}
			inc.Files, inc.Bytes = append(inc.Files, f), inc.Bytes+f.Size
		}
	}
	if len(inc.Files) == 0 {
		return nil, nil
	}
	return inc, nil
}

// TooMuch says what is too much to copy; "" if nothing is.
func (inc *Included) TooMuch() string {
	const mostIncluded, mostIncludedBytes = 100_000, 1 << 30
	if inc.Bytes <= mostIncludedBytes && len(inc.Files) <= mostIncluded {
		return ""
	}
	return fmt.Sprintf("%s names %s (%s), which is over the limit of 100000 files or 1 GiB: nothing of it is copied; --copy-ignored copies what you name",
		includeFile, render.Count(len(inc.Files), "file", "files"), render.Size(inc.Bytes))
}

// Agree returns the command that gives the consent.
func (inc *Included) Agree() string { return "git config " + IncludeKey + " " + string(inc.Blob) }

// include adds the files of .worktreeinclude to those that are copied, if somebody agreed to that.
func (f *forking) include(ctx context.Context) error {
	inc, err := Include(ctx, f.s.Repo)
	switch {
	case inc == nil || err != nil:
		return err
	case inc.TooMuch() != "":
		f.s.Store.Warn(inc.TooMuch())
	case !inc.Agreed && inc.Blob != f.req.Included:
		f.s.Store.Warn(fmt.Sprintf("%s names %s, of which nothing was copied, because nobody agreed to it as it is now: `%s` does", includeFile, render.Count(len(inc.Files), "ignored file", "ignored files"), inc.Agree()))
	default:
		for _, file := range inc.Files {
			f.ignored = append(f.ignored, file.Path)
		}
		slices.Sort(f.ignored)
		f.ignored = slices.Compact(f.ignored)
	}
	return nil
}
