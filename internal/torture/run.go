package torture

import (
	"encoding/json"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"
)

// Op is one thing that happens in a case: a line of the shell, or a command of the program.
type Op struct {
	Verb string   // "sh", or the command: create, rollback, undo, redo, delete, pin, unpin
	Line string   // of sh
	Slot int      // the checkpoint that create makes, or that the others aim at
	Args []string // flags, and after -- paths
	Tree string   // the worktree it happens in, below the case's root
	In   string   // the directory below the worktree
	Env  []string // for the program
	Kill int      // after so many milliseconds; 0: not
	Mend string   // how the rollback that was killed is ended

	index string // inherited, for the script
}

// walks reports whether it goes back to what an earlier move left behind.
func (o Op) walks() bool { return o.Verb == "undo" || o.Verb == "redo" }

// Case is a world and what is done in it. It says everything: running it again does
// the same again.
type Case struct {
	Kind   string
	Seed   uint64
	Config []string // settings of git's, as section.key=value, that are in force everywhere
	Setup  []string // lines of the shell, run in the case's root
	Ops    []Op
}

// Finding is a broken promise.
type Finding struct {
	Case *Case
	Step int // of Case.Ops
	What string
}

func (f *Finding) Error() string { return f.What }

func broken(format string, args ...any) error { return &Finding{What: fmt.Sprintf(format, args...)} }

// run is a case while it runs.
type run struct {
	host  host
	kind  *kind
	slots map[int]*saved
	undos map[string][]*saved // by worktree: what undos go back to, the next one last
	redos map[string][]*saved // by worktree: what redos go back to, the next one last
	dirs  map[string]string   // worktree → git directory
	limit int64               // checkpoint.maxFileSize
	hash  int                 // length of an object id
	tally map[string]int      // what happened, by name

	// Of a long walk.
	back, forth map[string][]stepOfWalk // by worktree
	disks       map[string]string       // what was hashed, by hash
	forked      int
}

// saved is a moment that a checkpoint holds.
type saved struct {
	then             *moment
	id, session, ref string
	dead             bool   // deleted
	disk             string // of a long walk: the hash of the files

	// Of a safety checkpoint: how the rollback left the worktree, whether it left the
	// index alone, whether it moved HEAD, and what operation of git's was in progress.
	left         *moment
	wrote        map[string]node // of a rollback of some paths: what is ignored
	worktreeOnly bool
	moved        bool
	unfinished   string
}

// scene is everything below the case's root at one moment.
type scene struct {
	all  disk
	refs string
}

func (c *run) scene() (s scene, err error) {
	if s.all, err = readDisk(c.host.root, c.hidden); err != nil {
		return s, fmt.Errorf("look at the disk: %w", err)
	}
	for _, top := range c.kind.trees() {
		refs, err := c.host.git(top, "", "for-each-ref", "--format="+top+":%(refname) %(objectname)")
		if err != nil {
			return s, err
		}
		s.refs += refs
	}
	return s, nil
}

// hidden are the places that are the program's own business, or ours.
func (c *run) hidden(p string) bool {
	if p == "home" || p == "oracle" || p == "origin/.git/objects" { // git freshens objects of alternates too
		return true
	}
	base := path.Base(p)
	if base != "objects" && base != "checkpoint" && base != "lfs" {
		return false
	}
	for _, d := range c.dirs {
		if path.Dir(p) == d || path.Dir(p) == c.commonOf(d) {
			return true
		}
	}
	return false
}

func (c *run) commonOf(dir string) string {
	if i := strings.LastIndex(dir, "/worktrees/"); i >= 0 {
		return dir[:i]
	}
	return dir
}

// gitDir is the git directory of a worktree, below the root.
func (c *run) gitDir(top string) string { return c.dirs[top] }

// indexFile is the index that the program is to work with, below the root.
func (c *run) indexFile(top string) string {
	if c.kind.index != "" {
		return c.gitDir(top) + "/" + c.kind.index
	}
	return c.gitDir(top) + "/index"
}

func (c *run) findDirs(trees []string) error {
	c.dirs = map[string]string{}
	for _, top := range trees {
		out, err := c.host.git(top, "", "rev-parse", "--absolute-git-dir")
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(c.host.root, strings.TrimSuffix(out, "\n"))
		if err != nil {
			return err
		}
		c.dirs[top] = rel
	}
	format, err := c.host.git("repo", "", "rev-parse", "--show-object-format")
	if c.hash = 40; strings.TrimSpace(format) == "sha256" {
		c.hash = 64
	}
	return err
}

