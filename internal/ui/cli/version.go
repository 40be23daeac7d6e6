package cli

import "git-checkpoint/internal/format/render"

// VersionCmd is "git checkpoint version", also --version and -v.
type VersionCmd struct{}

// Run prints the version. It needs no repository.
func (c *VersionCmd) Run(app *App) error {
	return app.view.Line(app.Terminal.Out, render.Span{Text: "git-checkpoint version " + app.Version})
}
