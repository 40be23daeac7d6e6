package cli

import (
	"context"

	"git-checkpoint/internal/answer"
	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/verb/repair"
)

// DoctorCmd is "git checkpoint doctor": a list of checks in package repair, each of which reports
// lines with a level, and with --fix repairs what is safe to repair.
type DoctorCmd struct {
	Fix     bool `help:"Fix what is safe to fix, and say what was done."`
	Remotes bool `help:"Also ask each remote for tags that hold something private."`
	jsonFlag
}

// Run prints each finding as soon as it is made. It ends with code 5 if a problem remains.
func (c *DoctorCmd) Run(ctx context.Context, app *App, s *checkpoint.Service) error {
	problems, said := 0, 0
	// Lines of level info only state facts. They count neither as problems nor against "Nothing
	// is wrong".
	err := repair.Doctor(ctx, s, repair.DoctorRequest{Fix: c.Fix, Remotes: c.Remotes}, func(a repair.Problem) error {
		if a.Level != repair.LevelInfo {
			said++
		}
		if a.Level == repair.LevelProblem && !a.Fixed {
			problems++
		}
		return app.give(answer.Problem(a))
	})
	if err != nil {
		return err
	}
	if said == 0 && !app.json {
		return app.say("Nothing is wrong")
	}
	return invalidIf(problems > 0)
}
