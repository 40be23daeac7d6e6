package cli

import (
	"cmp"
	"context"
	"slices"

	"git-checkpoint/internal/answer"
	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/ui/cli/usage"
	"git-checkpoint/internal/verb/rollback"
)

// RollbackCmd is "git checkpoint rollback". Package rollback makes a plan,
// which carryOut (confirm.go) shows and applies. --continue and --abort finish a rollback whose
// process was killed while it replaced files.
type RollbackCmd struct {
	Ref   string   `arg:"" optional:"" complete:"ref" help:"Checkpoint to go back to; without it, a terminal shows a list to pick from."`
	Paths []string `arg:"" optional:"" name:"path" dashed:"" complete:"file" help:"Restore only these files; the session stays where it is."`
	rollbackFlags
}

// rollbackFlags are the flags that rollback and restore share.
type rollbackFlags struct {
	whereFlag
	sessionFlag
	Branch           bool    `brief:"" xor:"branch" help:"Also move the branch to the commit of the checkpoint."`
	KeepBranch       bool    `xor:"branch" help:"Leave HEAD and branches where they are, even in a session with a branch of its own."`
	Index            *string `xor:"index" enum:"staged,exact" placeholder:"<how>" help:"What to bring back of the index: staged (default), what was staged then; or exact, each entry as it was, although HEAD has moved since."`
	WorktreeOnly     bool    `brief:"" xor:"mode,index" help:"Leave the index as it is."`
	StateOnly        bool    `group:"workflow" xor:"mode,index" help:"Change no files: only make the checkpoint the current one, and print its state."`
	State            bool    `group:"workflow" xor:"mode" help:"With paths: bring the state back, too, and make the checkpoint the current one."`
	Produced         bool    `group:"program" xor:"mode" help:"Restore only files that changed between checkpoints of this session."`
	OverwriteIgnored bool    `help:"Capture ignored files that are in the way, then overwrite them."`
	Force            bool    `brief:"" help:"Roll back even during a merge, rebase or bisect; restores only files."`
	Chat             bool    `brief:"" help:"Also begin a conversation with the agent that goes on from there; the old one stays."`
	Reason           string  `placeholder:"<text>" help:"Reason to record in the history."`
	Plan             string  `group:"program" placeholder:"<digest>" help:"Go on only if the plan still has this digest, which --dry-run --json shows."`
	Continue         bool    `group:"program" xor:"end" with:"yes" help:"Finish a rollback that was cut off."`
	Abort            bool    `group:"program" xor:"end" with:"yes" help:"Take back a rollback that was cut off."`
	confirmFlags
	filesFlag
	resultFlags

	restores bool // the first word may be a file
}

// RestoreCmd is "git checkpoint restore": a rollback of files, or of everything if none is named.
type RestoreCmd struct {
	Ref    string   `arg:"" optional:"" complete:"ref or file" help:"Checkpoint to take them from, unless --source names it; default: the current one."`
	Paths  []string `arg:"" optional:"" name:"path" dashed:"" more:"" bare:"" complete:"file" help:"Files to bring back; without any, restore is rollback."`
	Source string   `brief:"" short:"s" aliases:"from" placeholder:"<ref>" complete:"ref" help:"Checkpoint to take the files from."`
	rollbackFlags
}

// Run brings files back, or prints what that would do.
func (c *RestoreCmd) Run(ctx context.Context, app *App) error {
	back := &RollbackCmd{Ref: c.Ref, Paths: c.Paths, rollbackFlags: c.rollbackFlags}
	if at := slices.Index(back.Paths, "--"); at >= 0 {
		back.Paths = slices.Delete(back.Paths, at, at+1)
	}
	if c.Source != "" || c.given() {
		if back.Ref = c.Source; c.Ref != "" {
			back.Paths = append([]string{c.Ref}, back.Paths...)
		}
	}
	if c.Source != "" && len(back.Paths) == 0 {
		return usage.Error("no file was named", "git checkpoint restore -s "+name.Quoted(c.Source)+" FILE; git checkpoint rollback "+name.Quoted(c.Source)+" takes everything back")
	}
	if len(back.Paths) > 0 && !c.given() {
		back.Ref = cmp.Or(back.Ref, "@")
	}
	back.restores = c.Source == ""
	return back.Run(ctx, app)
}

