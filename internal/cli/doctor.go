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
	Fix bool `help:"Mend what is safe to mend, and say what was done."`
	jsonFlag
}

// Help returns the long help text of "doctor", for -h and the man page.
func (*DoctorCmd) Help() string {
	return `
Looks at git's version, what killed runs left, locks, a rollback that was cut off, the active session, broken refs, journals of remotes, settings, signing, and the space that sessions take. Each problem comes with its remedy. Locks of others and your configuration are never changed. Exit code 5 when a problem stays. What checkpoints hold is proven by ` + "`git checkpoint validate`" + `.`
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
