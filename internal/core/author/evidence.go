package author

import (
	"context"
	"slices"
	"unicode/utf8"

	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/format/record"
	"git-checkpoint/internal/git"
	"git-checkpoint/internal/sys/gather"
)

// Claims says who made each path of the difference between the session's current checkpoint and the
// worktree, by path, in the words of record.Agent.Paths. It returns nil if there are too many. Paths
// that are unknown are not left out: all were looked at.
func (w *Work) Claims(capture CaptureContext, changes []Change) map[string]string {
	if len(changes) > record.MaxListed {
		return nil
	}
	j := w.evidenceFor(capture, changes)
	return gather.Map(changes, func(c Change) (string, string) { return c.Path, j.claim(c) })
}

// Stored returns claims as a record has them: without paths that JSON cannot hold as text.
func Stored(claims map[string]string) map[string]string {
	stored := map[string]string{}
	for path, claim := range claims {
		if utf8.ValidString(path) {
			stored[path] = claim
		}
	}
	return stored
}

// evidence collects what applies to all paths of a capture.
type evidence struct {
	*Work
	capture CaptureContext
	since   int       // the last event at which the session's checkpoint was the worktree
	others  []Window  // of other workers, open at some time since then
	own     []Window  // of this worker, likewise
	alone   bool      // no other worker had an event since then
	latest  *LastSeen // of another session, since then, if no tool and no event followed it; or nil
	passed  map[string][]Change
	back    map[string]bool // see Rewound
}

func (w *Work) evidenceFor(capture CaptureContext, changes []Change) *evidence {
	j := &evidence{Work: w, capture: capture, since: -1, alone: true, passed: map[string][]Change{}, back: w.Rewound(capture.Session, changes)}
	if s := w.Sessions[capture.Session]; s != nil && s.Seen >= w.Floor {
		j.since = s.Seen
	}
	for _, v := range w.Windows {
		switch {
		case v.Closed != 0 && v.Closed <= j.since:
		case v.Worker == capture.Worker:
			j.own = append(j.own, v)
		default:
			j.others = append(j.others, v)
		}
	}
	for id, by := range w.Workers {
		j.alone = j.alone && (id == capture.Worker || by.Last <= j.since)
	}
	j.latest = w.latest(capture, j.since)
	for _, c := range w.Changes {
		if c.At > j.since && c.Session != capture.Session {
			j.passed[c.Path] = append(j.passed[c.Path], c)
		}
	}
	return j
}

// latest returns the last sight that another session had of the worktree after an event, if nothing is
// known to have been at work since; nil: there is none.
func (w *Work) latest(capture CaptureContext, since int) (last *LastSeen) {
	for session, s := range w.Sessions {
		if session != capture.Session && s.Seen > since && (last == nil || s.Seen > last.Seen) {
			last = s
		}
	}
	if last == nil {
		return nil
	}
	for id, by := range w.Workers {
		if id != capture.Worker && by.Last > last.Seen {
			return nil
		}
	}
	if slices.ContainsFunc(w.Windows, func(v Window) bool { return v.Closed == 0 || v.Closed > last.Seen }) {
		return nil
	}
	return last
}

func (j *evidence) claim(c Change) string {
	passed := j.passedOn(c)
	switch {
	case j.since >= 0 && j.named(c):
		return record.Named
	case passed != "":
		return passed
	case j.capture.Saved[c.Path] && j.saved(c):
		return record.OutsideAgents
	case j.since >= 0 && j.during(c):
		return record.During
	case !j.back[c.Path] && j.outside(c):
		return record.OutsideAgents
	}
	return record.Unknown
}

// Reasons that others than Because give and ask for: of a path whose maker is not known, and of one that is a person's
// beyond doubt.
const (
	TwoAtWork = "an agent was at work beside it"
	InEditor  = "a person saved it in an editor"
)

// Because says why paths are unknown, or a person's beyond doubt, by path: those of a difference with these claims.
func (w *Work) Because(capture CaptureContext, changes []Change, claims map[string]string) map[string]string {
	j := w.evidenceFor(capture, changes)
	unseen := func(whole bool) bool {
		return slices.ContainsFunc(j.own, func(v Window) bool { return !v.Known && whole == (v.Call == untrackedTurn) })
	}
	all := map[string]string{}
	for _, c := range changes {
		edited := slices.ContainsFunc(j.own, func(v Window) bool { _, names := v.Edits[c.Path]; return names })
		switch {
		case !utf8.ValidString(c.Path):
		case claims[c.Path] == record.OutsideAgents && j.capture.Saved[c.Path]:
			all[c.Path] = InEditor
		case claims[c.Path] != record.Unknown:
		case unseen(false):
			all[c.Path] = "the hook before the tool gave up"
		case unseen(true):
			all[c.Path] = "no hook before the tool"
		case len(j.others) > 0 || !j.alone:
			all[c.Path] = TwoAtWork
		case j.since < 0:
			all[c.Path] = "nothing was captured before it"
		case edited:
			all[c.Path] = "the file is not what the tool alone makes of it"
		default:
			all[c.Path] = "it changed between tools, or after the last one of the turn"
		}
	}
	return all
}

