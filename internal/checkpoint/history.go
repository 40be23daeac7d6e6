package checkpoint

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"git-checkpoint/internal/journal"
	"git-checkpoint/internal/name"
	"git-checkpoint/internal/snapshot"
)

// History gives every event of a session, oldest first.
func (s *Service) History(ctx context.Context, session string) ([]HistoryLine, error) {
	chosen, err := s.chooseSession(ctx, session)
	if err != nil {
		return nil, err
	}
	st, err := s.state(ctx, chosen)
	if err != nil {
		return nil, err
	}
	out := []HistoryLine{}
	for _, e := range st.Events() {
		out = append(out, historyLine(e))
	}
	return out, nil
}

// origin is where a rollback began: of an imported one that began at what its layout does
// not have any more, the name there.
func origin(e *journal.Event) name.ID {
	if e.From == "" {
		return name.ID(e.FromLabel)
	}
	return e.From
}

func historyLine(e *journal.Event) HistoryLine {
	h := HistoryLine{
		Event: string(e.Kind), Time: Time{e.Time}, Actor: e.Actor, Session: e.Session, Checkpoint: e.Checkpoint, From: origin(e), To: e.To,
		Reason: e.Reason, OID: e.OID, Label: e.Label, Status: e.Status, Safety: e.Safety, Mode: e.Mode, Worktree: e.Worktree,
		Discard: e.Discard, Restore: e.Restore, Workflow: e.Workflow, Topic: e.Topic, Branch: e.Branch,
	}
	if h.Label == "" {
		h.Label = e.ToLabel
	}
	for _, t := range e.Tombstones {
		h.Pruned = append(h.Pruned, t.ID)
	}
	for _, t := range e.Extra {
		if h.Extra == nil {
			h.Extra = map[string]string{}
		}
		h.Extra[t.Key] = t.Value
	}
	return h
}

// Status answers `status`: where the session stands in this worktree.
func (s *Service) Status(ctx context.Context) (*StatusAnswer, error) {
	on, err := s.where.bool("checkpoint.enabled", true)
	if err != nil {
		return nil, err
	}
	a := &StatusAnswer{Enabled: on, Branch: s.repo.Head.Branch, Changed: []FileChange{}}
	if a.UnfinishedRollback, err = s.UnfinishedRollback(); err != nil {
		return nil, err
	}
	session, err := s.chooseSession(ctx, "")
	if KindOf(err) == KindNotFound {
		a.NextAction = "create the first checkpoint"
		return a, nil
	}
	if err != nil {
		return nil, err
	}
	a.Remote = s.lastSync()
	st, err := s.state(ctx, session)
	if KindOf(err) == KindNotFound {
		a.Session, a.NextAction = session, "create the first checkpoint"
		return a, nil
	}
	if err != nil {
		return nil, err
	}
	if active, err := s.named(""); err == nil && active == "" && isClosed(st.Status) {
		a.Closed, a.Status, a.NextAction = session, st.Status, "start a session"
		return a, nil
	}
	a.Session = session
	return a, s.statusOf(ctx, st, a)
}

// UnfinishedRollback is the rollback that was cut off in this worktree; nil when there is none.
func (s *Service) UnfinishedRollback() (*Unfinished, error) {
	in, err := snapshot.ReadIntent(filepath.Join(s.repo.GitDir, "checkpoint"))
	if in == nil {
		return nil, classify(err)
	}
	meta, err := readMeta(in.Meta)
	if err != nil {
		return nil, err
	}
	return &Unfinished{To: meta.To, Safety: meta.Safety, StartedAt: Time{meta.StartedAt}}, nil
}

func (s *Service) statusOf(ctx context.Context, st *journal.State, a *StatusAnswer) error {
	a.Workflow, a.Topic, a.Status = st.Workflow, st.Topic, st.Status
	last := -1
	for i, c := range st.Standings() {
		switch {
		case c.Live:
			a.CheckpointCount++
			last = i
		case c.Discarded:
			a.Discarded++
		}
	}
	if last >= 0 {
		a.LastCheckpointAt = &Time{st.TimeOf(last)}
	}
	def, err := s.reading(ctx, st)
	if err != nil {
		return err
	}
	e := st.CurrentEntry()
	if e == nil {
		a.NextAction = "create the first checkpoint"
		return nil
	}
	a.Current = &Labelled{e.Checkpoint, e.Label}
	rec, _, _, err := s.readRecord(ctx, e)
	if err != nil {
		return s.corrupt(ctx, st, e, err)
	}
	if a.Topic == "" {
		a.Topic = topicIn(def, rec.State)
	}
	if rec.Snapshot.Tree != "" { // else it was imported without files
		tree, err := s.treeNow(ctx, rec)
		if err != nil {
			return err
		}
		if a.Changed, err = s.diffFiles(ctx, rec.Snapshot.Tree, tree, nil); err != nil {
			return err
		}
	}
	switch {
	case isClosed(st.Status):
		a.NextAction = "nothing: the session is " + st.Status
		return nil
	case a.Status == "" || a.Status == statusOpen:
		a.Status = rec.Status
	}
	if a.NextAction = def.NextAction(s.situation(st, base{record: rec})); a.NextAction == "" {
		a.NextAction = "create the next checkpoint"
		if next, ok := def.Next(&e.Step, nil); ok {
			a.NextAction = fmt.Sprintf("go on with step %d", next.Number)
		}
	}
	return nil
}

// newLines is a reader over lines.
func newLines(lines []string) io.Reader {
	return strings.NewReader(strings.Join(lines, "\n") + "\n")
}
