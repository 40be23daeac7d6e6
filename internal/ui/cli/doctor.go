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
	Fix     bool `help:"Fix what is safe to fix, as rebuild does, too, and say what was done."`
	Deep    bool `help:"Also read every object of every session, as validate --all --deep does."`
	Remotes bool `help:"Also ask each remote for tags that hold something private."`
	jsonFlag
}

// Run prints each finding as soon as it is made. It ends with code 5 if a problem remains.
func (c *DoctorCmd) Run(ctx context.Context, app *App, s *checkpoint.Service) error {
	problems, said, err := c.look(ctx, s, repair.DoctorRequest{Fix: c.Fix, Remotes: c.Remotes}, app.give)
	if err == nil && c.Fix {
		rebuilt, broken := 0, 0
		err = repair.Rebuild(ctx, s, repair.RebuildRequest{All: true}, func(line repair.Rebuilt) error {
			if rebuilt++; !line.OK {
				broken++
			}
			return app.give(answer.Rebuilt(line))
		})
		if err == nil && rebuilt > 0 { // some of what was found is mended
			problems, _, err = c.look(ctx, s, repair.DoctorRequest{Remotes: c.Remotes}, func(answer.Answer) error { return nil })
		}
		problems, said = problems+broken, said+rebuilt
	}
	if err == nil && c.Deep {
		err = (&ValidateCmd{All: true, Deep: true}).each(ctx, app, s.Sessions, func(line repair.Validated) error {
			if line.OK {
				return nil
			}
			said, problems = said+1, problems+1
			return app.give(answer.Validated(line))
		})
	}
	if err != nil {
		return err
	}
	if said == 0 && !app.json {
		return app.say("Nothing is wrong")
	}
	return invalidIf(problems > 0)
}

// look gives each finding and counts the problems that remain, and all but lines of level info, which only state facts.
func (c *DoctorCmd) look(ctx context.Context, s *checkpoint.Service, req repair.DoctorRequest, give func(answer.Answer) error) (problems, said int, err error) {
	err = repair.Doctor(ctx, s, req, func(a repair.Problem) error {
		if a.Level != repair.LevelInfo {
			said++
		}
		if a.Level == repair.LevelProblem && !a.Fixed {
			problems++
		}
		return give(answer.Problem(a))
	})
	return problems, said, err
}
