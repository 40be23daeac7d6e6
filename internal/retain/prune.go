// Package retain decides which checkpoints stay and removes the others: prune, delete,
// pin. What is pinned goes only when its whole session is deleted.
package retain

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"git-checkpoint/internal/checkpoint"
	"git-checkpoint/internal/git"
	"git-checkpoint/internal/gitconfig"
	"git-checkpoint/internal/journal"
	"git-checkpoint/internal/name"
	"git-checkpoint/internal/workflow"
)

// PruneRequest is what `prune` was asked for.
type PruneRequest struct {
	Session   string
	All       bool
	Keep      *int
	OlderThan string // an age such as 30d
	MaxSize   string // of a session, such as 50m; empty: checkpoint.maxSize
	DryRun    bool
	GC        bool // run `git gc` afterwards

	// Of what happens without somebody who asked for it.
	Automatic bool   // safety checkpoints stay, and with them every undo
	Closing   string // what the session is about to be closed with
}

// Automatic reports whether a workflow's rules act by themselves. A definition of the
// repository's own is committed, so that anybody who is pulled from could delete by it: it
// acts only where the user's configuration says so.
func Automatic(s *checkpoint.Service, def *workflow.Definition) (bool, error) {
	_, builtIn := workflow.Builtin(def.Name)
	return s.Settings.Bool("checkpoint.autoPrune", builtIn && def.Retention.Automatic)
}

// OnClose plans what the workflow lets go of a session that is closed; nil where
// checkpoint.autoPrune keeps everything, or nobody knows the rules.
func OnClose(ctx context.Context, s *checkpoint.Service, st *journal.State, status string) *PrunePlan {
	plan, err := planClose(ctx, s, st, status)
	if err != nil { // a session can be closed whatever its definition looks like
		s.Warn("nothing was pruned: " + err.Error())
	}
	return plan
}

func planClose(ctx context.Context, s *checkpoint.Service, st *journal.State, status string) (*PrunePlan, error) {
	def, err := s.DefinitionFor(ctx, st)
	if err != nil {
		return nil, err
	}
	_, builtIn := workflow.Builtin(def.Name)
	if on, err := s.Settings.Bool("checkpoint.autoPrune", builtIn); err != nil || !on {
		return nil, err
	}
	return PlanPrune(ctx, s, PruneRequest{Session: string(st.Session), Automatic: true, Closing: status})
}

// PruneAnswer is what `prune` answers, planned or done.
type PruneAnswer struct {
	Pruned []Judged `json:"pruned"`
	Kept   []Judged `json:"kept"`
	Bytes  int64    `json:"bytes"` // of objects that only the pruned ones hold, measured
	DryRun bool     `json:"dry_run"`
	// Levels are rollbacks whose undo or redo needs a checkpoint that goes.
	Levels []LostLevel `json:"lost_levels,omitempty"`
	// GitKeepsUntil is how long git keeps all that goes: the grace of its gc, counted from
	// the oldest one. Nil: nothing goes, or gc deletes nothing.
	GitKeepsUntil *checkpoint.Time `json:"git_keeps_until,omitempty"`

	// With --gc:
	Freed   *int64 `json:"freed,omitempty"`   // what the object store shrank by
	Waiting *int64 `json:"waiting,omitempty"` // what becomes free when git's grace has passed
	Grace   string `json:"grace,omitempty"`
}

// Judged is a checkpoint and why it goes or stays.
type Judged struct {
	ID     name.ID `json:"id"`
	Reason string  `json:"reason"`

	Label   string       `json:"label"`
	Session name.Session `json:"session"`
	Commit  name.OID     `json:"commit"`

	created time.Time
}

// PrunePlan is a prune that was worked out and not carried out.
type PrunePlan struct {
	s         *checkpoint.Service
	req       PruneRequest
	olderThan *time.Duration
	maxSize   int64 // 0: no limit
	answer    *PruneAnswer
}

// Prune drops checkpoints by the rules of their workflow, or by flags.
func Prune(ctx context.Context, s *checkpoint.Service, req PruneRequest) (*PruneAnswer, error) {
	p, err := PlanPrune(ctx, s, req)
	if err != nil || req.DryRun {
		return p.Answer(), err
	}
	return p.Apply(ctx)
}

// PlanPrune works out what a prune would drop, and changes nothing.
func PlanPrune(ctx context.Context, s *checkpoint.Service, req PruneRequest) (*PrunePlan, error) {
	p := &PrunePlan{s: s, req: req, answer: &PruneAnswer{Pruned: []Judged{}, Kept: []Judged{}, DryRun: true}}
	if err := p.limits(); err != nil {
		return nil, err
	}
	if req.GC {
		if all, err := s.Repo.KeepsAll(); err != nil {
			return nil, checkpoint.Classify(err)
		} else if all {
			return nil, &checkpoint.Error{
				Kind: checkpoint.KindFailed, Message: "this repository keeps all objects (extensions.preciousObjects), so --gc is of no use",
				Hints: []string{"git checkpoint prune"},
			}
		}
	}
	if err := p.sessions(ctx); err != nil {
		return nil, err
	}
	if len(p.answer.Pruned) == 0 {
		return p, nil
	}
	if err := p.loses(ctx); err != nil {
		return nil, err
	}
	return p, p.gitKeeps(ctx)
}

