package agent

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// hookEdits returns our hooks as entries of a settings file. In a new file the root members come
// first. The commands of the hooks look for the program in the directory known.
func (d *Definition) hookEdits(isNew bool, known string, want Wanted) (edits []edit) {
	if isNew {
		for _, key := range slices.Sorted(maps.Keys(d.Hooks.Root)) {
			edits = append(edits, edit{path: []string{key}, value: d.Hooks.Root[key], says: key})
		}
	}
	for i, h := range slices.Concat(d.Hooks.Events, d.Hooks.Worktrees) {
		edits = append(edits, edit{
			path: []string{"hooks", h.Event}, value: d.entry(h, known), element: true, command: d.Command(h.Event, known), says: h.says(), agent: d.Name,
			unasked: i >= len(d.Hooks.Events) && !want.Worktrees,
			ours:    func(command string) bool { return d.ours(h.Event, command) },
		})
	}
	return edits
}

// says names a hook in messages.
func (h Added) says() string {
	if h.Matcher == "" {
		return h.Event
	}
	return fmt.Sprintf("%s (%s)", h.Event, h.Matcher)
}

// entry returns the hook in the agent's own format.
func (d *Definition) entry(h Added, known string) map[string]any {
	e := map[string]any{"command": d.Command(h.Event, known)}
	maps.Copy(e, d.Hooks.Entry)
	if d.Hooks.Limit != "" && h.Seconds > 0 {
		e[d.Hooks.Limit] = h.Seconds * d.Hooks.Second
	}
	// In the shape "groups" a matcher applies to a group of hooks.
	if d.Hooks.Shape == "groups" {
		group := map[string]any{"hooks": []any{e}}
		if h.Matcher != "" {
			group["matcher"] = h.Matcher
		}
		return group
	}
	if h.Matcher != "" {
		e["matcher"] = h.Matcher
	}
	return e
}

// ownHooks returns the content of a hooks file that is ours alone: a plugin, in which "{agent}" stands for
// the agent's name, or JSON.
func (d *Definition) ownHooks() ([]byte, error) {
	if d.Hooks.Plugin != "" {
		text, err := files.ReadFile(path.Join("definitions", d.Hooks.Plugin))
		return bytes.ReplaceAll(text, []byte("{agent}"), []byte(d.Name)), err
	}
	return []byte(snippet(d.hookEdits(true, "", Wanted{}))), nil
}

// known returns the directory that hooks name. A committed file must not name one person's.
func (p Place) known() string {
	if p.Scope == ScopeProject || strings.ContainsAny(p.Program, "\n\x00") {
		return ""
	}
	return p.Program
}

// Command returns the shell command of a hook as it is written here.
func (p Place) Command(d *Definition, event string) string { return d.Command(event, p.known()) }

// File returns the path of the file for the place's scope, or an ErrScope error.
func (p Place) File(files map[Scope]string) (string, error) {
	name := files[p.Scope]
	if name == "" {
		return "", fmt.Errorf("%w: %s", ErrScope, p.Scope)
	}
	rest, home := strings.CutPrefix(name, "~/")
	if home && p.Home == "" {
		return "", errors.New("the home directory is unknown; set HOME")
	}
	if home {
		return filepath.Join(p.Home, filepath.FromSlash(rest)), nil
	}
	return filepath.Join(p.Worktree, filepath.FromSlash(name)), nil
}

// read starts a Change for a file. Symbolic links are resolved, so that the link stays and
// its target is edited. An empty file has a Before that is not nil.
func read(name string) (*Change, error) {
	if to, err := filepath.EvalSymlinks(name); err == nil {
		name = to
	} else if _, err := os.Lstat(name); err == nil {
		return nil, &fs.PathError{Op: "read", Path: name, Err: errors.New("the file that this link points to does not exist")}
	}
	data, err := readRegular(name)
	if errors.Is(err, fs.ErrNotExist) {
		return &Change{Path: name}, nil
	}
	if err == nil && data == nil {
		data = []byte{}
	}
	return &Change{Path: name, Before: data}, err
}

// readRegular reads a file. Anything else is an error: a pipe would wait forever, and a device
// must not be replaced.
func readRegular(name string) ([]byte, error) {
	info, err := os.Stat(name)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, &fs.PathError{Op: "read", Path: name, Err: errors.New("not a regular file")}
	}
	return os.ReadFile(name)
}

// snippet returns our entries as a file of their own, for a person to copy.
func snippet(edits []edit) string {
	s := &Settings{}
	for _, e := range edits {
		if !e.unasked && e.put(s) != nil {
			return ""
		}
	}
	return string(s.text)
}
