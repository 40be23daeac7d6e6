package repair

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/git"
	"git-checkpoint/internal/verb/inspect"
)

// Level says how serious a problem is.
type Level string

// The levels. Only an unfixed problem makes `doctor` fail.
const (
	LevelProblem Level = "problem" // something does not work, or may lose data
	LevelAdvice  Level = "advice"  // it works, but the user should know
	LevelInfo    Level = "info"    // a fact, such as used space
)

// Problem is one line of `doctor`.
type Problem struct {
	Kind    string `json:"kind"` // a word for programs
	Level   Level  `json:"level"`
	Object  string `json:"object"` // a path, ref, setting or session
	Message string `json:"message"`
	Hint    string `json:"hint"`            // what to do
	Fixed   bool   `json:"fixed"`           // --fix has repaired it
	Done    string `json:"done,omitempty"`  // how it was repaired
	Bytes   int64  `json:"bytes,omitempty"` // of space: how much

	fix fix // zero: only the user can do something
}

// fix is what --fix does about a problem. Without do there is nothing that is safe to do.
type fix struct {
	done string // for Problem.Done
	do   func(context.Context) error
}

// unreadable returns the line of a check that failed. git refuses a damaged packed-refs in all of its
// commands, git fsck included.
func unreadable(repo *git.Repo, err error) Problem {
	p := Problem{Kind: "unreadable", Level: LevelProblem, Message: err.Error(), Hint: strings.Join(append(checkpoint.HintsOf(err), "`git fsck` shows more"), "; ")}
	if file := filepath.Join(repo.CommonDir, "packed-refs"); strings.Contains(err.Error(), file) {
		p.Hint = "copy " + name.Quoted(file) + " to another place, then remove that line from it; `git reflog` and `git fsck` name the commit of a ref that goes with it"
	}
	return p
}

// DoctorRequest holds the options of `doctor`.
type DoctorRequest struct {
	Fix     bool // repair what is safe
	Remotes bool // ask the remotes for tags that should not be there
}

// Doctor runs all checks and calls each with every line. With Fix it repairs what is safe:
// data of this program that nothing needs any more. Locks of other programs are never removed. A
// check that fails becomes a line itself.
func Doctor(ctx context.Context, s *checkpoint.Service, req DoctorRequest, each func(Problem) error) error {
	looks := []func(context.Context, *checkpoint.Service) ([]Problem, error){
		lookAtGit, lookAtWriting, lookAtAlternates, lookAtHead, lookAtFiles, lookAtTemporaries, lookAtLocks, lookAtRollbacks, lookAtWorktrees, lookAtActive, lookAtNames, lookAtRefs, lookAtJournals, lookAtRewritten, lookAtReplacements, lookAtTags, lookAtArrived,
		lookAtLogs, lookAtPacking, lookAtRemotes, lookAtConfiguration, lookAtAgents, lookAtSigning, lookAtExpunged, lookAtCopies, lookAtSpace,
	}
	if req.Remotes {
		looks = append(looks, lookAtRemoteTags)
	}
	said := map[string]bool{} // of checks that failed, often for one reason
	for _, look := range looks {
		// A check returns what it found even if it then fails.
		found, err := look(ctx, s)
		if err != nil {
			if ctx.Err() != nil {
				return err
			}
			if !said[err.Error()] {
				found = append(found, unreadable(s.Repo, err))
			}
			said[err.Error()] = true
		}
		for _, a := range found {
			// A fix that fails leaves the line as a problem, with the reason.
			if a.fix.do != nil && req.Fix {
				if err := a.fix.do(ctx); err != nil {
					a.Message += fmt.Sprintf("; it could not be fixed: %v", err)
				} else {
					a.Fixed, a.Done = true, a.fix.done
				}
			}
			if err := each(a); err != nil {
				return err
			}
		}
	}
	return nil
}

// lookAtFiles reports what is damaged so that no checkpoint can be made of the files and the index.
func lookAtFiles(ctx context.Context, s *checkpoint.Service) ([]Problem, error) {
	if _, err := inspect.Capture(ctx, s, nil); checkpoint.KindOf(err) == checkpoint.KindInvalid {
		return nil, err
	}
	return nil, nil
}

// lookAtHead reports a commit of HEAD that cannot be read, and a ref of its branch that holds no id,
// with the last good commit that a checkpoint knows. Only the user can decide to go back to that.
func lookAtHead(ctx context.Context, s *checkpoint.Service) ([]Problem, error) {
	head := s.Repo.Head
	a := Problem{Level: LevelProblem}
	first := ""
	switch {
	case head.Damaged:
		a.Kind, a.Object, a.Message = "branch_damaged", string(head.Branch), "the branch that HEAD is on holds no commit id"
		first = fmt.Sprintf("`rm '%s'`, then ", filepath.Join(s.Repo.CommonDir, filepath.FromSlash(string(head.Branch))))
	case head.OID == "":
		return nil, nil
	default:
		_, err := s.Repo.Commits.TreeOf(ctx, head.OID)
		if err == nil || ctx.Err() != nil {
			return nil, ctx.Err()
		}
		a.Kind, a.Object, a.Message = "head_missing", string(head.OID), "the commit that HEAD is at is missing or damaged"
	}
	commit, label, err := checkpoint.LastCommit(ctx, s.Store)
	if err != nil {
		return nil, err
	}
	if commit == "" {
		a.Hint = "no checkpoint knows an older commit; `git reflog` and `git fsck --lost-found` may name one, and a clone or a remote may have this one"
		return []Problem{a}, nil
	}
	target := cmp.Or(string(head.Branch), "--no-deref HEAD")
	a.Hint = fmt.Sprintf("a clone or a remote may have it. The last good commit that a checkpoint knows is %s (%s): %s`git update-ref %s %s` goes back to it; files and index stay as they are", commit.Short(), label, first, target, commit)
	return []Problem{a}, nil
}
