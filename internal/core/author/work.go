package author

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/format/record"
	"git-checkpoint/internal/git"
	"git-checkpoint/internal/sys/gather"
	"git-checkpoint/internal/sys/wholefile"
)

// Work is what the hooks of a worktree remember of all agents at work there, to tell who changed
// what. It is in the git directory, and whoever changes it holds the hooks' lock. It may be deleted at
// any time: then what changed since each session's last checkpoint is unknown.
//
// Time is counted in events, because two events of one millisecond have an order, too.
type Work struct {
	Now      int                        `json:"now"`             // number of the current event
	Floor    int                        `json:"floor,omitempty"` // what happened up to this event was forgotten
	Sessions map[name.Session]*LastSeen `json:"sessions,omitempty"`
	Workers  map[string]*Worker         `json:"workers,omitempty"` // by conversation
	Windows  []Window                   `json:"windows,omitempty"`
	Changes  []Change                   `json:"changes,omitempty"`
	Saves    []Save                     `json:"saves,omitempty"`
	damaged  bool
	fresh    bool // no agent had an event here before
}

// LastSeen says at which event the worktree had the files of the session's current checkpoint.
type LastSeen struct {
	Began int      `json:"began"` // the event at which the session is first known
	Seen  int      `json:"seen"`
	Tree  name.OID `json:"tree,omitempty"` // has those files; empty in what an older version wrote
}

// Worker is a conversation with an agent.
type Worker struct {
	Session name.Session `json:"session"`
	Agent   string       `json:"agent"`
	Prompt  string       `json:"prompt,omitempty"`  // its first words
	Last    int          `json:"last"`              // its last event
	At      time.Time    `json:"at"`                // time of that
	Busy    bool         `json:"busy,omitempty"`    // with a prompt
	Ended   bool         `json:"ended,omitempty"`   // its conversation, with no event since
	Sees    bool         `json:"sees,omitempty"`    // it has sent an event before a tool
	Rewinds bool         `json:"rewinds,omitempty"` // its agent puts files back without an event
	Told    int          `json:"told,omitempty"`    // the event at which the agent last heard what others changed
	// Whole is what is known of the time since its last turn: who made the difference from the
	// checkpoint Whole.Since to the checkpoint End.
	Whole record.Whole `json:"whole"`
	End   name.ID      `json:"end,omitempty"`
	// Others has what others made, up to the checkpoint Known, and staged, up to the tree Index.
	Others []Foreign `json:"others,omitempty"`
	Known  name.ID   `json:"known,omitempty"`
	Index  name.OID  `json:"index,omitempty"`
	Beside []string  `json:"beside,omitempty"` // has who else was live while its tools of this turn were at work
}

// Window is the time in which a tool may be at work: from the hook before it to the one after it, or
// to the end of the turn, because no hook follows a tool that was denied.
type Window struct {
	Worker string    `json:"worker"`
	Call   string    `json:"call"`            // the agent's id of this use of the tool, or else Input
	Input  string    `json:"input,omitempty"` // a digest of what the tool is asked to do
	Opened int       `json:"opened"`
	Closed int       `json:"closed,omitempty"` // 0: open
	At     time.Time `json:"at"`               // when it opened
	Known  bool      `json:"known,omitempty"`  // says that the worktree was captured when the window opened
	// Edits has what the tool makes of each file that it names. Without any, it may change
	// everything, as a command does.
	Edits  map[string]Edit `json:"edits,omitempty"`
	Used   bool            `json:"used,omitempty"`   // see OpenUntracked
	Unread []string        `json:"unread,omitempty"` // has the files that the capture at its opening did not look at
}

// Edit is what a tool makes of one file: contents as in Change. To may also be Any, if the agent
// promises that nobody else writes the file while its tool runs, and Unclear.
type Edit struct {
	From string `json:"from,omitempty"`
	To   string `json:"to,omitempty"`
}

// Values of Edit.To that are not content.
const (
	Any     = "any"
	Unclear = "unclear" // it cannot be told from the tool's input
)

// Change is one path of a difference. From and To are contents, as Content has them.
type Change struct {
	At      int          `json:"at,omitempty"`
	Session name.Session `json:"session,omitempty"`
	Worker  string       `json:"worker,omitempty"`
	Path    string       `json:"path"`
	From    string       `json:"from,omitempty"`
	To      string       `json:"to,omitempty"`
	Claim   string       `json:"claim,omitempty"`
}

