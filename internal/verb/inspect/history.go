package inspect

// This file answers `history`, which lists the events of a journal, and `status`, which describes
// the present, also in one line for a shell prompt.

import (
	"cmp"
	"context"
	"errors"
	"fmt"
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
	"git-checkpoint/internal/sys/gather"
	"git-checkpoint/internal/verb/create"
	"git-checkpoint/internal/verb/travel"
)

// History returns all events of a session, oldest first, in the order of the fold. With DetailRows each says what it
// is about.
func History(ctx context.Context, s *checkpoint.Sessions, session string, detail Detail) (out []HistoryLine, err error) {
	st, err := checkpoint.ChosenState(ctx, s, session)
	if err != nil {
		return nil, err
	}
	out = gather.List(st.Events(), LineOf)
	if detail != DetailRows {
		return out, nil
	}
	// One that is pruned has no record any more, and keeps its number.
	mentioned, err := mentions(ctx, s.Store, st)
	if err != nil {
		return nil, err
	}
	say := func(id name.ID) string {
		if m, ok := mentioned[id]; ok {
			return m.String()
		}
		if e := st.Entry(id); e != nil {
			return checkpoint.CalledBy(e)
		}
		return string(id)
	}
	for i, e := range st.Events() {
		out[i].What = subjectsOf(e, say)
	}
	return out, nil
}

// subjectsOf says which checkpoints an event is about: one, from and to, or those that were pruned.
func subjectsOf(e *journal.Event, say func(name.ID) string) string {
	described, _ := e.Described()
	switch {
	case described != "":
		return say(described)
	case e.To != "" && e.From != "" && e.To != e.From:
		return "from " + say(e.From) + " to " + say(e.To)
	case e.To != "":
		return "to " + say(e.To)
	case e.From != "":
		return "from " + say(e.From)
	case e.Checkpoint != "":
		return say(e.Checkpoint)
	}
	gone := gather.List(e.Tombstones, func(t journal.Tombstone) string { return say(t.ID) })
	return strings.Join(gone, ", ")
}

// stillThere returns the checkpoints of a session that were not pruned, in the order of the journal.
func stillThere(st *journal.State) []*journal.Entry {
	return slices.DeleteFunc(st.Checkpoints(), func(e *journal.Entry) bool { return e.Dead })
}

// mentions returns how people see the checkpoints of a session that are still there.
func mentions(ctx context.Context, s *store.Store, st *journal.State) (map[name.ID]checkpoint.Mention, error) {
	items, byID, err := itemsOf(ctx, s, st, stillThere(st))
	if err != nil {
		return nil, err
	}
	l := &Listing{Session: st.Session, Items: items}
	if err := l.details(ctx, s, st, byID, DetailMessages); err != nil {
		return nil, err
	}
	l.called(st)
	all := make(map[name.ID]checkpoint.Mention, len(l.Items))
	for _, item := range l.Items {
		message, _, _ := strings.Cut(cmp.Or(item.Row.Message, item.Message), "\n")
		all[item.ID] = checkpoint.Mention{Name: item.Row.Name, Message: message, Files: item.Row.Files, At: item.CreatedAt.Time}
	}
	return all, nil
}

// OriginOf returns what was current before a rollback. An imported rollback may come from a
// checkpoint that the other layout does not have any more: then it returns that one's name there.
func OriginOf(e *journal.Event) name.ID { return cmp.Or(e.From, name.ID(e.FromLabel)) }

// LineOf converts an event to a line of `history`.
func LineOf(e *journal.Event) HistoryLine {
	h := HistoryLine{
		Event: string(e.Kind), Time: checkpoint.Time{Time: e.Time}, Actor: e.Actor, Session: e.Session, Checkpoint: e.Checkpoint, From: OriginOf(e), To: e.To,
		Reason: e.Reason, OID: e.OID, Label: cmp.Or(e.Label, e.ToLabel), Status: e.Status, Safety: e.Safety, Mode: e.Mode, Worktree: e.Worktree,
		Discard: e.Discard, Restore: e.Restore, Workflow: e.Workflow, Topic: e.Topic, Branch: e.Branch,
	}
	if id, message := e.Described(); id != "" {
		h.Event, h.Checkpoint, h.Reason = "describe", id, message
	}
	for _, t := range e.Tombstones {
		h.Pruned = append(h.Pruned, t.ID)
	}
	// Trailers of imports, documents and forks, and those of newer versions.
	for _, t := range e.Extra {
		if h.Extra == nil {
			h.Extra = map[string]string{}
		}
		h.Extra[t.Key] = t.Value
	}
	return h
}

