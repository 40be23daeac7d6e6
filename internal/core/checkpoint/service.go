// Package checkpoint holds the domain code that all verbs share. Each verb (create, rollback,
// prune, ...) is a package of its own; nothing in this package writes a checkpoint.
//
// Start with Service. It stands for one worktree, and Open makes one for each command. A function takes
// the smallest part of it that has what it needs: the git.Repo, the Settings, the store.Store, the Rules
// or the Sessions. The other files answer the questions that several verbs ask:
//
//   - naming.go, discarded.go, meant.go, ownids.go: which checkpoint did the user type?
//   - session.go: which session does a command work on?
//   - definition.go, situation.go: which workflow applies, and where does the job stand?
//   - records.go: read a record and check it against the journal
//   - settings.go: the keys checkpoint.* of the configuration
//   - errors.go: the kind of an error and its hints, which decides the exit code
package checkpoint

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"git-checkpoint/internal/format/journal"
	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/format/record"
	"git-checkpoint/internal/git"
	"git-checkpoint/internal/git/gitconfig"
	"git-checkpoint/internal/storage/snapshot"
	"git-checkpoint/internal/storage/store"
)

// Options are the inputs of Open. The zero value of each field selects its default.
type Options struct {
	Dir    string           // the directory to find the repository from; default: the working directory
	Env    []string         // the environment, also for git processes; default: os.Environ()
	Now    func() time.Time // default: time.Now; tests set it
	Random func() uint32    // for the random part of ids; default: the system's random source
	Warn   func(string)     // prints a line for people on stderr; default: the line is dropped
	MayAsk bool             // a user can be asked on the terminal for the passphrase of a signing key
	Names  Names            // which checkpoints a number or label may mean; default: live ones only

	// Between is called with the name of a step (see Failpoints) between the steps of operations
	// that must survive a kill. Tests end the process in it. Default: no call.
	Between func(step string)

	// MirrorPaths returns the paths that a mirror of the given format writes when its directory is
	// at a path relative to the top of the worktree ("." for the top). It returns nil for an
	// unknown format. Default: it knows no formats.
	MirrorPaths func(format, at string) []string

	// TagRule returns Store.Private, which says what a checkpoint holds that is not for everybody.
	// Default: every milestone may have a tag.
	TagRule func(*Service) func(ctx context.Context, commit name.OID) (string, error)
}

// Service is the domain in one worktree: what every verb needs to do its work. It must not be used
// by several goroutines at once. Close it at the end, because it keeps git processes running.
type Service struct {
	Repo     *git.Repo
	Store    *store.Store
	Settings *Settings
	Rules    *Rules
	Sessions *Sessions
	worktree *snapshot.Worktree // opened by Worktree on first use
	Env      []string

	Between func(step string) // see Options.Between

	options Options // as given to Open, with the defaults

	Verdicts sync.Map // what the secret scanner remembers, by the scanner and its keys; package clearance
}

// Rules is the part that reads settings, workflows and what is stored, whichever session a command means.
type Rules struct {
	Repo     *git.Repo
	Store    *store.Store
	Settings *Settings
}

// Sessions is the part that finds the session and the checkpoint that a command means.
type Sessions struct {
	Repo    *git.Repo
	Store   *store.Store
	Rules   *Rules
	names   Names    // see Options.Names
	reflogs sync.Map // of branches, as Renamed read them
}

// OpenAt opens another worktree of the same repository, for example the worktree of an attempt. The
// new Service has its own settings and git processes, and the caller must close it. Everything else
// is as Open was given it for s.
func OpenAt(ctx context.Context, s *Service, dir string) (*Service, error) {
	own := []string{"GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_PREFIX", "GIT_CHECKPOINT_SESSION", "GIT_CHECKPOINT_STEP", "GIT_CHECKPOINT_STATE"}
	o := s.options
	o.Dir = dir
	o.Env = slices.DeleteFunc(slices.Clone(s.Env), func(variable string) bool {
		key, _, _ := strings.Cut(variable, "=")
		return slices.Contains(own, key) // it is about the worktree of s
	})
	return Open(ctx, o)
}