// Save is a file as a person saved it, or is about to, which an editor has told.
type Save struct {
	At      int       `json:"at"`
	Path    string    `json:"path"`
	Size    int64     `json:"size"`
	Time    time.Time `json:"time"`             // of its last change
	Before  bool      `json:"before,omitempty"` // it is not saved yet
	Content string    `json:"content,omitempty"`
}

// Saved notes that a person saved a file, or is about to.
func (w *Work) Saved(s Save) {
	w.Now++
	s.At = w.Now
	w.Saves = append(w.Saves[max(0, len(w.Saves)-mostChanges):], s)
}

// Live notes who else has a prompt, or saved a file, while the tool of a capture was at work.
func (w *Work) Live(capture CaptureContext) {
	own := w.Workers[capture.Worker]
	i := w.open(capture.Worker, capture.Call)
	if own == nil || i < 0 {
		return
	}
	for id, by := range w.Workers {
		if id != capture.Worker && by.Busy && own.At.Sub(by.At) < windowLasts {
			own.Beside = append(own.Beside, by.Agent)
		}
	}
	if slices.ContainsFunc(w.Saves, func(s Save) bool { return s.At > w.Windows[i].Opened }) {
		own.Beside = append(own.Beside, record.OutsideAgents)
	}
	slices.Sort(own.Beside)
	own.Beside = slices.Compact(own.Beside)
}

// Content returns the mode and object id of a file as one word; empty: there is none.
func Content(e git.Entry) string {
	switch e.Mode {
	case 0:
		return ""
	case git.ModeFile:
		return string(e.OID)
	}
	return fmt.Sprintf("%o %s", e.Mode, e.OID)
}

// Changes returns a difference as this package has it.
func Changes(changes []git.Change) []Change {
	return gather.List(changes, func(c git.Change) Change { return Change{Path: c.Path, From: Content(c.Old), To: Content(c.New)} })
}

// Cause is why the worktree is captured.
type Cause int

// The moments. Others are, for example, the compaction of a conversation.
const (
	Otherwise  Cause = iota
	BeforeTool       // of a worker that is about to use a tool
	AfterTool        // of a worker that used one
	BeforeTurn       // a person gave a prompt to a worker that had ended its turn
)

// CaptureContext is one capture of the worktree.
type CaptureContext struct {
	Cause   Cause
	Worker  string
	Session name.Session // into which the capture goes
	Call    string       // the use of a tool that has ended
	Failed  bool         // the agent says that the tool failed
	// In returns the content of a path in a tree that was seen, as in Change; false: it cannot be told.
	In func(tree name.OID, path string) (string, bool)
	// Text returns what is in a content, nil for no file; false: it cannot be told.
	Text  func(content string) ([]byte, bool)
	Saved map[string]bool // has the paths that are on disk as a person saved them
}

// Limits of what is remembered. Old events go first.
const (
	mostChanges  = 500
	mostWindows  = 200
	mostWorkers  = 50
	mostSessions = 50
	// windowLasts is how long a window counts as open after the last event of its conversation: an
	// agent that was killed sends none.
	windowLasts = 12 * time.Hour
)

// Begin counts an event of a worker.
func (w *Work) Begin(worker string, as Worker) *Worker {
	w.Now++
	w.expire(as.At)
	known := w.Workers[worker]
	if known == nil {
		known = &Worker{Told: w.Now}
		if w.Workers == nil {
			w.Workers = map[string]*Worker{}
		}
		w.Workers[worker] = known
	}
	known.Agent, known.Session, known.At, known.Rewinds, known.Last, known.Ended = as.Agent, as.Session, as.At, as.Rewinds, w.Now, false
	if w.Sessions == nil {
		w.Sessions = map[name.Session]*LastSeen{}
	}
	if as.Session != "" && w.Sessions[as.Session] == nil {
		seen := -1
		if w.fresh { // nobody who is known made any of the differences
			seen = 0
		}
		w.Sessions[as.Session] = &LastSeen{Began: w.Now, Seen: seen}
	}
	return known
}

// expire closes windows of workers that are gone.
func (w *Work) expire(now time.Time) {
	for i := range w.Windows {
		v := &w.Windows[i]
		by := w.Workers[v.Worker]
		if v.Closed == 0 && (by == nil || now.Sub(by.At) > windowLasts) {
			v.Closed = w.Now
		}
	}
}

// Open notes that a tool is about to work.
func (w *Work) Open(v Window) {
	v.Opened = w.Now
	w.Windows = append(w.Windows, v)
}

// Close notes that a tool has ended.
func (w *Work) Close(worker, call string) {
	if i := w.open(worker, call); i >= 0 {
		w.Windows[i].Closed = w.Now
	}
}

