package cli

import (
	"context"
	"fmt"

	"git-checkpoint/internal/answer"
	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/core/clearance"
	"git-checkpoint/internal/format/render"
	"git-checkpoint/internal/verb/travel"
)

// remoteFlags say which remote a command is about, and which sessions.
type remoteFlags struct {
	Remote  string   `arg:"" optional:"" complete:"remote" help:"Remote, by name or URL; default: checkpoint.remote, else the branch's remote, else origin."`
	Session []string `group:"common" sep:"none" placeholder:"<name>" complete:"session" help:"Only this session; can be repeated."`
}

// request turns the flags into a request.
func (f *remoteFlags) request(app *App) travel.Request {
	return travel.Request{Remote: f.Remote, Sessions: f.Session, Ask: app.Terminal.Interactive()}
}

// travelFlags are the flags that push, fetch and sync share.
type travelFlags struct {
	remoteFlags
	DryRun bool `short:"n" help:"Only compare with the remote, as remote status does."`
	resultFlags
}

// refs says whether each ref is listed.
func (a *App) refs() answer.Files {
	if a.verbose {
		return answer.FilesAll
	}
	return answer.FilesByView
}

// sendFlags are the flags of the commands that send: push and sync.
type sendFlags struct {
	travelFlags
	Tags bool `help:"Send the tags of checkpoints as well; everybody who clones gets them."`
	Yes  bool `short:"y" help:"Send without asking, even what the guard could not scan for secrets."`
}

// request adds to the request how the user agrees to send something private.
func (f *sendFlags) request(app *App) travel.Request {
	req := f.travelFlags.request(app)
	req.Unscanned, req.Tags = f.Yes, f.Tags
	req.Agree = app.agreeing(f.Yes, "Send them?")
	return req
}

// foreseen is the request of a dry run. It lists what a push would ask about.
func (f *sendFlags) foreseen(app *App) travel.Request {
	req := f.travelFlags.request(app)
	if !app.quiet {
		req.First = func(first clearance.FirstTime) error { return listFirst(app, first) }
	}
	return req
}

// PushCmd is "git checkpoint push". With the hidden flag --background it is the process that a
// create starts when checkpoint.autoPush is set.
type PushCmd struct {
	sendFlags
	Background bool `hidden:"" help:"Run as the push that a create starts in the background."`
}

// Run pushes and prints what became of each ref. With --dry-run it only compares.
func (c *PushCmd) Run(ctx context.Context, app *App, s *checkpoint.Service) error {
	if c.Background {
		return travel.PushInBackground(ctx, s, c.request(app))
	}
	if c.DryRun {
		return wouldTravel(ctx, app, s, c.foreseen(app))
	}
	found, err := travel.Push(ctx, s, c.request(app))
	return app.travelled(found, err, app.refs())
}

// FetchCmd is "git checkpoint fetch".
type FetchCmd struct {
	travelFlags
	// Tags is accepted because people are used to "git fetch --tags". It is hidden, because tags
	// are made in any case, and no remote is asked for them.
	Tags bool `hidden:"" help:"Has no effect: a fetch always makes tags."`
}

// Run fetches from the remote and prints what came. With --dry-run it only compares.
func (c *FetchCmd) Run(ctx context.Context, app *App, s *checkpoint.Service) error {
	if c.DryRun {
		return wouldTravel(ctx, app, s, c.request(app))
	}
	found, err := travel.Fetch(ctx, s, c.request(app))
	return app.travelled(found, err, app.refs())
}

// SyncCmd is "git checkpoint sync": fetch, then push.
type SyncCmd struct {
	sendFlags
}

// Run fetches and pushes. With --dry-run it only compares.
func (c *SyncCmd) Run(ctx context.Context, app *App, s *checkpoint.Service) error {
	if c.DryRun {
		return wouldTravel(ctx, app, s, c.foreseen(app))
	}
	found, err := travel.Sync(ctx, s, c.request(app))
	return app.travelled(found, err, app.refs())
}

// RemoteCmd is "git checkpoint remote", whose only subcommand is the default.
type RemoteCmd struct {
	Status RemoteStatusCmd `cmd:"" default:"withargs" help:"Compare the sessions here with those at a remote."`
}

// RemoteStatusCmd is "remote status".
type RemoteStatusCmd struct {
	remoteFlags
	jsonFlag
}

// Run prints for each session what differs between here and the remote.
func (c *RemoteStatusCmd) Run(ctx context.Context, app *App, s *checkpoint.Service) error {
	return wouldTravel(ctx, app, s, c.request(app))
}

// agreeing returns how the user agrees that something private leaves: by --yes, by an answer on the
// terminal to a question that lists the files first, or not at all (nil).
func (a *App) agreeing(yes bool, question string) clearance.Agree {
	switch {
	case yes:
		return func(context.Context, clearance.FirstTime) error { return nil }
	case !a.Terminal.Interactive():
		return nil
	}
	return func(ctx context.Context, first clearance.FirstTime) error {
		if err := listFirst(a, first); err != nil {
			return err
		}
		yes, err := a.Terminal.Confirm(ctx, question)
		if err == nil && !yes {
			err = refused("not confirmed, nothing was " + map[bool]string{true: "written", false: "sent"}[first.File])
		}
		return err
	}
}

// listFirst warns of what would leave, and lists the first files.
func listFirst(a *App, first clearance.FirstTime) error {
	a.warn(first.String())
	for _, file := range first.Named() {
		if err := a.view.Line(a.Terminal.Err, render.Span{Text: "  " + file}); err != nil {
			return err
		}
	}
	return nil
}

// travelled prints the answer of a push, fetch, sync or import, and passes on the error. Both may
// be there: some refs arrived and others were refused.
func (a *App) travelled(found *travel.Answer, err error, refs answer.Files) error {
	if found == nil {
		return err
	}
	result := answer.Travelled{Trip: found, Failed: err != nil, Refs: refs}
	if shown := a.confirmed(result); shown != nil {
		return shown
	}
	if a.quiet && !a.json { // the error has only their number, so they are listed even with --quiet
		for _, refused := range result.Refused() {
			_ = render.Warn(a.Terminal.Err, a.errStyle, refused) // if stderr cannot be written, nobody can be told
		}
	}
	return err
}

// travelCount sums an answer up in one line, for a git hook. The answer must have at least one
// line.
func travelCount(found *travel.Answer) string {
	verb := "brought from"
	if found.Lines[0].Verb == "push" {
		verb = "sent to"
	}
	return fmt.Sprintf("%s of checkpoints %s %s", render.Count(len(found.Lines), "ref", "refs"), verb, found.Remote)
}

// wouldTravel is the dry run of push, fetch and sync: all of them compare both sides.
func wouldTravel(ctx context.Context, a *App, s *checkpoint.Service, req travel.Request) error {
	found, err := travel.CompareRemote(ctx, s, req)
	return a.giveUnless(err, answer.RemoteSessions(found))
}