// Answer is the plan.
func (p *PrunePlan) Answer() *PruneAnswer {
	if p == nil {
		return nil
	}
	return p.answer
}

// Apply drops what was planned, and nothing else. What was pinned meanwhile stays.
func (p *PrunePlan) Apply(ctx context.Context) (*PruneAnswer, error) {
	done := *p.answer
	done.DryRun, done.Pruned = false, []Judged{}
	for rest := p.answer.Pruned; len(rest) > 0; {
		n := slices.IndexFunc(rest, func(j Judged) bool { return j.Session != rest[0].Session })
		if n < 0 {
			n = len(rest)
		}
		var ids []name.ID
		for _, j := range rest[:n] {
			ids = append(ids, j.ID)
		}
		gone, err := Drop(ctx, p.s, rest[0].Session, ids, "pruned", pinnedStays)
		if err != nil {
			return nil, err
		}
		for _, j := range rest[:n] {
			switch went, there := gone[j.ID]; {
			case went:
				done.Pruned = append(done.Pruned, j)
			case there:
				j.Reason = "pinned"
				done.Kept = append(done.Kept, j)
			}
		}
		rest = rest[n:]
	}
	p.answer = &done
	return p.answer, p.collect(ctx)
}

// sessions plans for the sessions that were asked for.
func (p *PrunePlan) sessions(ctx context.Context) error {
	s := p.s
	if !p.req.All {
		session, err := s.ChooseSession(ctx, p.req.Session)
		if err != nil {
			return err
		}
		return p.session(ctx, session)
	}
	infos, _, err := s.Store.Sessions(ctx)
	if err != nil {
		return checkpoint.Classify(err)
	}
	for _, info := range infos {
		if err := p.session(ctx, info.Session); err != nil {
			if ctx.Err() != nil {
				return checkpoint.Classify(err)
			}
			s.Warn(fmt.Sprintf("session %q: %v; nothing of it was pruned", info.Session, err))
		}
	}
	return nil
}

// limits reads what the flags and the configuration say.
func (p *PrunePlan) limits() error {
	req := p.req
	if req.Keep != nil && *req.Keep < 0 {
		return checkpoint.Usage("", "--keep takes a number from 0, not %d", *req.Keep)
	}
	if req.OlderThan != "" {
		age, err := workflow.ParseAge(req.OlderThan)
		if err != nil {
			return checkpoint.Usage("", "--older-than: %v", err)
		}
		p.olderThan = &age
	}
	var err error
	if req.MaxSize == "" {
		p.maxSize, err = p.s.Settings.Size("checkpoint.maxSize", 0)
		return err
	}
	if p.maxSize, err = gitconfig.ParseSize(req.MaxSize); err != nil || p.maxSize <= 0 {
		return checkpoint.Usage("a size is a number with k, m or g behind it", "--max-size: %q is no size", req.MaxSize)
	}
	return nil
}

// session plans for one session.
func (p *PrunePlan) session(ctx context.Context, session name.Session) error {
	st, err := p.s.State(ctx, session)
	if err != nil {
		return err
	}
	policy := workflow.Policy{Keep: p.req.Keep, OlderThan: p.olderThan}
	if checkpoint.IsClosed(st.Status) {
		policy.SessionStatus = st.Status
	}
	if p.req.Closing != "" {
		policy.SessionStatus = p.req.Closing
	}
	if e := st.CurrentEntry(); e != nil {
		policy.Status = e.Event().CheckpointStatus
	}
	verdicts, err := Judge(ctx, p.s, st, ItemsOf(st), policy)
	if err != nil {
		return err
	}
	if p.maxSize > 0 {
		if err := p.fit(ctx, st, verdicts); err != nil {
			return err
		}
	}
	gone := map[name.ID]bool{}
	var commits []name.OID
	for _, v := range verdicts {
		e := st.Entry(name.ID(v.ID))
		j := Judged{e.Checkpoint, v.Reason, e.Label, session, e.Event().Commit, e.Event().Time}
		if v.Keep || p.req.Automatic && e.Safety {
			p.answer.Kept = append(p.answer.Kept, j)
			continue
		}
		p.answer.Pruned = append(p.answer.Pruned, j)
		gone[e.Checkpoint] = true
		commits = append(commits, j.Commit)
	}
	if len(commits) == 0 {
		return nil
	}
	bytes, err := onlyHeldBy(ctx, p.s, session, gone, commits)
	p.answer.Bytes += bytes
	return err
}

