package cli

import (
	"context"

	"git-checkpoint/internal/checkpoint"
	"git-checkpoint/internal/cli/answer"
	"git-checkpoint/internal/travel"
)

// RemoteCmd is "git checkpoint remote", whose only subcommand is the default.
type RemoteCmd struct {
	Status RemoteStatusCmd `cmd:"" default:"withargs" help:"Compare the sessions here with those at a remote."`
}

// RemoteStatusCmd is "remote status".
type RemoteStatusCmd struct {
	Remote  string   `arg:"" optional:"" complete:"remote" help:"Remote, by name or URL; default: checkpoint.remote, else the branch's remote, else origin."`
	Session []string `sep:"none" placeholder:"<name>" complete:"session" help:"Only this session; can be repeated."`
	jsonFlag
}

// Run prints for each session what differs between here and the remote.
func (c *RemoteStatusCmd) Run(ctx context.Context, app *App, s *checkpoint.Service) error {
	return wouldTravel(ctx, app, s, travel.Request{Remote: c.Remote, Sessions: c.Session, Ask: app.Terminal.Interactive()})
}

// wouldTravel is the dry run of push, fetch and sync: all of them compare both sides.
func wouldTravel(ctx context.Context, a *App, s *checkpoint.Service, req travel.Request) error {
	found, err := travel.CompareRemote(ctx, s, req)
	return a.giveUnless(err, answer.RemoteSessions(found))
}
