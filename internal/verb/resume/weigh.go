package resume

// This file compares a checkpoint with the present: is its branch still there, which files were
// changed since, which files that its state mentions are missing, and what does the issue look like
// now? The workflow decides what follows from that.

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/core/workflow"
	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/format/record"
	"git-checkpoint/internal/git"
	"git-checkpoint/internal/storage/store"
	"git-checkpoint/internal/verb/inspect"
)

// weigh collects what the workflow needs to know, asks it whether work can go on, and fills in the
// answer.
func (r *resumption) weigh(ctx context.Context, req Request) error {
	s, current := r.s, req.Current
	in := workflow.ResumeInput{Situation: checkpoint.Situation(s.Store, r.found.State, r.record), Current: current}
	in.Status, in.Former = r.status(), checkpoint.Former(ctx, s.Store, r.def, r.found.State, r.found.Entry)
	if len(current) > 0 {
		doc, err := record.ParseJSON(current, record.Limits{})
		// The workflow compares members, so it needs an object.
		if err == nil && !strings.HasPrefix(strings.TrimSpace(string(doc)), "{") {
			err = errors.New("it is not an object")
		}
		if err != nil {
			return checkpoint.Usage("--current needs the issue as JSON, with the same members as in the checkpoint", "the current issue is invalid: %v", err)
		}
	}
	// In another clone a missing branch means nothing: it may not have been fetched.
	elsewhere := elsewhereMade(s.Store, r.found)
	if b := name.Ref(r.record.Git.Branch); b != "" {
		_, err := s.Repo.Refs.Resolve(ctx, b)
		in.BranchGone = errors.Is(err, git.ErrMissing) && b != s.Repo.Head.Branch && !elsewhere
	}
	tree, err := inspect.TreeNow(ctx, s, r.record)
	if err != nil {
		return err
	}
	var changed []checkpoint.FileChange
	if !elsewhere && r.record.Snapshot.Tree != "" { // otherwise nobody edited files here, or the files are not known
		if changed, err = inspect.ChangedFiles(ctx, s.Repo, r.record.Snapshot.Tree, tree, nil); err != nil {
			return err
		}
		changed = dropFile(s.Repo, changed, req.From)
	}
	for _, c := range changed {
		in.Changed = append(in.Changed, string(c.Path))
	}
	for _, f := range r.def.Files(r.record.State) {
		at := filepath.FromSlash(f.Path)
		if !filepath.IsAbs(at) {
			at = filepath.Join(s.Repo.WorkTree, at)
		}
		if _, err := os.Lstat(at); err != nil {
			in.Missing = append(in.Missing, f)
		}
	}
	r.tell(r.def.Resume(in), changed)
	r.nameSteps(ctx)
	a := r.answer
	if r.def.Mended(in.Situation) {
		a.Status, a.Error = checkpoint.StatusOpen, nil
	}
	a.Elsewhere = checkpoint.OtherBranch(s.Repo, r.record)
	a.AgeSeconds = int64(in.Age.Seconds())
	// A checkpoint without files has no difference: both sides are the worktree.
	a.Difference = &inspect.Difference{FromTree: r.record.Snapshot.Tree, ToTree: tree}
	if r.record.Snapshot.Tree == "" {
		a.Difference.FromTree = tree
	}
	return nil
}

// dropFile removes the file that --current was read from: a new file that is not part of the work.
func dropFile(repo *git.Repo, changed []checkpoint.FileChange, file string) []checkpoint.FileChange {
	is, err := os.Stat(file)
	if file == "" || err != nil {
		return changed
	}
	return slices.DeleteFunc(changed, func(c checkpoint.FileChange) bool {
		was, err := os.Lstat(filepath.Join(repo.WorkTree, filepath.FromSlash(string(c.Path))))
		return err == nil && c.Op == "added" && os.SameFile(is, was)
	})
}

// status returns the status that the session was closed with, translated to the workflow's word for
// it. For an open session it is the checkpoint's status.
func (r *resumption) status() string {
	closed := r.found.State.Status
	if !checkpoint.IsClosed(closed) {
		return r.record.Status
	}
	if _, known := r.def.Resumption.Statuses[closed]; known || r.record.Status == closed {
		return closed
	}
	// The workflow may have its own word for a final status, such as "merged" for "complete".
	for _, status := range slices.Sorted(maps.Keys(r.def.Statuses.Closes)) {
		if r.def.Statuses.Closes[status] == closed {
			return status
		}
	}
	return closed
}

// tell fills in the answer.
func (r *resumption) tell(got workflow.Resume, changed []checkpoint.FileChange) {
	e, st := r.found.Entry, r.found.State
	r.answer = &Answer{
		Session: r.found.Session, Checkpoint: e.Checkpoint, Status: r.status(), CanResume: got.CanResume,
		Action: string(got.Action), ResumePoint: got.ResumePoint, Completed: got.Completed, Pending: got.Pending,
		Progress: got.Progress, Warnings: got.Warnings, Questions: got.Questions, Refusals: got.Refusals,
		State: got.State, Label: e.Label, Workflow: st.Workflow, Topic: st.Topic, Message: got.Message, Text: got.ProgressText,
		Batches: got.Batches, Restore: got.Restore, CreatedAt: checkpoint.Time{Time: r.record.CreatedAt}, Error: r.record.Error, Changed: changed,
		Branch: name.Ref(r.record.Git.Branch),
	}
	a := r.answer
	a.Steps, a.BatchNames, a.Titles, a.Mention = got.Steps, got.BatchNames, got.Titles, checkpoint.MentionOf(r.record)
	a.Mention.Name = checkpoint.NameTo(st, e)
	if facts, err := r.def.Read(r.record.State); err == nil {
		a.Decisions = facts.Decisions
		a.Topic = cmp.Or(a.Topic, facts.Topic)
	}
}

// Shown is how many of the completed steps a report shows: the newest ones, with their messages.
const Shown = 3

// nameSteps gives the newest steps their messages as titles, where the workflow calls them by number.
func (r *resumption) nameSteps(ctx context.Context) {
	titles := map[string]any{}
	maps.Copy(titles, r.answer.Titles)
	for e := range r.found.State.LineTo(r.found.Entry) {
		called := fmt.Sprintf("step %d", e.Step)
		if _, known := titles[called]; known || !e.Milestone || e.Event().StepName != "" {
			continue
		}
		if len(titles) == len(r.answer.Titles)+Shown {
			break
		}
		rec, err := r.s.Store.Record(ctx, e.Event().Commit)
		if err != nil {
			continue // a damaged one has its number only
		}
		m := checkpoint.MentionOf(checkpoint.DescribedBy(e, rec))
		titles[called] = cmp.Or(m.Message, m.Files)
	}
	r.answer.Titles = titles
}

// elsewhereMade reports whether this worktree has written nothing to the checkpoint's session. Then
// differences to its files are not anybody's edits.
func elsewhereMade(s *store.Store, f *checkpoint.Found) bool {
	id, err := s.WorktreeID()
	return err == nil && !f.State.Worked(id)
}
