package agent

import (
	"bytes"
	"encoding/json"
	"path"
	"path/filepath"
	"strings"
)

// Bundle says how the hooks, pages and the MCP server are packed into a plugin that the agent
// installs, instead of being entered in settings files. All of its paths are relative to the
// plugin's directory.
type Bundle struct {
	Hooks  string            `json:"hooks"`
	Server string            `json:"mcp"`   // empty: Files has it, or there is none
	Pages  map[string]string `json:"pages"` // paths by template
	Files  map[string]any    `json:"files"` // of JSON, in which "$version" stands for the version of this program
	// Installed is a file that contains a text once the agent has installed it; "~/" is the home
	// directory.
	Installed struct {
		File string `json:"file"`
		Text string `json:"text"`
	} `json:"installed"`
}

// Bundled returns the files of the plugin, by path; nil if the agent has none. Its hooks say that
// they are the plugin's, so that they leave events to hooks in settings files.
func (d *Definition) Bundled(version string) (map[string][]byte, error) {
	if d.Bundle.Hooks == "" {
		return nil, nil
	}
	hooks := []byte(snippet(d.hookEdits(false, "", Wanted{})))
	if d.Hooks.Plugin != "" {
		var err error
		if hooks, err = d.ownHooks(); err != nil {
			return nil, err
		}
		hooks = bytes.Replace(hooks, []byte(`"`+d.Name+`", event]`), []byte(`"`+d.Name+`", event, "plugin"]`), 1)
	}
	for _, h := range d.Hooks.Events {
		at := " hook " + d.Name + " " + h.Event
		hooks = bytes.ReplaceAll(hooks, []byte(at+"; "), []byte(at+" plugin; "))
	}
	all := map[string][]byte{d.Bundle.Hooks: hooks}
	if d.Bundle.Server != "" {
		all[d.Bundle.Server] = []byte(snippet([]edit{{path: d.Server.At, value: d.Server.Entry}}))
	}
	for template, to := range d.Bundle.Pages {
		text, err := files.ReadFile(path.Join("definitions", template))
		if err != nil {
			return nil, err
		}
		all[to] = text
	}
	for name, value := range d.Bundle.Files {
		text, err := json.MarshalIndent(value, "", "  ")
		if err != nil {
			return nil, err
		}
		all[name] = append(bytes.ReplaceAll(text, []byte("$version"), []byte(version)), '\n')
	}
	return all, nil
}

// Bundles reports whether the agent has installed the plugin.
func (d *Definition) Bundles(home string) bool {
	rest, is := strings.CutPrefix(d.Bundle.Installed.File, "~/")
	if !is || home == "" {
		return false
	}
	data, err := readRegular(filepath.Join(home, filepath.FromSlash(rest)))
	return err == nil && bytes.Contains(data, []byte(d.Bundle.Installed.Text))
}
