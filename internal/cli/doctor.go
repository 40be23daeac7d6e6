package cli

import (
	"context"

	"git-checkpoint/internal/checkpoint"
	"git-checkpoint/internal/cli/answer"
	"git-checkpoint/internal/repair"
)

// DoctorCmd is "git checkpoint doctor": a list of checks in package repair, each of which reports
// lines with a level, and with --fix repairs what is safe to repair.
type DoctorCmd struct {
	Fix bool `help:"Fix what is safe to fix, and say what was done."`
	jsonFlag
}

// Help returns the long help text of "doctor", for -h and the man page.
func (*DoctorCmd) Help() string {
	return `
Checks git's version, what killed processes left behind, locks, rollbacks that were cut off, the active session, broken refs, the journals last seen at remotes, settings, signing, and the space that sessions take. Each problem is listed with its remedy. Locks of other programs and your configuration are never changed. The exit code is 5 if a problem remains. To check the contents of checkpoints, use ` + "`git checkpoint validate`" + `.`
}

// Run prints each finding as soon as it is made. It ends with code 5 if a problem remains.
func (c *DoctorCmd) Run(ctx context.Context, app *App) error {
	return app.serve(ctx, func(s *checkpoint.Service) error {
		problems, said := 0, 0
		// Lines of level info only state facts. They count neither as problems nor against "Nothing
		// is wrong".
		err := repair.Doctor(ctx, s, c.Fix, func(a repair.Ailment) error {
			if a.Level != repair.LevelInfo {
				said++
			}
			if a.Level == repair.LevelProblem && !a.Fixed {
				problems++
			}
			return app.give(answer.Ailment(a))
		})
		if err != nil {
			return err
		}
		if problems > 0 {
			return invalid
		}
		if said == 0 && !app.json {
			return app.say("Nothing is wrong")
		}
		return nil
	})
}
