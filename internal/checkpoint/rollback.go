package checkpoint

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"strconv"
	"strings"
	"time"

	"git-checkpoint/internal/git"
	"git-checkpoint/internal/journal"
	"git-checkpoint/internal/name"
	"git-checkpoint/internal/record"
	"git-checkpoint/internal/snapshot"
	"git-checkpoint/internal/store"
	"git-checkpoint/internal/workflow"
)

// Rollback is a rollback or undo, planned. Nothing of it has been done.
type Rollback struct {
	s      *Service
	req    RollbackRequest
	to     *found         // the checkpoint that becomes current; nil entry: none
	files  *journal.Entry // the checkpoint whose files come back
	record *record.Record // of files
	goal   *record.Record // of to, for state and the step that follows
	undoes *journal.Event // nil for a rollback
	plan   *snapshot.Plan // nil for ModeState
	cur    *snapshot.Capture
	forced []string // ignored paths that were captured
	answer *RollbackAnswer
	taken  time.Time
}

// Answer is the plan as it will be shown.
func (r *Rollback) Answer() *RollbackAnswer { return r.answer }

// PlanRollback thinks a rollback through. It writes no ref and moves no file.
func (s *Service) PlanRollback(ctx context.Context, req RollbackRequest) (*Rollback, error) {
	to, err := s.resolve(ctx, req.Session, req.Ref)
	if err != nil {
		return nil, err
	}
	if to.entry.Safety {
		return nil, usage("`git checkpoint undo` goes back to it", "%s is the safety checkpoint of a rollback", to.entry.Label)
	}
	r := &Rollback{s: s, req: req, to: to, files: to.entry}
	return r, r.think(ctx)
}

// PlanUndo plans to take back the last rollback or undo of this worktree.
func (s *Service) PlanUndo(ctx context.Context, request string, dry bool) (*Rollback, error) {
	session, err := s.chooseSession(ctx, request)
	if err != nil {
		return nil, err
	}
	st, err := s.state(ctx, session)
	if err != nil {
		return nil, err
	}
	id, err := s.store.WorktreeID()
	if err != nil {
		return nil, classify(err)
	}
	plan, err := st.UndoPlan(id)
	if err != nil {
		return nil, nothingToUndo(st, err)
	}
	r := &Rollback{s: s, to: &found{session, st, st.Entry(plan.Target)}, files: st.Entry(plan.Safety), undoes: plan.Undoes}
	if r.files == nil || r.files.Dead {
		return nil, &Error{Kind: KindNotFound, Message: "the safety checkpoint of that rollback was pruned, so it cannot be undone"}
	}
	r.req = RollbackRequest{Mode: modeOf(plan.Undoes), DryRun: dry, Branch: BranchKeep, Force: true}
	if plan.Undoes.Branch != "" {
		r.req.Branch = BranchMove
	}
	return r, r.think(ctx)
}

// modeOf is what a rollback brought back, and its undo too.
func modeOf(e *journal.Event) Mode {
	switch m := Mode(e.Mode); m {
	case ModeWorktree, ModeState:
		return m
	}
	return ModeAll // the safety checkpoint has everything, whatever the scope was
}

func nothingToUndo(st *journal.State, err error) error {
	e := &Error{Kind: KindNotFound, Err: err}
	for _, c := range st.UndoCandidates() {
		e.Hints = append(e.Hints, fmt.Sprintf("%s in worktree %s: `git checkpoint rollback %s`", c.Subject(), c.Worktree, c.From))
	}
	return e
}

func (r *Rollback) think(ctx context.Context) error {
	if r.req.Mode == "" {
		r.req.Mode = ModeAll
	}
	if r.req.Mode == ModeAll && len(r.req.Paths) > 0 {
		r.req.Mode = modePaths
	}
	if err := r.refuseEarly(); err != nil {
		return err
	}
	var err error
	var written contents
	if r.record, written, err = r.s.contents(ctx, r.files); err != nil {
		return err
	}
	r.goal = r.record
	if r.to.entry != nil && r.to.entry != r.files && !r.to.entry.Dead {
		if r.goal, _, _, err = r.s.store.Record(ctx, r.to.entry.Commit); err != nil {
			return damaged(r.to.entry, err)
		}
	}
	if r.req.Mode != ModeState {
		if err := r.planFiles(ctx, written); err != nil {
			return err
		}
	}
	return r.answerPlan(ctx)
}

