// Package land makes ordinary commits of steps, on the current branch or on a new one.
//
// Prepare plans: it selects the steps that were made on the branch's tip, and turns each
// (or all of them together) into a commit. Plan.Apply writes the commits with git's hooks
// and signing (package commits), passes them through the clearance gate, and moves the branch.
// The worktree does not change. A move of the current branch follows the rules of a
// rollback, so an undo takes it back.
package land

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/core/clearance"
	"git-checkpoint/internal/core/commits"
	"git-checkpoint/internal/core/workflow"
	"git-checkpoint/internal/format/journal"
	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/format/record"
	"git-checkpoint/internal/git"
	"git-checkpoint/internal/storage/snapshot"
	"git-checkpoint/internal/storage/worktree"
	"git-checkpoint/internal/sys/gather"
	"git-checkpoint/internal/verb/create"
	"git-checkpoint/internal/verb/rollback"
)

// Request holds the options of `land`.
type Request struct {
	Session string
	Range   string // FROM..TO, both included, or TO; empty: everything up to the current checkpoint
	Line    string // a checkpoint of another line than the one here, which is landed up to its head; empty: this one
	Each    bool   // makes one commit for each milestone, not one of all steps
	Message string // replaces the messages of the checkpoints; empty: keep them
	// A new branch that gets the commits; empty: the current branch.
	Branch    string
	Unscanned bool // objects that could not be scanned for secrets may go to the branch
}

// Commit is a commit that is planned or made.
type Commit struct {
	ID      name.ID  `json:"id"` // the checkpoint
	Label   string   `json:"label"`
	Subject string   `json:"subject"`
	Files   int      `json:"files"`
	OID     name.OID `json:"oid"` // empty in a plan

	Called string `json:"-"` // what people type for it

	draft commits.Draft
	held  []step
}

// Answer is the answer of `land`, planned or done.
type Answer struct {
	Session   name.Session          `json:"session"`
	Branch    name.Ref              `json:"branch"`
	From      name.OID              `json:"from"`
	To        name.OID              `json:"to"` // empty in a plan
	Commits   []Commit              `json:"commits"`
	Untracked []checkpoint.Path     `json:"untracked"` // landed files that git did not track before
	Beside    []checkpoint.Path     `json:"beside"`    // files that belong to databases, which no commit takes
	Left      []checkpoint.Labelled `json:"left"`      // steps that change nothing
	// LeftOut are the heads of other lines of the session, whose steps are not landed.
	LeftOut []checkpoint.Head `json:"left_out,omitempty"`
	// Empty in a plan and for another branch.
	Safety name.ID `json:"safety"`
	DryRun bool    `json:"dry_run"`

	Steps string `json:"-"` // such as "steps 1-6"
	Apart int    `json:"-"` // how many commits --each would make; 0: they are made, or there is one step
}

// Plan is a planned landing.
type Plan struct {
	Answer *Answer

	s    *checkpoint.Service
	req  Request
	at   *checkpoint.Found // the current checkpoint
	base name.OID          // tree of the branch's tip
}

// Prepare plans a landing. Nothing is changed.
func Prepare(ctx context.Context, s *checkpoint.Service, req Request) (*Plan, error) {
	if err := refuse(ctx, s.Repo, req); err != nil {
		return nil, err
	}
	p := &Plan{s: s, req: req, Answer: &Answer{
		Branch: s.Repo.Head.Branch, From: s.Repo.Head.OID, DryRun: true, Commits: []Commit{}, Untracked: []checkpoint.Path{}, Beside: []checkpoint.Path{}, Left: []checkpoint.Labelled{},
	}}
	if req.Branch != "" {
		p.Answer.Branch = name.Ref("refs/heads/" + req.Branch)
	}
	steps, err := p.steps(ctx)
	if err != nil {
		return nil, err
	}
	tip, err := s.Repo.Commits.Read(ctx, string(s.Repo.Head.OID))
	if err != nil {
		return nil, err
	}
	p.base = tip.Tree
	if err := p.divide(ctx, steps); err != nil {
		return nil, err
	}
	p.Answer.Steps = numbers(steps)
	if len(p.Answer.Commits) == 0 {
		hint := ""
		if len(p.Answer.Beside) > 0 {
			hint = fmt.Sprintf("only %s changed, which no commit takes: the program that writes the database moves it there", p.Answer.Beside[0])
		} else if len(steps) == 0 {
			hint = "`git checkpoint save TEXT` makes a step of what has changed since the last land"
		}
		return nil, checkpoint.Failure(checkpoint.KindNothing, hint, "nothing to land: %s already has everything in the steps", p.Answer.Branch.Short())
	}
	return p, p.untracked(ctx)
}

