package checkpoint

import (
	"context"
	"fmt"
	"sort"
	"time"

	"git-checkpoint/internal/git"
	"git-checkpoint/internal/journal"
	"git-checkpoint/internal/name"
	"git-checkpoint/internal/workflow"
)

// PruneRequest is what `prune` was asked for.
type PruneRequest struct {
	Session   string
	All       bool
	Keep      *int
	OlderThan *time.Duration
	MaxSize   int64 // bytes of a session; 0: no limit
	DryRun    bool
	GC        bool // let git collect what was freed, at once
}

// PruneAnswer is what `prune` answers.
type PruneAnswer struct {
	Pruned []Judged `json:"pruned"`
	Kept   []Judged `json:"kept"`
	Bytes  int64    `json:"bytes"` // of objects that only the pruned ones hold, measured
	DryRun bool     `json:"dry_run"`

	Freed int64 `json:"freed,omitempty"` // with --gc: what the repository shrank by
}

// Judged is a checkpoint and why it goes or stays.
type Judged struct {
	ID     name.ID `json:"id"`
	Reason string  `json:"reason"`

	Label   string       `json:"label"`
	Session name.Session `json:"session"`
}

// Prune drops checkpoints by the rules of their workflow, or by flags.
func (s *Service) Prune(ctx context.Context, req PruneRequest) (*PruneAnswer, error) {
	sessions, err := s.pruneSessions(ctx, req)
	if err != nil {
		return nil, err
	}
	a := &PruneAnswer{Pruned: []Judged{}, Kept: []Judged{}, DryRun: req.DryRun}
	for _, session := range sessions {
		if err := s.pruneSession(ctx, session, req, a); err != nil {
			return nil, err
		}
	}
	if req.GC && !req.DryRun {
		return a, s.collect(ctx, a)
	}
	return a, nil
}

func (s *Service) pruneSessions(ctx context.Context, req PruneRequest) ([]name.Session, error) {
	if !req.All {
		session, err := s.chooseSession(ctx, req.Session)
		return []name.Session{session}, err
	}
	infos, _, err := s.store.Sessions(ctx)
	if err != nil {
		return nil, classify(err)
	}
	var out []name.Session
	for _, info := range infos {
		out = append(out, info.Session)
	}
	return out, nil
}

func (s *Service) pruneSession(ctx context.Context, session name.Session, req PruneRequest, a *PruneAnswer) error {
	st, err := s.state(ctx, session)
	if err != nil {
		return err
	}
	verdicts, err := s.judge(st, req)
	if err != nil {
		return err
	}
	if req.MaxSize > 0 {
		if err := s.overSize(ctx, st, verdicts, req.MaxSize); err != nil {
			return err
		}
	}
	gone := map[name.ID]bool{}
	var ids []name.ID
	var commits []name.OID
	for _, v := range verdicts {
		e := st.Entry(name.ID(v.ID))
		j := Judged{e.Checkpoint, v.Reason, e.Label, session}
		if v.Keep {
			a.Kept = append(a.Kept, j)
			continue
		}
		a.Pruned = append(a.Pruned, j)
		gone[e.Checkpoint] = true
		ids, commits = append(ids, e.Checkpoint), append(commits, e.Commit)
	}
	if len(ids) == 0 {
		return nil
	}
	bytes, err := s.onlyHeldBy(ctx, session, gone, commits)
	if err != nil {
		return err
	}
	a.Bytes += bytes
	if req.DryRun {
		return nil
	}
	return s.drop(ctx, session, ids, "pruned")
}

