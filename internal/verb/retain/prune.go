// Package retain decides which checkpoints are kept, and removes the others. Prune applies the
// retention rules of a workflow, or limits from flags. Delete and DeleteSession remove what the
// user names. Pin protects checkpoints: only the deletion of the whole session removes them.
//
// PlanPrune computes a PrunePlan and changes nothing, PrunePlan.Apply carries it out. The rules
// themselves are in package workflow (retain.go there); Judge calls them. Drop (remove.go) does
// every removal: one journal event with a tombstone for each checkpoint, and the refs. levels.go
// protects the safety checkpoints that undo and redo need.
package retain

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/core/clearance"
	"git-checkpoint/internal/core/workflow"
	"git-checkpoint/internal/format/journal"
	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/git"
	"git-checkpoint/internal/sys/gather"
)

// PruneRequest is the input of Prune and PlanPrune.
type PruneRequest struct {
	Session   string
	All       bool   // all sessions
	Keep      *int   // how many checkpoints to keep; nil: by the rules
	OlderThan string // an age such as 30d; empty: by the rules
	MaxSize   string // a budget for a session, such as 50m; empty: checkpoint.maxSize
	GC        bool   // run `git gc` afterwards
	// Unasked means that nobody sees the plan before it is carried out. Then the budgets for sizes
	// remove nothing.
	Unasked bool

	// For a prune that no user asked for.
	Automatic bool   // keep safety checkpoints, and so every undo
	Closing   string // the status that the session is about to be closed with
	Between   int64  // what checkpoints between steps may keep; 0: no bound, see Thin
}

// Automatic reports whether a workflow's rules are applied without being asked. The definition of a
// repository is committed, so anybody whose commits are pulled could delete checkpoints by it. Such
// a definition needs the user's consent in checkpoint.autoPrune. trigger is that of live checkpoints, whose limit
// alone may be automatic; empty: all rules are meant.
func Automatic(settings *checkpoint.Settings, def *workflow.Definition, trigger string) (bool, error) {
	_, builtIn := workflow.Builtin(def.Name)
	return settings.Bool("checkpoint.autoPrune", builtIn && (def.Retention.Automatic || def.Retention.Triggers[trigger].Automatic))
}

// OnClose plans what the workflow prunes of a session that is closed. It returns nil if
// checkpoint.autoPrune is off, or if the rules cannot be read.
func OnClose(ctx context.Context, s *checkpoint.Service, st *journal.State, status string) *PrunePlan {
	var plan *PrunePlan
	on := false
	def, err := s.Rules.DefinitionFor(ctx, st)
	if err == nil {
		_, builtIn := workflow.Builtin(def.Name)
		on, err = s.Settings.Bool("checkpoint.autoPrune", builtIn)
	}
	if err == nil && on {
		plan, err = PlanPrune(ctx, s, PruneRequest{Session: string(st.Session), Automatic: true, Closing: status})
	}
	if err != nil { // a broken definition must not keep a session from being closed
		s.Store.Warn("nothing was pruned: " + err.Error())
	}
	return plan
}

// PruneAnswer is what `prune` prints, before and after Apply.
type PruneAnswer struct {
	Pruned []Judged     `json:"pruned"`
	Kept   []Judged     `json:"kept"`
	Bytes  int64        `json:"bytes"` // size of the objects that only the pruned ones hold, on disk
	DryRun bool         `json:"dry_run"`
	Over   []OverBudget `json:"over_budget,omitempty"` // the sessions that still hold more than a budget
	// Levels are the rollbacks that can no longer be undone or redone afterwards.
	Levels []LostLevel `json:"lost_levels,omitempty"`
	// GitKeepsUntil is until when git keeps all of the objects: the grace period of git gc, counted
	// from the oldest pruned checkpoint. Nil: nothing is pruned, or gc deletes nothing.
	GitKeepsUntil *checkpoint.Time `json:"git_keeps_until,omitempty"`

	// Only with --gc:
	Freed   *int64 `json:"freed,omitempty"`   // how much smaller the object store became
	Waiting *int64 `json:"waiting,omitempty"` // how much will be freed when the grace period has passed
	Grace   string `json:"grace,omitempty"`   // git's grace period

	Elsewhere int      `json:"-"` // how many of the pruned ones somebody else made
	By        []string `json:"-"` // who, sorted

	Only   name.Session `json:"-"` // the one session that was looked at
	Others int          `json:"-"` // sessions that were not
}

