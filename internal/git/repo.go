// Package git is the only package that starts git or imports go-git. It owns the
// environment of git processes, the reading and writing of objects, refs and
// configuration, and the decoding of the index. It knows nothing of checkpoints,
// and refuses bare repositories.
package git

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"git-checkpoint/internal/discover"
	"git-checkpoint/internal/gitconfig"
	"git-checkpoint/internal/name"
)

// ErrUnusable wraps every reason why the directory is no repository that this
// program can work in (none, bare, unreadable); the exit code is 128.
var ErrUnusable = errors.New("not a usable git repository")

// Repo is one worktree of a repository. All paths are absolute.
type Repo struct {
	GitDir    string // of this worktree
	CommonDir string // shared by all worktrees
	WorkTree  string
	Prefix    string // of the working directory below WorkTree: "" or "a/b/"
	IndexPath string // of this worktree, or the inherited GIT_INDEX_FILE
	Format    string // "sha1" or "sha256"
	Head      Head
	Config    *gitconfig.Config

	program string
	env     []string
	plain   bool // without the quiet configuration, to read the user's own
	batch   *Batch
	once    sync.Once

	objects    *objects
	objectOnce sync.Once

	apartLock sync.Mutex
	apart     []*Batch // further readers, started on first use

	writer  ObjectWriter
	writing sync.Once
	pack    *packWriter // while InPacks runs
	refs    *refProcess // waits for the next UpdateRefs

	plainly   bool // refs are written here
	plainOnce sync.Once

	borrowed string // by Borrow
}

// Head is where HEAD stood when the repository was opened.
type Head struct {
	Branch name.Ref // full ref, empty when detached
	OID    name.OID // empty when unborn
}

// Options say where to look for the repository.
type Options struct {
	Dir string   // default: the process's working directory
	Env []string // default: the process's environment
}

// Open finds the repository of a directory. Where it is not an ordinary one, two
// processes of git find it.
func Open(ctx context.Context, o Options) (*Repo, error) {
	program, err := exec.LookPath("git")
	if err != nil {
		return nil, fmt.Errorf("%w: git is not installed or not on PATH", ErrUnusable)
	}
	if o.Env == nil {
		o.Env = os.Environ()
	}
	r := &Repo{program: program, env: cleanEnv(o.Env)}
	if discover.IsDistributed(program) && r.discover(o) == nil {
		return r, nil
	}
	return ask(ctx, program, o)
}

// ask finds it by two processes at once.
func ask(ctx context.Context, program string, o Options) (*Repo, error) {
	r := &Repo{program: program, env: append(cleanEnv(o.Env), inherited(o.Env)...)}
	type parsed struct {
		c   *gitconfig.Config
		err error
	}
	config := make(chan parsed, 1)
	go func() {
		c, err := readConfig(ctx, r, o)
		config <- parsed{c, err}
	}()
	err := r.locate(ctx, o)
	c := <-config
	if err != nil {
		return nil, err
	}
	if c.err != nil {
		return nil, fmt.Errorf("%w: %w", ErrUnusable, c.err)
	}
	r.Config = c.c
	r.env = cleanEnv(o.Env)
	return r, r.settleObjectDir()
}

// settleObjectDir refuses an object directory that somebody set by hand: refs would name
// objects that nobody finds once it is not set any more. In a hook of a push git sets one
// itself, and moves the objects when it takes the refs.
func (r *Repo) settleObjectDir() error {
	set := gitconfig.Getenv(r.env, objectDirectory)
	if set == "" || gitconfig.Getenv(r.env, "GIT_QUARANTINE_PATH") != "" {
		return nil
	}
	dir := set
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(r.WorkTree, dir) // git goes there before it looks
	}
	at, err := os.Stat(dir)
	own, ownErr := os.Stat(filepath.Join(r.CommonDir, "objects"))
	if err == nil && ownErr == nil && os.SameFile(at, own) {
		r.env = slices.DeleteFunc(r.env, func(kv string) bool { return strings.HasPrefix(kv, objectDirectory+"=") })
		return nil
	}
	return fmt.Errorf("%w: %s is %q, and objects there are lost to the refs in %s; unset it", ErrUnusable, objectDirectory, set, r.CommonDir)
}

// inherited keeps what git itself handed over to find the repository with.
func inherited(env []string) []string {
	var out []string
	for _, key := range []string{"GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE"} {
		if v := gitconfig.Getenv(env, key); v != "" {
			out = append(out, key+"="+v)
		}
	}
	return out
}

var placeFlags = [...]string{"--is-bare-repository", "--absolute-git-dir", "--git-common-dir", "--show-object-format",
	"--git-path", "--show-prefix", "--show-toplevel"}