// modePaths is the mode of a rollback of some paths only.
const modePaths Mode = "paths"

// refuseEarly holds back what cannot be done in this state of the worktree.
func (r *Rollback) refuseEarly() error {
	dir, err := r.s.repo.Dir()
	if err != nil {
		return classify(err)
	}
	in, err := snapshot.ReadIntent(dir)
	if err != nil || in != nil {
		return &Error{
			Kind: KindRefused, Message: "a rollback in this worktree was cut off", Err: err,
			Hints: []string{"`git checkpoint rollback --continue` finishes it", "`git checkpoint rollback --abort` takes it back"},
		}
	}
	if op := r.s.repo.Operation(); op != "" && !r.req.Force && r.req.Mode != ModeState {
		end := "git " + op + " --abort"
		if op == "bisect" {
			end = "git bisect reset"
		}
		return &Error{
			Kind: KindRefused, Message: "a " + op + " is in progress in this worktree",
			Hints: []string{"`" + end + "` ends it", "--force restores files only and leaves it in progress"},
		}
	}
	return nil
}

// contents reads what a checkpoint holds.
func (s *Service) contents(ctx context.Context, e *journal.Entry) (*record.Record, contents, error) {
	rec, _, m, err := s.store.Record(ctx, e.Commit)
	if err != nil {
		return nil, contents{}, damaged(e, err)
	}
	if rec.ID != e.Checkpoint {
		return nil, contents{}, damaged(e, fmt.Errorf("its record is that of %s", rec.ID))
	}
	got, err := s.readContents(ctx, m)
	if err != nil {
		return nil, got, damaged(e, err)
	}
	return rec, got, nil
}

// contents is what a record commit holds beside the record and the outputs.
type contents struct {
	index     name.OID
	conflicts []store.Conflict
	raw       map[string]name.OID
	flags     []byte
}

func (s *Service) readContents(ctx context.Context, m name.OID) (c contents, err error) {
	if c.index, err = s.store.IndexTree(ctx, m); err != nil {
		return c, err
	}
	if c.conflicts, err = s.store.Conflicts(ctx, m); err != nil {
		return c, err
	}
	if c.flags, err = s.store.Flags(ctx, m); err != nil {
		return c, err
	}
	raw, err := s.store.Raw(ctx, m)
	c.raw = make(map[string]name.OID, len(raw))
	for p, e := range raw {
		c.raw[p] = e.OID
	}
	return c, err
}

// target is what the checkpoint brings back.
func (r *Rollback) target(got contents) (snapshot.Target, error) {
	rec := r.record
	t := snapshot.Target{Tree: rec.Snapshot.Tree, Raw: got.raw, Modes: map[string]fs.FileMode{}}
	t.ModesKnown = string(rec.Snapshot.Extra["modes_known"]) == "true"
	for _, sk := range rec.Snapshot.Skipped {
		t.Skipped = append(t.Skipped, string(sk.Path))
	}
	for p, text := range rec.Snapshot.Modes {
		mode, err := strconv.ParseUint(text, 8, 32)
		if err != nil || mode > 0o777 {
			return t, damaged(r.files, fmt.Errorf("the mode of %q is %q", p, text))
		}
		t.Modes[string(p)] = fs.FileMode(mode)
	}
	if rec.Git.Index == "" { // imported: nothing is known of what was staged
		return t, nil
	}
	ix := &snapshot.IndexState{
		Tree: got.index, IntentToAdd: fromPaths(rec.Git.IntentToAdd), AssumeUnchanged: fromPaths(rec.Git.AssumeUnchanged),
		SparsePresent: fromPaths(rec.Git.SparsePresent), SkipWorktree: decodeFlags(got.flags),
	}
	for _, c := range got.conflicts {
		ix.Unmerged = append(ix.Unmerged, snapshot.Stage{Stage: c.Stage, Path: c.Path, Entry: c.Entry})
	}
	t.Index = ix
	return t, nil
}

