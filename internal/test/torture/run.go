package torture

// A case is executed operation by operation in a directory of its own. Before and after
// each command everything in that directory is read. A broken promise is returned as a
// *Finding; any other error means that the test itself could not work.

import (
	"encoding/json"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"
)

// Op is one operation of a case: a shell line or a command of the program.
type Op struct {
	// "sh", or a command: create, rollback, undo, redo, delete, pin, unpin, ...
	Verb string
	Line string // the line of sh
	// The checkpoint that create makes, or at which the others aim.
	Slot int
	Args []string // options, and paths after "--"
	// The worktree, relative to the root of the case.
	Tree string
	In   string   // a directory in the worktree
	Env  []string // environment of the program
	// Kill it after so many milliseconds; 0: do not.
	Kill int
	// How to end a killed rollback: --abort or --continue.
	Mend string
	Deed *deed // in a shared world

	// The inherited index, for the script.
	index string
}

// walks reports whether the command goes back to what an earlier move left.
func (o Op) walks() bool { return o.Verb == "undo" || o.Verb == "redo" }

// Case is a world and what is done in it. It is complete: executing it again does the same
// again.
type Case struct {
	Kind string
	Seed uint64
	// Settings of git as section.key=value, in effect everywhere.
	Config []string
	// Shell lines, run in the root of the case.
	Setup []string
	Ops   []Op
}

// Finding is a broken promise.
type Finding struct {
	Case *Case
	Step int // index in Case.Ops
	What string
}

// Error returns what was found.
func (f *Finding) Error() string { return f.What }

// broken returns a finding. The case and the step are filled in by execute.
func broken(format string, args ...any) error { return &Finding{What: fmt.Sprintf(format, args...)} }

// run is a case during its execution.
type run struct {
	host host
	kind *kind
	// slots are the checkpoints by number.
	slots map[int]*saved
	// By worktree: what undos go back to, the next one last.
	undos map[string][]*saved
	// By worktree: what redos go back to, the next one last.
	redos map[string][]*saved
	dirs  map[string]string // git directory of each worktree
	limit int64             // checkpoint.maxFileSize
	hash  int               // length of an object id in digits
	// How often each command was carried out.
	tally map[string]int

	// For long walks: the levels by worktree, and the hashed listings by hash.
	back, forth map[string][]stepOfWalk
	disks       map[string]string
	forked      int

	shared *gathering // of a shared world
}

// saved is a moment that a checkpoint holds.
type saved struct {
	then             *moment
	id, session, ref string
	dead             bool   // deleted
	disk             string // hash of the files, in a long walk

	// For a safety checkpoint: how the rollback left the worktree, whether it left the
	// index alone, whether it moved HEAD, and which operation of git was in progress.
	left *moment
	// After a rollback of some paths: the ignored files that it wrote.
	wrote map[string]node
	// Of a rollback of some paths, and of its undo and redo: the paths that it changed. They alone
	// come back.
	only         func(string) bool
	worktreeOnly bool
	moved        bool
	unfinished   string
}

// scene is everything below the root of the case at one time.
type scene struct {
	all  disk
	refs string
}

// scene reads the disk and the refs of all repositories.
func (c *run) scene() (s scene, err error) {
	if s.all, err = readDisk(c.host.root, c.hidden); err != nil {
		return s, fmt.Errorf("look at the disk: %w", err)
	}
	if c.kind.modeless {
		s.all.withoutModes()
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

// hidden reports whether a path is of no concern: the program's own files, and those of
// this package.
func (c *run) hidden(p string) bool {
	// Git touches objects of alternates as well.
	if p == "home" || p == "oracle" || p == "origin/.git/objects" {
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

// commonOf returns the common git directory for the git directory of a worktree.
func (c *run) commonOf(dir string) string {
	if i := strings.LastIndex(dir, "/worktrees/"); i >= 0 {
		return dir[:i]
	}
	return dir
}

// gitDir returns the git directory of a worktree, relative to the root.
func (c *run) gitDir(top string) string { return c.dirs[top] }

// indexFile returns the index with which the program has to work, relative to the root.
func (c *run) indexFile(top string) string {
	if c.kind.index != "" {
		return c.gitDir(top) + "/" + c.kind.index
	}
	return c.gitDir(top) + "/index"
}

// findDirs finds the git directories and the object format.
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

// execute runs a case from the beginning. It returns a *Finding for a broken promise.
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
	// step may execute several lines at once.
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

// configuration is the user's configuration of git. No background gc may change what is
// compared.
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

// configuration returns the user's configuration with the settings of the case.
func (cs *Case) configuration() string {
	text := configuration
	for _, setting := range cs.Config {
		key, value, _ := strings.Cut(setting, "=")
		section, key, _ := strings.Cut(key, ".")
		text += fmt.Sprintf("[%s]\n\t%s = %s\n", section, key, value)
	}
	return text
}

// step executes the first operation. Shell lines that follow each other in one worktree run
// together, which saves processes. It returns how many operations were executed.
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
	if c.kind.together {
		return 1, c.share(op)
	}
	if c.kind.steps > 0 {
		return 1, c.strollThrough(op)
	}
	if c.kind.modeless {
		if err := c.host.shell(op.Tree, []string{"shown"}); err != nil {
			return 1, err
		}
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

// program runs git-checkpoint with the arguments of an operation, in its directory if that
// still exists. The caller judges the exit code.
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

// currentOf returns the current checkpoint of a session, by the program's JSON.
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

// other runs a command that changes only our refs: delete, pin or unpin.
func (c *run) other(op Op, before scene) error {
	s := c.slots[op.Slot]
	// The checkpoint was never made, or is deleted already.
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

// end checks the repository as a whole, with git fsck.
func (c *run) end() error {
	// A long walk ends by undoing and redoing everything.
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