// judge asks the workflow what stays. Who lost their definition prune nothing.
func (s *Service) judge(st *journal.State, req PruneRequest) ([]workflow.Verdict, error) {
	def, err := s.definition(st.Workflow)
	if err != nil {
		return nil, err
	}
	policy := workflow.Policy{
		Now: s.now(), ChangedAt: st.UpdatedAt, Config: s.where.get, Keep: req.Keep, OlderThan: req.OlderThan,
	}
	if isClosed(st.Status) {
		policy.SessionStatus = st.Status
	}
	if e := st.CurrentEntry(); e != nil {
		policy.Status = e.CheckpointStatus
	}
	discarded := discardTimes(st)
	var items []workflow.Item
	for _, e := range st.Checkpoints {
		if e.Dead {
			continue
		}
		items = append(items, workflow.Item{
			ID: string(e.Checkpoint), Step: e.Step, Trigger: e.Trigger, Worktree: e.WorktreeID, Discarded: e.Discarded,
			Pinned: e.Pinned, Current: e.Checkpoint == st.Current, CreatedAt: e.Time, DiscardedAt: discarded[e.Checkpoint],
		})
	}
	verdicts, err := def.Retain(items, policy)
	if err != nil {
		return nil, usage("", "%v", err)
	}
	return verdicts, nil
}

// discardTimes says when a rollback last discarded each checkpoint.
func discardTimes(st *journal.State) map[name.ID]time.Time {
	out := map[name.ID]time.Time{}
	for _, r := range st.Rollbacks {
		for _, id := range r.Discard {
			out[id] = r.Time
		}
	}
	return out
}

// overSize lets the oldest go until the session holds no more than limit of its
// own; pinned ones and the current one stay.
func (s *Service) overSize(ctx context.Context, st *journal.State, verdicts []workflow.Verdict, limit int64) error {
	for i := range verdicts {
		var commits []name.OID
		gone := map[name.ID]bool{}
		for _, v := range verdicts {
			e := st.Entry(name.ID(v.ID))
			gone[e.Checkpoint] = true
			if v.Keep {
				commits = append(commits, e.Commit)
			}
		}
		size, err := s.onlyHeldBy(ctx, st.Session, gone, commits)
		if err != nil || size <= limit {
			return err
		}
		v := &verdicts[i]
		if e := st.Entry(name.ID(v.ID)); v.Keep && !e.Pinned && e.Checkpoint != st.Current {
			v.Keep, v.Reason = false, fmt.Sprintf("the session holds %d bytes, more than %d", size, limit)
		}
	}
	return nil
}

// collect lets git delete what nothing holds any more, and measures.
func (s *Service) collect(ctx context.Context, a *PruneAnswer) error {
	before, err := s.repo.DiskSize()
	if err != nil {
		return classify(err)
	}
	if _, err := s.repo.Run(ctx, git.Cmd{Args: []string{"gc", "--quiet", "--prune=now"}, Config: []string{"gc.reflogExpire=default"}}); err != nil {
		return classify(fmt.Errorf("collect garbage: %w", err))
	}
	after, err := s.repo.DiskSize()
	a.Freed = before - after
	return classify(err)
}

// autoPrune drops what the workflow lets go after a create. It fails no create.
func (s *Service) autoPrune(ctx context.Context, session name.Session) {
	on, err := s.where.bool("checkpoint.autoPrune", false)
	if err != nil {
		s.warn(err.Error())
		return
	}
	st, err := s.store.State(ctx, session)
	if err != nil {
		return
	}
	def, err := s.definition(st.Workflow)
	if err != nil || !on && !def.Retention.Automatic {
		return
	}
	if err := s.pruneSession(ctx, session, PruneRequest{}, &PruneAnswer{}); err != nil {
		s.warn("automatic prune: " + err.Error())
	}
}

// Workflows lists the definitions that can be used here.
func (s *Service) Workflows() ([]*workflow.Definition, error) {
	names := workflow.Names()
	own, err := s.ownWorkflows()
	if err != nil {
		return nil, err
	}
	seen := map[string]bool{}
	var out []*workflow.Definition
	for _, n := range append(names, own...) {
		if seen[n] {
			continue // a committed one cannot shadow one that is built in
		}
		seen[n] = true
		d, err := s.definition(n)
		if err != nil {
			s.warn(err.Error())
			continue
		}
		out = append(out, d)
	}
	sort.SliceStable(out, func(i, j int) bool { return out[i].Name < out[j].Name })
	return out, nil
}

// Workflow gives one definition by name.
func (s *Service) Workflow(wanted string) (*workflow.Definition, error) { return s.definition(wanted) }
