package agent

import (
	"path/filepath"
	"strings"
)

// Holds reports whether a file contains our hooks.
func Holds(file string) bool {
	data, err := readRegular(file)
	return err == nil && (strings.Contains(string(data), "git-checkpoint hook ") || strings.Contains(string(data), `"git-checkpoint", ["hook"`))
}

// Foresees reports whether the hooks of ours in a file include the one before a tool. It is true for an
// agent that has none.
func (d *Definition) Foresees(file string) bool {
	event := d.Before()
	data, err := readRegular(file)
	return event == "" || err != nil || strings.Contains(string(data), "git-checkpoint hook "+d.Name+" "+event+" ") || d.Hooks.Plugin != "" && strings.Contains(string(data), `"`+event+`"`)
}

// RunsCommands reports whether agents or editors run commands that the file at this path
// names. Such a file is worth a warning when it changes. The path uses slashes.
func RunsCommands(path string) bool {
	path = "/" + path
	for _, dir := range []string{".claude", ".codex", ".gemini", ".cursor", ".github/hooks", ".opencode", ".vscode"} {
		if strings.Contains(path, "/"+dir+"/") {
			return true
		}
	}
	return strings.HasSuffix(path, "/.mcp.json") || strings.HasSuffix(path, "/.envrc")
}

// Holding returns the files of a worktree that contain our hooks, relative to its top and
// with slashes.
func Holding(worktree string) (files []string) {
	for _, d := range All() {
		for _, scope := range []Scope{ScopeProject, ScopeLocal} {
			if file := d.Hooks.Files[scope]; file != "" && Holds(filepath.Join(worktree, filepath.FromSlash(file))) {
				files = append(files, file)
			}
		}
	}
	return files
}