// Match returns the call of the open window of a tool that ended: where only one of its two hooks had the agent's id of it, that
// of the one with the same input. Without such a window it is false.
func (w *Work) Match(worker, call, input string) (found string, is bool) {
	for _, v := range w.Windows {
		switch {
		case v.Worker != worker || v.Closed != 0 || v.Call != call && (v.Input != input || (v.Call == input) == (call == input)):
		case v.Call == call || found != "":
			return call, v.Call == call
		default:
			found = v.Call
		}
	}
	return cmp.Or(found, call), found != ""
}

// open returns the place of the open window of a use of a tool, or -1.
func (w *Work) open(worker, call string) int {
	return slices.IndexFunc(w.Windows, func(v Window) bool { return v.Worker == worker && v.Call == call && v.Closed == 0 })
}

// blind is the call of a window for a whole turn of an agent without hooks before its tools: it may do
// anything at any time.
const untrackedTurn = "(all of a turn)"

// Missed is the call of the window of a hook before a tool that had no time.
const Missed = "(missed)"

// OpenUntracked notes that a worker may change anything until the end of its turn, because it has no hooks
// before its tools. It returns the window of that, for the caller to mark as used.
func (w *Work) OpenUntracked(worker string) *Window {
	i := w.open(worker, untrackedTurn)
	if i < 0 {
		w.Open(Window{Worker: worker, Call: untrackedTurn})
		i = len(w.Windows) - 1
	}
	return &w.Windows[i]
}

// See notes that a worker has hooks before its tools. What it did without them stays unknown; if it did
// nothing, it had them all along.
func (w *Work) See(worker string) {
	w.Workers[worker].Sees = true
	i := w.open(worker, untrackedTurn)
	switch {
	case i < 0:
	case w.Windows[i].Used:
		w.Windows[i].Closed = w.Now
	default:
		w.Windows = slices.Delete(w.Windows, i, i+1)
	}
}

// EndTurn closes all windows of a worker.
func (w *Work) EndTurn(worker string) {
	for i := range w.Windows {
		if v := &w.Windows[i]; v.Worker == worker && v.Closed == 0 {
			v.Closed = w.Now
		}
	}
}

// Saw notes that the worktree has the files of the session's current checkpoint, which are those of a
// tree.
func (w *Work) Saw(session name.Session, tree name.OID) {
	if s := w.Sessions[session]; s != nil {
		s.Seen, s.Tree = w.Now, tree
	}
}

// MakersNow says who made each path of the difference between a session's current checkpoint and the
// worktree as it is now, for somebody who is not a worker.
func MakersNow(ctx context.Context, repo *git.Repo, session name.Session, changes []git.Change) map[string]Who {
	all, w := Changes(changes), Load(repo.GitDir)
	capture := CaptureContext{Cause: BeforeTurn, Session: session, In: ContentIn(ctx, repo.Trees)}
	// Its agent did nothing since its turn ended, whatever events it had.
	for id, by := range w.Workers {
		if last := w.Workers[capture.Worker]; by.Session == session && (last == nil || by.Last > last.Last) {
			capture.Worker = id
		}
	}
	if by := w.Workers[capture.Worker]; by != nil && by.Busy {
		capture.Cause = Otherwise
	}
	claims := w.Claims(capture, all)
	return gather.Map(all, func(c Change) (string, Who) { return c.Path, Step{claims: claims}.Who(record.Path(c.Path)) })
}

// Made notes a checkpoint of a worker, with the claims that its record has of the difference from
// the checkpoint previous. Saw has to follow.
func (w *Work) Made(capture CaptureContext, previous, made name.ID, changes []Change, claims map[string]string) {
	if by := w.Workers[capture.Worker]; by != nil {
		by.Whole, by.End, by.Known = by.join(previous, changes, claims), made, made
		others := maps.Clone(claims)
		for path, claim := range claims {
			if capture.Saved[path] && claim != record.Named { // also where a tool may have changed it, too
				others[path] = record.OutsideAgents
			}
		}
		by.meet(previous, changes, others, w.Rewound(capture.Session, changes), w.tools(capture), capture.Text)
	}
	for _, c := range changes {
		c.At, c.Session, c.Worker, c.Claim = w.Now, capture.Session, capture.Worker, cmp.Or(claims[c.Path], record.Unknown)
		w.Changes = append(w.Changes, c)
	}
}