// Status answers `status`: where the session of this worktree stands and what to do next. If the record
// of the current checkpoint is damaged, it returns an error and what is known without it.
func Status(ctx context.Context, s *checkpoint.Service, look Look) (*StatusAnswer, error) {
	a, err := status(ctx, s, look)
	if err != nil || a.UnfinishedRollback == nil || a.UnfinishedRollback.Process == 0 {
		return a, err
	}
	// The capture has waited for the rollback. If it is over, what was read before is out of date.
	if now, err := UnfinishedRollback(s.Repo); err != nil || now != nil && now.Process != 0 {
		return a, err
	}
	return status(ctx, s, look)
}

func status(ctx context.Context, s *checkpoint.Service, look Look) (*StatusAnswer, error) {
	on, err := s.Settings.Bool("checkpoint.enabled", true)
	if err != nil {
		return nil, err
	}
	a := &StatusAnswer{Look: look, Enabled: on, Branch: s.Repo.Head.Branch, Watching: Watching(s.Repo), Workers: workers(s.Store, "")}
	if a.UnfinishedRollback, err = UnfinishedRollback(s.Repo); err != nil {
		return nil, err
	}
	session, err := s.Sessions.ChooseSession(ctx, "")
	if checkpoint.KindOf(err) == checkpoint.KindNotFound {
		checkpoint.WarnOfBranch(ctx, s.Store, err)
		a.NextAction, a.MayFetch = "create the first checkpoint", s.Rules.MayFetch(ctx)
		return a, nil
	}
	if err != nil {
		return nil, err
	}
	a.Remote, a.Workers = travel.LastSync(s.Repo), workers(s.Store, session)
	st, err := checkpoint.State(ctx, s.Store, session)
	if checkpoint.KindOf(err) == checkpoint.KindNotFound {
		a.Session, a.NextAction = session, "create the first checkpoint"
		return a, nil
	}
	if err != nil {
		return nil, err
	}
	// ChooseSession falls back to one of the branch with any name. If that is closed, the next create will not
	// go there.
	if active, err := s.Sessions.NamedSession(ctx, ""); err == nil && active == "" && checkpoint.IsClosed(st.Status) {
		a.Closed, a.Status, a.NextAction = session, st.Status, "start a session"
		return a, nil
	}
	a.Session, a.Stays = session, s.Sessions.Staying(ctx, st)
	warnRewritten(ctx, s.Store, st)
	if look != LookAway {
		if bytes := spaceOf(ctx, s.Store); bytes >= 1e6 {
			a.Bytes = bytes
		}
	}
	err = statusOf(ctx, s, st, a)
	if failed, unknown := create.WaitingFor(s.Store, st, session); unknown == nil && failed != nil && !checkpoint.IsClosed(st.Status) {
		a.WaitsFor = &Waiting{Step: *failed.Step, Problem: failed.Problem}
		a.NextAction = fmt.Sprintf("`git checkpoint save --step %d` makes the checkpoint that failed, and the session waits for it: %s", a.WaitsFor.Step, a.WaitsFor.Problem)
	}
	return a, err
}

// warnRewritten says if a tool rewrote checkpoints of the session with the history. Only the current one
// is looked at first: status is called often.
func warnRewritten(ctx context.Context, s *store.Store, st *journal.State) {
	e := st.CurrentEntry()
	if e == nil || checkpoint.RewriteTrace(s.Repo) == "" && checkpoint.RewrittenTo(ctx, s.Repo, st.Session, e) == "" {
		return
	}
	if count, err := checkpoint.CountRewritten(ctx, s, st); err == nil && count > 0 {
		s.Warn(checkpoint.RewrittenWords(count) + "; " + checkpoint.RewrittenHint(s.Repo, st.Session, ""))
	}
}