// Judge asks the workflow what stays. A session without a definition prunes nothing.
func Judge(ctx context.Context, s *checkpoint.Service, st *journal.State, items []workflow.Item, policy workflow.Policy) ([]workflow.Verdict, error) {
	def, err := s.DefinitionFor(ctx, st)
	if err != nil {
		return nil, err
	}
	policy.Now, policy.ChangedAt, policy.Config = s.Now(), st.UpdatedAt, s.Settings.Get
	verdicts, err := def.Retain(items, policy)
	if err != nil {
		return nil, checkpoint.Usage("", "%v", err)
	}
	// Which safety checkpoints an undo needs takes a look at every session, so it is asked
	// only where one would go.
	if !slices.ContainsFunc(verdicts, func(v workflow.Verdict) bool { return !v.Keep && isSafety(st, v) }) {
		return verdicts, nil
	}
	needed, err := neededByUndo(ctx, s)
	if err != nil {
		return nil, err
	}
	for i := range items {
		items[i].Undo = needed[name.ID(items[i].ID)]
	}
	if verdicts, err = def.Retain(items, policy); err != nil {
		return nil, checkpoint.Usage("", "%v", err)
	}
	return verdicts, nil
}

func isSafety(st *journal.State, v workflow.Verdict) bool {
	e := st.Entry(name.ID(v.ID))
	return e != nil && e.Safety
}

// ItemsOf are the checkpoints of a session as retention looks at them.
func ItemsOf(st *journal.State) []workflow.Item {
	discarded := map[name.ID]time.Time{}
	for _, r := range st.Rollbacks {
		for _, id := range r.Discard {
			discarded[id] = r.Time
		}
	}
	var items []workflow.Item
	for _, e := range st.Checkpoints() {
		if !e.Dead {
			items = append(items, workflow.Item{
				ID: string(e.Checkpoint), Step: e.Step, Milestone: e.Milestone, Trigger: e.Event().Trigger, Worktree: e.Event().WorktreeID, Discarded: e.Discarded,
				Pinned: e.Pinned, Current: e.Checkpoint == st.Current, CreatedAt: e.Event().Time, DiscardedAt: discarded[e.Checkpoint],
			})
		}
	}
	return items
}

// fit lets the oldest go until the session holds no more than the limit of its own;
// pinned ones, the current one and those that an undo needs stay. It halves, because each look costs a walk.
func (p *PrunePlan) fit(ctx context.Context, st *journal.State, verdicts []workflow.Verdict) error {
	needed, err := neededByUndo(ctx, p.s)
	if err != nil {
		return err
	}
	var may []int // the oldest first
	for i, v := range verdicts {
		if e := st.Entry(name.ID(v.ID)); v.Keep && !e.Pinned && e.Checkpoint != st.Current && !needed[e.Checkpoint] {
			may = append(may, i)
		}
	}
	size := func(drop int) (int64, error) {
		dropped := map[int]bool{}
		for _, i := range may[:drop] {
			dropped[i] = true
		}
		var commits []name.OID
		all := map[name.ID]bool{}
		for i, v := range verdicts {
			e := st.Entry(name.ID(v.ID))
			all[e.Checkpoint] = true
			if v.Keep && !dropped[i] {
				commits = append(commits, e.Event().Commit)
			}
		}
		return onlyHeldBy(ctx, p.s, st.Session, all, commits)
	}
	whole, err := size(0)
	if err != nil || whole <= p.maxSize {
		return err
	}
	low, high := 1, len(may)
	for low < high {
		middle := (low + high) / 2
		bytes, err := size(middle)
		if err != nil {
			return err
		}
		if bytes <= p.maxSize {
			high = middle
		} else {
			low = middle + 1
		}
	}
	for _, i := range may[:high] {
		verdicts[i].Keep, verdicts[i].Reason = false, fmt.Sprintf("the session holds %d bytes, more than %d", whole, p.maxSize)
	}
	return nil
}

// gitKeeps works out until when git has all that goes. The files of a checkpoint were
// written or freshened when it was made, and gc deletes nothing that is younger than its
// grace.
func (p *PrunePlan) gitKeeps(ctx context.Context) error {
	grace, ends, err := p.s.Repo.Grace(ctx)
	if err != nil || !ends {
		return checkpoint.Classify(err)
	}
	oldest := slices.MinFunc(p.answer.Pruned, func(a, b Judged) int { return a.created.Compare(b.created) })
	p.answer.GitKeepsUntil = &checkpoint.Time{Time: oldest.created.Add(grace)}
	return nil
}

// collect runs git's gc, and measures.
func (p *PrunePlan) collect(ctx context.Context) error {
	if !p.req.GC {
		return nil
	}
	done, err := p.s.Repo.CollectGarbage(ctx)
	if errors.Is(err, git.ErrGCRunning) {
		p.s.Warn("a `git gc` is already running here, so no second one was started")
		return nil
	}
	if err != nil {
		return checkpoint.Classify(fmt.Errorf("run git gc: %w", err))
	}
	p.answer.Freed, p.answer.Waiting, p.answer.Grace = &done.Freed, &done.Waiting, done.Grace
	return nil
}