// join returns who made the difference from the checkpoint of the worker's last turn to one that
// follows previous.
func (b *Worker) join(previous name.ID, changes []Change, claims map[string]string) record.Whole {
	sum := record.Whole{Since: b.Whole.Since, Paths: maps.Clone(b.Whole.Paths)}
	if b.End != previous || sum.Paths == nil {
		sum = record.Whole{Since: previous, Paths: map[string]string{}}
	}
	for _, c := range changes {
		sum.Paths[c.Path] = joinClaims(sum.Paths[c.Path], cmp.Or(claims[c.Path], record.Unknown))
	}
	return sum
}

// Turn returns what the record of a turn's checkpoint says of the whole turn; nil: nothing.
func (w *Work) Turn(worker string, previous name.ID, changes []Change, claims map[string]string) *record.Whole {
	by := w.Workers[worker]
	if by == nil {
		return nil
	}
	sum := by.join(previous, changes, claims)
	if sum.Paths = Stored(sum.Paths); len(sum.Paths) == 0 || len(sum.Paths) > record.MaxListed {
		return nil
	}
	return &sum
}

// NewTurn begins to sum up from the checkpoint of a turn.
func (w *Work) NewTurn(worker string, made name.ID) {
	if by := w.Workers[worker]; by != nil {
		by.Whole, by.End = record.Whole{Since: made, Paths: map[string]string{}}, made
	}
}

// joinClaims returns the claim for a path of two differences, one after the other.
func joinClaims(first, then string) string {
	own := []string{record.Named, record.During}
	switch {
	case first == "" || first == then:
		return then
	case slices.Contains(own, first) && slices.Contains(own, then):
		return record.During
	}
	return record.Unknown
}

// Idle reports whether no agent was at work in the worktree since a checkpoint of the session was
// made.
func (w *Work) Idle(session name.Session, since time.Time) bool {
	seen := -1
	if s := w.Sessions[session]; s != nil && s.Seen >= w.Floor {
		seen = s.Seen
	}
	for _, by := range w.Workers {
		if by.Busy || by.Last > seen && by.At.After(since) {
			return false
		}
	}
	return !w.damaged
}

// file is the file of a worktree.
func file(gitDir string) string { return filepath.Join(gitDir, "checkpoint", "agents", "work") }

// Load reads what is remembered in a worktree. A damaged file counts as empty.
func Load(gitDir string) *Work {
	w := &Work{}
	data, err := os.ReadFile(file(gitDir))
	if err != nil {
		// Conversations without it are those of an older version, or somebody deleted it.
		left, _ := fs.Glob(os.DirFS(filepath.Dir(file(gitDir))), "*.json") //nolint:errcheck // the pattern is right
		w.fresh = errors.Is(err, fs.ErrNotExist) && len(left) == 0
		w.damaged = !w.fresh
	} else if json.Unmarshal(data, w) != nil {
		w = &Work{damaged: true}
	}
	maps.DeleteFunc(w.Workers, func(_ string, by *Worker) bool { return by == nil })
	maps.DeleteFunc(w.Sessions, func(_ name.Session, s *LastSeen) bool { return s == nil })
	return w
}

// Save writes it, without what is too old. Only its owner may read it: it has words of prompts.
func (w *Work) Save(gitDir string) error {
	w.forget()
	return wholefile.Private(file(gitDir), w)
}

// forget drops what is too old. Nothing is known any more about a session whose last sight is older
// than that.
func (w *Work) forget() {
	if over := len(w.Changes) - mostChanges; over > 0 {
		w.Floor = max(w.Floor, w.Changes[over-1].At)
		w.Changes = slices.Clone(w.Changes[over:])
	}
	least := w.Now
	for _, s := range w.Sessions {
		if s.Seen >= w.Floor {
			least = min(least, s.Seen)
		}
	}
	w.Windows = slices.DeleteFunc(w.Windows, func(v Window) bool { return v.Closed != 0 && v.Closed <= least })
	if over := len(w.Windows) - mostWindows; over > 0 {
		w.Floor = w.Now // some of them may still be open
		w.Windows = slices.Clone(w.Windows[over:])
	}
	for len(w.Workers) > mostWorkers {
		ids := slices.SortedFunc(maps.Keys(w.Workers), func(a, b string) int { return w.Workers[a].Last - w.Workers[b].Last })
		delete(w.Workers, ids[0])
	}
	for len(w.Sessions) > mostSessions {
		ids := slices.SortedFunc(maps.Keys(w.Sessions), func(a, b name.Session) int { return w.Sessions[a].Seen - w.Sessions[b].Seen })
		delete(w.Sessions, ids[0])
	}
}
