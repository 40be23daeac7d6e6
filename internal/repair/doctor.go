package repair

import (
	"context"
	"fmt"

	"git-checkpoint/internal/checkpoint"
)

// Level says how bad an ailment is.
type Level string

// The levels. Only a problem that stays is a failure.
const (
	LevelProblem Level = "problem"
	LevelAdvice  Level = "advice"
	LevelInfo    Level = "info"
)

// Treatment says whether `doctor` mends what it safely can.
type Treatment int

// The choices.
const (
	TreatNothing Treatment = iota
	TreatSafe
)

// Ailment is one line of `doctor`.
type Ailment struct {
	Kind    string `json:"kind"`
	Level   Level  `json:"level"`
	Object  string `json:"object"`
	Message string `json:"message"`
	Hint    string `json:"hint"`
	Fixed   bool   `json:"fixed"`
	Done    string `json:"done,omitempty"` // what was done about it
	Bytes   int64  `json:"bytes,omitempty"`

	cure cure
}

// cure is what --fix does about an ailment; without do only a person can do something.
type cure struct {
	done string
	do   func(context.Context) error
}

// Doctor looks for what is in the way of this program, and mends what is safe to mend:
// what it made itself and nothing needs any more. Locks of others are never touched.
func Doctor(ctx context.Context, s *checkpoint.Service, how Treatment, each func(Ailment) error) error {
	for _, look := range []func(context.Context, *checkpoint.Service) ([]Ailment, error){
		lookAtGit, lookAtTemporaries, lookAtLocks, lookAtRollbacks, lookAtWorktrees, lookAtActive, lookAtNames, lookAtRefs, lookAtReplacements,
		lookAtLogs, lookAtPacking, lookAtRemotes, lookAtConfiguration, lookAtAgents, lookAtSigning, lookAtExpunged, lookAtSpace,
	} {
		found, err := look(ctx, s)
		if err != nil {
			if ctx.Err() != nil {
				return checkpoint.Classify(err)
			}
			found = append(found, Ailment{Kind: "unreadable", Level: LevelProblem, Message: err.Error(), Hint: "`git fsck` says more"})
		}
		for _, a := range found {
			if a.cure.do != nil && how == TreatSafe {
				if err := a.cure.do(ctx); err != nil {
					a.Message += fmt.Sprintf("; it could not be mended: %v", err)
				} else {
					a.Fixed, a.Done = true, a.cure.done
				}
			}
			if err := each(a); err != nil {
				return err
			}
		}
	}
	return nil
}