// Judged is a checkpoint and the reason why it goes or stays.
type Judged struct {
	ID     name.ID `json:"id"`
	Reason string  `json:"reason"`

	Label   string       `json:"label"`
	Session name.Session `json:"session"`
	Commit  name.OID     `json:"commit"`

	Mention checkpoint.Mention `json:"-"` // with the message of the first few

	state   *journal.State
	created time.Time
}

// PrunePlan is a prune that was computed and not carried out.
type PrunePlan struct {
	s         *checkpoint.Service
	req       PruneRequest
	olderThan *time.Duration
	budgets   []budget
	Sized     bool // a budget removes checkpoints; no rule of the workflow does, so somebody has to be asked
	answer    *PruneAnswer
}

// Prune removes checkpoints by the rules of their workflow, or by limits.
func Prune(ctx context.Context, s *checkpoint.Service, req PruneRequest) (*PruneAnswer, error) {
	p, err := PlanPrune(ctx, s, req)
	if err != nil {
		return nil, err
	}
	return p.Apply(ctx)
}

// PlanPrune computes what a prune would remove. It changes nothing.
func PlanPrune(ctx context.Context, s *checkpoint.Service, req PruneRequest) (*PrunePlan, error) {
	p := &PrunePlan{s: s, req: req, answer: &PruneAnswer{Pruned: []Judged{}, Kept: []Judged{}, DryRun: true}}
	if err := p.limits(); err != nil {
		return nil, err
	}
	if req.GC {
		// Refuse before anything is removed.
		if all, err := s.Repo.Settings.KeepsAll(); err != nil {
			return nil, err
		} else if all {
			return nil, checkpoint.Failure(checkpoint.KindFailed, "git checkpoint prune", "this repository keeps all objects (extensions.preciousObjects), so --gc has no effect")
		}
	}
	if err := p.sessions(ctx); err != nil {
		return nil, err
	}
	for _, list := range [][]Judged{p.answer.Pruned, p.answer.Kept} {
		for i := range list[:min(len(list), saidOf)] {
			list[i].Mention = checkpoint.Mentioned(ctx, s.Store, list[i].state, list[i].state.Entry(list[i].ID))
		}
	}
	if len(p.answer.Pruned) == 0 {
		return p, nil
	}
	if err := p.loses(ctx); err != nil {
		return nil, err
	}
	return p, p.gitKeeps(ctx)
}

// Answer returns the plan for display; nil for a nil plan.
func (p *PrunePlan) Answer() *PruneAnswer {
	if p == nil {
		return nil
	}
	return p.answer
}

// Apply removes what was planned. A checkpoint that was pinned in the meantime stays.
func (p *PrunePlan) Apply(ctx context.Context) (*PruneAnswer, error) {
	done := *p.answer
	done.DryRun, done.Pruned = false, []Judged{}
	for rest := p.answer.Pruned; len(rest) > 0; {
		// One transaction for each session. The plan lists the checkpoints of a session together.
		n := slices.IndexFunc(rest, func(j Judged) bool { return j.Session != rest[0].Session })
		if n < 0 {
			n = len(rest)
		}
		ids := gather.List(rest[:n], func(j Judged) name.ID { return j.ID })
		gone, err := Drop(ctx, p.s, rest[0].Session, ids, "pruned", pinnedStays)
		if err != nil {
			return nil, err
		}
		for _, j := range rest[:n] {
			switch went, there := gone[j.ID]; {
			case went:
				done.Pruned = append(done.Pruned, j)
			// It was pinned after the plan was made. One that is not in the map was removed by
			// another process.
			case there:
				j.Reason = "pinned"
				done.Kept = append(done.Kept, j)
			}
		}
		rest = rest[n:]
	}
	p.answer = &done
	return p.answer, errors.Join(clearance.SweepCopies(p.s.Store), p.collect(ctx))
}

