package cli

import (
	"errors"
	"os"
	"path/filepath"
	"strings"

	"git-checkpoint/internal/core/agent"
	"git-checkpoint/internal/sys/wholefile"
)

// PluginCmd is the hidden command __plugin, with which a release makes the plugins of agents.
type PluginCmd struct {
	Agent     string `arg:"" help:"An agent that has plugins."`
	Directory string `arg:"" help:"The directory of the plugin, which must be new or empty."`
}

// Run writes the files.
func (c *PluginCmd) Run(app *App) error {
	d, err := agent.Find(c.Agent)
	if err != nil {
		return err
	}
	version, _, _ := strings.Cut(app.Version, " ")
	if strings.HasPrefix(version, "(") { // a program that nobody released
		version = "0.0.0"
	}
	all, err := d.Bundled(version)
	if err != nil {
		return err
	}
	if all == nil {
		return errors.New(d.Title + " has no plugin")
	}
	if there, err := os.ReadDir(c.Directory); err == nil && len(there) > 0 {
		return errors.New(c.Directory + " is not empty")
	}
	for name, text := range all {
		file := filepath.Join(c.Directory, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
			return err
		}
		if err := wholefile.Bytes(file, 0o666, text); err != nil {
			return err
		}
	}
	return nil
}
