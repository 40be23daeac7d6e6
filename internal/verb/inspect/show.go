// Package inspect answers questions about checkpoints: list, show, diff, history, log, status and
// transcript. It writes no ref and changes no file of the worktree; comparing with the worktree may
// write objects.
//
// Each question has one function (List, Show, Diff, History, Status, ...) that returns an answer
// type with its JSON members. Only PrintDiff, PrintLog and PrintFile print: they run git with the
// user's configuration, so that colours and formats are as usual. Start reading at List or Diff.
package inspect

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/core/workflow"
	"git-checkpoint/internal/format/journal"
	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/git"
	"git-checkpoint/internal/storage/store"
	"git-checkpoint/internal/sys/gather"
)

// List answers `list` with one listing for each session. An empty list is not an error.
func List(ctx context.Context, s *checkpoint.Sessions, req ListRequest) (out []Listing, err error) {
	where, err := Where(req.Where)
	if err != nil {
		return nil, err
	}
	var sessions []name.Session
	if req.Type != "" && req.Session == "" {
		req.All = true
	}
	if req.All {
		if sessions, err = s.Store.Sessions(ctx); err != nil {
			return nil, err
		}
	} else {
		session, err := s.ChooseSession(ctx, req.Session)
		if err != nil {
			if checkpoint.KindOf(err) == checkpoint.KindNotFound && req.Session == "" {
				checkpoint.WarnOfBranch(ctx, s.Store, err)
				return nil, nil // there is no session here: an empty list
			}
			return nil, err
		}
		sessions = []name.Session{session}
	}
	for _, session := range sessions {
		if req.Type != "" {
			// A session that cannot be read is not skipped here: listSession reports it.
			if st, err := s.Store.State(ctx, session); err == nil && !checkpoint.IsOfType(ctx, s.Rules, st, req.Type) {
				continue
			}
		}
		l, err := listSession(ctx, s.Rules, session, req, where)
		if err != nil {
			// With --all, one damaged session must not hide the others.
			if !req.All {
				return nil, err
			}
			s.Store.Warn(fmt.Sprintf("session %q: %v", session, err))
			continue
		}
		if req.All && isGone(ctx, s.Rules, l) {
			continue
		}
		out = append(out, *l)
	}
	return out, nil
}

// isGone reports whether nothing is left of a session that is finished.
func isGone(ctx context.Context, s *checkpoint.Rules, l *Listing) bool {
	if len(l.Items)+l.Safety+l.Discarded > 0 {
		return false
	}
	st, err := s.Store.State(ctx, l.Session)
	return err == nil && st.CurrentEntry() == nil && checkpoint.IsOver(ctx, s, st)
}

// onlyLine reports whether the listing is for a person, who gets the line here and a row for each other one.
func (req ListRequest) onlyLine() bool {
	return req.Detail == DetailRows && req.Hidden == HiddenCounted && !req.All
}

// otherLine returns a function that names the line of a checkpoint, if there are several, and the checkpoint, if its number is
// not enough: it is on another line than the one here, or was left behind and another one has that number.
func otherLine(st *journal.State, here []bool, heads []checkpoint.Head) func(*journal.Entry) (line, twin string) {
	lines, count := linesOf(st, heads), map[int]int{} // of each step
	several := lines != nil || st.Place != ""         // otherwise there is one line only, or none
	for _, c := range st.Standings() {
		if c.Milestone && !c.Dead {
			count[c.Step]++
		}
	}
	return func(e *journal.Entry) (line, twin string) {
		if lines != nil && e.Live {
			line = string(lines[e.Place])
		}
		if e.Live && several && !here[e.Place] || e.Discarded && e.Milestone && count[e.Step] > 1 {
			twin = checkpoint.NameTo(st, e)
		}
		return line, twin
	}
}

