package inspect

// This file compares two checkpoints, or a checkpoint with the worktree. Trees are compared by
// their entries, states by the identities that the workflow gives to objects in lists, so that a
// moved task is not shown as deleted and added.

import (
	"cmp"
	"context"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/core/workflow"
	"git-checkpoint/internal/format/journal"
	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/format/record"
	"git-checkpoint/internal/git"
	"git-checkpoint/internal/storage/snapshot"
	"git-checkpoint/internal/storage/store"
	"git-checkpoint/internal/storage/worktree"
	"git-checkpoint/internal/verb/create"
)

// side is one of the two things that are compared.
type side struct {
	found  *checkpoint.Found // nil: the worktree
	record *record.Record    // for the worktree that of the current checkpoint
	tree   name.OID          // empty: imported without files
	head   name.OID          // the commit of HEAD
	left   []record.Skipped  // what it left out
}

// Diff answers `diff`: state, outputs, files, and the checkpoints and commits in between.
func Diff(ctx context.Context, s *checkpoint.Service, req DiffRequest) (*Difference, error) {
	if err := checkpoint.RefuseEmptyNames(req.A); err != nil {
		return nil, err
	}
	// Resolve A..B and <checkpoint>:<path> first: they change what is compared.
	symmetric := req.splitRange()
	file, err := req.splitFile(ctx, s.Sessions)
	if err != nil {
		return nil, err
	}
	a, err := sideOf(ctx, s.Sessions, req.Session, req.A)
	if err != nil {
		return nil, err
	}
	var b side
	if req.B == "" {
		b, err = worktreeSide(ctx, s, a)
	} else {
		b, err = sideOf(ctx, s.Sessions, req.Session, req.B)
	}
	if err == nil && symmetric {
		a, err = commonSide(ctx, s.Sessions, a, b)
	}
	if err == nil && file != "" {
		err = refuseNoFile(ctx, s.Store, file, a, b)
	}
	if err != nil {
		return nil, err
	}
	d := &Difference{
		From:     checkpoint.Labelled{ID: a.found.Entry.Checkpoint, Label: a.found.Entry.Label},
		FromTree: a.tree, ToTree: b.tree, Paths: req.Paths,
	}
	d.Mentioned[0] = checkpoint.Mentioned(ctx, s.Store, a.found.State, a.found.Entry)
	if b.found != nil {
		d.To = &checkpoint.Labelled{ID: b.found.Entry.Checkpoint, Label: b.found.Entry.Label}
		d.Mentioned[1] = checkpoint.Mentioned(ctx, s.Store, b.found.State, b.found.Entry)
	}
	d.State = stateChanges(ctx, s.Rules, a.found.State, a.record, b.record)
	d.Outputs = record.DiffOutputs(a.record.Outputs, b.record.Outputs)
	if a.tree != "" && b.tree != "" { // otherwise one side was imported without files
		if d.Files, err = ChangedFiles(ctx, s.Repo, a.tree, b.tree, req.Paths); err != nil {
			return nil, err
		}
		if d.Repositories, err = movedInside(ctx, s.Repo, held{a.tree, a.left}, held{b.tree, b.left}); err != nil {
			return nil, err
		}
		d.LeftOut = leftOutOf(s.Repo, req.Paths, a.left, b.left)
	} else {
		d.FromTree, d.ToTree = "", ""
		s.Store.Warn("the files were not compared: a checkpoint that was imported without files has none")
	}
	d.Checkpoints = checkpointsBetween(ctx, s.Store, a, b)
	d.Commits, err = commitsBetween(ctx, s.Store, a.head, b.head)
	return d, err
}