// locate asks one rev-parse for all places. An unborn HEAD makes it fail after
// it has printed them and the word HEAD.
func (r *Repo) locate(ctx context.Context, o Options) error {
	args := append([]string{"rev-parse", "--path-format=absolute"}, placeFlags[:4]...)
	args = append(args, "--git-path", "index", "--show-prefix", "--show-toplevel", "HEAD", "--symbolic-full-name", "HEAD")
	dir := o.Dir
	if dir == "" {
		dir = "."
	}
	res, err := r.Run(ctx, Cmd{Args: args, Dir: dir})
	if err != nil && ExitCode(err) < 0 {
		return err
	}
	lines := strings.Split(strings.TrimSuffix(string(res.Stdout), "\n"), "\n")
	if len(lines) > 0 && lines[0] == "true" {
		return fmt.Errorf("%w: this is a bare repository, and a checkpoint needs a worktree", ErrUnusable)
	}
	if len(lines) < len(placeFlags) {
		if err == nil {
			err = errors.New("git rev-parse said too little")
		}
		return fmt.Errorf("%w: %s", ErrUnusable, firstLine(err))
	}
	r.GitDir, r.CommonDir, r.Format = lines[1], lines[2], lines[3]
	r.IndexPath, r.Prefix, r.WorkTree = lines[4], lines[5], lines[6]
	if r.Format != "sha1" && r.Format != "sha256" || len(lines) > len(placeFlags)+2 ||
		!filepath.IsAbs(r.WorkTree) || !filepath.IsAbs(r.IndexPath) {
		return fmt.Errorf("%w: a newline in the path of the repository, or an unknown object format", ErrUnusable)
	}
	if full := filepath.Join(r.GitDir, "index.lock"); strings.HasPrefix(filepath.Base(r.IndexPath), "next-index-") {
		// `git commit -- path` runs its hooks with an index of HEAD and that path;
		// what else is staged is in the lock, which becomes the index.
		if info, err := os.Stat(full); err == nil && info.Size() > 0 {
			r.IndexPath = full
		}
	}
	return r.locateHead(ctx, lines[len(placeFlags):])
}

func (r *Repo) locateHead(ctx context.Context, lines []string) error {
	if len(lines) > 0 && lines[0] != "HEAD" { // an unborn HEAD is echoed
		oid, err := name.ParseOID(lines[0])
		if err != nil {
			return fmt.Errorf("%w: HEAD is %q", ErrUnusable, lines[0])
		}
		r.Head.OID = oid
	}
	if len(lines) > 1 && strings.HasPrefix(lines[1], "refs/") {
		r.Head.Branch = name.Ref(lines[1])
		return nil
	}
	if len(lines) > 1 && lines[1] == "HEAD" {
		return nil
	}
	// Unborn, or a branch called HEAD made the name ambiguous.
	branch, err := r.Output(ctx, "symbolic-ref", "-q", "HEAD")
	if err != nil && r.Head.OID == "" {
		return fmt.Errorf("%w: HEAD names neither a branch nor a commit", ErrUnusable)
	}
	r.Head.Branch = name.Ref(branch)
	return nil
}

// HeadTree is the tree of HEAD's commit; empty when HEAD is unborn or unreadable.
func (r *Repo) HeadTree(ctx context.Context) name.OID {
	if r.Head.OID == "" {
		return ""
	}
	c, err := r.ReadCommit(ctx, string(r.Head.OID))
	if err != nil {
		return ""
	}
	return c.Tree
}

func firstLine(err error) string {
	var e *Error
	s := err.Error()
	if errors.As(err, &e) {
		s = strings.TrimPrefix(strings.TrimSpace(e.Stderr), "fatal: ")
	}
	s, rest, _ := strings.Cut(s, "\n")
	if strings.HasSuffix(s, ":") { // what it is about stands below, one a line
		s += " " + strings.Join(strings.Fields(rest), " ")
	}
	return s
}

// Dir is this worktree's directory of disposable files, <git dir>/checkpoint,
// made when it is missing.
func (r *Repo) Dir() (string, error) {
	dir := filepath.Join(r.GitDir, "checkpoint")
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return "", fmt.Errorf("make %q: %w", dir, err)
	}
	return dir, nil
}

// Batch is the repository's long-lived reader of objects, started on first use.
func (r *Repo) Batch() *Batch {
	r.once.Do(func() { r.batch = newBatch(r) })
	return r.batch
}

// database is the repository's reader of objects in process.
func (r *Repo) database() *objects {
	r.objectOnce.Do(func() { r.objects = r.newObjects() })
	return r.objects
}

// Close ends the processes that were kept.
func (r *Repo) Close() error {
	r.endRefs()
	var err error
	if r.borrowed != "" {
		defer os.RemoveAll(r.borrowed) //nolint:errcheck // a temporary directory
	}
	r.apartLock.Lock()
	for _, b := range r.apart {
		err = errors.Join(err, b.close())
	}
	r.apart = nil
	r.apartLock.Unlock()
	r.database().packs.Close()
	if r.batch == nil {
		return err
	}
	return errors.Join(err, r.batch.close())
}