// refuse returns an error for what cannot be landed now: an operation of git in progress,
// no commit or branch to land on, no identity, or a branch that exists.
func refuse(ctx context.Context, repo *git.Repo, req Request) error {
	no := func(message string, hints ...string) error {
		return &checkpoint.Error{Kind: checkpoint.KindRefused, Message: message, Hints: hints}
	}
	// Landing in the middle of a merge or rebase would lose the operation's own state.
	switch {
	case repo.Checkout.Operation() != "":
		return commits.Refuse(ctx, repo)
	case repo.Head.OID == "":
		return no("there is no commit yet that the steps could be based on", "`git commit --allow-empty -m Begin` makes the first one; files and index stay as they are")
	case repo.Head.Branch == "" && req.Branch == "":
		return no("HEAD is on no branch", "--branch NAME makes one for the commits")
	}
	if err := commits.Refuse(ctx, repo); err != nil {
		return err
	}
	if req.Branch != "" {
		if err := checkpoint.RefuseBranch(ctx, repo, req.Branch, "switch to it and land there, or choose another name"); err != nil {
			return err
		}
	}
	return checkpoint.RefuseHalfRolledBack(repo)
}

// step is a checkpoint that may be landed, with its record.
type step struct {
	entry  *journal.Entry
	record *record.Record
	called string // what people type for it
}

// steps returns the steps of the range, oldest first, that were made on the branch's tip. A
// step that was made on an earlier commit lacks what came since, and landing it would
// revert that.
func (p *Plan) steps(ctx context.Context) ([]step, error) {
	first, last, err := p.ends(ctx)
	if err != nil {
		return nil, err
	}
	log, err := p.s.Store.Log(ctx, last.Session)
	if err != nil {
		return nil, err
	}
	landings := checkpoint.Landings(log.Events())
	var steps []step
	reached, continued := first == nil, last.State.Continued(0)
	for e := range last.State.LineTo(last.Entry) {
		if isLast := e == last.Entry; !e.Dead && !e.Safety && (isLast || e.Milestone && !continued[e.Place]) {
			rec, err := checkpoint.ReadRecord(ctx, p.s.Store, e)
			if err != nil {
				return nil, checkpoint.DamagedError(e, err)
			}
			onTip := rec.Git.Head == p.s.Repo.Head.OID
			if !onTip && isLast {
				return nil, checkpoint.Failure(checkpoint.KindRefused, "`git checkpoint save` makes a checkpoint with both, which can be landed", "HEAD has moved since %s was made, so its files lack the newer commits", checkpoint.Said(ctx, p.s.Store, last.State, e))
			}
			if !onTip {
				break
			}
			if _, made := landings[e.Checkpoint]; !made {
				steps = append(steps, step{e, rec, checkpoint.NameTo(last.State, e)})
			}
			if rec.IsOnHead() {
				before := last.State.Entry(e.Event().Previous)
				p.s.Store.Warn(fmt.Sprintf("%s is not on the files of %s (%s), so land begins there", checkpoint.Said(ctx, p.s.Store, last.State, e), checkpoint.Said(ctx, p.s.Store, last.State, before), before.Event().Writer()))
				break
			}
		}
		if first != nil && e.Checkpoint == first.Entry.Checkpoint {
			reached = true
			break
		}
	}
	if !reached {
		return nil, checkpoint.Usage("git checkpoint list", "%s is not one of the steps before %s that were made on this commit", checkpoint.Said(ctx, p.s.Store, first.State, first.Entry), checkpoint.Said(ctx, p.s.Store, last.State, last.Entry))
	}
	slices.Reverse(steps)
	return steps, nil
}

// ends returns the ends of the range. Without a first one the range begins at the oldest step.
func (p *Plan) ends(ctx context.Context) (first, last *checkpoint.Found, err error) {
	from, to, ranged := strings.Cut(p.req.Range, "..")
	if !ranged {
		from, to = "", p.req.Range
	}
	if p.req.Line != "" {
		to = p.req.Line
	}
	if last, err = p.s.Sessions.ResolveOne(ctx, p.req.Session, to); err != nil {
		return nil, nil, err
	}
	if p.req.Line != "" {
		last.Entry = checkpoint.LineOf(last.State, last.Entry)
	} else if to == "" {
		if err := checkpoint.RefuseLines(ctx, p.s.Store, last.State, "land --line %s"); err != nil {
			return nil, nil, err
		}
	}
	p.Answer.LeftOut = checkpoint.HeadsBeside(ctx, p.s.Store, last.State, last.Entry)
	if p.at, err = p.s.Sessions.Resolve(ctx, string(last.Session), "@"); err != nil {
		return nil, nil, err
	}
	p.Answer.Session = last.Session
	if last.Entry.Safety {
		made := checkpoint.CalledBy(last.Entry)
		return nil, nil, checkpoint.Failure(checkpoint.KindRefused, "`git checkpoint rollback "+made+"` brings it back, and `git checkpoint save` makes a step of it", "%s was made by a rollback, not as a step, so it cannot be landed", made)
	}
	if from != "" {
		first, err = p.s.Sessions.Resolve(ctx, string(last.Session), from)
	}
	return first, last, err
}

