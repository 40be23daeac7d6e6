package agent

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// Place says where settings are looked for.
type Place struct {
	Worktree string // the top of it, absolute
	Home     string // absolute; empty: unknown
	Scope    Scope
}

// Wanted are the parts of an agent that are added beside its hooks.
type Wanted struct{ Server, Pages bool }

// Change is what happens to one file. Nothing happens to it before Apply.
type Change struct {
	Path   string   // absolute, links resolved
	Before []byte   // nil: there is no file
	After  []byte   // nil: the file goes
	Added  []string // what comes in or goes out, for people
	Left   []string // what looks like ours and is not as we wrote it: left alone

	inserted []Insertion
}

// Receipt remembers what was added to a file, by path.
type Receipt map[string]Written

// Written is what was done to one file.
type Written struct {
	Created     bool        `json:"created,omitempty"`
	Directories []string    `json:"directories,omitempty"` // made for it, the outermost first
	Inserted    []Insertion `json:"inserted,omitempty"`
}

// UnreadableError says that a file of settings cannot be edited, and what a person may put there.
type UnreadableError struct {
	Path    string
	Snippet string
	Err     error
}

func (e *UnreadableError) Error() string {
	return fmt.Sprintf("%s cannot be edited: %v", e.Path, e.Err)
}

// Unwrap gives the cause.
func (e *UnreadableError) Unwrap() error { return e.Err }

// ErrScope says that an agent has no settings of a scope.
var ErrScope = errors.New("this agent has no such settings")

// edit is one thing of ours in a file of settings.
type edit struct {
	path    []string
	value   any
	element bool   // the value is an element of the list at path
	command string // ours is known by this text; empty: by the whole value
	says    string
}

func (e edit) put(s *Settings) error {
	if e.element {
		return s.Append(e.path, e.value)
	}
	return s.Set(e.path, e.value)
}

// Add plans to put our entries into the files of a scope. What is there already is left as it is.
func (d *Definition) Add(place Place, want Wanted) ([]Change, error) {
	return d.changes(place, want, adding{})
}

// Remove plans to take our entries out, byte for byte where the receipt says what they were.
func (d *Definition) Remove(place Place, receipt Receipt) ([]Change, error) {
	all, err := d.changes(place, Wanted{Server: true, Pages: true}, removing{receipt})
	slices.Reverse(all) // a directory that was made for the first file goes with the last
	return all, err
}

// editor plans what becomes of one file, of each of three sorts.
type editor interface {
	settings(c *Change, s *Settings, edits []edit) error // JSON that others write to as well
	file(c *Change, content []byte)                      // a file of our own
	block(c *Change, block []byte)                       // a block of ours in a text
}

type adding struct{}

func (adding) settings(c *Change, s *Settings, edits []edit) error {
	for _, e := range edits {
		if e.command != "" && s.Mentions(e.path, e.command) || s.Has(e.path, e.value) {
			continue
		}
		if err := e.put(s); err != nil {
			return err
		}
		c.Added = append(c.Added, e.says)
	}
	c.inserted = s.inserted
	return nil
}

func (adding) file(c *Change, content []byte) {
	switch {
	case c.Before == nil:
		c.After, c.Added = content, []string{"our own file"}
	case !bytes.Equal(c.Before, content):
		c.Left = []string{"our own file, which somebody changed"}
	}
}

func (adding) block(c *Change, block []byte) {
	name, _, _ := bytes.Cut(block, []byte("\n"))
	switch {
	case c.Before == nil:
		c.After, c.Added = block, []string{"MCP server checkpoint"}
	case !bytes.Contains(c.Before, name):
		c.After, c.Added = append(append(slices.Clone(c.Before), '\n'), block...), []string{"MCP server checkpoint"}
	case !bytes.Contains(c.Before, block):
		c.Left = []string{"an MCP server checkpoint, which somebody set"}
	}
}

type removing struct{ receipt Receipt }

