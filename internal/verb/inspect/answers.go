package inspect

// The types in this file are what commands print. Their JSON members are a contract, documented in
// docs/json.md: members may be added, but never renamed or removed.

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"git-checkpoint/internal/core/author"
	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/format/journal"
	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/format/record"
	"git-checkpoint/internal/format/render"
	"git-checkpoint/internal/storage/store"
	"git-checkpoint/internal/sys/gather"
	"git-checkpoint/internal/verb/travel"
)

// Item is one line of `list`.
type Item struct {
	ID         name.ID              `json:"id"`
	Label      string               `json:"label"`
	Session    name.Session         `json:"session"`
	Step       int                  `json:"step"`
	StepName   string               `json:"step_name"`
	Iteration  string               `json:"iteration"`
	Milestone  bool                 `json:"milestone"`
	Trigger    string               `json:"trigger"`
	Status     string               `json:"status"`
	Message    string               `json:"message"`
	CreatedAt  checkpoint.Time      `json:"created_at"`
	Commit     name.OID             `json:"commit"`
	Files      int                  `json:"files"` // how many were created, modified or deleted
	Current    bool                 `json:"current"`
	Discarded  bool                 `json:"discarded"`
	Pinned     bool                 `json:"pinned"`
	Valid      bool                 `json:"valid"`
	Problem    string               `json:"problem,omitempty"`    // why it is not valid
	Incomplete bool                 `json:"incomplete,omitempty"` // it left something out; known of the newest 1,000
	Usage      *checkpoint.Spending `json:"usage,omitempty"`      // what the turn took, if the list is to say it
	Others     []string             `json:"others,omitempty"`     // who else made what is in an agent's checkpoint: outside, unknown or sessions; known like Incomplete
	Line       string               `json:"line,omitempty"`       // of a live checkpoint in a session with several lines: the id of the head of its line
	Twin       string               `json:"-"`                    // what is typed for one of another line
	IsStep     bool                 `json:"-"`                    // people call it the current step; see checkpoint.StepHere
	Redone     bool                 `json:"-"`                    // a newer live milestone of the same step exists, so the step's number means that one
	Row        Row                  `json:"-"`                    // what the request asks for with Detail
}

// Called is what people call the checkpoint: its number, or its label where the step has a name.
func (i Item) Called() string {
	if i.StepName != "" {
		return i.Label
	}
	return record.Number(i.Step, i.Milestone, i.Iteration, i.Label)
}

// Listing is what `list` shows of one session.
type Listing struct {
	Session name.Session
	Topic   string
	Items   []Item
	Total   int // number of fitting checkpoints, before Limit

	Safety, Discarded, Tools int // how many of these were hidden

	Heads []checkpoint.Head // of other lines than the one here, for people

	here []bool // by place, the line here: those of other lines are hidden, as rows of their heads; nil: none is
}

// StateChange is one value of the state that differs.
type StateChange struct {
	Path string          `json:"path"`
	Op   string          `json:"op"` // added, removed or changed
	Old  json.RawMessage `json:"old"`
	New  json.RawMessage `json:"new"`

	MovedFrom string `json:"moved_from,omitempty"` // for an object that was in another list before: its path there
}

// CommitLine is one commit between two checkpoints.
type CommitLine struct {
	OID     name.OID `json:"oid"`
	Subject string   `json:"subject"`
}

// Difference is the answer of `diff`. To is nil when the other side is the worktree.
type Difference struct {
	From        checkpoint.Labelled     `json:"from"`
	To          *checkpoint.Labelled    `json:"to"`
	State       []StateChange           `json:"state"`
	Outputs     []record.OutputChange   `json:"outputs"`
	Files       []checkpoint.FileChange `json:"files"`
	Checkpoints []checkpoint.Labelled   `json:"checkpoints"`
	Commits     []CommitLine            `json:"commits"`

	Repositories []Moved `json:"repositories,omitempty"` // repositories inside that changed

	LeftOut          []string              `json:"-"` // paths that a side left out, which are not compared
	Mentioned        [2]checkpoint.Mention `json:"-"` // From and To for people
	FromTree, ToTree name.OID              `json:"-"` // for PrintDiff
	Paths            []string              `json:"-"` // for PrintDiff: only these paths were compared; none: all
}

