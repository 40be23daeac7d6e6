// Package author says who made what a checkpoint changed: the agent whose conversation it belongs
// to, a command of that agent, another session, somebody outside all known tools, or somebody
// unknown.
//
// A checkpoint's record has that for each path of its own difference (record.Agent.Paths), because it
// cannot be found out later or elsewhere. Of and In read it. A wrong name is worse than none: what is
// not known for certain is Unknown.
package author

import (
	"context"
	"maps"
	"slices"

	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/format/journal"
	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/format/record"
	"git-checkpoint/internal/storage/store"
	"git-checkpoint/internal/sys/gather"
)

// By says how a path of a difference was made.
type By string

// The values of By, as JSON answers have them.
const (
	Agent   By = "agent"   // by a tool of the agent that names the path
	During  By = "during"  // while a command of the agent ran
	Outside By = "outside" // by no known tool: a person, or a program left running
	Unknown By = "unknown"
)

// Who is the author of one path of a difference.
type Who struct {
	By By
	// Session is the one whose agent did it, for Agent and During. With Unknown it is another session
	// that did it, with a tool or while a command ran.
	Session name.Session
	// Agent and Conversation name the worker, for Agent and During: a session that a person chose
	// holds the work of several. They are empty for another session's work.
	Agent, Conversation string
	// BroughtBack says that this program, or the agent's own rewind, brought the content back. By is Unknown then.
	BroughtBack bool
	Shared      bool // says, of During, that somebody else was live then, so that it may be theirs
}

// Other says who it was if not the agent of the checkpoint: outside, unknown, or the session that
// did it. It is empty if it was that agent, even if the change was only made while a command of
// that agent ran.
func (who Who) Other() string {
	switch {
	case who.By == Agent || who.By == During:
		return ""
	case who.Session != "":
		return string(who.Session)
	}
	return string(who.By)
}

// Step says who made the paths of a checkpoint's own difference.
type Step struct {
	// Base is the checkpoint before, from whose files the difference starts: the nearest one that was
	// not pruned. It is nil if there is none: then the difference starts from HEAD's files.
	Base *journal.Entry

	because map[string]string // why a path is unknown, as the record has it
	own     bool              // the record's words are about this difference, not about a larger one
	unsure  string            // the same for those of which it says nothing
	back    map[string]bool   // what was brought back
	shared  bool              // somebody else was live
	worker  Who               // the agent that made the checkpoint; its By means nothing
	whole   By                // who made all paths, or empty
	claims  map[string]string // by path, as the record has them
	paths   []record.Path     // of a difference that is whole
}

// Agent returns the name of the agent that made the checkpoint, or "".
func (s Step) Agent() string { return s.worker.Agent }

// Paths returns the paths of the difference of which something is known, sorted.
func (s Step) Paths() []record.Path {
	if s.whole != "" {
		return s.paths
	}
	return name.All[record.Path](slices.Sorted(maps.Keys(s.claims)))
}

// StepOf reads the record of a checkpoint and says who made its difference. A record that cannot be
// read is an error, together with a Step in which all is unknown.
func StepOf(ctx context.Context, s *store.Store, st *journal.State, e *journal.Entry) (Step, error) {
	rec, err := checkpoint.ReadRecord(ctx, s, e)
	if err != nil {
		return Step{Base: baseOf(st, e)}, err
	}
	return StepIn(st, e, rec), nil
}