// planFiles captures what is there now and plans the way to the target.
func (r *Rollback) planFiles(ctx context.Context, got contents) error {
	target, err := r.target(got)
	if err != nil {
		return err
	}
	scope, err := r.scope(ctx)
	if err != nil {
		return err
	}
	force, err := r.forcePaths(ctx)
	if err != nil {
		return err
	}
	shot, err := r.s.shots()
	if err != nil {
		return err
	}
	for range 2 { // once more when ignored files are to be captured first
		if err := r.take(ctx, force); err != nil {
			return err
		}
		if r.plan, err = shot.Plan(ctx, r.cur, target, scope); err != nil {
			return classify(err)
		}
		more := r.overwritable()
		if len(more) == 0 {
			break
		}
		force = append(force, more...)
	}
	return r.refuseCollisions()
}

func (r *Rollback) take(ctx context.Context, force []string) error {
	rules := snapshot.Rules{Force: force}
	var err error
	if rules.MaxFileSize, err = r.s.where.size("checkpoint.maxFileSize", defaultMaxFileSize); err != nil {
		return err
	}
	shot, err := r.s.shots()
	if err != nil {
		return err
	}
	r.cur, err = shot.Take(ctx, rules)
	r.forced, r.taken = force, time.Now()
	return classify(err)
}

// forcePaths lists ignored paths that this capture has to hold: what the target
// captured though ignored, and for an undo whatever the rollback wrote.
func (r *Rollback) forcePaths(ctx context.Context) ([]string, error) {
	out := ignoredOf(r.record)
	if r.undoes == nil {
		return out, nil
	}
	then := r.to.state.Entry(r.undoes.To)
	if then == nil || then.Dead {
		return out, nil
	}
	commit, err := r.s.repo.ReadCommit(ctx, string(then.Commit))
	if err != nil {
		return nil, damaged(then, err)
	}
	changes, err := r.s.repo.DiffTrees(ctx, r.record.Snapshot.Tree, commit.Tree)
	if err != nil {
		return nil, classify(err)
	}
	for _, c := range changes {
		if c.New.Mode != 0 && c.New.Mode != git.ModeGitlink {
			out = append(out, c.Path)
		}
	}
	return out, nil
}

// ignoredOf lists the paths that a checkpoint captured although they were ignored.
func ignoredOf(r *record.Record) []string {
	var list []record.Path
	if raw, ok := r.Snapshot.Extra["ignored"]; !ok || json.Unmarshal(raw, &list) != nil {
		return nil
	}
	return fromPaths(list)
}

// overwritable lists the ignored files in the way that --overwrite-ignored allows
// to be captured and replaced.
func (r *Rollback) overwritable() []string {
	var out []string
	for _, c := range r.plan.Collisions {
		if c.Ignored && (r.req.OverwriteIgnored || r.undoes != nil) {
			out = append(out, c.Path)
		}
	}
	return out
}

func (r *Rollback) refuseCollisions() error {
	if len(r.plan.Collisions) == 0 {
		return nil
	}
	e := &Error{Kind: KindRefused, Message: "nothing was changed: what is in the way is in no checkpoint, and would be lost"}
	ignored := false
	for i, c := range r.plan.Collisions {
		ignored = ignored || c.Ignored
		if i == 10 {
			e.Hints = append(e.Hints, fmt.Sprintf("… and %d more", len(r.plan.Collisions)-i))
			break
		}
		e.Hints = append(e.Hints, c.Path+" ("+c.Reason+")")
	}
	if ignored {
		e.Hints = append(e.Hints, "--overwrite-ignored keeps ignored files in the safety checkpoint and goes on; undo brings them back")
	} else {
		e.Hints = append(e.Hints, "move it out of the way, or roll back other paths only: -- PATH…")
	}
	return e
}

