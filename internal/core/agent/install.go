package agent

// Adding hooks must not disturb a file that belongs to the user or another program. So an
// edit is planned first and shown, inserts text without rewriting the rest, and leaves
// entries that somebody has changed. A receipt remembers every insertion. Removing takes
// back exactly those bytes if they are still there, and otherwise removes entries that are
// equal to ours.

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"git-checkpoint/internal/sys/wholefile"
)

// Place says where an agent's settings are.
type Place struct {
	Worktree string // top directory, absolute
	Program  string // directory of this program, for hooks that are not committed; empty: unknown
	Home     string // absolute; empty: unknown
	Scope    Scope
	// Planned has the content that files get from changes that are planned but not applied yet, by
	// resolved path; nil: the file is deleted. So changes for several agents can be planned even if
	// they edit the same file.
	Planned map[string][]byte
}

// Wanted selects the optional parts of an agent: the MCP server, the pages, and the hooks that make and remove
// its worktrees.
type Wanted struct{ Server, Pages, Worktrees bool }

// Change is a planned edit of one file. Nothing is written before Apply.
type Change struct {
	// Absolute, with symbolic links resolved.
	Path   string
	Before []byte   // content now; nil: there is no file
	After  []byte   // content afterwards; nil: delete the file
	Added  []string // what is added or removed, for messages
	Left   []string // what resembles our entries but was changed, and is left alone
	// The agent ignores the file, because it has comments or trailing commas.
	Ignored bool

	agent    string
	inserted []Insertion
	updated  bool // the file is ours alone, and an earlier version wrote it
	renewed  []renewal
}

// Receipt remembers what was added to which file, by path.
type Receipt map[string]Written

// Written is what was done to one file.
type Written struct {
	Created bool `json:"created,omitempty"`
	// Directories created for it, outermost first.
	Directories []string    `json:"directories,omitempty"`
	Inserted    []Insertion `json:"inserted,omitempty"`
}

// insertionsOf returns the insertions that are an agent's, or that several agents may share.
func (w Written) insertionsOf(agent string) []Insertion {
	return slices.DeleteFunc(slices.Clone(w.Inserted), func(in Insertion) bool { return in.Agent != "" && in.Agent != agent })
}

// insertionsWithout returns the others.
func (w Written) insertionsWithout(agent string) []Insertion {
	return slices.DeleteFunc(slices.Clone(w.Inserted), func(in Insertion) bool { return in.Agent == "" || in.Agent == agent })
}

// UnreadableError means that a settings file cannot be edited. Snippet is what a person may
// add by hand.
type UnreadableError struct {
	Path    string
	Snippet string
	Err     error
}

func (e *UnreadableError) Error() string {
	return fmt.Sprintf("%s cannot be edited: %v", e.Path, e.Err)
}

func (e *UnreadableError) Unwrap() error { return e.Err }

// LinkError means that a settings file of a repository is behind a symbolic link. A commit may bring
// such a link, which leads to a place that nobody named, such as the user's own settings.
type LinkError struct{ Link string }

func (e *LinkError) Error() string {
	return fmt.Sprintf("%s is a symbolic link, and may lead to any file of yours", e.Link)
}

// ErrScope means that an agent has no settings in the requested scope.
var ErrScope = errors.New("this agent has no settings file of this kind")

// edit is one entry of ours in a settings file.
type edit struct {
	path    []string
	value   any
	element bool // append value to the list at path; else set the member
	// command is a text by which an entry is recognised as ours even if it was changed. If
	// it is empty, only an equal value is ours.
	command string
	// ours reports whether a command is this one or an earlier form of it; nil: there is none.
	ours    func(command string) bool
	earlier []any  // has values that earlier versions set in place of value
	says    string // names the entry in messages
	agent   string // the one that reads the entry; empty: several may
	unasked bool   // says that the entry is only kept up to date, if it is there
}

// asThere returns the entry with the value that an earlier version set, if the settings have it.
func (e edit) asThere(s *Settings) edit {
	for _, value := range e.earlier {
		if s.Has(e.path, value) {
			e.value = value
		}
	}
	return e
}

// put adds the entry to the settings.
func (e edit) put(s *Settings) error {
	known, add := len(s.inserted), s.Set
	if e.element {
		add = s.Append
	}
	err := add(e.path, e.value)
	for i := known; i < len(s.inserted); i++ {
		s.inserted[i].Agent = e.agent
	}
	return err
}

// renew puts the command of this program into an entry that another version, or the program at
// another place, has added. It reports whether the settings have the command.
func (e edit) renew(s *Settings) (there, renewed bool, err error) {
	if e.ours == nil {
		return false, false, nil
	}
	return s.renew(e.path, e.ours, e.command)
}