// UnfinishedRollback returns the rollback of this worktree that runs, or that was killed and is
// neither continued nor aborted; nil if there is none.
func UnfinishedRollback(repo *git.Repo) (*Unfinished, error) {
	dir := filepath.Join(repo.GitDir, "checkpoint")
	in, err := snapshot.ReadIntent(dir)
	if in == nil {
		return nil, err
	}
	meta, err := checkpoint.ReadIntent(in.Meta)
	if err != nil {
		return nil, err
	}
	return &Unfinished{To: meta.To, Safety: meta.Safety, StartedAt: checkpoint.Time{Time: meta.StartedAt}, Process: snapshot.Mover(dir)}, nil
}

// statusOf fills in what depends on the session.
func statusOf(ctx context.Context, s *checkpoint.Service, st *journal.State, a *StatusAnswer) error {
	a.Workflow, a.Topic, a.Status, a.Heads = st.Workflow, st.Topic, st.Status, checkpoint.RecentHeads(ctx, s.Store, st)
	// Count live and discarded checkpoints. Safety and pruned ones are neither.
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
		a.LastCheckpointAt = &checkpoint.Time{Time: st.At(last).Event().Time}
	}
	def, err := s.Rules.ReadableDefinition(ctx, st)
	if err != nil {
		return err
	}
	e := st.CurrentEntry()
	if e == nil {
		a.NextAction = "create the first checkpoint"
		return nil
	}
	a.Current, a.Nowhere = &checkpoint.Labelled{ID: e.Checkpoint, Label: e.Label}, st.Place == ""
	rec, err := checkpoint.ReadRecord(ctx, s.Store, e)
	if err != nil {
		err = s.Rules.CorruptError(ctx, st, e, err)
		a.Damaged, a.ChangedUnknown = checkpoint.MessageOf(err), true
		a.Status = checkpoint.StatusOf(ctx, s.Rules, st)
		if hints := checkpoint.HintsOf(err); len(hints) > 0 {
			a.NextAction = hints[0]
		}
		return err
	}
	a.Incomplete, a.Happened = Incomplete(rec.Snapshot.Skipped), happened(s.Store, st, rec)
	a.Mention = checkpoint.Mentioned(ctx, s.Store, st, cmp.Or(st.Entry(checkpoint.StepHere(st)), e))
	if a.Topic == "" {
		a.Topic = cmp.Or(checkpoint.TopicIn(def, rec.State), checkpoint.TopicOf(ctx, s.Rules, st))
	}
	if a.Look == LookAway {
		a.ChangedUnknown = true
	} else if rec.Snapshot.Tree != "" { // otherwise it was imported without files
		if err := changedSince(ctx, s, rec, a); err != nil {
			return err
		}
	}
	if checkpoint.IsClosed(st.Status) {
		a.NextAction = "nothing; the session is " + st.Status
		return nil
	}
	a.Status = checkpoint.StatusOf(ctx, s.Rules, st)
	in := checkpoint.Situation(s.Store, st, rec)
	in.Former = checkpoint.Former(ctx, s.Store, def, st, e)
	for _, c := range a.Changed {
		in.Changed = append(in.Changed, string(c.Path))
	}
	a.NextAction = nextAction(def, in)
	return nil
}

// happened says what came last in a session in this worktree. The checkpoint that a rollback makes first is
// a part of it.
func happened(s *store.Store, st *journal.State, rec *record.Record) Happened {
	id, _ := s.WorktreeID() //nolint:errcheck // without one, no event is of this worktree
	for e := range st.LatestBy(id) {
		switch {
		case e.Kind == journal.KindUndo && !st.IsRedo(e):
			return HappenedUndo
		case e.Kind == journal.KindUndo, e.Kind == journal.KindRollback && !e.Stays():
			return HappenedRollback
		case e.Kind == journal.KindCreate:
			failed := len(rec.Error) > 0 && string(rec.Error) != "null"
			if failed || slices.Contains([]string{workflow.TriggerRun, workflow.TriggerUserInterrupt, workflow.TriggerSessionEnd}, rec.Trigger) {
				return HappenedFailure
			}
			return HappenedSave
		}
	}
	return HappenedSave
}

