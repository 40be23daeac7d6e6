package cli

import "git-checkpoint/internal/render"

// VersionCmd is version.
type VersionCmd struct{}

// Run prints one line, and opens no repository.
func (c *VersionCmd) Run(app *App) error {
	return app.view.Line(app.Terminal.Out, render.Span{Text: "git-checkpoint version " + app.Version})
}
