package attempt

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"git-checkpoint/internal/core/agent"
	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/format/render"
	"git-checkpoint/internal/git"
	"git-checkpoint/internal/storage/snapshot"
	"git-checkpoint/internal/storage/store"
	"git-checkpoint/internal/verb/create"
	"git-checkpoint/internal/verb/rollback"
)

// ignored returns the paths of ignored files that match pathspecs.
func ignored(ctx context.Context, s *store.Store, specs []string) ([]string, error) {
	if len(specs) == 0 {
		return nil, nil
	}
	args := append([]string{"ls-files", "-z", "--others", "--ignored", "--exclude-standard", "--full-name", "--"}, specs...)
	listed, err := s.Repo.Run(ctx, git.Cmd{Args: args, Dir: filepath.Join(s.Repo.WorkTree, filepath.FromSlash(s.Repo.Prefix))})
	if err != nil {
		return nil, checkpoint.Usage("--copy-ignored takes the same pathspecs as git ls-files", "%v", err)
	}
	if len(listed.Stdout) == 0 {
		s.Warn(fmt.Sprintf("no ignored file matches %s", strings.Join(specs, " ")))
	}
	return listed.Paths(), nil
}

// copyIgnored copies ignored files, such as installed dependencies, from one worktree to
// another, as far as the rules there ignore them too: else the next checkpoint there would have them.
// Copies share blocks if the file system can do that (copy_file_range). Hard links
// would not do: a build that writes into such a file would change it in the original
// worktree too.
func copyIgnored(ctx context.Context, from, to *checkpoint.Service, paths []string) error {
	if len(paths) == 0 {
		return nil
	}
	// A Root keeps symbolic links in the worktree from leading out of it.
	source, err := os.OpenRoot(from.Repo.WorkTree)
	if err != nil {
		return err
	}
	defer source.Close() //nolint:errcheck // it was only read
	target, err := os.OpenRoot(to.Repo.WorkTree)
	if err != nil {
		return err
	}
	defer target.Close() //nolint:errcheck // what was written in it is closed
	ignored, err := ignoredThere(ctx, source, target, to.Repo, paths)
	if err != nil {
		return err
	}
	left, copied := map[string][]string{}, map[string]string{}
	for _, p := range paths {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		reason, err := "not ignored by the rules there", error(nil)
		switch {
		case strings.HasSuffix(p, "/"):
			reason = "nested repositories"
		case !ignored[p]:
		case leadsOut(source, p):
			reason = "links that lead out of the worktree"
		default:
			reason, err = "", copyOne(source, target, p)
			copied[p] = stamp(target, p)
		}
		if err != nil {
			return &checkpoint.Error{Kind: checkpoint.KindFailed, Message: fmt.Sprintf("%q cannot be copied", p), Err: err}
		}
		if reason != "" {
			left[reason] = append(left[reason], p)
		}
	}
	for _, reason := range slices.Sorted(maps.Keys(left)) {
		from.Store.Warn(fmt.Sprintf("not copied: %s%s", reason, rollback.Some(create.ToPaths(left[reason]))))
	}
	return checkpoint.Remember(to.Store, copiedFile, copied)
}

// copiedFile has the stamps of the files that were copied into a worktree, by path.
const copiedFile = "copied.json"

// stamp changes when somebody writes to a file or points a link elsewhere; "" if it is not there.
func stamp(root *os.Root, p string) string {
	info, err := root.Lstat(filepath.FromSlash(p))
	if err != nil {
		return ""
	}
	to, _ := root.Readlink(filepath.FromSlash(p)) //nolint:errcheck // it is no link
	if to != "" {
		return "to " + to
	}
	return fmt.Sprint(info.Size(), info.ModTime().UnixNano())
}

