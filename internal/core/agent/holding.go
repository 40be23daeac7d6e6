package agent

import (
	"path/filepath"
	"slices"
	"strings"
)

// Registered reports whether a file has the entry of the MCP server that the agent reads.
func (d *Definition) Registered(file string) bool {
	data, err := readRegular(file)
	if err != nil {
		return false
	}
	s, err := ParseSettings(data)
	e := edit{path: d.Server.At, value: d.Server.Entry, earlier: d.Server.Former}
	return err == nil && d.Server.Entry != nil && s.Has(e.path, e.asThere(s).value)
}

// Commanding has the places of files from which agents, editors or shells run commands. A rollback
// that changes such a file warns.
type Commanding struct{ folders, files []string } // with slashes, below any directory

// CommandingFiles collects them from the definitions of all agents.
func CommandingFiles() Commanding {
	c := Commanding{folders: []string{".vscode"}, files: []string{".envrc"}}
	for _, d := range All() {
		c.add(d)
	}
	return c
}

// add adds what a definition says of files in a worktree.
func (c *Commanding) add(d *Definition) {
	if d.Folder != "" {
		c.folders = append(c.folders, d.Folder)
	}
	for _, file := range []string{d.Hooks.Files[ScopeProject], d.Hooks.Files[ScopeLocal], d.Server.Files[ScopeProject]} {
		if file != "" {
			c.files = append(c.files, file)
		}
	}
}

// Has reports whether the file at a path, with slashes, is one of them.
func (c Commanding) Has(file string) bool {
	file = "/" + file
	return slices.ContainsFunc(c.folders, func(dir string) bool { return strings.Contains(file, "/"+dir+"/") }) ||
		slices.ContainsFunc(c.files, func(name string) bool { return strings.HasSuffix(file, "/"+name) })
}

// Holding returns the files of a worktree with hooks that call this program, relative to its top and
// with slashes.
func Holding(worktree string) (files []string) {
	for _, d := range All() {
		for _, scope := range []Scope{ScopeProject, ScopeLocal} {
			if file := d.Hooks.Files[scope]; file != "" && d.Calls(filepath.Join(worktree, filepath.FromSlash(file))).Any() {
				files = append(files, file)
			}
		}
	}
	return files
}
