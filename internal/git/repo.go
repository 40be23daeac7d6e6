// Package git is the only package that starts git or imports go-git. It owns the environment of git
// processes, the reading and writing of objects and refs, and the decoding and encoding of index
// files. It knows nothing of checkpoints, and it refuses bare repositories.
//
// Start with Repo: Open finds a repository and returns one Repo for one worktree. Its parts have a job
// each: Location starts git (run.go), Objects reads and writes objects (objects.go), Trees (tree.go) and
// Commits (commit.go) are what is in them, Refs reads and updates refs (refs.go), by way of package refs
// where they are files, Checkout has HEAD and the index, Maintenance packs and collects.
//
// Starting git costs a few milliseconds, so most operations have two implementations. The first
// works on git's files directly, in this process, and handles only what every version of git stores
// in the same way. For everything else (another ref backend, a damaged file, an unknown extension)
// it returns errUseGit or odb.ErrUseGit, and the second implementation starts git and takes its
// answer. What git says always wins.
package git

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/git/gitconfig"
	"git-checkpoint/internal/git/internal/discover"
	"git-checkpoint/internal/git/internal/refs"
)

// ErrUnusable wraps every reason why a directory is not in a repository that this program can work
// in: there is none, it is bare, or it cannot be read. The command exits with code 128 then.
var ErrUnusable = errors.New("not a usable git repository")

// noneError is ErrUnusable in git's own words.
type noneError string

func (e noneError) Error() string      { return string(e) }
func (noneError) Is(target error) bool { return target == ErrUnusable }

// Repo is a repository, seen from one of its worktrees. Open returns it; Close ends the processes that
// it has started. It only holds its parts, and a part sees those alone that its fields name.
type Repo struct {
	*Location

	Settings    *Settings
	Objects     *Objects
	Trees       *Trees
	Commits     *Commits
	Refs        *Refs
	Checkout    *Checkout
	Maintenance *Maintenance
}

// newRepo makes the parts of a repository.
func newRepo(at *Location) *Repo {
	r := &Repo{Location: at, Settings: &Settings{at}, Objects: &Objects{at: at}}
	r.Trees = &Trees{at: at, objects: r.Objects}
	r.Commits = &Commits{at, r.Objects, r.Trees}
	r.Refs = &Refs{at, r.Objects}
	r.Checkout = &Checkout{at, r.Trees, r.Commits}
	r.Maintenance = &Maintenance{at, r.Settings, r.Objects}
	return r
}

// Close ends the processes that were kept, closes the open packs, and removes the directory of
// Objects.Borrow.
func (r *Repo) Close() { r.Objects.close() }

// Location is where a repository and one of its worktrees are, and what every git process that is
// started there is told. All paths in it are absolute. Checkout.Refresh changes Head and Prefix, and
// Objects.Borrow the environment; everything else stays as Open found it.
type Location struct {
	GitDir    string // the git directory of this worktree
	CommonDir string // the git directory that all worktrees share
	WorkTree  string // the top directory of the worktree
	Prefix    string // the working directory relative to WorkTree: "" or "a/b/"
	IndexPath string // the index of this worktree, or the inherited GIT_INDEX_FILE
	Format    string // "sha1" or "sha256"
	Head      Head
	Config    *gitconfig.Config // nil until Open has read it

	program string   // path of the git executable
	env     []string // the environment of every git process, without what dropped lists
	plain   bool     // start git without the settings of quiet, to read the user's own configuration
}

// Head is where HEAD was when the repository was opened, or at the last Refresh.
type Head struct {
	Branch  name.Ref // full ref name; empty when HEAD is detached
	OID     name.OID // empty when the branch is unborn (has no commit)
	Damaged bool     // says that the branch has a ref that holds no id, as after a power loss. OID is empty
}

// Options tell Open where to look for the repository.
type Options struct {
	Dir string   // default: the working directory of this process
	Env []string // default: the environment of this process
}