// execute runs a case from the beginning and returns what went wrong: a *Finding, or
// an error of the machine itself.
func execute(h host, k *kind, cs *Case, tally map[string]int) error {
	c := &run{host: h, kind: k, slots: map[int]*saved{}, undos: map[string][]*saved{}, redos: map[string][]*saved{}, limit: 100 << 20, tally: tally}
	c.back, c.forth, c.disks = map[string][]stepOfWalk{}, map[string][]stepOfWalk{}, map[string]string{}
	if k.limit > 0 {
		c.limit = k.limit
	}
	for _, d := range []string{"home/templates", "oracle"} {
		if err := os.MkdirAll(filepath.Join(h.root, d), 0o777); err != nil {
			return err
		}
	}
	if err := os.WriteFile(filepath.Join(h.root, "home", ".gitconfig"), []byte(cs.configuration()), 0o666); err != nil {
		return err
	}
	if err := h.shell("", cs.Setup); err != nil {
		return err
	}
	if err := c.findDirs(k.trees()); err != nil {
		return err
	}
	for i := 0; i < len(cs.Ops); {
		n, err := c.step(cs.Ops[i:])
		if f, is := err.(*Finding); is { //nolint:errorlint // made here
			f.Case, f.Step = cs, i
		}
		if err != nil {
			return err
		}
		i += n
	}
	if err := c.end(); err != nil {
		if f, is := err.(*Finding); is { //nolint:errorlint // made here
			f.Case, f.Step = cs, len(cs.Ops)-1
		}
		return err
	}
	return nil
}

const configuration = `[user]
	name = A U Thor
	email = author@example.com
[init]
	defaultBranch = main
	templateDir =
[advice]
	detachedHead = false
[gc]
	auto = 0
[protocol "file"]
	allow = always
[core]
	fsync = none
`

// configuration is what the user of the case has set.
func (cs *Case) configuration() string {
	text := configuration
	for _, setting := range cs.Config {
		key, value, _ := strings.Cut(setting, "=")
		section, key, _ := strings.Cut(key, ".")
		text += fmt.Sprintf("[%s]\n\t%s = %s\n", section, key, value)
	}
	return text
}

// step does the first of ops, and with a line of the shell all lines that follow it in
// the same worktree. It returns how many were done.
func (c *run) step(ops []Op) (int, error) {
	op := ops[0]
	if op.Verb == "sh" {
		var lines []string
		n := 0
		for ; n < len(ops) && ops[n].Verb == "sh" && ops[n].Tree == op.Tree; n++ {
			lines = append(lines, ops[n].Line)
		}
		return n, c.host.shell(op.Tree, lines)
	}
	if c.kind.steps > 0 {
		return 1, c.strollThrough(op)
	}
	before, err := c.scene()
	if err != nil {
		return 1, err
	}
	now, err := c.look(before.all, op.Tree)
	if err != nil {
		return 1, err
	}
	switch op.Verb {
	case "create":
		err = c.create(op, before, now)
	case "rollback":
		err = c.rollback(op, before, now)
	case "undo", "redo":
		err = c.walk(op, before, now)
	default:
		err = c.other(op, before)
	}
	return 1, err
}

// program runs git-checkpoint. A result of 1, 5 and above 128 but 128 itself is a
// finding in every world: nothing here is damaged.
func (c *run) program(op Op, args ...string) (result, error) {
	argv := append(append([]string{c.host.program, op.Verb}, args...), op.Args...)
	in := filepath.Join(op.Tree, op.In)
	if info, err := os.Stat(filepath.Join(c.host.root, in)); err != nil || !info.IsDir() {
		in = op.Tree
	}
	env := append([]string{"TORTURE_PROGRAM=1"}, op.Env...)
	if c.kind.index != "" {
		env = append(env, "GIT_INDEX_FILE="+filepath.Join(c.host.root, c.indexFile(op.Tree)))
	}
	return c.host.start(in, env, argv...)
}

// currentOf is the current checkpoint of a session by the JSON contract.
func (c *run) currentOf(top, session string) string {
	r, err := c.host.start(top, nil, c.host.program, "session", "show", session, "--json")
	var got struct {
		Current string `json:"current_checkpoint"`
	}
	if err != nil || json.Unmarshal([]byte(r.out), &got) != nil {
		return ""
	}
	return got.Current
}

// other are commands that touch refs of ours alone.
func (c *run) other(op Op, before scene) error {
	s := c.slots[op.Slot]
	if s == nil || s.dead {
		return nil
	}
	args := []string{s.id, "--session", s.session}
	if op.Verb == "delete" {
		args = append(args, "-y")
	}
	r, err := c.program(op, args...)
	if err != nil {
		return err
	}
	if r.code != 0 && r.code != 4 {
		return broken("%s of a checkpoint: exit %d: %s", op.Verb, r.code, r.err)
	}
	after, err := c.scene()
	if err != nil {
		return err
	}
	if op.Verb == "delete" && r.code == 0 {
		s.dead = true
		if strings.Contains(after.refs, op.Tree+":"+s.ref+" ") {
			return broken("delete: %s is still there", s.ref)
		}
	}
	return c.untouched(op.Verb, before, after)
}

// end looks at the repository as a whole.
func (c *run) end() error {
	if c.kind.steps > 0 {
		if err := c.home(c.kind.trees()); err != nil {
			return err
		}
	}
	for _, top := range c.kind.trees() {
		r, err := c.host.start(top, nil, "git", "-c", "core.commitGraph=false", "fsck", "--strict", "--no-dangling", "--no-progress")
		if err != nil {
			return err
		}
		if r.code != 0 || strings.Contains(r.err, "error") {
			return broken("git fsck --strict: exit %d: %s%s", r.code, r.out, r.err)
		}
	}
	return nil
}