// scope turns mode and paths into a test of paths.
func (r *Rollback) scope(ctx context.Context) (snapshot.Scope, error) {
	sc := snapshot.Scope{SkipIndex: r.req.Mode == ModeWorktree || r.req.Force && r.s.repo.Operation() != ""}
	switch {
	case r.req.Mode == ModeProduced:
		paths, err := r.produced(ctx)
		sc.Only = func(p string) bool { return paths[p] }
		return sc, err
	case len(r.req.Paths) > 0:
		only, err := r.s.pathFilter(r.req.Paths)
		sc.Only = only
		return sc, err
	}
	return sc, nil
}

// pathFilter matches paths given on the command line, files or directories,
// relative to where the user is.
func (s *Service) pathFilter(paths []string) (func(string) bool, error) {
	var clean []string
	for _, p := range paths {
		rel, err := s.repo.Below(p)
		if err != nil {
			return nil, usage("", "%v", err)
		}
		clean = append(clean, rel)
	}
	return func(p string) bool {
		for _, c := range clean {
			if c == "." || p == c || strings.HasPrefix(p, c+"/") {
				return true
			}
		}
		return false
	}, nil
}

// produced collects the paths that changed between checkpoints of the session
// since the target.
func (r *Rollback) produced(ctx context.Context) (map[string]bool, error) {
	out := map[string]bool{}
	trees := map[name.ID]name.OID{}
	tree := func(e *journal.Entry) (name.OID, error) {
		if trees[e.Checkpoint] == "" {
			commit, err := r.s.repo.ReadCommit(ctx, string(e.Commit))
			if err != nil {
				return "", damaged(e, err)
			}
			trees[e.Checkpoint] = commit.Tree
		}
		return trees[e.Checkpoint], nil
	}
	after := false
	for _, e := range r.to.state.Checkpoints {
		after = after || e.Checkpoint == r.files.Checkpoint
		before := r.to.state.Entry(e.Previous)
		if !after || e.Safety || e.Dead || before == nil || before.Dead || e.Checkpoint == r.files.Checkpoint {
			continue
		}
		a, err := tree(before)
		if err != nil {
			return nil, err
		}
		b, err := tree(e)
		if err != nil {
			return nil, err
		}
		changes, err := r.s.repo.DiffTrees(ctx, a, b)
		if err != nil {
			return nil, classify(err)
		}
		for _, c := range changes {
			out[c.Path] = true
		}
	}
	return out, nil
}

// answerPlan fills the answer from the plan.
func (r *Rollback) answerPlan(ctx context.Context) error {
	a := &RollbackAnswer{
		Session: r.to.session, From: r.to.state.Current, DryRun: true, Mode: string(r.req.Mode),
		State: r.goal.State, Pending: json.RawMessage("[]"),
		Plan: PlanFiles{Write: []string{}, Delete: []string{}, Mode: []string{}, Risk: []Risk{}, Discard: []string{}, Skipped: []string{}},
	}
	r.answer = a
	if r.to.entry != nil {
		a.To, a.ToLabel = r.to.entry.Checkpoint, r.to.entry.Label
	}
	if r.plan != nil {
		a.Plan.Write, a.Plan.Delete, a.Plan.Mode = r.plan.Paths("write"), r.plan.Paths("delete"), r.plan.Paths("mode")
		a.Plan.Skipped = append(a.Plan.Skipped, r.plan.Kept...)
		for _, k := range r.plan.Risk {
			a.Plan.Risk = append(a.Plan.Risk, Risk{k.Path, k.Reason})
		}
	}
	r.warnConflicts()
	if err := r.answerSteps(); err != nil {
		return err
	}
	return r.planBranch(ctx)
}