// Open finds the repository that a directory belongs to. For an ordinary repository it starts no
// process (see package discover). Otherwise it asks two git processes, which run at the same time.
// The error wraps ErrUnusable when there is no repository to work in.
func Open(ctx context.Context, o Options) (*Repo, error) {
	program, err := exec.LookPath("git")
	if err != nil {
		return nil, fmt.Errorf("%w: git is not installed or not on PATH", ErrUnusable)
	}
	if o.Env == nil {
		o.Env = os.Environ()
	}
	at := &Location{program: program, env: cleanEnv(o.Env)}
	if !discover.IsDistributed(program) || at.discover(o) != nil {
		if at, err = ask(ctx, program, o); err != nil {
			return nil, err
		}
	}
	return newRepo(at), nil
}

// ask finds the repository with git: one process lists the configuration while another one prints
// the places. Both run with the inherited GIT_DIR, GIT_WORK_TREE and GIT_INDEX_FILE. Afterwards
// l.env no longer has these variables, because command sets them anew for each process.
func ask(ctx context.Context, program string, o Options) (*Location, error) {
	l := &Location{program: program, env: append(cleanEnv(o.Env), inherited(o.Env)...)}
	type parsed struct {
		c   *gitconfig.Config
		err error
	}
	config := make(chan parsed, 1)
	go func() {
		c, err := readConfig(ctx, l, o)
		config <- parsed{c, err}
	}()
	err := l.locate(ctx, o)
	c := <-config
	if err != nil {
		return nil, err
	}
	if c.err != nil {
		return nil, fmt.Errorf("%w: %w", ErrUnusable, c.err)
	}
	l.Config = c.c
	l.env = cleanEnv(o.Env)
	return l, l.checkObjectDir()
}

// checkObjectDir refuses an object directory that the user set with GIT_OBJECT_DIRECTORY. Our refs
// would name objects that nobody can find once the variable is unset. There are two exceptions.
// During a push git sets the variable for its hooks (together with GIT_QUARANTINE_PATH) and moves
// the objects into the repository when it accepts the refs. And if the variable names the
// repository's own object directory, it has no effect and is dropped.
func (l *Location) checkObjectDir() error {
	set := gitconfig.Getenv(l.env, objectDirectory)
	if set == "" || gitconfig.Getenv(l.env, "GIT_QUARANTINE_PATH") != "" {
		return nil
	}
	dir := set
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(l.WorkTree, dir) // git changes to the worktree before it resolves the path
	}
	at, err := os.Stat(dir)
	own, ownErr := os.Stat(filepath.Join(l.CommonDir, "objects"))
	if err == nil && ownErr == nil && os.SameFile(at, own) {
		l.env = slices.DeleteFunc(l.env, func(kv string) bool { return strings.HasPrefix(kv, objectDirectory+"=") })
		return nil
	}
	return fmt.Errorf("%w: %s is %q, so the refs in %s would not find their objects; unset it", ErrUnusable, objectDirectory, set, l.CommonDir)
}

// inherited returns the variables of env that tell git where the repository is. A hook gets them
// from git.
func inherited(env []string) []string {
	var out []string
	for _, key := range []string{"GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE"} {
		if v := gitconfig.Getenv(env, key); v != "" {
			out = append(out, key+"="+v)
		}
	}
	return out
}

// places are the questions to rev-parse that it answers with one line each, in the order of the
// lines. Their number is the least number of lines that locate expects.
var places = [...][]string{
	{"--is-bare-repository"}, {"--absolute-git-dir"}, {"--git-common-dir"}, {"--show-object-format"}, {"--git-path", "index"}, {"--show-prefix"},
	{"--show-toplevel"},
}

