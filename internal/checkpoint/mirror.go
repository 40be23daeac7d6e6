package checkpoint

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"git-checkpoint/internal/name"
)

// Mirror is one value of checkpoint.mirror: a layout that follows what happens here.
type Mirror struct {
	Format string
	Dir    string // absolute; of a database the file
	Strays bool   // it is in the worktree, and a link there leads it out
}

// Mirrors reads checkpoint.mirror, which may be given several times. A relative directory
// is one below the top of the worktree.
func (s *Service) Mirrors() ([]Mirror, error) {
	values := s.Repo.Config.All("checkpoint.mirror")
	if v := lookupEnv(s.Env, EnvVariable("checkpoint.mirror")); v != "" {
		values = []string{v}
	}
	var out []Mirror
	for _, v := range values {
		if v == "" {
			continue
		}
		format, dir, ok := strings.Cut(v, ":")
		if !ok || dir == "" || s.mirrorPaths(format, ".") == nil {
			return out, Usage("`git config checkpoint.mirror FORMAT:DIR`, such as go-team:../old-project", "configuration checkpoint.mirror: %q is no format and directory", name.Clip(v, name.Said))
		}
		if !filepath.IsAbs(dir) {
			dir = filepath.Join(s.Repo.WorkTree, filepath.FromSlash(dir))
		}
		m := Mirror{Format: format, Dir: filepath.Clean(dir)}
		m.Strays = below(s.Repo.WorkTree, m.Dir) && !below(resolved(s.Repo.WorkTree), resolved(m.Dir))
		out = append(out, m)
	}
	return out, nil
}

// mirrored are the paths in the worktree that mirrors write: no capture takes them, so no
// rollback takes them away.
func (s *Service) mirrored() []string {
	mirrors, err := s.Mirrors()
	if err != nil {
		s.Warn(err.Error())
	}
	var out []string
	for _, m := range mirrors {
		for _, dir := range []string{m.Dir, resolved(m.Dir)} {
			if rel, err := filepath.Rel(s.Repo.WorkTree, dir); err == nil && filepath.IsLocal(rel) {
				out = append(out, s.mirrorPaths(m.Format, filepath.ToSlash(rel))...)
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// below reports whether a path is a directory or in it, by their names.
func below(dir, p string) bool {
	rel, err := filepath.Rel(dir, p)
	return err == nil && filepath.IsLocal(rel)
}

// resolved is a path without links, of which the last parts need not exist yet; empty when
// one of these is a link to nowhere, where a file may be made.
func resolved(p string) string {
	for at, rest := p, ""; ; at, rest = filepath.Dir(at), filepath.Join(filepath.Base(at), rest) {
		if real, err := filepath.EvalSymlinks(at); err == nil {
			return filepath.Join(real, rest)
		}
		if info, err := os.Lstat(at); at == filepath.Dir(at) || err == nil && info.Mode()&fs.ModeSymlink != 0 {
			return ""
		}
	}
}

// Written lists the sessions that this Service has written to.
func (s *Service) Written() []name.Session { return s.Store.Written() }

// Tip is the newest commit of a session's journal; empty without one.
func (s *Service) Tip(ctx context.Context, session name.Session) (name.OID, error) {
	found, err := s.Repo.Batch().ResolveAll(ctx, name.JournalRef(session))
	if err != nil {
		return "", Classify(fmt.Errorf("read journal of %q: %w", session, err))
	}
	return found[name.JournalRef(session)], nil
}

// Disposable is the directory of this worktree for files that may be deleted any time.
func (s *Service) Disposable() (string, error) {
	dir, err := s.Repo.Dir()
	return dir, Classify(err)
}