func (r removing) settings(c *Change, s *Settings, edits []edit) error {
	known := r.receipt[c.Path]
	has := func(e edit) bool { return s.Has(e.path, e.value) }
	before := *s
	if slices.ContainsFunc(edits, has) && s.takeBack(known.Inserted) && !slices.ContainsFunc(edits, has) {
		c.Added = []string{"our entries"}
	} else {
		*s = before
		for _, e := range edits {
			gone, err := s.Remove(e.path, e.value)
			if err != nil {
				return err
			}
			if gone {
				c.Added = append(c.Added, e.says)
			}
		}
	}
	for _, e := range edits {
		if e.command != "" && s.Mentions(e.path, e.command) {
			c.Left = append(c.Left, e.says+", which somebody changed")
		}
	}
	if known.Created && empty(s) {
		s.text = nil
	}
	return nil
}

func (removing) file(c *Change, content []byte) {
	switch {
	case c.Before == nil:
	case bytes.Equal(c.Before, content):
		c.After, c.Added = nil, []string{"our own file"}
	default:
		c.Left = []string{"our own file, which somebody changed"}
	}
}

func (removing) block(c *Change, block []byte) {
	if bytes.Equal(c.Before, block) {
		c.After, c.Added = nil, []string{"MCP server checkpoint"}
		return
	}
	if ours := append([]byte("\n"), block...); bytes.Contains(c.Before, ours) {
		c.After, c.Added = bytes.Replace(c.Before, ours, nil, 1), []string{"MCP server checkpoint"}
	}
}

// empty reports whether a file of settings says nothing any more.
func empty(s *Settings) bool {
	return s.blank() || strings.Join(strings.Fields(string(s.text)), "") == "{}"
}

// changes plans for every file of the agent.
func (d *Definition) changes(place Place, want Wanted, e editor) ([]Change, error) {
	files, order, err := d.shared(place, want)
	if err != nil {
		return nil, err
	}
	var all []Change
	for _, name := range order {
		c, err := read(name)
		if err != nil {
			return nil, err
		}
		s, err := ParseSettings(c.Before)
		if err == nil {
			err = e.settings(c, s, files[name])
		}
		if err != nil {
			return nil, &UnreadableError{Path: name, Snippet: snippet(files[name]), Err: err}
		}
		if c.After = s.Text(); s.text == nil {
			c.After = nil
		}
		all = append(all, *c)
	}
	pages, order, err := d.owned(place, want)
	if err != nil {
		return nil, err
	}
	for _, name := range order {
		c, err := read(name)
		if err != nil {
			return nil, err
		}
		c.After = c.Before
		e.file(c, pages[name])
		all = append(all, *c)
	}
	name, err := place.File(d.Server.Files)
	if d.Server.TOML == "" || !want.Server || err != nil {
		return all, nil //nolint:nilerr // an agent without such a file
	}
	c, err := read(name)
	if err != nil {
		return nil, err
	}
	c.After = c.Before
	e.block(c, []byte(d.Server.TOML))
	return append(all, *c), nil
}

// shared are the files that others write to as well, and what is ours in each.
func (d *Definition) shared(place Place, want Wanted) (map[string][]edit, []string, error) {
	files, order := map[string][]edit{}, []string(nil)
	put := func(name string, e edit) {
		if files[name] == nil {
			order = append(order, name)
		}
		files[name] = append(files[name], e)
	}
	if d.Hooks.Shape != "plugin" && d.Hooks.Shape != "none" && !d.Hooks.Own {
		name, err := place.File(d.Hooks.Files)
		if err != nil {
			return nil, nil, err
		}
		var root map[string]any
		if len(d.Hooks.Root) > 0 {
			if err := json.Unmarshal(d.Hooks.Root, &root); err != nil {
				return nil, nil, err
			}
		}
		if _, err := os.Stat(name); errors.Is(err, fs.ErrNotExist) {
			for key, value := range root {
				put(name, edit{path: []string{key}, value: value, says: key})
			}
		}
		for _, h := range d.Hooks.Events {
			put(name, edit{
				path: []string{"hooks", h.Event}, value: d.entry(h), element: true, command: d.Command(h.Event), says: h.says(),
			})
		}
	}
	if want.Server && len(d.Server.Entry) > 0 {
		name, err := place.File(d.Server.Files)
		if err == nil {
			var entry any
			if err := json.Unmarshal(d.Server.Entry, &entry); err != nil {
				return nil, nil, err
			}
			put(name, edit{path: d.Server.At, value: entry, says: "MCP server checkpoint"})
		}
	}
	return files, order, nil
}