// changedSince fills in the files that differ from a checkpoint. If they cannot be known, status
// answers the rest.
func changedSince(ctx context.Context, s *checkpoint.Service, rec *record.Record, a *StatusAnswer) error {
	now, err := Capture(ctx, s, rec)
	if errors.Is(err, snapshot.ErrBusy) { // a rollback that takes long
		a.ChangedUnknown = true
		return nil
	}
	if err != nil {
		return err
	}
	if a.Changed, err = ChangedFiles(ctx, s.Repo, rec.Snapshot.Tree, now.Tree, nil); err != nil {
		// Damage in one checkpoint must not make `status` fail.
		unknown := checkpoint.UnknownSince(ctx, s.Repo, checkpoint.CalledOf(rec), rec.Snapshot.Tree)
		if unknown == "" {
			return err
		}
		a.ChangedUnknown = true
		s.Store.Warn(unknown)
		return nil
	}
	a.Repositories, err = MovedInside(ctx, s.Repo, rec, now)
	return err
}

// nextAction returns what comes next: what the workflow says or, if it says nothing, its next step.
func nextAction(def *workflow.Definition, in workflow.Situation) string {
	if said := def.NextAction(in); said != "" {
		return said
	}
	if next, ok := def.Steps.Next(&in.Place.Step, nil, in.Highest); ok {
		return fmt.Sprintf("go on with step %d", next.Number)
	}
	return "create the next checkpoint"
}

// Look says whether an answer looks at the files of the worktree.
type Look int

// The values of Look.
const (
	LookAtFiles Look = iota
	LookAway
)

// BriefAnswer is the answer of `status --porcelain`: what a shell prompt shows.
type BriefAnswer struct {
	Session name.Session
	Number  string // as a person types it: 3, 6.2 or 3+1
	Label   string
	Look    Look
	Changed int      // files that differ from the current checkpoint, if they were looked at and ChangedUnknown is not set
	Marks   []string // as docs/json.md lists them, in that order

	ChangedUnknown bool
}

// Brief answers `status --porcelain`. Without a current checkpoint it is an error of KindNotFound. With
// LookAway it reads no record, only the journal.
func Brief(ctx context.Context, s *checkpoint.Service, look Look) (*BriefAnswer, error) {
	st, err := checkpoint.ChosenState(ctx, s.Sessions, "")
	if err != nil {
		return nil, err
	}
	e := st.CurrentEntry()
	if e == nil {
		return nil, checkpoint.Failure(checkpoint.KindNotFound, "", "session %q has no checkpoints", st.Session)
	}
	a := &BriefAnswer{Session: st.Session, Number: numberOf(st, e), Label: e.Label, Look: look}
	if look == LookAtFiles {
		if err := a.count(ctx, s, st, e); err != nil {
			return nil, err
		}
	}
	if a.Changed > 0 {
		a.Marks = append(a.Marks, "changed")
	}
	unfinished, err := UnfinishedRollback(s.Repo)
	if unfinished != nil || err != nil { // an intent file that cannot be read also belongs to a rollback
		a.Marks = append(a.Marks, "unfinished")
	}
	if checkpoint.IsClosed(st.Status) || st.Status == checkpoint.StatusPaused {
		a.Marks = append(a.Marks, st.Status)
	}
	return a, nil
}

// count fills in how many files changed.
func (a *BriefAnswer) count(ctx context.Context, s *checkpoint.Service, st *journal.State, e *journal.Entry) error {
	rec, err := checkpoint.ReadRecord(ctx, s.Store, e)
	if err != nil {
		return s.Rules.CorruptError(ctx, st, e, err)
	}
	if rec.Snapshot.Tree == "" { // it was imported without files
		a.ChangedUnknown = true
		return nil
	}
	var full StatusAnswer
	err = changedSince(ctx, s, rec, &full)
	a.Changed, a.ChangedUnknown = len(full.Changed), full.ChangedUnknown
	return err
}

// numberOf returns what a person types for a current checkpoint.
func numberOf(st *journal.State, e *journal.Entry) string {
	if e.Milestone {
		return checkpoint.TypedName(st, e)
	}
	return record.Number(e.Step, e.Milestone, "", e.Label)
}