// Add plans to add our entries to the files of a scope. Entries that are there already stay
// unchanged.
func (d *Definition) Add(place Place, want Wanted) ([]Change, error) {
	return d.changes(place, want, adding{})
}

// Remove plans to remove our entries. Where the receipt knows the inserted bytes, exactly these are
// removed. The MCP server stays if others use its entry.
func (d *Definition) Remove(place Place, receipt Receipt, others bool) ([]Change, error) {
	all, err := d.changes(place, Wanted{Server: !others, Pages: true}, removing{receipt, d.Name})
	// The directories of the first file are removed last.
	slices.Reverse(all)
	return all, err
}

// editor plans the edit of one file. Each of its methods is for one sort of file.
type editor interface {
	reaches(top, file string) error                      // whether a file below top may be edited; top may be empty
	settings(c *Change, s *Settings, edits []edit) error // JSON to which others write too
	file(c *Change, t target)                            // a file that is ours alone
	block(c *Change, block []byte)                       // a block of ours inside a text
}

// adding is the editor of Add.
type adding struct{}

func (adding) reaches(top, file string) error {
	if link := wholefile.LinkBelow(top, file); top != "" && link != "" {
		return &LinkError{link}
	}
	return nil
}

func (adding) settings(c *Change, s *Settings, edits []edit) error {
	for _, e := range edits {
		there, renewed, err := e.renew(s)
		if err != nil {
			return err
		}
		if renewed {
			c.Added = append(c.Added, e.says+" (new command line)")
		}
		if there || s.Has(e.path, e.asThere(s).value) || e.unasked {
			continue
		}
		if !e.element && s.find(e.path) != nil {
			c.Left = append(c.Left, "another "+e.says+", which somebody else set up")
			continue
		}
		if err := e.put(s); err != nil {
			return err
		}
		c.Added = append(c.Added, e.says)
	}
	c.inserted, c.renewed = s.inserted, s.renewed
	return nil
}

func (adding) file(c *Change, t target) {
	switch {
	case c.Before == nil:
		c.After, c.Added = t.own, []string{"git-checkpoint's own file"}
	case t.former(c.Before):
		c.After, c.Added, c.updated = t.own, []string{"git-checkpoint's own file, which an older version wrote"}, true
	case !bytes.Equal(c.Before, t.own):
		c.Left = []string{"git-checkpoint's own file, with a hook that somebody changed"}
	}
}

func (adding) block(c *Change, block []byte) {
	// The first line of the block is its table header, which must not occur twice in TOML.
	name, _, _ := bytes.Cut(block, []byte("\n"))
	switch {
	case c.Before == nil:
		c.After, c.Added = block, []string{"MCP server checkpoint"}
	case !bytes.Contains(c.Before, name):
		c.After, c.Added = append(append(slices.Clone(c.Before), '\n'), block...), []string{"MCP server checkpoint"}
	case !bytes.Contains(c.Before, block):
		c.Left = []string{"an MCP server checkpoint, which somebody else set up"}
	}
}

// removing is the editor of Remove for an agent.
type removing struct {
	receipt Receipt
	agent   string
}

// reaches also lets through what an earlier version added behind a link.
func (r removing) reaches(top, file string) error {
	if to, err := filepath.EvalSymlinks(file); err == nil {
		if _, ours := r.receipt[to]; ours {
			return nil
		}
	}
	return adding{}.reaches(top, file)
}

func (r removing) settings(c *Change, s *Settings, edits []edit) error {
	known, untouched := r.receipt[c.Path], *s
	for i, e := range edits {
		edits[i] = e.asThere(s)
		if _, _, err := e.renew(s); err != nil {
			return err
		}
	}
	known.Inserted = renewedIn(known.insertionsOf(r.agent), s.renewed)
	has := func(e edit) bool { return s.Has(e.path, e.value) }
	// Take back the insertions byte for byte. If an entry of ours is still there
	// afterwards, or the insertions are not found, start over and remove the entries one by
	// one.
	before := *s
	if slices.ContainsFunc(edits, has) && s.takeBack(known.Inserted) && !slices.ContainsFunc(edits, has) {
		c.Added = []string{"the entries that agent add made"}
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
		if there, _, _ := e.renew(s); there { //nolint:errcheck // nothing is renewed twice
			c.Left = append(c.Left, "a hook that somebody changed ("+e.says+")")
		}
	}
	if len(c.Added) == 0 {
		*s = untouched
	}
	// The file was created for our entries and is empty again, so delete it.
	if known.Created && empty(s) {
		s.text = nil
	}
	return nil
}

