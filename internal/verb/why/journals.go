package why

import (
	"context"
	"slices"
	"time"

	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/core/workflow"
	"git-checkpoint/internal/format/journal"
	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/format/record"
	"git-checkpoint/internal/storage/store"
	"git-checkpoint/internal/verb/create"
)

// journals reads the journals of sessions and the records of checkpoints, each once, and tells which checkpoints were made on
// top of which (chains.go), and what changed a file on the way (walk.go).
type journals struct {
	s       *store.Store
	x       *index
	files   *files
	commits *commits

	states   memo[name.Session, *journal.State]
	records  memo[name.OID, *record.Record] // by commit of the checkpoint
	courses  memo[name.Session, course]
	branches memo[name.Ref, name.OID] // of branches
	taken    *turns
	other    memo[int32, name.OID] // see brought
	down     memo[int32, []int32]
	walks    memo[saved, *walk]
	made     memo[saved, Claim] // see author
}

// state returns the fold of a session's journal; nil: it cannot be read, and nothing is claimed by it.
func (j *journals) state(ctx context.Context, of name.Session) *journal.State {
	return j.states.get(of, func() *journal.State {
		st, _ := checkpoint.State(ctx, j.s, of) //nolint:errcheck // see above
		return st
	})
}

// recordOf returns the record of a checkpoint, with its journal and its entry there. A nil record cannot be read.
func (j *journals) recordOf(ctx context.Context, point int32) (st *journal.State, e *journal.Entry, rec *record.Record) {
	if st = j.state(ctx, j.x.sessionOf(point).Name); st != nil {
		if e = st.Entry(j.x.Checkpoints[point].ID); e != nil {
			rec = j.record(ctx, e)
		}
	}
	return st, e, rec
}

// record returns the record of a checkpoint; nil: it cannot be read, and nothing is known of it.
func (j *journals) record(ctx context.Context, e *journal.Entry) *record.Record {
	return j.records.get(e.Event().Commit, func() *record.Record {
		rec, _ := checkpoint.ReadRecord(ctx, j.s, e) //nolint:errcheck // see above
		return rec
	})
}

// course is what was the current checkpoint of a session, in the order of its journal.
type course struct {
	moments []moment
	heads   map[name.OID]int // by HEAD of a checkpoint: the first of its moments
}

// moment is when a checkpoint became the current one of its session.
type moment struct {
	at    int64   // seconds since 1970
	point int32   // -1: none was
	paths *source // where some paths were brought back from, while the point stayed; nil: nowhere
	event *journal.Event
	least int64 // of the times from here on: clocks go back
}

// course returns what was current in a session.
func (j *journals) course(ctx context.Context, of *session) course {
	return j.courses.get(of.Name, func() course {
		all := course{j.moments(ctx, of), map[name.OID]int{}}
		for i, m := range slices.Backward(all.moments) {
			least := m.at
			if i+1 < len(all.moments) {
				least = min(least, all.moments[i+1].least)
			}
			if all.moments[i].least = least; m.point >= 0 {
				all.heads[j.x.Checkpoints[m.point].Head] = i
			}
		}
		return all
	})
}

// moments reads the moments of a session, without their least times.
func (j *journals) moments(ctx context.Context, of *session) (out []moment) {
	st := j.state(ctx, of.Name)
	if st == nil {
		return nil
	}
	at := func(id name.ID) int32 { return j.x.numbered(of.Name, id) }
	for _, e := range st.Events() {
		m := moment{at: e.Time.Unix(), point: -1, event: e}
		id := e.To
		switch e.Kind {
		case journal.KindCreate, journal.KindAdopt, journal.KindRebuild:
			if id = e.Checkpoint; e.Trigger == journal.TriggerSafety {
				continue
			}
		case journal.KindRollback, journal.KindUndo:
			undone := slices.IndexFunc(st.Rollbacks, func(r *journal.Event) bool { return r.OID == e.Undoes })
			switch {
			case undone >= 0 && at(st.Rollbacks[undone].Safety) >= 0: // what was there before comes back
				m.paths = &source{point: at(st.Rollbacks[undone].Safety)}
			case e.Stays():
				m.paths = &source{at(e.Files), j.broughtBack(ctx, st, e)}
			case e.Files != "":
				id = e.Files
			}
		default:
			continue
		}
		if m.point = at(id); m.point < 0 && id != "" {
			continue // it was pruned: what was before it is still the best that is known
		}
		out = append(out, m)
	}
	return out
}

