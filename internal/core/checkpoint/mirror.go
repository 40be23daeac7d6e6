package checkpoint

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/git"
)

// Mirror is one value of checkpoint.mirror: a directory in which every checkpoint is also written
// in the layout of another tool.
type Mirror struct {
	Format string // name of the layout, such as go-team
	Dir    string // absolute path; for a layout that is a database, its file
	Strays bool   // Dir is named inside the worktree, but a symbolic link leads out of it
}

// Mirrors returns the values of checkpoint.mirror, which may be set several times. A relative
// directory is relative to the top of the worktree. The environment variable holds one value and
// replaces them all. On an invalid value Mirrors returns the mirrors before it, and an error of
// KindUsage.
func (s *Service) Mirrors() ([]Mirror, error) {
	values := s.Repo.Config.All("checkpoint.mirror")
	if v := s.Settings.Getenv(EnvVariable("checkpoint.mirror")); v != "" {
		values = []string{v}
	}
	var out []Mirror
	for _, v := range values {
		if v == "" {
			continue
		}
		format, dir, ok := strings.Cut(v, ":")
		if !ok || dir == "" || s.options.MirrorPaths(format, ".") == nil {
			return out, Usage("`git config checkpoint.mirror FORMAT:DIR`, such as go-team:../old-project", "configuration checkpoint.mirror: %q is not FORMAT:DIR", name.Clip(v, name.Said))
		}
		if !filepath.IsAbs(dir) {
			dir = filepath.Join(s.Repo.WorkTree, filepath.FromSlash(dir))
		}
		m := Mirror{Format: format, Dir: filepath.Clean(dir)}
		m.Strays = isBelow(s.Repo.WorkTree, m.Dir) && !isBelow(resolved(s.Repo.WorkTree), resolved(m.Dir))
		out = append(out, m)
	}
	return out, nil
}

// mirrored returns the paths in the worktree that mirrors write. Captures leave them out: if a
// checkpoint contained them, a rollback would revert the mirror that describes the rollback.
func (s *Service) mirrored() []string {
	mirrors, err := s.Mirrors()
	if err != nil {
		s.Store.Warn(err.Error())
	}
	var out []string
	for _, m := range mirrors {
		// Both spellings, because a capture sees the path that a symbolic link leads to.
		for _, dir := range []string{m.Dir, resolved(m.Dir)} {
			if rel, err := filepath.Rel(s.Repo.WorkTree, dir); err == nil && filepath.IsLocal(rel) {
				out = append(out, s.options.MirrorPaths(m.Format, filepath.ToSlash(rel))...)
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// isBelow reports whether p is dir or a path in it. It compares names only and follows no links.
func isBelow(dir, p string) bool {
	rel, err := filepath.Rel(dir, p)
	return err == nil && filepath.IsLocal(rel)
}

// resolved returns p without symbolic links. The last components need not exist. It returns "" when
// p leads through a dangling link, because a file written there could be created anywhere.
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

// Tip returns the newest commit of a session's journal, or "" when there is none.
func Tip(ctx context.Context, repo *git.Repo, session name.Session) (name.OID, error) {
	found, err := repo.Refs.ResolveAll(ctx, name.JournalRef(session))
	if err != nil {
		return "", fmt.Errorf("read journal of %q: %w", session, err)
	}
	return found[name.JournalRef(session)], nil
}