// StepIn is StepOf for a record that was read already.
func StepIn(st *journal.State, e *journal.Entry, rec *record.Record) Step {
	step := Step{Base: baseOf(st, e)}
	var before name.ID
	if rec.IsOnHead() {
		step.Base = nil
	}
	if step.Base != nil {
		before = step.Base.Checkpoint
	}
	// If the checkpoint before was pruned, the difference is a larger one than that of the claims.
	direct := rec.Previous == before || rec.IsOnHead()
	a, has := rec.Agent()
	if paths, _ := record.BroughtBack.Of(rec.Extra); direct && len(paths) > 0 {
		step.back = gather.Set(paths, func(path record.Path) string { return string(path) })
	}
	step.shared = len(a.Beside) > 0
	step.because, step.unsure = a.Because, "its record does not say who made it"
	switch outside, said := record.Outside.Of(rec.Extra); {
	case !has && outside && direct:
		step.whole, step.paths = Outside, slices.Concat(rec.Files.Created, rec.Files.Modified, rec.Files.Deleted)
	case !has && said && direct:
		step.unsure = TwoAtWork
	case !has && direct:
	case direct:
		step.claims, step.own = a.Paths, true
	case a.Whole != nil && reaches(st, step.Base, a.Whole.Since):
		step.claims = a.Whole.Paths
	default:
		step.unsure = "the checkpoint before it was pruned"
	}
	if has {
		step.worker = workerOf(e, a)
	}
	return step
}

// Turn says who made what an agent's checkpoint stands for: for one that ends a turn, the
// difference of the whole turn, and for any other, its own difference. It says nothing about
// checkpoints that no agent made.
func Turn(st *journal.State, e *journal.Entry, a record.Agent) Step {
	step := Step{Base: baseOf(st, e), worker: workerOf(e, a)}
	switch {
	case a.Whole != nil && reaches(st, step.Base, a.Whole.Since):
		step.claims = a.Whole.Paths
	case step.Base == nil && e.Event().Previous == "" || step.Base != nil && step.Base.Checkpoint == e.Event().Previous:
		step.claims = a.Paths
	}
	return step
}

func workerOf(e *journal.Entry, a record.Agent) Who {
	return Who{Session: e.Event().Session, Agent: a.Name, Conversation: a.Session}
}

// Others names who else made paths of the difference (Who.Else), sorted.
func (s Step) Others() []string {
	var all []string
	for _, path := range s.Paths() {
		if other := s.Who(path).Other(); other != "" {
			all = append(all, other)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// Who returns the author of a path of the difference.
func (s Step) Who(path record.Path) Who {
	if s.back[string(path)] {
		return Who{By: Unknown, BroughtBack: true}
	}
	if s.whole != "" {
		return Who{By: s.whole}
	}
	who := s.worker
	switch claim := s.claims[string(path)]; claim {
	case record.Named:
		who.By = Agent
		return who
	case record.During:
		who.By, who.Shared = During, s.shared
		return who
	case record.OutsideAgents:
		return Who{By: Outside}
	case "", record.Unknown:
	default:
		if session, err := name.ParseSession(claim); err == nil {
			return Who{By: Unknown, Session: session}
		}
	}
	return Who{By: Unknown}
}

// Because says why it is not known who made a path of the difference, or that a person did beyond doubt: InEditor.
// Empty: it is known as well as anything outside the agents' tools is.
func (s Step) Because(path record.Path) string {
	who := s.Who(path)
	switch why := s.because[string(path)]; {
	case who.By == Outside && s.own && why == InEditor:
		return why
	case who.By != Unknown:
		return ""
	case who.BroughtBack:
		return "its file was brought back"
	case who.Session != "":
		return "session " + string(who.Session) + " made it, and its own checkpoints are gone"
	case why != "":
		return why
	}
	return s.unsure
}

// baseOf returns the nearest checkpoint before e that is not dead, or nil.
func baseOf(st *journal.State, e *journal.Entry) *journal.Entry {
	for before := range st.LineTo(e) {
		if before != e && !before.Dead {
			return before
		}
	}
	return nil
}

// reaches reports whether the line to base has the checkpoint since, even if that is dead by now.
func reaches(st *journal.State, base *journal.Entry, since name.ID) bool {
	if base == nil {
		return since == ""
	}
	for e := range st.LineTo(base) {
		if e.Checkpoint == since {
			return true
		}
	}
	return since == ""
}