// listSession returns the listing of one session. It reads as few records as possible: most filters
// need only the journal.
func listSession(ctx context.Context, s *checkpoint.Rules, session name.Session, req ListRequest, where *workflow.Condition) (*Listing, error) {
	st, err := checkpoint.State(ctx, s.Store, session)
	if err != nil {
		if checkpoint.KindOf(err) == checkpoint.KindNotFound && req.Session == "" {
			return &Listing{Session: session}, nil // active in this worktree, but not started yet
		}
		return nil, err
	}
	l := &Listing{Session: session, Topic: checkpoint.TopicOf(ctx, s, st)}
	heads := checkpoint.HeadsOf(ctx, s.Store, st)
	if len(heads) > 0 && st.Place != "" && req.onlyLine() {
		l.here = st.OnLine(st.Entry(st.Place))
	}
	if !req.All {
		l.Heads = slices.DeleteFunc(checkpoint.RecentHeads(ctx, s.Store, st), func(h checkpoint.Head) bool { return h.Here })
	}
	here := st.CurrentLine()
	shown := l.choose(st, here, req, where)
	items, byID, err := itemsOf(ctx, s.Store, st, shown)
	if err != nil {
		return nil, err
	}
	oldest := st.Len() // in a session of 100,000 checkpoints it takes long to look at those that are not shown
	for _, e := range shown {
		oldest = min(oldest, e.Place)
	}
	newer := st.Superseded(oldest)
	continued := st.Continued(oldest)
	toLine, step := otherLine(st, here, heads), checkpoint.StepHere(st)
	for i, e := range shown {
		item := &items[i]
		item.Redone, item.IsStep = newer[e.Place], e.Checkpoint == step
		item.Line, item.Twin = toLine(e)
		item.Milestone = item.Milestone && !continued[e.Place]
	}
	// The time comes from the commit, so this filter runs after reading.
	l.Items = slices.DeleteFunc(items, func(i Item) bool { return i.CreatedAt.Before(req.Since) })
	if err = l.fit(ctx, s.Store, byID, req, where); err != nil {
		return nil, err
	}
	if err = l.grep(ctx, s.Store, st, byID, req.Grep); err != nil {
		return nil, err
	}
	// These filters were applied after counting.
	if req.dropsLater() {
		l.Total = len(l.Items)
	}
	if req.Limit > 0 && len(l.Items) > req.Limit {
		l.Items = l.Items[len(l.Items)-req.Limit:]
	}
	if err = l.details(ctx, s.Store, st, byID, req.Detail); err != nil {
		return nil, err
	}
	if req.Usage {
		l.withUsage(ctx, s, st)
	}
	return l, nil
}

// linesOf returns, by place, the head of the line that each checkpoint is on, that of the line here first; nil if there is one
// line only.
func linesOf(st *journal.State, heads []checkpoint.Head) []name.ID {
	if len(heads) == 0 {
		return nil
	}
	lines := make([]name.ID, st.Len())
	for _, h := range heads {
		for i, on := range st.OnLine(st.Entry(h.ID)) {
			if on && lines[i] == "" {
				lines[i] = h.ID
			}
		}
	}
	return lines
}

// choose returns the checkpoints that the request lists, where here marks the line here, and counts them and those that it hides.
// Where no later filter drops any of them, it returns no more than the request's limit.
func (l *Listing) choose(st *journal.State, here []bool, req ListRequest, where *workflow.Condition) (shown []*journal.Entry) {
	most := st.Len()
	if req.Limit > 0 && !req.dropsLater() {
		most = req.Limit
	}
	for i, c := range st.Backward() {
		switch {
		case c.Dead || c.Live && l.here != nil && !l.here[i] || !req.mayShow(st, i, c):
		case req.Hidden == HiddenCounted && req.Trigger == "" && !c.Discarded && st.At(i).BesideSteps() && st.At(i).Checkpoint != st.Current:
			l.Tools++
		case !req.leavesOut(where, c) || c.Discarded && here[i]: // somebody else left it behind; its files are here
			if l.Total++; len(shown) < most {
				shown = append(shown, st.At(i))
			}
		case where != nil: // it is not known whether the expression would be true
		case c.Safety:
			l.Safety++
		default:
			l.Discarded++
		}
	}
	slices.Reverse(shown)
	return shown
}

