package checkpoint

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"git-checkpoint/internal/git"
	"git-checkpoint/internal/name"
	"git-checkpoint/internal/record"
	"git-checkpoint/internal/snapshot"
	"git-checkpoint/internal/workflow"
)

// side is one of the two things that are compared.
type side struct {
	found  *found // nil: the worktree now
	record *record.Record
	tree   name.OID
	head   name.OID
}

// Diff answers `diff`.
func (s *Service) Diff(ctx context.Context, req DiffRequest) (*Difference, error) {
	if err := refuseEmpty(req.A); err != nil {
		return nil, err
	}
	a, err := s.sideOf(ctx, req.Session, req.A)
	if err != nil {
		return nil, err
	}
	var b side
	if req.B == "" {
		b, err = s.worktreeSide(ctx, a)
	} else {
		b, err = s.sideOf(ctx, req.Session, req.B)
	}
	if err != nil {
		return nil, err
	}
	d := &Difference{
		From: Labelled{a.found.entry.Checkpoint, a.found.entry.Label}, State: []StateChange{}, Outputs: []OutputChange{},
		Files: []FileChange{}, Checkpoints: []Labelled{}, Commits: []CommitLine{}, FromTree: a.tree, ToTree: b.tree,
	}
	if b.found != nil {
		d.To = &Labelled{b.found.entry.Checkpoint, b.found.entry.Label}
	}
	s.diffRecords(ctx, d, a, b)
	if a.tree != "" && b.tree != "" { // else one was imported without files
		if d.Files, err = s.diffFiles(ctx, a.tree, b.tree, req.Paths); err != nil {
			return nil, err
		}
	} else {
		d.FromTree, d.ToTree = "", ""
		s.warn("files are not compared: a checkpoint that was imported without files has none")
	}
	d.Checkpoints = between(a, b)
	d.Commits, err = s.commitsBetween(ctx, a.head, b.head)
	return d, err
}

func (s *Service) sideOf(ctx context.Context, session, ref string) (side, error) {
	f, err := s.resolve(ctx, session, ref)
	if err != nil {
		return side{}, err
	}
	rec, _, _, err := s.readRecord(ctx, f.entry)
	if err != nil {
		return side{}, s.corrupt(ctx, f.state, f.entry, err)
	}
	return side{f, rec, rec.Snapshot.Tree, rec.Git.Head}, nil
}

// worktreeSide is the worktree now, with the state of the current checkpoint.
func (s *Service) worktreeSide(ctx context.Context, a side) (side, error) {
	tree, err := s.treeNow(ctx, a.record)
	if err != nil {
		return side{}, err
	}
	b := side{tree: tree, record: a.record, head: s.repo.Head.OID}
	if e := a.found.state.CurrentEntry(); e != nil {
		if rec, _, _, err := s.readRecord(ctx, e); err == nil {
			b.record = rec
		}
	}
	return b, nil
}

// treeNow captures the worktree, with the ignored files that a record has.
func (s *Service) treeNow(ctx context.Context, like *record.Record) (name.OID, error) {
	got, err := s.captureNow(ctx, like)
	if err != nil {
		return "", err
	}
	return got.Tree, nil
}

// captureNow captures worktree and index, and writes no ref.
func (s *Service) captureNow(ctx context.Context, like *record.Record) (got *snapshot.Capture, err error) {
	err = s.lookOn(func() error {
		got, err = s.captureLike(ctx, like)
		return err
	})
	return got, err
}

func (s *Service) captureLike(ctx context.Context, like *record.Record) (*snapshot.Capture, error) {
	shot, err := s.shots()
	if err != nil {
		return nil, err
	}
	rules := snapshot.Rules{}
	if like != nil {
		rules.Force = ignoredOf(like)
	}
	if rules.MaxFileSize, err = s.where.size("checkpoint.maxFileSize", defaultMaxFileSize); err != nil {
		return nil, err
	}
	got, err := shot.Take(ctx, rules)
	return got, classify(err)
}

// diffRecords compares states, by the identities of the workflow, and outputs.
func (s *Service) diffRecords(ctx context.Context, d *Difference, a, b side) {
	def, err := s.ofSession(ctx, a.found.state)
	if err != nil {
		def = workflow.Default()
	}
	for _, c := range record.DiffBy(a.record.State, b.record.State, def.Identity) {
		d.State = append(d.State, StateChange{Path: c.Path, Op: string(c.Op), Old: c.Old, New: c.New})
	}
	markMoves(d.State)
	for _, o := range record.DiffOutputs(a.record.Outputs, b.record.Outputs) {
		d.Outputs = append(d.Outputs, OutputChange{
			Name: o.Name, Op: string(o.Op), OldLines: o.OldLines, NewLines: o.NewLines, OldEntries: o.OldEntries, NewEntries: o.NewEntries,
		})
	}
}

