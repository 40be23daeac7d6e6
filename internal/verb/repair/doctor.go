package repair

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/git"
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
