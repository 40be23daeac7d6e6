package inspect

// This file parses what `diff` and `show` accept besides the name of a checkpoint: the ranges A..B
// and A...B, and the file of a checkpoint, <checkpoint>:<path>. Both follow git.

import (
	"cmp"
	"context"
	"path/filepath"
	"strings"

	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/git"
	"git-checkpoint/internal/storage/store"
)

// DiffRequest is the input of Diff. An empty B is the worktree.
type DiffRequest struct {
	Session string
	A, B    string
	Paths   []string // compare only these files and directories; none: all
}

// splitRange splits A..B like git diff: a missing side is the current checkpoint. It reports
// whether there were three dots, which means: compare B with the newest common checkpoint of both.
func (req *DiffRequest) splitRange() (symmetric bool) {
	a, b, ok := strings.Cut(req.A, "..")
	if !ok || req.B != "" {
		return false
	}
	b, symmetric = strings.CutPrefix(b, ".")
	req.A, req.B = cmp.Or(a, "@"), cmp.Or(b, "@")
	return symmetric
}

// splitFile splits "2:path", the file of a checkpoint. Either side may have it, or both with the
// same file.
func (req *DiffRequest) splitFile(ctx context.Context, s *checkpoint.Sessions) (file string, err error) {
	for _, ref := range []*string{&req.A, &req.B} {
		of, path, ok := checkpoint.FileIn(ctx, s, req.Session, *ref)
		if !ok {
			continue
		}
		// Both sides may name a file, but it must be the same one.
		if file != "" && file != path {
			return "", checkpoint.Usage("`git diff <commit>:"+file+" <commit>:"+path+"` compares two files", "%s and %s are both files", file, path)
		}
		*ref, file = of, path
	}
	if file != "" {
		req.Paths = append(req.Paths, pathspec(file))
	}
	return file, nil
}

// pathspec converts a path after a colon to a pathspec. As in git it starts at the top of the
// worktree, unless it begins with "./" or "../".
func pathspec(file string) string {
	if strings.HasPrefix(file, "./") || strings.HasPrefix(file, "../") {
		return ":(literal)" + file
	}
	return ":(top,literal)" + file
}

// commonSide returns the newest checkpoint that both sides descend from.
func commonSide(ctx context.Context, s *checkpoint.Sessions, a, b side) (side, error) {
	st := a.found.State
	if a.found.Session == b.found.Session {
		before := map[name.ID]bool{}
		for e := range st.LineTo(a.found.Entry) {
			before[e.Checkpoint] = true
		}
		for e := range st.LineTo(b.found.Entry) {
			if before[e.Checkpoint] && !e.Dead {
				return sideOf(ctx, s, string(a.found.Session), string(e.Checkpoint))
			}
		}
	}
	return side{}, checkpoint.Failure(checkpoint.KindNotFound, "use A..B to compare them with each other", "%s and %s have no common checkpoint", checkpoint.Said(ctx, s.Store, a.found.State, a.found.Entry), checkpoint.Said(ctx, s.Store, b.found.State, b.found.Entry))
}

// refuseNoFile returns an error, about the first side, if no side has the file. Otherwise a misspelt
// path would look like "no difference".
func refuseNoFile(ctx context.Context, s *store.Store, file string, sides ...side) error {
	for _, of := range sides {
		if of.tree != "" && hasFile(ctx, s.Repo, of.tree, file) {
			return nil
		}
	}
	first := sides[0].found.Entry
	hint := "`git ls-tree -r --name-only " + first.Event().Commit.Short() + "` lists its files, from the top of the worktree"
	return checkpoint.Failure(checkpoint.KindNotFound, hint, "%s has no file %q", checkpoint.Said(ctx, s, sides[0].found.State, first), name.Clip(file, name.Said))
}

// hasFile reports whether a tree has a file or directory. The path may be relative to the working
// directory.
func hasFile(ctx context.Context, repo *git.Repo, tree name.OID, file string) bool {
	// git resolves "./path" in a tree relative to the working directory.
	dir := filepath.Join(repo.WorkTree, filepath.FromSlash(repo.Prefix))
	_, err := repo.Run(ctx, git.Cmd{Args: []string{"rev-parse", "--verify", "--quiet", "--end-of-options", string(tree) + ":" + file}, Dir: dir})
	return err == nil
}

// PrintFile lets git print a file of a checkpoint, or the names in one of its directories.
func PrintFile(ctx context.Context, s *checkpoint.Sessions, session, ref, file string, to IO) (int, error) {
	of, err := sideOf(ctx, s, session, ref)
	if err == nil {
		err = refuseNoFile(ctx, s.Store, file, of)
	}
	if err != nil {
		return 1, err
	}
	return pass(ctx, s.Repo, []string{"--no-pager", "show", "--no-textconv", string(of.tree) + ":" + file}, to)
}