// Differs reports whether state, outputs or files differ.
func (d *Difference) Differs() bool { return len(d.State)+len(d.Outputs)+len(d.Files) > 0 }

// HistoryLine is one event of a journal as `history` shows it. Members that a kind of event does
// not have are empty.
type HistoryLine struct {
	Event      string          `json:"event"`
	Time       checkpoint.Time `json:"time"`
	Actor      string          `json:"actor"`
	Session    name.Session    `json:"session"`
	Checkpoint name.ID         `json:"checkpoint"`
	From       name.ID         `json:"from"`
	To         name.ID         `json:"to"`
	Reason     string          `json:"reason"`
	OID        name.OID        `json:"oid"`

	Label    string            `json:"label,omitempty"`
	Status   string            `json:"status,omitempty"`
	Safety   name.ID           `json:"safety,omitempty"`
	Mode     string            `json:"mode,omitempty"`
	Worktree string            `json:"worktree,omitempty"`
	Discard  []name.ID         `json:"discard,omitempty"`
	Restore  []name.ID         `json:"restore,omitempty"`
	Pruned   []name.ID         `json:"pruned,omitempty"`
	Workflow string            `json:"workflow,omitempty"`
	Topic    string            `json:"topic,omitempty"`
	Branch   string            `json:"branch,omitempty"`
	Extra    map[string]string `json:"extra,omitempty"`

	// For people: the checkpoints that it is about, with their messages, and whether undo or redo would take it now.
	What string `json:"-"`
	Next string `json:"-"`
}

// Happened says what came last in a session, if that makes `status` suggest something else than
// after a save.
type Happened int

// What came last.
const (
	HappenedSave Happened = iota
	HappenedUndo
	HappenedRollback // or a redo
	HappenedFailure  // the command of a step failed or was cut off, or the job says that it failed
)

// StatusAnswer is the answer of `status`, and of the command without arguments.
type StatusAnswer struct {
	Enabled            bool                      `json:"enabled"`
	Session            name.Session              `json:"session"` // empty: there is none yet
	Workflow           string                    `json:"workflow"`
	Current            *checkpoint.Labelled      `json:"current"`
	CheckpointCount    int                       `json:"checkpoint_count"`
	LastCheckpointAt   *checkpoint.Time          `json:"last_checkpoint_at"`
	NextAction         string                    `json:"next_action"`
	Branch             name.Ref                  `json:"branch"`
	Look               Look                      `json:"-"`
	Others             []checkpoint.OtherSession `json:"-"`       // for people
	MayFetch           string                    `json:"-"`       // where there is no session: how those of a remote come here
	Stays              string                    `json:"-"`       // that the session stays on a branch that is not its own, or that has another
	Mention            checkpoint.Mention        `json:"-"`       // of the current checkpoint; the zero value: there is none, or it is damaged
	Nowhere            bool                      `json:"-"`       // this worktree has no place in the session: Current is its newest checkpoint
	Happened           Happened                  `json:"-"`       // what the session ends with
	Changed            []checkpoint.FileChange   `json:"changed"` // files that differ from the current checkpoint
	UnfinishedRollback *Unfinished               `json:"unfinished_rollback"`
	Remote             *travel.RemoteStatus      `json:"remote"`
	// Heads are those of a session that went on in several places, younger than 30 days.
	Heads []checkpoint.Head `json:"heads,omitempty"`
	// Workers are the agents of other sessions that are at work in this worktree, the last one first.
	Workers []Worker `json:"workers"`

	// ChangedUnknown is set if the tree of the current checkpoint cannot be read, so that Changed
	// is not known.
	ChangedUnknown bool   `json:"changed_unknown,omitempty"`
	Damaged        string `json:"damaged,omitempty"` // says what is wrong with the record of the current checkpoint

	Topic     string       `json:"topic,omitempty"`
	Status    string       `json:"status,omitempty"` // of the session if it is closed or paused, else of the current checkpoint
	Discarded int          `json:"discarded,omitempty"`
	Closed    name.Session `json:"closed,omitempty"` // the newest session, if no session is active and that one is closed

	Incomplete   bool    `json:"incomplete,omitempty"`   // the current checkpoint left something out
	Repositories []Moved `json:"repositories,omitempty"` // repositories inside that changed since

	// Bytes is what the checkpoints of all sessions hold that nothing else holds; absent below a
	// megabyte.
	Bytes int64 `json:"bytes,omitempty"`

	// WaitsFor is the create that failed and without which the session does not go on.
	WaitsFor *Waiting `json:"waits_for,omitempty"`

	Watching bool `json:"watching,omitempty"` // set while `git checkpoint watch` runs in this worktree
}