// warnConflicts says so when conflict stages come back and the operation that made
// them does not.
func (r *Rollback) warnConflicts() {
	g := r.record.Git
	if len(g.Unmerged) == 0 || r.plan == nil || r.plan.Scope.SkipIndex || r.s.repo.Operation() == g.Operation {
		return
	}
	var other name.OID
	if raw, ok := g.Extra["operation_head"]; ok && json.Unmarshal(raw, &other) != nil {
		other = ""
	}
	text := fmt.Sprintf("%d unmerged paths come back, but the %s that made them is not in progress any more: a commit now would have one parent", len(g.Unmerged), g.Operation)
	if other != "" {
		text += "; its other commit was " + string(other)
	}
	r.answer.Warnings = append(r.answer.Warnings, text)
}

// lists are the checkpoints that change their state, as of a journal.
func (r *Rollback) lists(st *journal.State) (discard, restore []name.ID, err error) {
	if r.undoes == nil {
		return st.RollbackPlan(r.to.entry.Checkpoint)
	}
	p, err := st.PlanUndoOf(r.undoes)
	return p.Discard, p.Restore, err
}

func (r *Rollback) answerSteps() error {
	discard, _, err := r.lists(r.to.state)
	if err != nil {
		return classify(err)
	}
	for _, id := range discard {
		if e := r.to.state.Entry(id); e != nil {
			label := e.Label
			if w, err := r.s.store.WorktreeID(); err == nil && e.WorktreeID != w {
				label += " (made in worktree " + e.Worktree + ")"
			}
			r.answer.Plan.Discard = append(r.answer.Plan.Discard, label)
		} else {
			r.answer.Plan.Discard = append(r.answer.Plan.Discard, string(id))
		}
	}
	def, err := r.s.definition(r.to.state.Workflow)
	if err != nil {
		return err
	}
	if r.to.entry != nil {
		last := r.to.entry.Step
		if step, ok := def.Next(&last, nil); ok {
			r.answer.NextStep = &NextStep{step.Number, step.Name}
		}
	}
	if pending := def.Resume(workflow.ResumeInput{Situation: r.s.situation(r.to.state, base{record: r.goal})}).Pending; len(pending) > 0 {
		if r.answer.Pending, err = json.Marshal(pending); err != nil {
			return classify(err)
		}
	}
	return nil
}

// planBranch says how HEAD lies to the recorded commit, and whether it moves.
func (r *Rollback) planBranch(ctx context.Context) error {
	g, b := r.record.Git, &r.answer.Branch
	b.Name, b.From, b.To = r.s.repo.Head.Branch, r.s.repo.Head.OID, g.Head
	move := r.req.Branch == BranchMove || r.req.Branch == BranchDefault && ownsBranch(r.to.state) && r.req.Mode == ModeAll
	if r.s.repo.Operation() != "" || r.req.Mode == ModeState {
		move = false
	}
	b.Target = name.Ref(g.Branch)
	b.Moved = move && (b.From != b.To || b.Name != b.Target)
	if !b.Moved {
		b.Target = ""
	}
	if b.From != b.To && b.From != "" && b.To != "" {
		n, err := r.s.repo.CountBetween(ctx, b.To, b.From)
		if err != nil && !errors.Is(err, git.ErrMissing) {
			r.answer.Warnings = append(r.answer.Warnings, "the commits between cannot be counted: "+err.Error())
		}
		b.CommitsLeft = n
	}
	if !b.Moved {
		return nil
	}
	if b.To == "" {
		return &Error{Kind: KindRefused, Message: "the checkpoint was made before the first commit; a branch cannot be moved there", Hints: []string{"--keep-branch restores files and index only"}}
	}
	return r.s.branchIsFree(ctx, b.Target)
}

// branchIsFree refuses to move a branch that another worktree is on.
func (s *Service) branchIsFree(ctx context.Context, branch name.Ref) error {
	list, err := s.repo.Worktrees(ctx)
	if err != nil {
		return classify(err)
	}
	for _, w := range list {
		if branch != "" && w.Branch == branch && w.GitDir != s.repo.GitDir {
			return &Error{
				Kind: KindRefused, Message: fmt.Sprintf("branch %s is checked out in worktree %s", branch, w.Name),
				Hints: []string{"--keep-branch restores files and index only"},
			}
		}
	}
	return nil
}
