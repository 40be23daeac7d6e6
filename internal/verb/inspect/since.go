package inspect

// This file compares a checkpoint with the one before it, for people who are shown it.

import (
	"context"

	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/core/workflow"
	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/format/record"
	"git-checkpoint/internal/git"
)

// Since is what a checkpoint changed.
type Since struct {
	State []StateChange // against the checkpoint before it, where that can be read
	Known bool          // it can be read
	Lines map[string]FileCount
}

// ChangesOf compares a checkpoint with the one before it, or the files of the first one with HEAD. What cannot be
// read is left out.
func ChangesOf(ctx context.Context, s *checkpoint.Service, d *checkpoint.Detail) *Since {
	since := &Since{}
	var before name.OID
	if rec := d.Record; rec.Previous != "" {
		found, err := s.Resolve(ctx, string(rec.Session), string(rec.Previous))
		if err != nil {
			return since
		}
		was, err := s.ReadRecord(ctx, found.Entry)
		if err != nil {
			return since
		}
		def, err := s.DefinitionFor(ctx, found.State)
		if err != nil { // the comparison of lists is coarser
			def = workflow.Default()
		}
		for _, c := range record.Diff(was.State, rec.State, def.Identity) {
			since.State = append(since.State, StateChange{Path: c.Path, Op: string(c.Op), Old: c.Old, New: c.New})
		}
		markMoves(since.State)
		since.Known, before = true, was.Snapshot.Tree
	}
	if rec := d.Record; rec.Git.Head != "" && (rec.Previous == "" || rec.IsOnHead()) {
		if commit, err := s.Repo.Commits.Read(ctx, string(rec.Git.Head)); err == nil {
			before = commit.Tree
		}
	}
	after, n := d.Record.Snapshot.Tree, d.Record.Files.Total()
	if before == "" || after == "" || n == 0 || n > measurable {
		return since
	}
	out, err := s.Repo.Run(ctx, git.Cmd{Args: []string{"diff-tree", "-r", "-z", "--no-renames", "--no-textconv", "--numstat", string(before), string(after)}})
	if err != nil {
		return since
	}
	since.Lines = map[string]FileCount{}
	for _, f := range Counts(string(out.Stdout)) {
		since.Lines[f.Path] = f
	}
	return since
}
