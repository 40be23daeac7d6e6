package checkpoint

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sort"
	"strings"
	"sync"

	"git-checkpoint/internal/git"
	"git-checkpoint/internal/journal"
	"git-checkpoint/internal/name"
	"git-checkpoint/internal/record"
	"git-checkpoint/internal/store"
)

// List answers `list`: one listing per session.
func (s *Service) List(ctx context.Context, req ListRequest) ([]Listing, error) {
	where, err := s.whereExpression(req.Where)
	if err != nil {
		return nil, err
	}
	var sessions []name.Session
	if req.Type != "" && req.Session == "" {
		req.All = true
	}
	if req.All {
		infos, _, err := s.store.Sessions(ctx)
		if err != nil {
			return nil, classify(err)
		}
		for _, info := range infos {
			sessions = append(sessions, info.Session)
		}
	} else {
		session, err := s.chooseSession(ctx, req.Session)
		if err != nil {
			if KindOf(err) == KindNotFound && req.Session == "" {
				return nil, nil // an empty list is no error
			}
			return nil, err
		}
		sessions = []name.Session{session}
	}
	out := []Listing{}
	for _, session := range sessions {
		if req.Type != "" {
			if st, err := s.store.State(ctx, session); err == nil && !s.isOfType(ctx, st, req.Type) {
				continue
			}
		}
		l, err := s.listSession(ctx, session, req, where)
		if err != nil {
			if !req.All {
				return nil, err
			}
			s.warn(fmt.Sprintf("session %q: %v", session, err))
			continue
		}
		out = append(out, *l)
	}
	return out, nil
}

func (s *Service) listSession(ctx context.Context, session name.Session, req ListRequest, where func(json.RawMessage) (bool, error)) (*Listing, error) {
	st, err := s.state(ctx, session)
	if err != nil {
		if KindOf(err) == KindNotFound && req.Session == "" {
			return &Listing{Session: session}, nil // active here, not started yet
		}
		return nil, err
	}
	l := &Listing{Session: session, Topic: s.topicOf(ctx, st), Items: []Item{}}
	var shown []*journal.Entry
	for _, e := range st.Checkpoints() {
		if !e.Dead && req.mayShow(e) {
			shown = append(shown, e)
		}
	}
	l.Total = len(shown)
	if req.Limit > 0 && where == nil && req.Since.IsZero() { // what the fold says decides: only what is shown is read
		shown = shown[max(0, len(shown)-req.Limit):]
	}
	byID, problems, err := s.problems(ctx, st, shown)
	if err != nil {
		return nil, err
	}
	l.Items = slices.Grow(l.Items, len(shown))
	newest := newestOfSteps(st, shown)
	for _, e := range shown {
		item := l.item(st, e, byID[e.Checkpoint], problems[e.Checkpoint])
		item.Redone = e.Live && e.Milestone && newest[e.Step] != e.Place
		l.Items = append(l.Items, item)
	}
	l.Items = slices.DeleteFunc(l.Items, func(i Item) bool { return i.CreatedAt.Before(req.Since) })
	if where != nil {
		if l.Items, err = s.fitting(ctx, l.Items, byID, where); err != nil {
			return nil, err
		}
	}
	if where != nil || !req.Since.IsZero() {
		l.Total = len(l.Items)
	}
	if req.Limit > 0 && len(l.Items) > req.Limit {
		l.Items = l.Items[len(l.Items)-req.Limit:]
	}
	return l, nil
}

// newestOfSteps gives for each step that has a live milestone among some the place of its
// newest one.
func newestOfSteps(st *journal.State, among []*journal.Entry) map[int]int {
	wanted := map[int]bool{}
	for _, e := range among {
		if e.Live && e.Milestone {
			wanted[e.Step] = true
		}
	}
	newest := make(map[int]int, len(wanted))
	for i, c := range st.Backward() {
		if len(wanted) == 0 {
			break
		}
		if c.Live && c.Milestone && wanted[c.Step] {
			newest[c.Step] = i
			delete(wanted, c.Step)
		}
	}
	return newest
}

// item is a checkpoint as the journal and its commit have it; sum may be nil.
func (l *Listing) item(st *journal.State, e *journal.Entry, sum *store.Summary, problem string) Item {
	item := Item{
		ID: e.Checkpoint, Label: e.Label, Session: l.Session, Step: e.Step, StepName: e.Event().StepName, Iteration: e.Event().Iteration,
		Milestone: e.Milestone, Trigger: e.Event().Trigger, Status: e.Event().CheckpointStatus, CreatedAt: Time{e.Event().Time}, Commit: e.Event().Commit,
		Current: e.Checkpoint == st.Current, Discarded: e.Discarded, Pinned: e.Pinned, Valid: problem == "", Problem: problem,
	}
	if sum != nil && sum.Commit == e.Event().Commit && !sum.CreatedAt.IsZero() {
		item.Message, item.Files, item.CreatedAt = sum.Message, sum.Files, Time{sum.CreatedAt}
	}
	return item
}

// mayShow applies those filters of `list` that ask for what the journal says.
func (req ListRequest) mayShow(e *journal.Entry) bool {
	return (req.Trigger == "" || e.Event().Trigger == req.Trigger) && (req.Status == "" || e.Event().CheckpointStatus == req.Status) && (req.Step == nil || e.Step == *req.Step)
}

