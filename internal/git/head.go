package git

import (
	"os"
	"path/filepath"
	"strings"

	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/git/internal/discover"
	"git-checkpoint/internal/git/internal/refs"
)

// errUseGit says that this process cannot tell, and that git has to be asked.
var errUseGit = discover.ErrUseGit

// discover opens an ordinary repository without starting git. It returns errUseGit when the repository
// is not an ordinary one, or when HEAD cannot be read with certainty.
func (l *Location) discover(o Options) error {
	found, err := discover.Find(o.Dir, o.Env)
	if err != nil {
		return err
	}
	dir := filepath.Join(found.WorkTree, ".git")
	l.GitDir, l.CommonDir, l.WorkTree, l.IndexPath = dir, dir, found.WorkTree, filepath.Join(dir, "index")
	l.Prefix, l.Format, l.Config = found.Prefix, found.Format, found.Config
	return l.readHead()
}

// readHead resolves HEAD to a branch, and the branch to a commit. It handles the two forms that git
// writes: an id, and "ref: refs/heads/<branch>". An unborn branch resolves to no commit.
func (l *Location) readHead() error {
	path := filepath.Join(l.GitDir, "HEAD")
	if info, err := os.Lstat(path); err != nil || !info.Mode().IsRegular() {
		return errUseGit
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return errUseGit
	}
	line, ended := strings.CutSuffix(string(data), "\n")
	files := l.refFiles()
	branch, symbolic := strings.CutPrefix(line, "ref: ")
	switch {
	case !ended: // git always ends the line; the file may be half written
		return errUseGit
	case !symbolic && len(line) == files.Digits && name.IsHex(line):
		l.Head.OID = name.OID(line)
		return nil
	// A symbolic HEAD outside refs/heads is possible, but rare enough to leave to git.
	case !symbolic || !strings.HasPrefix(branch, "refs/heads/") || !refs.IsSimple(branch):
		return errUseGit
	}
	l.Head.Branch = name.Ref(branch)
	l.Head.OID, err = files.Resolve(l.Head.Branch)
	return err
}