func (h Added) says() string {
	if h.Matcher == "" {
		return h.Event
	}
	return fmt.Sprintf("%s (%s)", h.Event, h.Matcher)
}

// entry is a hook as the agent wants it.
func (d *Definition) entry(h Added) map[string]any {
	e := map[string]any{"command": d.Command(h.Event)}
	for key, value := range d.Hooks.Entry {
		e[key] = value
	}
	if d.Hooks.Limit != "" && h.Seconds > 0 {
		e[d.Hooks.Limit] = h.Seconds * d.Hooks.Second
	}
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

// owned are the files that are ours alone, with their content.
func (d *Definition) owned(place Place, want Wanted) (map[string][]byte, []string, error) {
	contents, order := map[string][]byte{}, []string(nil)
	put := func(name string, content []byte) {
		contents[name], order = content, append(order, name)
	}
	if d.Hooks.Own {
		name, err := place.File(d.Hooks.Files)
		if err != nil {
			return nil, nil, err
		}
		content, err := d.ownHooks()
		if err != nil {
			return nil, nil, err
		}
		put(name, content)
	}
	if !want.Pages {
		return contents, order, nil
	}
	for _, p := range d.Pages {
		name, err := place.File(p.Files)
		if err != nil {
			continue // no such page in this scope
		}
		content, err := files.ReadFile(path.Join("definitions", p.Template))
		if err != nil {
			return nil, nil, err
		}
		put(name, content)
	}
	return contents, order, nil
}

// ownHooks is the file of hooks where it is ours alone.
func (d *Definition) ownHooks() ([]byte, error) {
	if d.Hooks.Plugin != "" {
		return files.ReadFile(path.Join("definitions", d.Hooks.Plugin))
	}
	s, err := ParseSettings(d.Hooks.Root)
	if err != nil {
		return nil, err
	}
	for _, h := range d.Hooks.Events {
		if err := s.Append([]string{"hooks", h.Event}, d.entry(h)); err != nil {
			return nil, err
		}
	}
	var b bytes.Buffer
	err = json.Indent(&b, bytes.TrimSpace(s.Text()), "", "  ")
	b.WriteByte('\n')
	return b.Bytes(), err
}

// File is the path of a file of the place's scope.
func (p Place) File(files map[Scope]string) (string, error) {
	name := files[p.Scope]
	if name == "" {
		return "", fmt.Errorf("%w: %s", ErrScope, p.Scope)
	}
	rest, home := strings.CutPrefix(name, "~/")
	if home && p.Home == "" {
		return "", errors.New("the home directory is not known: set HOME")
	}
	if home {
		return filepath.Join(p.Home, filepath.FromSlash(rest)), nil
	}
	return filepath.Join(p.Worktree, filepath.FromSlash(name)), nil
}

// read begins a change of a file. A link is followed, so that it stays.
func read(name string) (*Change, error) {
	if to, err := filepath.EvalSymlinks(name); err == nil {
		name = to
	}
	data, err := os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		return &Change{Path: name}, nil
	}
	if err == nil && data == nil {
		data = []byte{}
	}
	return &Change{Path: name, Before: data}, err
}

func snippet(edits []edit) string {
	s := &Settings{}
	for _, e := range edits {
		if e.put(s) != nil {
			return ""
		}
	}
	return string(s.text)
}