func (removing) file(c *Change, t target) {
	switch {
	case c.Before == nil:
	case bytes.Equal(c.Before, t.own) || t.former(c.Before):
		c.After, c.Added = nil, []string{"git-checkpoint's own file"}
	default:
		c.Left = []string{"git-checkpoint's own file, with a hook that somebody changed"}
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

// empty reports whether a settings file has no content left.
func empty(s *Settings) bool {
	return s.blank() || strings.Join(strings.Fields(string(s.text)), "") == "{}"
}

// target is a file to edit. Exactly one of edits, own and block is set, for the methods of an editor.
type target struct {
	name       string
	edits      []edit
	own, block []byte
	formers    []string // SHA-256 of what earlier versions wrote in place of own
}

// former reports whether an earlier version wrote the content.
func (t target) former(content []byte) bool {
	sum := sha256.Sum256(content)
	return slices.Contains(t.formers, hex.EncodeToString(sum[:]))
}

// changes plans the edits of all files of the agent.
func (d *Definition) changes(place Place, want Wanted, e editor) ([]Change, error) {
	targets, err := d.targets(place, want)
	if err != nil {
		return nil, err
	}
	var all []Change
	for _, t := range targets {
		var top string
		if place.Scope != ScopeUser {
			top = place.Worktree
		}
		if err := e.reaches(top, t.name); err != nil {
			return nil, err
		}
		c, err := read(t.name)
		if err != nil {
			return nil, err
		}
		if planned, is := place.Planned[c.Path]; is {
			c.Before = planned
		}
		c.After, c.agent = c.Before, d.Name
		switch {
		case t.own != nil:
			e.file(c, t)
		case t.block != nil:
			e.block(c, t.block)
		default:
			s, err := ParseSettings(c.Before)
			c.Ignored = err == nil && d.Hooks.Strict && !s.blank() && !s.root.IsStandard()
			if err == nil {
				err = e.settings(c, s, t.edits)
			}
			if err != nil {
				return nil, &UnreadableError{Path: t.name, Snippet: snippet(t.edits), Err: err}
			}
			if hooks, _ := place.File(d.Hooks.Files); hooks == t.name {
				for _, event := range d.calls(s).Changed {
					c.Left = append(c.Left, "a hook that somebody changed ("+event+")")
				}
			}
			if c.After = s.Text(); s.text == nil {
				c.After = nil
			}
		}
		all = append(all, *c)
	}
	return all, nil
}

// targets returns the files of the agent: those to which others write too, then those that are ours
// alone, then the one with the TOML block.
func (d *Definition) targets(place Place, want Wanted) ([]target, error) {
	hooks, err := place.File(d.Hooks.Files)
	if err != nil {
		return nil, err
	}
	var shared, own []target
	if d.Hooks.Own {
		content, err := d.ownHooks()
		if err != nil {
			return nil, err
		}
		t := target{name: hooks, own: content, formers: d.Hooks.Former}
		if there, err := readRegular(hooks); err == nil && d.Hooks.Plugin == "" && !bytes.Equal(there, content) && !t.former(there) {
			// Somebody else wrote to it: what is there stays, and our entries are added and removed.
			shared = append(shared, target{name: hooks, edits: d.hookEdits(false, "", want)})
		} else {
			own = append(own, t)
		}
	} else {
		// The root members, such as a version, go only into a file that we create.
		_, err := os.Stat(hooks)
		shared = append(shared, target{name: hooks, edits: d.hookEdits(errors.Is(err, fs.ErrNotExist), place.known(), want)})
	}
	// An agent may have no file for the server, or no page, in this scope.
	server, noServer := place.File(d.Server.Files)
	hasServer := noServer == nil && want.Server
	if hasServer && d.Server.Entry != nil {
		e := edit{path: d.Server.At, value: d.Server.Entry, earlier: d.Server.Former, says: "MCP server checkpoint"}
		if len(shared) > 0 && server == hooks {
			shared[0].edits = append(shared[0].edits, e)
		} else {
			shared = append(shared, target{name: server, edits: []edit{e}})
		}
	}
	for _, p := range d.Pages {
		name, err := place.File(p.Files)
		if err != nil || !want.Pages {
			continue
		}
		content, err := files.ReadFile(path.Join("definitions", p.Template))
		if err != nil {
			return nil, err
		}
		own = append(own, target{name: name, own: content})
	}
	if hasServer && d.Server.TOML != "" {
		own = append(own, target{name: server, block: []byte(d.Server.TOML)})
	}
	return append(shared, own...), nil
}