// Problems returns, for each checkpoint that is not valid, the reason: its ref, its commit, its
// record, or what the last validation found. The summaries come from the commits' trailers; no
// record is read.
func Problems(ctx context.Context, s *store.Store, st *journal.State, of []*journal.Entry) (map[name.ID]*store.Summary, map[name.ID]string, error) {
	if len(of) == 0 {
		return nil, nil, nil
	}
	ids := gather.List(of, func(e *journal.Entry) name.ID { return e.Checkpoint })
	byID, err := s.Listed(ctx, st.Session, ids)
	if err != nil {
		return nil, nil, err
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
	// A validation may have found damage that the list cannot see, such as a missing file.
	for id, findings := range ReadBroken(s.Repo, st.Session) {
		if problems[id] == "" {
			problems[id] = findings[0].Message
		}
	}
	return byID, problems, nil
}

// Show answers `show` for one checkpoint; ref "" is the current one.
func Show(ctx context.Context, s *checkpoint.Sessions, session, ref string) (*checkpoint.Detail, error) {
	f, err := s.Reach(ctx, session, ref)
	if err != nil {
		return nil, err
	}
	got, err := checkpoint.ReadStored(ctx, s.Store, f.Entry)
	if err != nil {
		return nil, s.Rules.CorruptError(ctx, f.State, f.Entry, err)
	}
	rec := checkpoint.DescribedBy(f.Entry, got.Record)
	if rec != got.Record {
		got.Raw = nil // the JSON has the corrected message, too
	}
	d := &checkpoint.Detail{
		Record: rec, Raw: got.Raw, Commit: f.Entry.Event().Commit, Ref: name.CheckpointRef(f.Session, f.Entry.Checkpoint),
		Current: f.Entry.Checkpoint == f.State.Current, Discarded: f.Entry.Discarded, Pinned: f.Entry.Pinned, Elsewhere: checkpoint.OtherBranch(s.Repo, rec), Usage: s.Rules.Settings.UsageOf(rec),
		Called: checkpoint.NameTo(f.State, f.Entry),
	}
	d.Plain = strings.TrimPrefix(string(d.Ref), "refs/")
	if _, err := s.Repo.Refs.Resolve(ctx, d.Ref); err != nil { // it is in the archive
		d.Plain = string(d.Commit)
	}
	if f.Entry.Milestone && f.Entry.Live {
		// Only a live milestone has a tag, and only if the tag is where it should be.
		tag := name.TagRef(f.Session, f.Entry.Step, f.Entry.Event().Iteration)
		oid, err := s.Repo.Refs.Resolve(ctx, tag)
		if err == nil && oid == f.Entry.Event().Commit {
			d.Tag = tag
		} else if err != nil && !errors.Is(err, git.ErrMissing) {
			return nil, err
		}
	}
	return d, nil
}

// Output returns the content of a checkpoint's output.
func Output(ctx context.Context, s *checkpoint.Sessions, session, ref, output string) ([]byte, error) {
	d, err := Show(ctx, s, session, ref)
	if err != nil {
		return nil, err
	}
	o, ok := d.Record.Outputs[output]
	if !ok {
		e := &checkpoint.Error{Kind: checkpoint.KindNotFound, Message: fmt.Sprintf("%s has no output %q", d.Mention(), output)}
		if names := slices.Sorted(maps.Keys(d.Record.Outputs)); len(names) > 0 {
			e.Hints = []string{"it has " + strings.Join(names, ", ")}
		}
		return nil, e
	}
	obj, err := s.Repo.Objects.Batch().Typed(ctx, string(o.OID), "blob")
	if err != nil {
		return nil, &checkpoint.Error{Kind: checkpoint.KindInvalid, Message: fmt.Sprintf("output %q of %s cannot be read", output, d.Mention()), Err: err}
	}
	return obj.Data, nil
}
