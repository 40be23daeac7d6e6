package agent

import (
	"os"
	"path/filepath"
	"strings"
)

// Holds reports whether a file has hooks of ours.
func Holds(file string) bool {
	data, err := os.ReadFile(file)
	return err == nil && (strings.Contains(string(data), "git-checkpoint hook ") || strings.Contains(string(data), `"git-checkpoint", ["hook"`))
}

// RunsCommands reports whether agents and editors run commands that a file names. The path has slashes.
func RunsCommands(path string) bool {
	path = "/" + path
	for _, dir := range []string{".claude", ".codex", ".gemini", ".cursor", ".github/hooks", ".opencode", ".vscode"} {
		if strings.Contains(path, "/"+dir+"/") {
			return true
		}
	}
	return strings.HasSuffix(path, "/.mcp.json") || strings.HasSuffix(path, "/.envrc")
}

// Holding lists the files of a worktree that have hooks of ours, with slashes and relative to its top.
func Holding(worktree string) (files []string) {
	for _, name := range Names() {
		d, err := load(name)
		if err != nil {
			continue // a test loads every definition
		}
		for _, scope := range []Scope{ScopeProject, ScopeLocal} {
			if file := d.Hooks.Files[scope]; file != "" && Holds(filepath.Join(worktree, filepath.FromSlash(file))) {
				files = append(files, file)
			}
		}
	}
	return files
}