// divide turns the steps into planned commits. A step whose files equal those of the one
// before makes no commit.
func (p *Plan) divide(ctx context.Context, steps []step) error {
	before, last := p.base, p.base
	var held []step // that the next commit holds
	for i, st := range steps {
		held = append(held, st)
		tree, err := p.landable(ctx, st)
		if err != nil {
			return err
		}
		if !p.req.Each && len(steps) > 1 && tree != last {
			p.Answer.Apart++
		}
		last = tree
		// One commit of all steps has the files of the last one.
		if !p.req.Each && i < len(steps)-1 {
			continue
		}
		if len(st.record.Git.Unmerged) > 0 {
			return checkpoint.Failure(checkpoint.KindRefused, "resolve them, then `git checkpoint save`", "%s has files with conflicts", checkpoint.MentionOf(st.record))
		}
		changes, err := p.s.Repo.Trees.Diff(ctx, before, tree)
		if err != nil {
			return err
		}
		if len(changes) == 0 {
			p.Answer.Left = append(p.Answer.Left, checkpoint.LabelledBy(st.record))
			held = nil
			continue
		}
		message, err := p.message(ctx, cmp.Or(p.req.Message, p.described(ctx, st, changes)), held)
		if err != nil {
			return err
		}
		subject, _, _ := strings.Cut(message, "\n")
		p.Answer.Commits = append(p.Answer.Commits, Commit{
			ID: st.entry.Checkpoint, Label: st.entry.Label, Called: st.called, Subject: subject, Files: len(changes),
			held:  held,
			draft: commits.Draft{Label: st.entry.Label, Message: message, Tree: tree, At: st.record.CreatedAt},
		})
		before, held = tree, nil
	}
	return nil
}

// landable returns the tree of a step without what a commit of its files would not hold. Untracked files
// stay: the plan names them.
func (p *Plan) landable(ctx context.Context, st step) (name.OID, error) {
	private, err := clearance.PrivateOf(ctx, p.s.Store, "", st.entry.Event().Commit)
	if err != nil {
		return "", err
	}
	tree, err := commits.Landable(ctx, p.s.Repo, p.base, st.record.Snapshot.Tree, private.Files(clearance.Ignored), private.Files(clearance.Hidden))
	if err != nil {
		return "", err
	}
	changes, err := p.s.Repo.Trees.Diff(ctx, tree, st.record.Snapshot.Tree)
	for _, c := range changes {
		base, at := worktree.DatabaseOf(c.Path), checkpoint.Path(c.Path)
		if base != "" && snapshot.HasDatabase(ctx, p.s.Repo, tree, base) && !slices.Contains(p.Answer.Beside, at) {
			p.Answer.Beside = append(p.Answer.Beside, at)
		}
	}
	return tree, err
}

// untracked lists the landed files that git did not track before, which the user may not
// expect.
func (p *Plan) untracked(ctx context.Context) error {
	changes, err := p.s.Repo.Trees.Diff(ctx, p.base, p.Answer.Commits[len(p.Answer.Commits)-1].draft.Tree)
	if err != nil {
		return err
	}
	listed, err := p.s.Repo.Run(ctx, git.Cmd{Args: []string{"ls-files", "-z"}})
	if err != nil {
		return err
	}
	tracked := gather.SetOf(listed.Paths())
	for _, c := range changes {
		if c.Old.Mode == 0 && !tracked[c.Path] {
			p.Answer.Untracked = append(p.Answer.Untracked, checkpoint.Path(c.Path))
		}
	}
	return nil
}