// Open finds the repository from o.Dir and reads its settings. It returns an error of KindUnusable
// when there is no repository that can be used. It also finishes or removes what killed processes
// left behind at refs.
func Open(ctx context.Context, o Options) (*Service, error) {
	repo, err := git.Open(ctx, git.Options{Dir: o.Dir, Env: o.Env})
	if err != nil {
		return nil, err
	}
	if o.Env == nil {
		o.Env = os.Environ()
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Warn == nil {
		o.Warn = func(string) {}
	}
	if o.MirrorPaths == nil {
		o.MirrorPaths = func(string, string) []string { return nil }
	}
	if repo.Head.Damaged {
		o.Warn(string(repo.Head.Branch) + " is damaged: it holds no commit id; " + damagedHint)
	}
	repo.Refs.Reclaim() // before the first read of a ref: a killed writer may have left locks
	now := func() time.Time { return o.Now().UTC().Truncate(time.Millisecond) }
	s := &Service{Repo: repo, Env: o.Env, Between: o.Between, options: o}
	s.Store = store.New(store.Options{Repo: repo, Now: now, Random: o.Random, Warn: o.Warn})
	s.Settings = readSettings(ctx, repo, o.Env, o.Warn)
	s.Rules = &Rules{Repo: repo, Store: s.Store, Settings: s.Settings}
	s.Sessions = &Sessions{Repo: repo, Store: s.Store, Rules: s.Rules, names: o.Names}
	s.Store.Signer = s.signer()
	// An invalid value must not make a rollback fail after its files have moved.
	tags, err := s.Settings.Bool("checkpoint.tag", true)
	s.Store.Tagless = err == nil && !tags
	if o.TagRule != nil {
		s.Store.Private = o.TagRule(s)
	}
	return s, nil
}

// TagsPrivate reports whether checkpoint.tagPrivate lets every milestone have a tag, whatever it holds.
// An invalid value, which a create refuses, lets nothing through.
func (s *Settings) TagsPrivate() bool {
	private, err := s.Bool("checkpoint.tagPrivate", false)
	return err == nil && private
}

// Close ends the git processes that the Service kept running and closes its Worktree.
func (s *Service) Close() {
	if s.worktree != nil {
		s.worktree.Close()
	}
	s.Repo.Close()
}

// Worktree returns the worktree's snapshot.Worktree, which takes captures. It is opened on first use,
// because many commands never capture. Close closes it.
func (s *Service) Worktree() (*snapshot.Worktree, error) {
	if s.worktree != nil {
		return s.worktree, nil
	}
	worktree, err := snapshot.New(s.Repo)
	if err != nil {
		return nil, err
	}
	worktree.Leave, worktree.LargestCopy, worktree.Trace = s.mirrored(), largestCopy(s.Settings), s.Trace
	s.worktree = worktree
	return worktree, nil
}

// RetryBorrowed runs do, which must be an operation that only compares: it writes objects, but no
// refs. If that fails because the repository is read-only, RetryBorrowed runs do once more with new
// objects going to a temporary directory.
func RetryBorrowed[T any](s *Service, do func() (T, error)) (T, error) {
	got, err := do()
	if !git.Unwritable(err) || s.Repo.Objects.Borrowed() != "" || s.Repo.Objects.Borrow() != nil {
		return got, err
	}
	// The Worktree writes to the repository's own object directory, so it has to be opened again.
	if s.worktree != nil {
		s.worktree.Close()
		s.worktree = nil
	}
	return do()
}

// Failpoints are the names of the steps at which a killed process must have lost nothing. Crash
// tests pass an Options.Between that ends the process at one of them.
var Failpoints = []string{
	"captured", "written", "recorded", // create
	"planned", "secured", "staged", "safety", "begun", // rollback and undo
	"aside", "emptied", "linked", "swapped", "place", "mode", "index built", "index", "head", "event", "finished",
	// Steps of package snapshot while it moves files, and of package rollback after that.
	"doomed", "dropped", // delete and prune
	"arrived", "fetched", "united", // fetch
	"planned push", "sent", "journal sent", "notes sent", // push
	"then", // promote and revert: before the checkpoint that they make
}

// Trace reports to Options.Between that a step was reached. It is called between any two steps of
// an operation that must survive a kill.
func (s *Service) Trace(step string) {
	if s.Between != nil {
		s.Between(step)
	}
}

// WorktreeName returns "main", or the name of the linked worktree as git has it in its worktrees
// directory.
func WorktreeName(repo *git.Repo) string {
	if repo.GitDir == repo.CommonDir {
		return "main"
	}
	return filepath.Base(repo.GitDir)
}

// NewEvent returns an event of this worktree with the current time and the user as its author. The
// caller fills in the members that its kind needs.
func NewEvent(s *store.Store, kind journal.Kind, session name.Session) (journal.Event, error) {
	id, err := s.WorktreeID()
	if err != nil {
		return journal.Event{}, err
	}
	now := s.Now()
	author, _ := s.Repo.Commits.Identity(now)
	return journal.Event{
		Kind: kind, Session: session, Time: now, Actor: author.Person(),
		Worktree: WorktreeName(s.Repo), WorktreeID: id,
	}, nil
}

// FreeID draws ids until one is new in a session; st is nil for one that starts. Pruned ids count as
// used, because the id identifies a checkpoint in all clones, and their tombstones would make the
// new checkpoint dead.
func FreeID(s *store.Store, st *journal.State, step int, at time.Time) (name.ID, error) {
	for range 64 {
		id := name.NewID(step, at, uint16(s.Random())) // four hex digits are needed
		if st == nil || st.Entry(id) == nil && !st.Dead(id) {
			return id, nil
		}
	}
	return "", errors.New("no free checkpoint id in this millisecond")
}

// NameIn copies a record into an event that names a checkpoint: a create, adopt or rebuild. The
// commit is C, the checkpoint commit.
func NameIn(e *journal.Event, r *record.Record, commit name.OID) {
	e.Checkpoint, e.Label, e.Step, e.StepName, e.Iteration = r.ID, r.Label, r.Step, r.StepName, r.Iteration
	e.Milestone, e.Trigger, e.CheckpointStatus = r.Milestone, r.Trigger, r.Status
	e.Commit, e.Record, e.Previous, e.RebuiltFrom = commit, r.Checksum, r.Previous, r.RebuiltFrom
	e.Extra = importTrailers(r)
}

// journalHint helps when the journal of a session is damaged or gone.
const journalHint = "`git checkpoint rebuild --all` brings back what can be proven of it"

// UnshallowHint helps where commits are missing because the clone is shallow.
const UnshallowHint = "`git fetch --unshallow` brings the rest"

// classified wraps an error of a lower layer into an *Error with its kind and hints for the user. It
// returns nil for nil, and an error that is or wraps an *Error as it is. The order of the cases
// matters: an error may match several of them.
func classified(err error) error {
	if err == nil || isA[*Error](err) {
		return err
	}
	as := func(kind Kind, hints ...string) error { return &Error{Kind: kind, Err: err, Hints: hints} }
	large, isLarge := errors.AsType[*snapshot.TooLargeError](err)
	busy, isBusy := errors.AsType[*store.BusyError](err)
	spoilt, isSpoilt := errors.AsType[*snapshot.IntentError](err)
	switch {
	case errors.Is(err, context.Canceled):
		return &Error{Kind: KindInterrupt, Message: "interrupted"}
	case errors.Is(err, git.ErrUnusable):
		return as(KindUnusable, unusableHints(err)...)
	case isA[*snapshot.MissingError](err):
		return as(KindInvalid, "nothing was changed; `git fsck` shows what else is missing")
	case errors.Is(err, git.ErrUnreadable), errors.Is(err, git.ErrGarbled), errors.Is(err, git.ErrBrokenRef):
		return as(KindInvalid, damageHint(err))
	case isA[*store.TwinError](err):
		return as(KindUsage, "use the existing session, or a name that differs in more than case")
	case isA[*store.LostError](err), isA[*store.ReadOnlyError](err), isA[*store.DamagedError](err):
		kind, hints := storeAdvice(err)
		return as(kind, hints...)
	case isA[*store.InTheWayError](err):
		way, _ := errors.AsType[*store.InTheWayError](err)
		return as(KindInvalid, store.WayOut(way.Ref))
	case isA[*snapshot.TwinsError](err):
		return as(KindRefused, "on a disk that distinguishes case, or with `-- PATH` for one of them, it can be brought back")
	case isA[*snapshot.HostileError](err):
		return as(KindInvalid, "nothing was changed; somebody else made this checkpoint: `git checkpoint delete` drops it")
	case isLarge:
		return as(KindRefused, largeHints(large)...)
	case isBusy && busy.Lock != "":
		return as(KindFailed, "wait for the other git process; if none is running, remove that file")
	case isSpoilt:
		return as(KindInvalid, SpoiltHint(spoilt.Path))
	case isA[*snapshot.ElsewhereError](err):
		return as(KindRefused, "run the command there; if that worktree is of no use any more, remove it first")
	case isA[*snapshot.LockedError](err):
		return as(KindRefused, "wait for the other git process; if none is running, remove that file")
	case meanwhileHint(err) != "":
		return as(KindRefused, meanwhileHint(err))
	case errors.Is(err, git.ErrMissing):
		return as(KindInvalid, "`git checkpoint validate --deep` shows what is damaged")
	}
	return as(KindFailed, permissionHints(err)...)
}

// meanwhileHint returns what to do about an error that says that something changed, is changing or uses files of the
// worktree, and "" for any other error.
func meanwhileHint(err error) string {
	switch {
	case errors.Is(err, snapshot.ErrMoved), errors.Is(err, snapshot.ErrBusy):
		return "nothing was changed; run the command again"
	case isA[*snapshot.InUseError](err):
		return "nothing was changed"
	case isA[*snapshot.ChangedError](err):
		return "nothing was changed; run the command again when nothing else writes to the worktree"
	}
	return ""
}

// isA reports whether err is, or wraps, an error of the type E.
func isA[E error](err error) bool {
	_, is := errors.AsType[E](err)
	return is
}

// storeAdvice returns the kind of an error about what the store holds, and what helps. Nothing general
// helps if something else than a journal is damaged.
func storeAdvice(err error) (Kind, []string) {
	if e, is := errors.AsType[*store.ReadOnlyError](err); is && !e.Forged {
		return KindFailed, []string{"it is not damaged: a newer git-checkpoint can write to it"}
	}
	if errors.Is(err, git.ErrShallow) {
		return KindFailed, []string{UnshallowHint}
	}
	if e, is := errors.AsType[*store.DamagedError](err); is && e.What != "journal" {
		return KindInvalid, nil
	}
	return KindInvalid, []string{journalHint}
}

// largeHints says what to do about an unusual amount of new data, and where most of it is.
func largeHints(e *snapshot.TooLargeError) []string {
	hints := []string{"add what does not belong in a checkpoint to .gitignore, or use --large"}
	for _, d := range e.Directories {
		hints = append(hints, fmt.Sprintf("%s: %d files, %d MiB", d.Path, d.Files, d.Bytes>>20))
	}
	return hints
}

// damageHint returns what to do about an object, a ref or an index that git cannot read.
func damageHint(err error) string {
	if isA[*git.IndexError](err) {
		return "remove that file; `git reset` then makes it again from HEAD, and leaves your files alone"
	}
	if errors.Is(err, git.ErrBrokenRef) {
		return "`git checkpoint doctor --fix` removes the file of a ref that holds no object id, then `git checkpoint rebuild --all` makes the ref again"
	}
	return "`git fsck` shows what else is damaged, and `git checkpoint validate` which checkpoints are"
}

// Usage returns an error of KindUsage: the request itself is wrong. The hint says what to type
// instead; "" for none.
func Usage(hint, format string, args ...any) error { return Failure(KindUsage, hint, format, args...) }

// Failure returns an error of a kind. The hint says what to type or do next; "" for none.
func Failure(kind Kind, hint, format string, args ...any) *Error {
	e := &Error{Kind: kind, Message: fmt.Sprintf(format, args...)}
	if hint != "" {
		e.Hints = []string{hint}
	}
	return e
}

// signer returns how to sign checkpoints and events, as checkpoint.sign says, or nil for unsigned
// ones. The key is true, false, or a signature format. An invalid value gives a Signer whose use
// fails with the reason: commands that write no commit still work. git's commit.gpgSign is ignored
// on purpose, because a passphrase prompt would block an unattended job.
func (s *Service) signer() *store.Signer {
	value, set := s.Settings.Get("checkpoint.sign")
	if !set {
		return nil
	}
	switch format := strings.ToLower(value); format {
	case "openpgp", "ssh", "x509":
		return &store.Signer{Format: format, MayAsk: s.options.MayAsk}
	}
	on, err := gitconfig.ParseBool(value)
	if err != nil {
		err = Usage("set it to true, false, openpgp, ssh or x509", "configuration checkpoint.sign: %q is not a way to sign", name.Clip(value, name.Said))
		return &store.Signer{Invalid: err}
	}
	if !on {
		return nil
	}
	return &store.Signer{MayAsk: s.options.MayAsk}
}