// markMoves finds the objects that went from one list to another, as a task does when
// it is done.
func markMoves(changes []StateChange) {
	gone := map[string]string{} // the object by its identity: the path it had
	for _, c := range changes {
		if i := strings.LastIndex(c.Path, ".#("); i >= 0 && c.Op == string(record.Removed) {
			gone[c.Path[i:]] = c.Path
		}
	}
	for i, c := range changes {
		if j := strings.LastIndex(c.Path, ".#("); j >= 0 && c.Op == string(record.Added) {
			changes[i].MovedFrom = gone[c.Path[j:]]
		}
	}
}

// diffFiles lists the paths that differ, below the given ones.
func (s *Service) diffFiles(ctx context.Context, a, b name.OID, paths []string) ([]FileChange, error) {
	only, err := s.diffFilter(ctx, a, b, paths)
	if err != nil {
		return nil, err
	}
	changes, err := s.repo.DiffTrees(ctx, a, b)
	if err != nil {
		return nil, classify(err)
	}
	out := []FileChange{}
	for _, c := range changes {
		if len(paths) == 0 || only(c.Path) {
			out = append(out, FileChange{Path: Path(c.Path), Op: opOf(c)})
		}
	}
	return out, nil
}

// diffFilter is pathFilter, but for patterns, of which git says what they match: answers
// and the output of git for people have to agree.
func (s *Service) diffFilter(ctx context.Context, a, b name.OID, paths []string) (func(string) bool, error) {
	if !slices.ContainsFunc(paths, func(p string) bool { return strings.HasPrefix(p, ":") || strings.ContainsAny(p, "*?[") }) {
		return s.pathFilter(paths)
	}
	matched, err := s.repo.DiffMatching(ctx, a, b, paths)
	if err != nil {
		return nil, usage("", "%v", err)
	}
	return func(p string) bool { return matched[p] }, nil
}

func opOf(c git.Change) string {
	switch {
	case c.Old.Mode == 0:
		return "added"
	case c.New.Mode == 0:
		return "deleted"
	case c.Old.Mode&0o170000 != c.New.Mode&0o170000:
		return "type"
	case c.Old.OID == c.New.OID:
		return "mode"
	}
	return "modified"
}

// between lists the live checkpoints after a, up to b or the end, both excluded.
func between(a, b side) []Labelled {
	out := []Labelled{}
	st := a.found.state
	from, to := a.found.entry.Place, st.Len()
	if b.found != nil {
		if b.found.session != a.found.session {
			return out
		}
		if e := st.Entry(b.found.entry.Checkpoint); e != nil { // it may have come just now
			to = e.Place
		}
	}
	if from > to {
		from, to = to, from
	}
	for i := from + 1; i < to; i++ {
		if c := st.At(i); c.Live {
			out = append(out, Labelled{c.Checkpoint, c.Label})
		}
	}
	return out
}

// commitsBetween lists what either side has and the other has not, newest first. Where a
// commit is missing the rest of the answer is worth more than an error.
func (s *Service) commitsBetween(ctx context.Context, a, b name.OID) ([]CommitLine, error) {
	out := []CommitLine{}
	if a == b || b == "" {
		return out, nil
	}
	args := []string{"rev-list", "--no-commit-header", "--max-count=1000", "--format=%H %s", string(b)}
	if a != "" {
		args = append(args, string(a), "--not")
		base, err := s.repo.Output(ctx, "merge-base", "--all", string(a), string(b))
		if err == nil {
			args = append(args, strings.Fields(base)...)
		} else if git.ExitCode(err) != 1 {
			return out, s.leaveOut("the commits between", err)
		}
	}
	text, err := s.repo.Output(ctx, append(args, "--")...)
	if err != nil {
		return out, s.leaveOut("the commits between", err)
	}
	for _, line := range strings.Split(text, "\n") {
		if oid, subject, ok := strings.Cut(line, " "); ok {
			out = append(out, CommitLine{name.OID(oid), subject})
		}
	}
	return out, nil
}

// leaveOut says that a part is left out of an answer, unless git was interrupted.
func (s *Service) leaveOut(part string, err error) error {
	if git.ExitCode(err) < 0 {
		return classify(err)
	}
	s.warn(fmt.Sprintf("%s are left out: %v", part, err))
	return nil
}