// source is a checkpoint that files were brought back from.
type source struct {
	point int32
	only  map[string]bool // these paths; nil: all
}

// turns is how sessions took turns in worktrees.
type turns struct {
	latest map[string]int32   // by worktree: what was current there last, of any session
	before map[int32]int32    // by checkpoint: what another session had there before, if its own was not the last one
	back   map[int32][]source // by checkpoint: where files of it were brought back from since the one before it
}

// turns reads how sessions took turns.
func (j *journals) turns(ctx context.Context) *turns {
	if j.taken != nil {
		return j.taken
	}
	type passage struct {
		moment
		session int
		when    time.Time // never before what stands before it in the journal
	}
	all := map[string][]passage{}
	for n := range j.x.Sessions {
		worktree, when := "", time.Time{}
		for _, m := range j.course(ctx, &j.x.Sessions[n]).moments {
			if m.point >= 0 {
				worktree = j.x.Checkpoints[m.point].Worktree
			}
			if m.event.Time.After(when) {
				when = m.event.Time
			}
			all[worktree] = append(all[worktree], passage{m, n, when})
		}
	}
	j.taken = &turns{map[string]int32{}, map[int32]int32{}, map[int32][]source{}}
	for worktree, in := range all {
		slices.SortStableFunc(in, func(p, q passage) int { return p.when.Compare(q.when) })
		j.taken.latest[worktree] = in[len(in)-1].point
		var back []source // since the last checkpoint
		for i, p := range in {
			switch {
			case p.event.Kind == journal.KindCreate && p.point >= 0:
				j.taken.back[p.point] = append(j.takenBack(ctx, p.point, p.event.Trigger), back...)
				if back = nil; i > 0 && p.session != in[i-1].session && p.when.After(in[i-1].when) {
					j.taken.before[p.point] = in[i-1].point
				}
			case p.paths != nil:
				back = append(back, *p.paths)
			case p.event.Kind == journal.KindRollback || p.event.Kind == journal.KindUndo:
				back = append(back, source{point: p.point})
			}
		}
	}
	return j.taken
}

// takenBack returns the checkpoints whose files a revert brought back, each that before a step that it took back, or the
// attempts that a promotion merged.
func (j *journals) takenBack(ctx context.Context, point int32, trigger string) (from []source) {
	switch trigger {
	case workflow.TriggerRevert:
		_, _, rec := j.recordOf(ctx, point)
		if rec == nil {
			return nil
		}
		steps, _ := create.MemberReverts.Of(rec.Extra)
		for _, step := range steps {
			if taken := j.x.numbered(step.Session, step.ID); taken >= 0 && j.x.base(taken) >= 0 {
				from = append(from, source{point: j.x.base(taken)})
			}
		}
	case workflow.TriggerPromote:
		for i := range j.x.Sessions {
			attempt := &j.x.Sessions[i]
			if !j.x.forkedBefore(attempt, point) || attempt.Name == j.x.sessionOf(point).Name {
				continue
			}
			for p := attempt.To - 1; p >= attempt.From; p-- {
				if j.x.Checkpoints[p].At <= j.x.Checkpoints[point].At {
					from = append(from, source{point: p})
					break
				}
			}
		}
	}
	return from
}

// broughtBack returns the paths that a rollback of some paths moved.
func (j *journals) broughtBack(ctx context.Context, st *journal.State, e *journal.Event) map[string]bool {
	only := map[string]bool{}
	if safety := st.Entry(e.Safety); safety != nil {
		if rec := j.record(ctx, safety); rec != nil {
			moved, _ := create.MemberRestored.Of(rec.Snapshot.Extra)
			for _, path := range moved.Paths {
				only[string(path)] = true
			}
		}
	}
	return only
}