// passedOn returns the claim of a change that others captured already, each going on from where the one
// before ended; empty: they did not, or not all of it.
func (j *evidence) passedOn(c Change) string {
	at, claim := c.From, ""
	for _, other := range j.passed[c.Path] {
		if other.To == at && other.From != at {
			continue // it only took over what is known here already
		}
		if other.From != at {
			return ""
		}
		said := other.Claim
		if said == record.Named || said == record.During {
			said = Claim(other.Session)
		}
		if claim == "" {
			claim = said
		} else if claim != said {
			claim = record.Unknown
		}
		at = other.To
	}
	if at != c.To {
		return ""
	}
	return claim
}

// Claim returns the word for what the agent of another session did.
func Claim(session name.Session) string {
	switch s := string(session); s {
	case record.Named, record.During, record.OutsideAgents, record.Unknown:
		return record.Unknown
	default:
		return s
	}
}

// saved reports whether a file that is as a person saved it is the person's alone: nobody else is known to have changed it,
// and the editor does not say that it was another than the one before left, just before a save.
func (j *evidence) saved(c Change) bool {
	at := c.From
	for _, s := range j.Saves {
		switch {
		case s.Path != c.Path || s.At <= j.since:
		case s.Before && s.Content != at:
			return false
		default:
			at = s.Content
		}
	}
	return !slices.ContainsFunc(j.passed[c.Path], func(p Change) bool { return p.Claim != record.OutsideAgents })
}

// named reports whether a tool of the worker made the change: it names the file, the content is what the tool makes of
// what was there, and the tool has just done that, or nobody else could have written it.
func (j *evidence) named(c Change) bool {
	for _, v := range j.own {
		e, names := v.Edits[c.Path]
		if !names || !v.Known || slices.Contains(v.Unread, c.Path) || !e.makes(c, len(v.Edits) == 1) {
			continue
		}
		did := j.capture.Cause == AfterTool && j.capture.Call == v.Call && !j.capture.Failed && e.To == c.To
		clean := did || !slices.ContainsFunc(j.others, func(o Window) bool {
			if o.Call == untrackedTurn && !o.Used && e.To != Any {
				return false // it has only been prompted, and would have to write exactly this
			}
			_, same := o.Edits[c.Path]
			return (len(o.Edits) == 0 || same) && (o.Closed == 0 || o.Closed > v.Opened)
		})
		if clean {
			return true
		}
	}
	return false
}

// makes reports whether an edit makes a change. A call that makes anything must have no other edit.
func (e Edit) makes(c Change, only bool) bool {
	return e.From == c.From && (e.To == c.To || e.To == Any && only)
}

// during reports whether the capture follows a command of the worker, and no other tool was at work
// while it ran.
func (j *evidence) during(c Change) bool {
	if j.capture.Cause != AfterTool || len(j.others) > 0 || !j.alone {
		return false
	}
	return slices.ContainsFunc(j.own, func(v Window) bool {
		return v.Call == j.capture.Call && v.Known && len(v.Edits) == 0 && v.Opened <= j.since && !slices.Contains(v.Unread, c.Path)
	})
}

// outside reports whether no known tool was at work since the session saw the worktree. It is also
// true if none was at work since another session saw it, provided that until then the path had not
// changed, or had been captured as changed outside.
func (j *evidence) outside(c Change) bool {
	if j.capture.Cause != BeforeTool && j.capture.Cause != BeforeTurn || len(j.own) > 0 {
		return false
	}
	if j.since >= 0 && j.alone && len(j.others) == 0 {
		return true
	}
	if j.latest == nil || j.latest.Tree == "" || j.capture.In == nil {
		return false
	}
	then, ok := j.capture.In(j.latest.Tree, c.Path)
	return ok && (then == c.From || j.passedOn(Change{Path: c.Path, From: c.From, To: then}) == record.OutsideAgents)
}

// Rewound returns the changes that the own rewind of an agent of a session may have made, which no event tells: every file
// that its tools edited since some time is as it was then.
func (w *Work) Rewound(session name.Session, changes []Change) map[string]bool {
	back := map[string]bool{}
	for id, by := range w.Workers {
		if by.Rewinds && by.Session == session {
			w.rewound(id, changes, back)
		}
	}
	return back
}

func (w *Work) rewound(worker string, changes []Change, back map[string]bool) {
	now, was, own, differs := map[string]string{}, map[string]string{}, map[string]bool{}, map[string]bool{}
	for _, c := range changes {
		now[c.Path] = c.To
	}
	for _, c := range slices.Backward(w.Changes) {
		if _, seen := now[c.Path]; !seen {
			now[c.Path] = c.To
		}
		was[c.Path] = c.From
		if own[c.Path] = own[c.Path] || c.Worker == worker && c.Claim == record.Named; !own[c.Path] {
			continue
		}
		if delete(differs, c.Path); now[c.Path] != c.From {
			differs[c.Path] = true
		}
		for i := 0; i < len(changes) && len(differs) == 0; i++ {
			if before, known := was[changes[i].Path]; known && before == changes[i].To {
				back[changes[i].Path] = true
			}
		}
	}
}

// ContentIn returns a function for Look.In.
func ContentIn(ctx context.Context, trees *git.Trees) func(tree name.OID, path string) (string, bool) {
	return func(tree name.OID, path string) (string, bool) {
		e, _, err := trees.Lookup(ctx, tree, path)
		return Content(e), err == nil
	}
}