// edited returns the copies that somebody has edited since.
func edited(in *git.Repo) (lost []Lost, err error) {
	var copied map[string]string
	if _, err := checkpoint.Recall(in, copiedFile, &copied); err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(in.WorkTree)
	if err != nil {
		return nil, err
	}
	defer root.Close() //nolint:errcheck // it was only read
	for _, p := range slices.Sorted(maps.Keys(copied)) {
		if now := stamp(root, p); now != "" && now != copied[p] {
			lost = append(lost, Lost{checkpoint.Path(p), "edited since it was copied here"})
		}
	}
	return lost, nil
}

// leadsOut reports whether p is a link whose target is absolute or lies outside of the worktree.
func leadsOut(root *os.Root, p string) bool {
	at := filepath.FromSlash(p)
	to, err := root.Readlink(at)
	if err != nil {
		return false
	}
	_, err = root.Stat(at) // it follows further links
	return filepath.IsAbs(to) || !filepath.IsLocal(filepath.Join(filepath.Dir(at), to)) || err != nil && !errors.Is(err, fs.ErrNotExist)
}

// ignoredThere returns which of the paths the rules of the new worktree ignore. A directory may have its own rule, in
// a .gitignore that is ignored itself: it is copied first, and removed again if it does not ignore itself.
func ignoredThere(ctx context.Context, source, target *os.Root, to *git.Repo, paths []string) (map[string]bool, error) {
	var rules []string
	for _, p := range paths {
		if _, err := target.Lstat(filepath.FromSlash(p)); path.Base(p) == ".gitignore" && errors.Is(err, fs.ErrNotExist) && copyOne(source, target, p) == nil {
			rules = append(rules, p)
		}
	}
	ignored, err := snapshot.Ignored(ctx, to, nil, paths)
	for _, p := range rules {
		if !ignored[p] {
			target.Remove(filepath.FromSlash(p)) //nolint:errcheck // it was made a moment ago
		}
	}
	return ignored, err
}

// copyOne copies a file or symbolic link with its permissions and its modification time,
// which build tools compare. A file that exists in the target came with the checkpoint and
// stays.
func copyOne(source, target *os.Root, p string) error {
	at := filepath.FromSlash(p)
	info, err := source.Lstat(at)
	if err != nil {
		return err
	}
	// The directory may not exist yet: the checkpoint holds no ignored files.
	if err := target.MkdirAll(filepath.FromSlash(path.Dir(p)), 0o777); err != nil {
		return err
	}
	switch {
	case info.Mode()&fs.ModeSymlink != 0:
		to, err := source.Readlink(at)
		if err == nil {
			err = target.Symlink(to, at)
		}
		if errors.Is(err, fs.ErrExist) {
			return nil
		}
		return err
	case !info.Mode().IsRegular():
		return nil // a pipe or a socket has no content
	}
	in, err := source.Open(at)
	if err != nil {
		return err
	}
	defer in.Close() //nolint:errcheck // it was only read
	// The file is created with mode 0600 and gets its own mode when it is complete.
	out, err := target.OpenFile(at, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	if err = errors.Join(err, out.Close()); err != nil {
		return err
	}
	return errors.Join(target.Chmod(at, info.Mode().Perm()), target.Chtimes(at, info.ModTime(), info.ModTime()))
}

// linkAgents makes the directories without which an agent does not read its hooks of the main worktree
// in this one. Git does not see an empty directory.
func (p *place) linkAgents() error {
	common := p.s.Repo.CommonDir
	if filepath.Base(common) != ".git" { // there is no main worktree
		return nil
	}
	for _, d := range agent.All() {
		main := agent.Place{Worktree: filepath.Dir(common), Scope: agent.ScopeProject}
		file, err := main.File(d.Hooks.Files)
		if d.Hooks.Linked == "" || err != nil || !d.Calls(file).Any() {
			continue
		}
		if err := os.Mkdir(filepath.Join(p.s.Repo.WorkTree, d.Hooks.Linked), 0o777); err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
	}
	return nil
}

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
