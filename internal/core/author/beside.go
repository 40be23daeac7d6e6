package author

import (
	"slices"
	"time"

	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/format/record"
)

// OtherWorker is another worker, as status shows it.
type OtherWorker struct {
	Session name.Session
	Agent   string
	Prompt  string
	Last    time.Time
	Files   []string // that it changed since the session that asks began; sorted
}

// WorkersBeside returns the workers of other sessions that are present, the last one first.
func (w *Work) WorkersBeside(session name.Session, now time.Time) (all []OtherWorker) {
	const liveFor = 30 * time.Minute // how long a worker that has no prompt counts as present
	began := 0
	if s := w.Sessions[session]; s != nil {
		began = s.Began
	}
	for id, by := range w.Workers {
		away := now.Sub(by.At)
		if by.Session == session || by.Session == "" || by.Ended || away > windowLasts || !by.Busy && away > liveFor {
			continue
		}
		all = append(all, OtherWorker{by.Session, by.Agent, by.Prompt, by.At, w.changed(began, func(c Change) bool { return c.Worker == id })})
	}
	slices.SortFunc(all, func(a, b OtherWorker) int { return b.Last.Compare(a.Last) })
	return all
}

// Running returns the agent whose tool, which may write anything, began last of those that have not ended; "" if there is none.
func (w *Work) Running(now time.Time) string {
	w.expire(now)
	for _, v := range slices.Backward(w.Windows) {
		if v.Closed == 0 && len(v.Edits) == 0 && v.Call != untrackedTurn && v.Call != Missed && !w.Workers[v.Worker].Ended {
			return w.Workers[v.Worker].Agent
		}
	}
	return ""
}

// changed returns the paths that workers changed after an event, of those that fit.
func (w *Work) changed(since int, fits func(Change) bool) (paths []string) {
	for _, c := range w.Changes {
		if c.At > since && (c.Claim == record.Named || c.Claim == record.During) && fits(c) {
			paths = append(paths, c.Path)
		}
	}
	slices.Sort(paths)
	return slices.Compact(paths)
}

// News returns the files that the agents of another session changed since a worker last heard of it.
func (w *Work) News(worker string, session name.Session) []string {
	since := 0
	if by := w.Workers[worker]; by != nil {
		since = by.Told
	}
	return w.changed(since, func(c Change) bool { return c.Session == session })
}
