package repair

// `git replace` lets git show another object in the place of one. If an object of a checkpoint is
// replaced, plain git shows something else than what was recorded.

import (
	"context"
	"fmt"
	"strings"

	"git-checkpoint/internal/checkpoint"
	"git-checkpoint/internal/name"
)

// replaceRoot is where `git replace` keeps its refs: plain git reads another object in place of the
// one that the ref's name says.
const replaceRoot = "refs/replace/"

// lookAtReplacements finds objects of checkpoints that plain git replaces. This program ignores
// these refs, and they were made by somebody else, so it does not delete them.
func lookAtReplacements(ctx context.Context, s *checkpoint.Service) ([]Ailment, error) {
	refs, err := s.Repo.Refs(ctx, replaceRoot)
	if err != nil || len(refs) == 0 {
		return nil, err
	}
	with := make(map[name.OID]name.OID, len(refs))
	for _, r := range refs {
		with[name.OID(strings.TrimPrefix(string(r.Ref), replaceRoot))] = r.OID
	}
	ours, err := replaced(ctx, s, with)
	var out []Ailment
	for _, r := range refs {
		oid := name.OID(strings.TrimPrefix(string(r.Ref), replaceRoot))
		if what := ours[oid]; what != "" {
			out = append(out, Ailment{
				Kind: "replaced", Level: LevelProblem, Object: string(r.Ref),
				Message: fmt.Sprintf("plain git shows %s instead of %s; this program ignores the replacement", r.OID.Short(), what),
				Hint:    "`git replace -d " + string(oid) + "` shows the original again",
			})
		}
	}
	return out, err
}

// replaced returns which of the replaced objects belong to checkpoints, journals or notes, and to
// what.
func replaced(ctx context.Context, s *checkpoint.Service, with map[name.OID]name.OID) (map[name.OID]string, error) {
	found := map[name.OID]string{}
	refs, err := s.Repo.Refs(ctx, name.CheckpointRoot, string(name.NotesRef))
	if err != nil {
		return nil, err
	}
	// met notes an object of ours if it is replaced. The first description wins, which is the most
	// specific one.
	met := func(oid name.OID, what string) {
		if with[oid] != "" && found[oid] == "" {
			found[oid] = what
		}
	}
	var commits []name.OID
	for _, r := range s.Store.Held(ctx, refs) {
		session, leaf, ok := name.SplitCheckpointRef(r.Ref)
		switch {
		case ok && r.Ref == name.JournalRef(session):
			if l, err := s.Store.Log(ctx, session); err == nil {
				for _, n := range l.Nodes() {
					met(n.OID, fmt.Sprintf("a commit of the journal of session %q", session))
				}
			}
			met(r.OID, fmt.Sprintf("a commit of the journal of session %q", session))
		case ok:
			met(r.OID, fmt.Sprintf("the commit of %s", leaf))
			commits = append(commits, r.OID)
			if m, err := s.Store.RecordCommit(ctx, r.OID); err == nil {
				met(m, fmt.Sprintf("the commit of the record of %s", leaf))
				commits = append(commits, m)
			}
		default:
			met(r.OID, "the commit of the notes")
			commits = append(commits, r.OID)
		}
	}
	// Then everything that these commits contain.
	return found, s.Repo.ObjectsOf(ctx, commits, func(oid name.OID) { met(oid, "a file, a directory or a record of checkpoints") })
}