// commit writes the commits as objects. No ref moves before all of them exist. It runs git's hooks as
// `git commit` would: pre-commit once, for the last commit, and the hooks of messages for each.
func (p *Plan) commit(ctx context.Context) error {
	// pre-commit may change the files, and only the last commit is checked out.
	last := &p.Answer.Commits[len(p.Answer.Commits)-1]
	var err error
	if last.draft.Tree, err = commits.PreCommit(ctx, p.s.Repo, last.draft.Tree); err != nil {
		return err
	}
	parent := p.Answer.From
	for i := range p.Answer.Commits {
		c := &p.Answer.Commits[i]
		if err := c.draft.Edit(ctx, p.s.Repo); err != nil {
			return err
		}
		c.Subject, _, _ = strings.Cut(c.draft.Message, "\n")
		if c.OID, err = c.draft.Write(ctx, p.s.Rules, parent); err != nil {
			return err
		}
		parent = c.OID
	}
	return nil
}

// Apply writes the commits, asks the gate, then moves the branch. An error before the move
// leaves only unreachable objects behind.
func (p *Plan) Apply(ctx context.Context) (*Answer, error) {
	a := p.Answer
	if err := p.commit(ctx); err != nil {
		return nil, err
	}
	a.To = a.Commits[len(a.Commits)-1].OID
	log, err := p.s.Store.Log(ctx, a.Session)
	if err != nil {
		return nil, err
	}
	// The commits will be pushed with the branch at some time, and no gate sees that push.
	err = clearance.MayLeave(ctx, p.s, clearance.Sending{
		To: "branch " + a.Branch.Short(), Tips: []name.OID{a.To}, Held: []name.OID{a.From}, Labels: clearance.Holders(log), Unscanned: p.req.Unscanned,
	})
	if err != nil {
		return nil, err
	}
	if p.req.Branch != "" {
		if err := commits.MayMove(ctx, p.s.Repo, a.Branch, "", a.To); err != nil {
			return nil, err
		}
		a.DryRun = false
		_, err := p.s.Repo.Output(ctx, "update-ref", "-m", "checkpoint: land", string(a.Branch), string(a.To), "") // "": it must not be there
		return a, err
	}
	if err := commits.MayMove(ctx, p.s.Repo, a.Branch, a.From, a.To); err != nil {
		return nil, err
	}
	return a, p.move(ctx)
}

// move moves the current branch and the index under the rules of a rollback, and makes a
// checkpoint of the result. An undo discards that checkpoint and moves the branch back.
func (p *Plan) move(ctx context.Context) error {
	a := p.Answer
	said := fmt.Sprintf("land %s on %s", a.Steps, a.Branch.Short())
	plan, err := rollback.PrepareMove(ctx, p.s, rollback.Move{
		To: p.at, Files: p.at.Entry, FilesStay: true, Merge: p.indexed, Branch: &checkpoint.BranchPlan{Name: a.Branch, From: a.From, To: a.To, Moved: true, Target: a.Branch},
		Adds: true, Mode: rollback.ModeLand, Before: "before " + checkpoint.CalledBy(p.at.Entry) + " was landed",
	}, rollback.Request{Mode: rollback.ModeAll, Reason: said})
	if err != nil {
		return err
	}
	done, err := plan.Apply(ctx)
	if err != nil {
		return err
	}
	a.Safety, a.DryRun = done.Safety, false
	p.s.Repo.Checkout.Refresh(ctx) // HEAD has moved, so read it again
	_, err = create.Checkpoint(context.WithoutCancel(ctx), p.s, create.Request{
		Session: string(a.Session), Trigger: workflow.TriggerPromote, Message: said, NoTag: true, Selection: create.Selection{Large: true},
	})
	// The commits are there, and an undo still works.
	if err != nil {
		p.s.Store.Warn("the branch was moved, but no checkpoint could be made: " + err.Error())
	}
	commits.RunPostCommit(ctx, p.s.Store)
	return nil
}

// indexed sets the index of the move: as it is, with the landed paths as in the last commit. Afterwards
// only later changes show as changes.
func (p *Plan) indexed(ctx context.Context, now *snapshot.Capture, t snapshot.Target) (snapshot.Target, error) {
	commit, err := p.s.Repo.Commits.Read(ctx, string(p.Answer.To))
	if err != nil {
		return t, err
	}
	changes, err := p.s.Repo.Trees.Diff(ctx, p.base, commit.Tree)
	if err != nil {
		return t, err
	}
	edits := gather.Map(changes, func(c git.Change) (string, git.Entry) { return c.Path, c.New })
	index := now.Index
	if index.Tree, err = p.s.Repo.Trees.Edit(ctx, index.Tree, edits); err != nil {
		return t, err
	}
	index.IntentToAdd = slices.DeleteFunc(slices.Clone(index.IntentToAdd), func(path string) bool { _, landed := edits[path]; return landed })
	t.Index = &index
	return t, nil
}