// Run goes back to a checkpoint, or prints what that would do.
func (c *RollbackCmd) Run(ctx context.Context, app *App) error {
	if err := c.check(); err != nil {
		return err
	}
	return app.serve(ctx, func(s *checkpoint.Service) error {
		done, err := c.rollBack(ctx, app, s)
		if done == nil {
			return err
		}
		return app.confirmUnless(err, answer.RolledBack{Done: done, Finished: c.Continue})
	})
}

// rollBack finishes or takes back a rollback that was cut off, or carries out a new one. The result
// is nil if the plan was only shown.
func (c *RollbackCmd) rollBack(ctx context.Context, app *App, s *checkpoint.Service) (done *rollback.Answer, err error) {
	if c.Continue || c.Abort {
		end := rollback.Continue
		if c.Abort {
			end = rollback.Abort
		}
		if done, err = end(ctx, s); err == nil {
			app.warnAll(done.Warnings)
		}
		return done, err
	}
	request, err := c.request(ctx, app, s.Sessions)
	if err != nil {
		return nil, err
	}
	app.sayWorkers(ctx, s.Sessions)
	plan, err := rollback.Prepare(ctx, s, request)
	if err != nil && c.restores && s.Sessions.IsFile(ctx, c.Session, request.Ref, err) {
		request.Ref, request.Paths = "@", append([]string{request.Ref}, request.Paths...)
		plan, err = rollback.Prepare(ctx, s, request)
	}
	if err != nil {
		return nil, s.Sessions.MeantFile(ctx, c.Session, c.Ref, "restore @ -- %s", err)
	}
	return app.carryOut(ctx, plan, c.Plan, c.confirmFlags, c.filesFlag)
}

// check refuses combinations of flags that contradict each other.
func (c *RollbackCmd) check() error {
	switch {
	case c.StateOnly && len(c.Paths) > 0:
		return usage.Error("--state-only moves no files, so it takes no paths")
	case c.Chat && (len(c.Paths) > 0 || c.StateOnly || c.Produced):
		return usage.Error("--chat goes with a rollback of all files", "a conversation goes back to where the files were as a whole")
	case c.StateOnly && c.Branch:
		return usage.Error("--state-only moves no branch")
	}
	return nil
}

// request turns the flags into a request. If no checkpoint was named, a person picks one on the
// terminal.
func (c *RollbackCmd) request(ctx context.Context, app *App, s *checkpoint.Sessions) (rollback.Request, error) {
	r := rollback.Request{
		Session: c.Session, Ref: c.Ref, Mode: rollback.ModeAll, Paths: c.Paths, WithState: c.State,
		ExactIndex: c.Index != nil && *c.Index == "exact", OverwriteIgnored: c.OverwriteIgnored, Force: c.Force, Reason: c.Reason, DryRun: c.DryRun, Chat: c.Chat,
	}
	switch {
	case c.WorktreeOnly:
		r.Mode = rollback.ModeWorktree
	case c.StateOnly:
		r.Mode = rollback.ModeState
	case c.Produced:
		r.Mode = rollback.ModeProduced
	}
	switch {
	case c.Branch:
		r.Branch = rollback.BranchMove
	case c.KeepBranch:
		r.Branch = rollback.BranchKeep
	}
	var err error
	if r.Ref, err = c.choose(ctx, app, s, c.Session, c.Ref); err != nil || r.Ref != "" {
		return r, err
	}
	if !app.Terminal.Interactive() {
		return r, usage.Error("no checkpoint was named", "`git checkpoint list` shows them, `git checkpoint rollback <ref>` goes back to one")
	}
	r.Ref, err = pickOne(ctx, app, s, c.Session, "Go back to which checkpoint?", c.plan(app))
	return r, err
}

// plan is the command line whose output previews the rollback in the list: what the user typed,
// with --dry-run and the checkpoint under the cursor. It is nil if the name of the command is not
// found.
func (c *RollbackCmd) plan(app *App) []string {
	line := slices.Clone(app.args)
	if at := slices.IndexFunc(line, func(word string) bool { return word == "rollback" || word == "restore" }); at >= 0 {
		return slices.Insert(line, at+1, "--dry-run", pickedID)
	}
	return nil
}