// sessions plans for the requested sessions. With --all, one that cannot be read is skipped with a
// warning.
func (p *PrunePlan) sessions(ctx context.Context) error {
	s := p.s
	if !p.req.All {
		session, err := s.Sessions.ChooseSession(ctx, p.req.Session)
		if err != nil {
			return err
		}
		if all, err := s.Store.Sessions(ctx); err == nil && p.req.Session == "" {
			p.answer.Only, p.answer.Others = session, len(all)-1
		}
		return p.session(ctx, session)
	}
	sessions, err := s.Store.Sessions(ctx)
	if err != nil {
		return err
	}
	for _, session := range sessions {
		if err := p.session(ctx, session); err != nil {
			if ctx.Err() != nil {
				return err
			}
			s.Store.Warn(fmt.Sprintf("session %q: %v; nothing in it was pruned", session, err))
		}
	}
	return nil
}

// limits parses the limits in the request and the configuration.
func (p *PrunePlan) limits() error {
	req := p.req
	if req.Keep != nil && *req.Keep < 0 {
		return checkpoint.Usage("", "--keep must be a number of 0 or more, not %d", *req.Keep)
	}
	if req.OlderThan != "" {
		age, err := workflow.ParseAge(req.OlderThan)
		if err != nil {
			return checkpoint.Usage("", "--older-than: %v", err)
		}
		p.olderThan = &age
	}
	return p.readBudgets()
}

// session plans for one session.
func (p *PrunePlan) session(ctx context.Context, session name.Session) error {
	st, err := checkpoint.State(ctx, p.s.Store, session)
	if err != nil {
		return err
	}
	policy := policyOf(p.s.Rules, st)
	policy.Keep, policy.OlderThan = p.req.Keep, p.olderThan
	// The session is not closed yet, but the rules for closed sessions are wanted.
	if p.req.Closing != "" {
		policy.SessionStatus = p.req.Closing
	}
	verdicts, err := Judge(ctx, p.s.Rules, st, ItemsOf(st), policy)
	if err != nil {
		return err
	}
	for _, b := range p.budgets {
		if err := p.fit(ctx, st, verdicts, b); err != nil {
			return err
		}
	}
	gone, own := map[name.ID]bool{}, Own(p.s.Store)
	var commits []name.OID
	for _, v := range verdicts {
		e := st.Entry(name.ID(v.ID))
		j := judged(st, e, v.Reason)
		if v.Keep || p.req.Automatic && (e.Safety || !own(e.Event())) {
			p.answer.Kept = append(p.answer.Kept, j)
			continue
		}
		if p.answer.Pruned = append(p.answer.Pruned, j); !own(e.Event()) {
			p.answer.countForeign(e.Event().Writer())
		}
		gone[e.Checkpoint] = true
		commits = append(commits, j.Commit)
	}
	if len(commits) == 0 {
		return nil
	}
	// Measured for all pruned checkpoints together: objects that only two of them share become
	// free, too.
	bytes, err := onlyHeldBy(ctx, p.s.Store, session, gone, commits)
	p.answer.Bytes += bytes
	return err
}

// judged returns a checkpoint with the reason why it goes or stays.
func judged(st *journal.State, e *journal.Entry, reason string) Judged {
	return Judged{
		ID: e.Checkpoint, Reason: reason, Label: e.Label, Session: e.Event().Session, Commit: e.Event().Commit,
		Mention: checkpoint.Mention{Name: checkpoint.CalledBy(e)}, state: st, created: e.Event().Time,
	}
}

// Judge asks the workflow which checkpoints stay. If the definition cannot be read it fails, and
// nothing is pruned. In a session that is not over, the newest of a line and where a worktree stands stay, too.
func Judge(ctx context.Context, s *checkpoint.Rules, st *journal.State, items []workflow.Item, policy workflow.Policy) ([]workflow.Verdict, error) {
	const heldFor = 30 * 24 * time.Hour // how long after its last event a worktree counts as in use
	verdicts, err := judge(ctx, s, st, items, policy)
	if err != nil || policy.SessionStatus != "" || !slices.ContainsFunc(verdicts, func(v workflow.Verdict) bool { return !v.Keep }) {
		return verdicts, err
	}
	held := st.Held(s.Store.Now().Add(-heldFor))
	for i, v := range verdicts {
		if e := st.Entry(name.ID(v.ID)); !v.Keep && e != nil && held[e.Place] {
			verdicts[i].Keep, verdicts[i].Reason = true, "a worktree stands there"
		}
	}
	return verdicts, nil
}

