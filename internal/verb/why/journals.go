package why

import (
	"context"
	"slices"

	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/format/journal"
	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/format/record"
)

// journals reads the journals of sessions and the records of checkpoints, each once.
type journals struct {
	s *checkpoint.Service
	x *index

	states  memo[name.Session, *journal.State]
	records memo[name.OID, *record.Record] // by commit of the checkpoint
	courses memo[name.Session, course]
	taken   *turns
}

// state returns the fold of a session's journal; nil: it cannot be read, and nothing is claimed by it.
func (j *journals) state(ctx context.Context, of name.Session) *journal.State {
	return j.states.of(of, func() *journal.State {
		st, _ := j.s.State(ctx, of) //nolint:errcheck // see above
		return st
	})
}

// entry returns the journal of a checkpoint and its entry there, which is nil if there is none.
func (j *journals) entry(ctx context.Context, point int32) (*journal.State, *journal.Entry) {
	st := j.state(ctx, j.x.sessionOf(point).Name)
	if st == nil {
		return nil, nil
	}
	return st, st.Entry(j.x.Checkpoints[point].ID)
}

// record returns the record of a checkpoint; nil: it cannot be read, and nothing is known of it.
func (j *journals) record(ctx context.Context, e *journal.Entry) *record.Record {
	return j.records.of(e.Event().Commit, func() *record.Record {
		rec, _ := j.s.ReadRecord(ctx, e) //nolint:errcheck // see above
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
	at    int64 // seconds since 1970
	point int32 // -1: none was
	event *journal.Event
	least int64 // of the times from here on: clocks go back
}

// course returns what was current in a session.
func (j *journals) course(ctx context.Context, of *session) course {
	return j.courses.of(of.Name, func() course {
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
	number := map[name.ID]int32{}
	for i := of.From; i < of.To; i++ {
		number[j.x.Checkpoints[i].ID] = i
	}
	for _, e := range st.Events() {
		id := e.To
		switch e.Kind {
		case journal.KindCreate, journal.KindAdopt, journal.KindRebuild:
			if id = e.Checkpoint; e.Trigger == journal.TriggerSafety {
				continue
			}
		case journal.KindRollback, journal.KindUndo:
			if e.Files != "" {
				id = e.Files
			}
		default:
			continue
		}
		m := moment{at: e.Time.Unix(), point: -1, event: e}
		if at, known := number[id]; known {
			m.point = at
		} else if id != "" {
			continue // it was pruned: what was before it is still the best that is known
		}
		out = append(out, m)
	}
	return out
}

// turns is how sessions took turns in worktrees.
type turns struct {
	latest map[string]int32 // by worktree: what was current there last, of any session
	before map[int32]int32  // by checkpoint that was made there: what was current before, of any session; -1: not known
}

// turns reads how sessions took turns.
func (j *journals) turns(ctx context.Context) *turns {
	if j.taken != nil {
		return j.taken
	}
	type passage struct {
		moment
		session int
	}
	all := map[string][]passage{}
	for n := range j.x.Sessions {
		worktree := ""
		for _, m := range j.course(ctx, &j.x.Sessions[n]).moments {
			if m.point >= 0 {
				worktree = j.x.Checkpoints[m.point].Worktree
			}
			all[worktree] = append(all[worktree], passage{m, n})
		}
	}
	j.taken = &turns{map[string]int32{}, map[int32]int32{}}
	for worktree, in := range all {
		slices.SortStableFunc(in, func(p, q passage) int { return p.event.Time.Compare(q.event.Time) })
		j.taken.latest[worktree] = in[len(in)-1].point
		for i := 1; i < len(in); i++ {
			switch p, last := in[i], in[i-1]; {
			case p.event.Kind != journal.KindCreate || p.point < 0:
			case p.session == last.session:
				j.taken.before[p.point] = j.x.base(p.point)
			case p.event.Time.Equal(last.event.Time):
				j.taken.before[p.point] = -1
			default:
				j.taken.before[p.point] = last.point
			}
		}
	}
	return j.taken
}