// Waiting is a create that failed.
type Waiting struct {
	Step    int    `json:"step"`
	Problem string `json:"problem"`
}

// Worker is an agent of another session in this worktree.
type Worker struct {
	Session name.Session      `json:"session"`
	Agent   string            `json:"agent"`
	Prompt  string            `json:"prompt"` // its first words; empty: not known
	Last    checkpoint.Time   `json:"last"`   // its last event
	Files   []checkpoint.Path `json:"files"`  // that it changed since the session of this status began
}

// workers returns the agents of other sessions that are at work here.
func workers(s *store.Store, session name.Session) []Worker {
	all := []Worker{}
	for _, w := range author.Load(s.Repo.GitDir).WorkersBeside(session, s.Now()) {
		files := gather.List(w.Files, func(path string) checkpoint.Path { return checkpoint.Path(path) })
		all = append(all, Worker{w.Session, w.Agent, w.Prompt, checkpoint.Time{Time: w.Last}, files})
	}
	return all
}

// SayWorkers warns of the agent of another session that was at work here last, once in ten minutes.
func SayWorkers(ctx context.Context, s *checkpoint.Sessions) {
	const quiet = 10 * time.Minute
	session, err := s.HereSession(ctx)
	beside := workers(s.Store, session)
	var said time.Time
	if known, failed := checkpoint.Recall(s.Repo, checkpoint.BesideFile, &said); err != nil || failed != nil || len(beside) == 0 || known && s.Store.Now().Sub(said).Abs() < quiet {
		return
	}
	w := beside[0]
	s.Store.Warn(fmt.Sprintf("%s is also at work here, in %s, last %s", w.Agent, w.Session, render.Ago(w.Last.Time, s.Store.Now())))
	_ = checkpoint.Remember(s.Store, checkpoint.BesideFile, s.Store.Now()) // it is said again then
}

// Unfinished is a rollback that runs, or that was killed and is neither continued nor aborted.
type Unfinished struct {
	To        name.ID         `json:"to"`
	Safety    name.ID         `json:"safety"`
	StartedAt checkpoint.Time `json:"started_at"`
	Process   int             `json:"process,omitempty"` // the process that is at it; 0: it was killed
}

// itemsOf returns the lines of checkpoints, and their summaries, which are read in one batch.
func itemsOf(ctx context.Context, s *store.Store, st *journal.State, of []*journal.Entry) ([]Item, map[name.ID]*store.Summary, error) {
	byID, problems, err := Problems(ctx, s, st, of)
	items := gather.List(of, func(e *journal.Entry) Item { return itemOf(st, e, byID[e.Checkpoint], problems[e.Checkpoint]) })
	return items, byID, err
}

// itemOf returns the line of a checkpoint from the journal and its commit's trailers. sum may be nil;
// then message and files are empty.
func itemOf(st *journal.State, e *journal.Entry, sum *store.Summary, problem string) Item {
	item := Item{
		ID: e.Checkpoint, Label: e.Label, Session: st.Session, Step: e.Step, StepName: e.Event().StepName, Iteration: e.Event().Iteration,
		Milestone: e.Milestone, Trigger: e.Event().Trigger, Status: e.Event().CheckpointStatus, CreatedAt: checkpoint.Time{Time: e.Event().Time}, Commit: e.Event().Commit,
		Current: e.Checkpoint == st.Current, Discarded: e.Discarded, Pinned: e.Pinned, Valid: problem == "", Problem: problem,
	}
	// A summary of another commit, because the ref was moved, says nothing about this checkpoint.
	// The event has no message and no count of files.
	if sum != nil && sum.Commit == e.Event().Commit && !sum.CreatedAt.IsZero() {
		corrected, _, _ := strings.Cut(e.Described(), "\n")
		item.Message, item.Files, item.CreatedAt = cmp.Or(corrected, sum.Message), sum.Files, checkpoint.Time{Time: sum.CreatedAt}
		item.Incomplete = Incomplete(sum.Skipped)
		item.Others = author.Turn(st, e, sum.Agent).Others()
	}
	return item
}