// judge is Judge by the rules alone.
func judge(ctx context.Context, s *checkpoint.Rules, st *journal.State, items []workflow.Item, policy workflow.Policy) ([]workflow.Verdict, error) {
	def, err := s.DefinitionFor(ctx, st)
	if err != nil {
		return nil, err
	}
	policy.Now, policy.ChangedAt, policy.Config = s.Store.Now(), usedAt(s.Store, st), s.Settings.Get
	verdicts, err := def.Retain(items, policy)
	if err != nil {
		return nil, checkpoint.Usage("", "%v", err)
	}
	// To find out which safety checkpoints an undo needs, every session has to be read. So this is
	// done only if the rules would remove a safety checkpoint.
	isSafety := func(e *journal.Entry) bool { return e != nil && e.Safety }
	if !slices.ContainsFunc(verdicts, func(v workflow.Verdict) bool { return !v.Keep && isSafety(st.Entry(name.ID(v.ID))) }) {
		return verdicts, nil
	}
	needed, err := neededByUndo(ctx, s)
	if err != nil {
		return nil, err
	}
	for i := range items {
		// Ask again, now with the knowledge of what an undo needs.
		items[i].Undo = needed[name.ID(items[i].ID)]
	}
	if verdicts, err = def.Retain(items, policy); err != nil {
		return nil, checkpoint.Usage("", "%v", err)
	}
	return verdicts, nil
}

// ItemsOf returns the checkpoints of a session in the form that the retention rules work on.
func ItemsOf(st *journal.State) []workflow.Item {
	// The rules count the age of a discarded checkpoint from when it was discarded.
	discarded := map[name.ID]time.Time{}
	for _, r := range st.Rollbacks {
		for _, id := range r.Discard {
			discarded[id] = r.Time
		}
	}
	var items []workflow.Item
	continued := st.Continued(0)
	for _, e := range st.Checkpoints() {
		if e.Dead {
			continue
		}
		item := itemOf(e.Event())
		item.Step, item.Milestone, item.Pinned, item.Current = e.Step, e.Milestone, e.Pinned, e.Checkpoint == st.Newest || e.Checkpoint == st.Place
		item.Discarded, item.DiscardedAt = e.Discarded, discarded[e.Checkpoint]
		if continued[e.Place] {
			item.Milestone, item.Trigger = false, journal.TriggerTool
		}
		items = append(items, item)
	}
	return items
}

// ItemsWith are the items of a session as they will be once an event has made its current checkpoint.
func ItemsWith(st *journal.State, made *journal.Event, pinned bool) []workflow.Item {
	items := ItemsOf(st)
	for i := range items {
		items[i].Current = false // it loses that protection
	}
	added := itemOf(made)
	added.Pinned, added.Current = pinned, true
	return append(items, added)
}

// itemOf is what retention needs to know of a checkpoint that does not change after it was made.
func itemOf(made *journal.Event) workflow.Item {
	return workflow.Item{
		ID: string(made.Checkpoint), Step: made.Step, Milestone: made.Milestone, Trigger: made.Trigger, Worktree: made.WorktreeID, CreatedAt: made.Time,
	}
}

// gitKeeps computes until when git keeps the objects that are pruned. Objects were written, or had
// their mtime set, when the checkpoint was made, and gc deletes nothing that is younger than its
// grace period.
func (p *PrunePlan) gitKeeps(ctx context.Context) error {
	grace, ends, err := p.s.Repo.Maintenance.Grace(ctx)
	if err != nil || !ends {
		return err
	}
	oldest := slices.MinFunc(p.answer.Pruned, func(a, b Judged) int { return a.created.Compare(b.created) })
	p.answer.GitKeepsUntil = &checkpoint.Time{Time: oldest.created.Add(grace)}
	return nil
}

// collect runs git gc if requested, and stores what it freed.
func (p *PrunePlan) collect(ctx context.Context) error {
	if !p.req.GC {
		return nil
	}
	done, err := p.s.Repo.Maintenance.CollectGarbage(ctx)
	if errors.Is(err, git.ErrGCRunning) {
		p.s.Store.Warn("a `git gc` is already running here, so none was started")
		return nil
	}
	if err != nil {
		return fmt.Errorf("run git gc: %w", err)
	}
	p.answer.Freed, p.answer.Waiting, p.answer.Grace = &done.Freed, &done.Waiting, done.Grace
	return nil
}