// leftOutOf returns what one of the sides left out, other than mirrors of checkpoints, at one of the paths
// that are compared, or below or above it.
func leftOutOf(repo *git.Repo, only []string, sides ...[]record.Skipped) (out []string) {
	for _, sk := range slices.Concat(sides...) {
		at := strings.TrimSuffix(string(sk.Path), "/") + "/"
		asked := func(typed string) bool {
			p, err := repo.RelativePath(typed)
			return err == nil && (p == "." || strings.HasPrefix(at, p+"/") || strings.HasPrefix(p+"/", at))
		}
		if sk.Reason != snapshot.ReasonMirror && (len(only) == 0 || slices.ContainsFunc(only, asked)) {
			out = append(out, string(sk.Path))
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// sideOf returns the side of a checkpoint.
func sideOf(ctx context.Context, s *checkpoint.Sessions, session, ref string) (side, error) {
	f, err := s.Reach(ctx, session, ref)
	if err != nil {
		return side{}, err
	}
	rec, err := checkpoint.ReadRecord(ctx, s.Store, f.Entry)
	if err != nil {
		return side{}, s.Rules.CorruptError(ctx, f.State, f.Entry, err)
	}
	return side{f, rec, rec.Snapshot.Tree, rec.Git.Head, rec.Snapshot.Skipped}, nil
}

// worktreeSide returns the worktree as a side. The worktree has no state of its own, so it gets the
// current checkpoint's.
func worktreeSide(ctx context.Context, s *checkpoint.Service, a side) (side, error) {
	now, err := Capture(ctx, s, a.record)
	if err != nil {
		return side{}, err
	}
	// If the current checkpoint cannot be read, the states are not compared: the worktree gets the
	// state of the other side.
	b := side{tree: now.Tree, record: a.record, head: s.Repo.Head.OID, left: create.SkippedOf(now)}
	if e := a.found.State.CurrentEntry(); e != nil {
		if rec, err := checkpoint.ReadRecord(ctx, s.Store, e); err == nil {
			b.record = rec
		}
	}
	return b, nil
}

// TreeNow captures the worktree and returns its tree. Ignored files that the record like captured
// are included, so that they compare.
func TreeNow(ctx context.Context, s *checkpoint.Service, like *record.Record) (name.OID, error) {
	got, err := Capture(ctx, s, like)
	if err != nil {
		return "", err
	}
	return got.Tree, nil
}

// Capture captures the worktree and the index. It writes objects, to a temporary place if the
// repository is read-only, and no ref.
func Capture(ctx context.Context, s *checkpoint.Service, like *record.Record) (*snapshot.Capture, error) {
	return checkpoint.RetryBorrowed(s, func() (*snapshot.Capture, error) {
		rules := snapshot.Rules{} // no limit for the amount of new data: nothing is kept
		if like != nil {
			rules.Force = IgnoredOf(like)
		}
		return create.Take(ctx, s, rules)
	})
}

// stateChanges compares the states of two records. The workflow's identities tell which elements of lists are
// the same object.
func stateChanges(ctx context.Context, s *checkpoint.Rules, st *journal.State, a, b *record.Record) (out []StateChange) {
	// A missing definition only makes the comparison of lists coarser.
	def, err := s.DefinitionFor(ctx, st)
	if err != nil {
		def = workflow.Default()
	}
	for _, c := range record.Diff(a.State, b.State, def.Identity) {
		out = append(out, StateChange{Path: c.Path, Op: string(c.Op), Old: c.Old, New: c.New})
	}
	markMoves(out)
	return out
}

// markMoves marks objects that moved from one list to another, for example a task from "pending" to
// "done".
func markMoves(changes []StateChange) {
	gone := map[string]string{} // by the identity of the object: its path before
	for _, c := range changes {
		if i := strings.LastIndex(c.Path, ".#("); i >= 0 && c.Op == string(record.Removed) {
			gone[c.Path[i:]] = c.Path
		}
	}
	// The last part of a path to such an object is ".#(identity)".
	for i, c := range changes {
		if j := strings.LastIndex(c.Path, ".#("); j >= 0 && c.Op == string(record.Added) {
			changes[i].MovedFrom = gone[c.Path[j:]]
		}
	}
}

// ChangedFiles returns the paths that differ between two trees, limited to the given paths if there
// are any.
func ChangedFiles(ctx context.Context, repo *git.Repo, a, b name.OID, paths []string) (out []checkpoint.FileChange, err error) {
	only, err := diffFilter(ctx, repo, a, b, paths)
	if err != nil {
		return nil, err
	}
	changes, err := repo.Trees.Diff(ctx, a, b)
	if err != nil {
		return nil, err
	}
	for _, c := range changes {
		if len(paths) == 0 || only(c.Path) {
			out = append(out, checkpoint.FileChange{Path: checkpoint.Path(c.Path), Op: opOf(c)})
		}
	}
	return out, nil
}

// diffFilter returns a filter for paths. Unlike PathFilter it supports patterns: git tells which
// paths they match, so that this answer and git's own diff output agree.
func diffFilter(ctx context.Context, repo *git.Repo, a, b name.OID, paths []string) (func(string) bool, error) {
	if !slices.ContainsFunc(paths, func(p string) bool { return strings.HasPrefix(p, ":") || strings.ContainsAny(p, "*?[") }) {
		return PathFilter(repo, paths)
	}
	matched, err := repo.Trees.DiffMatching(ctx, a, b, paths)
	if err != nil {
		return nil, checkpoint.Usage("", "%v", err)
	}
	return func(p string) bool { return matched[p] }, nil
}

// opOf returns what happened to a path: added, deleted, type, mode or modified.
func opOf(c git.Change) string {
	switch {
	case c.Old.Mode == 0:
		return "added"
	case c.New.Mode == 0:
		return "deleted"
	// The upper bits of a mode are the type: file, symbolic link or gitlink.
	case c.Old.Mode&0o170000 != c.New.Mode&0o170000:
		return "type"
	case c.Old.OID == c.New.OID:
		return "mode"
	}
	return "modified"
}

// checkpointsBetween returns the live checkpoints between two sides, without the two themselves. They are in
// the journal's order.
func checkpointsBetween(ctx context.Context, s *store.Store, a, b side) (out []checkpoint.Labelled) {
	st := a.found.State
	from, to := a.found.Entry.Place, st.Len()
	if b.found != nil {
		if b.found.Session != a.found.Session {
			return nil
		}
		if e := st.Entry(b.found.Entry.Checkpoint); e != nil { // it may be newer than a's fold
			to = e.Place
		}
	}
	// A may be newer than B.
	if from > to {
		from, to = to, from
	}
	on := st.OnLine(st.At(min(to, st.Len()-1)))
	if b.found == nil {
		on = st.OnLine(st.CurrentEntry())
	}
	for i := from + 1; i < to; i++ {
		if c := st.At(i); c.Live && on[i] {
			out = append(out, checkpoint.LabelledOf(ctx, s, st, st.Read(i)))
		}
	}
	return out
}

// commitsBetween returns the commits that only one of the sides has, newest first. If git cannot
// list them, they are left out with a warning: the rest of the answer is still useful.
func commitsBetween(ctx context.Context, s *store.Store, a, b name.OID) (out []CommitLine, err error) {
	if a == b || b == "" {
		return nil, nil
	}
	tips := string(b)
	if a != "" {
		tips += "..." + string(a) // both without what they have in common: the symmetric difference
	}
	text, err := s.Repo.Output(ctx, "rev-list", "--no-commit-header", "--max-count=1000", "--format=%H %s", tips, "--")
	switch {
	case err != nil && git.ExitCode(err) < 0: // git was interrupted
		return out, err
	case err != nil:
		s.Warn(fmt.Sprintf("the commits between are left out: %v", err))
		return out, nil
	}
	for _, line := range strings.Split(text, "\n") {
		if oid, subject, ok := strings.Cut(line, " "); ok {
			out = append(out, CommitLine{name.OID(oid), subject})
		}
	}
	return out, nil
}

// IgnoredOf returns the paths that a checkpoint captured although they were ignored.
func IgnoredOf(r *record.Record) []string {
	list, has := record.Ignored.Of(r.Snapshot.Extra)
	if !has {
		return nil
	}
	return create.FromPaths(list)
}

// Spared returns what a path says to leave out, as ":!data*.db" does. It may be a pattern.
func Spared(path string) (pattern string, is bool) { return strings.CutPrefix(path, ":!") }

// WithSides has a filter of paths take what may belong to a database with it.
func WithSides(in func(string) bool) func(string) bool {
	return func(p string) bool {
		base := worktree.DatabaseOf(p)
		return in(p) || base != "" && in(base)
	}
}

// PathFilter returns a function that matches the given files and directories, which are relative to
// the working directory, and no patterns; but for what Spared returns. That alone is an error.
func PathFilter(repo *git.Repo, paths []string) (func(string) bool, error) {
	var clean, spared []string
	for _, p := range paths {
		pattern, without := Spared(p)
		rel, err := repo.RelativePath(pattern)
		if err != nil {
			return nil, checkpoint.Usage("", "%v", err)
		}
		if without {
			spared = append(spared, rel)
		} else {
			clean = append(clean, rel)
		}
	}
	if len(clean) == 0 && len(spared) > 0 {
		return nil, checkpoint.Usage("name what to take, as in: . "+name.Quoted(paths[0])+"; a file of this name is "+name.Quoted("./"+paths[0]), "%q only says what to leave out", name.Clip(paths[0], name.Said))
	}
	in := func(p, c string) bool { return c == "." || p == c || strings.HasPrefix(p, c+"/") }
	return func(p string) bool {
		out := slices.ContainsFunc(spared, func(c string) bool {
			for at := p; at != "."; at = path.Dir(at) {
				if is, err := path.Match(c, at); is && err == nil {
					return true
				}
			}
			return in(p, c)
		})
		return !out && slices.ContainsFunc(clean, func(c string) bool { return in(p, c) })
	}, nil
}

// What `diff` and `show` accept besides the name of a checkpoint follows git: the ranges A..B and A...B, and
// the file of a checkpoint, <checkpoint>:<path>.

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