// problems says of each checkpoint that is not valid why: its ref, its commit, its record,
// or what the last validation found.
func (s *Service) problems(ctx context.Context, st *journal.State, of []*journal.Entry) (map[name.ID]*store.Summary, map[name.ID]string, error) {
	if len(of) == 0 {
		return nil, nil, nil
	}
	ids := make([]name.ID, len(of))
	for i, e := range of {
		ids[i] = e.Checkpoint
	}
	byID, err := s.store.Listed(ctx, st.Session, ids)
	if err != nil {
		return nil, nil, classify(err)
	}
	problems := map[name.ID]string{}
	for _, e := range of {
		switch sum := byID[e.Checkpoint]; {
		case e.Dead:
		case sum == nil:
			problems[e.Checkpoint] = "its ref is missing"
		case sum.Commit != e.Event().Commit:
			problems[e.Checkpoint] = "its ref points at another commit"
		case sum.Err != nil:
			problems[e.Checkpoint] = sum.Err.Error()
		case e.Event().Record != "" && sum.Checksum != e.Event().Record:
			problems[e.Checkpoint] = "its record is not the one that the journal names"
		}
	}
	for id, findings := range s.readBroken(st.Session) {
		if problems[id] == "" {
			problems[id] = findings[0].Message
		}
	}
	return byID, problems, nil
}

// fitting are the checkpoints whose records fit an expression. A damaged one fits none.
func (s *Service) fitting(ctx context.Context, items []Item, byID map[name.ID]*store.Summary, where func(json.RawMessage) (bool, error)) ([]Item, error) {
	items = slices.DeleteFunc(items, func(i Item) bool { return !i.Valid })
	of := make([]*store.Summary, len(items))
	for i, item := range items {
		of[i] = byID[item.ID]
	}
	fits := make([]bool, len(items))
	var once sync.Once
	var first error // what one record cannot answer others cannot either
	err := s.store.EachRecord(ctx, of, func(i int, raw []byte) (err error) {
		if fits[i], err = where(raw); err != nil {
			once.Do(func() { first = err })
		}
		return err
	})
	if err = cmp.Or(first, err); err != nil {
		return nil, err
	}
	kept := []Item{}
	for i, item := range items {
		if fits[i] {
			kept = append(kept, item)
		}
	}
	return kept, nil
}

// Show answers `show`: one checkpoint, "" for the current one.
func (s *Service) Show(ctx context.Context, session, ref string) (*Detail, error) {
	f, err := s.resolve(ctx, session, ref)
	if err != nil {
		return nil, err
	}
	rec, raw, _, err := s.readRecord(ctx, f.entry)
	if err != nil {
		return nil, s.corrupt(ctx, f.state, f.entry, err)
	}
	d := &Detail{
		Record: rec, Raw: raw, Commit: f.entry.Event().Commit, Ref: name.CheckpointRef(f.session, f.entry.Checkpoint),
		Current: f.entry.Checkpoint == f.state.Current, Discarded: f.entry.Discarded, Pinned: f.entry.Pinned,
	}
	if f.entry.Milestone && f.entry.Live {
		tag := name.TagRef(f.session, f.entry.Step, f.entry.Event().Iteration)
		oid, err := s.repo.Batch().Resolve(ctx, tag)
		if err == nil && oid == f.entry.Event().Commit {
			d.Tag = tag
		} else if err != nil && !errors.Is(err, git.ErrMissing) {
			return nil, classify(err)
		}
	}
	return d, nil
}

// Output gives the content of a checkpoint's output.
func (s *Service) Output(ctx context.Context, session, ref, output string) ([]byte, error) {
	d, err := s.Show(ctx, session, ref)
	if err != nil {
		return nil, err
	}
	o, ok := d.Record.Outputs[output]
	if !ok {
		e := &Error{Kind: KindNotFound, Message: fmt.Sprintf("%s has no output %q", d.Record.Label, output)}
		var names []string
		for n := range d.Record.Outputs {
			names = append(names, n)
		}
		if sort.Strings(names); len(names) > 0 {
			e.Hints = []string{"it has " + strings.Join(names, ", ")}
		}
		return nil, e
	}
	obj, err := s.repo.Batch().Typed(ctx, string(o.OID), "blob")
	if err != nil {
		return nil, &Error{Kind: KindInvalid, Message: fmt.Sprintf("output %q of %s cannot be read", output, d.Record.Label), Err: err}
	}
	return obj.Data, nil
}

// MarshalJSON gives the record as stored, then commit, ref, tag and created. It is
// spliced, not decoded and encoded, so that numbers keep their digits and members that
// this version does not know their place.
func (d *Detail) MarshalJSON() ([]byte, error) {
	raw := d.Raw
	if raw == nil {
		var err error
		if raw, err = d.Record.Marshal(record.Limits{}); err != nil {
			return nil, err
		}
	}
	more := struct {
		Commit  string `json:"commit"`
		Ref     string `json:"ref"`
		Tag     string `json:"tag"`
		Created *bool  `json:"created,omitempty"`
	}{string(d.Commit), string(d.Ref), string(d.Tag), d.Created}
	tail, err := json.Marshal(more)
	if err != nil {
		return nil, err
	}
	head := strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(string(raw)), "}"))
	return []byte(head + "," + string(tail[1:])), nil
}
