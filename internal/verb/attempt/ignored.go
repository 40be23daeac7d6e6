package attempt

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"git-checkpoint/internal/core/agent"
	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/git"
)

// copyIgnored copies ignored files, such as installed dependencies, from one worktree to
// another. Copies share blocks if the file system can do that (copy_file_range). Hard links
// would not do: a build that writes into such a file would change it in the original
// worktree too.
func copyIgnored(ctx context.Context, from, to *checkpoint.Service, specs []string) error {
	if len(specs) == 0 {
		return nil
	}
	args := append([]string{"ls-files", "-z", "--others", "--ignored", "--exclude-standard", "--full-name", "--"}, specs...)
	listed, err := from.Repo.Run(ctx, git.Cmd{Args: args, Dir: filepath.Join(from.Repo.WorkTree, filepath.FromSlash(from.Repo.Prefix))})
	if err != nil {
		return checkpoint.Usage("--copy-ignored takes the same pathspecs as git ls-files", "%v", err)
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
	count := 0
	for p := range strings.SplitSeq(string(listed.Stdout), "\x00") {
		if p == "" {
			continue
		}
		if err := ctx.Err(); err != nil {
			return context.Cause(ctx)
		}
		// Git lists a nested repository as a directory.
		if strings.HasSuffix(p, "/") {
			from.Warn(fmt.Sprintf("not copied: %s (nested repository)", p))
			continue
		}
		if err := copyOne(source, target, p); err != nil {
			return &checkpoint.Error{Kind: checkpoint.KindFailed, Message: fmt.Sprintf("%q cannot be copied", p), Err: err}
		}
		count++
	}
	if count == 0 {
		from.Warn(fmt.Sprintf("no ignored file matches %s", strings.Join(specs, " ")))
	}
	return nil
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