// locate asks one rev-parse for all places. If HEAD is unborn, rev-parse fails, but only after it
// has printed the places and the word HEAD. So a positive exit code is not yet an error: the number
// of lines decides.
//
// A newline in a path would shift the lines. The checks on the number of lines and on absolute
// paths detect that.
func (l *Location) locate(ctx context.Context, o Options) error {
	args := append([]string{"rev-parse", "--path-format=absolute"}, slices.Concat(places[:]...)...)
	args = append(args, "HEAD", "--symbolic-full-name", "HEAD")
	res, err := l.Run(ctx, Cmd{Args: args, Dir: cmp.Or(o.Dir, ".")})
	if err != nil && ExitCode(err) < 0 {
		return err
	}
	lines := strings.Split(strings.TrimSuffix(string(res.Stdout), "\n"), "\n")
	if len(lines) > 0 && lines[0] == "true" {
		return fmt.Errorf("%w: %q is a bare repository (core.bare), but a checkpoint needs a worktree", ErrUnusable, strings.Join(lines[1:min(2, len(lines))], ""))
	}
	if len(lines) < len(places) {
		if err == nil {
			err = errors.New("git rev-parse printed too little")
		}
		words := firstLine(err)
		if strings.HasPrefix(words, "not a git repository") {
			return noneError(words)
		}
		return fmt.Errorf("%w: %s", ErrUnusable, words)
	}
	l.GitDir, l.CommonDir, l.Format = lines[1], lines[2], lines[3]
	l.IndexPath, l.Prefix, l.WorkTree = lines[4], lines[5], lines[6]
	if l.Format != "sha1" && l.Format != "sha256" || len(lines) > len(places)+2 ||
		!filepath.IsAbs(l.WorkTree) || !filepath.IsAbs(l.IndexPath) {
		return fmt.Errorf("%w: a newline in the path of the repository, or an unknown object format", ErrUnusable)
	}
	if full := filepath.Join(l.GitDir, "index.lock"); strings.HasPrefix(filepath.Base(l.IndexPath), "next-index-") {
		// `git commit -- path` runs its hooks with a temporary index that holds HEAD and that path
		// only. Everything else that is staged is in index.lock, which becomes the index when the
		// commit is done.
		if info, err := os.Stat(full); err == nil && info.Size() > 0 {
			l.IndexPath = full
		}
	}
	return l.locateHead(ctx, lines[len(places):])
}

// locateHead reads the last lines of locate: the commit of HEAD and the full name of its branch.
func (l *Location) locateHead(ctx context.Context, lines []string) error {
	if len(lines) > 0 && lines[0] != "HEAD" { // rev-parse echoes the word when HEAD is unborn
		oid, err := name.ParseOID(lines[0])
		if err != nil {
			return fmt.Errorf("%w: HEAD is %q", ErrUnusable, lines[0])
		}
		l.Head.OID = oid
	}
	if len(lines) > 1 && strings.HasPrefix(lines[1], "refs/") {
		l.Head.Branch = name.Ref(lines[1])
		return nil
	}
	if len(lines) > 1 && lines[1] == "HEAD" { // detached
		return nil
	}
	// HEAD is unborn, or a branch called HEAD made the name ambiguous.
	branch, err := l.Output(ctx, "symbolic-ref", "-q", "HEAD")
	if err != nil && l.Head.OID == "" {
		data, _ := os.ReadFile(filepath.Join(l.GitDir, "HEAD")) //nolint:errcheck // then it names no branch
		line, _, _ := strings.Cut(string(data), "\n")
		branch, l.Head.Damaged = strings.CutPrefix(line, "ref: ")
		if !l.Head.Damaged || !refs.IsSimple(branch) || !strings.HasPrefix(branch, "refs/heads/") {
			return fmt.Errorf("%w: HEAD names neither a branch nor a commit", ErrUnusable)
		}
	}
	l.Head.Branch = name.Ref(branch)
	return nil
}

// firstLine returns the first line of what git printed to stderr, as FirstLine does.
func firstLine(err error) string {
	if e := (*Error)(nil); errors.As(err, &e) {
		return FirstLine(e.Stderr)
	}
	return FirstLine(err.Error())
}

// FirstLine returns the first line of what git said of a failure, without "fatal: " or "error: ".
func FirstLine(said string) string {
	said = strings.TrimPrefix(strings.TrimPrefix(strings.TrimSpace(said), "fatal: "), "error: ")
	s, rest, _ := strings.Cut(said, "\n")
	if strings.HasSuffix(s, ":") { // git lists the paths or names below, one per line
		s += " " + strings.Join(strings.Fields(rest), " ")
	}
	return s
}

// Dir returns <git dir>/checkpoint, the directory for this worktree's files that are not part of
// the format. It creates the directory if necessary.
func (l *Location) Dir() (string, error) {
	dir := filepath.Join(l.GitDir, "checkpoint")
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return "", fmt.Errorf("make %q: %w", dir, err)
	}
	return dir, nil
}
