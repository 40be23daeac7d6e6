// Package checkpoint is the domain that all verbs share: the service with its repository,
// store, settings and clock; what a person may call a session or a checkpoint; definitions of
// workflows; records; and the kinds of errors. It makes and changes no checkpoint: each verb
// is a package of its own.
package checkpoint

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"git-checkpoint/internal/git"
	"git-checkpoint/internal/journal"
	"git-checkpoint/internal/name"
	"git-checkpoint/internal/record"
	"git-checkpoint/internal/snapshot"
	"git-checkpoint/internal/store"
)

// Options are what a Service needs from outside.
type Options struct {
	Dir    string           // default: the working directory
	Env    []string         // default: the process's environment
	Now    func() time.Time // default: the clock
	Random func() uint32    // default: the system's
	Warn   func(string)     // a line for people on stderr; default: dropped
	Asking store.Asking     // whether a person can be asked for the passphrase of a key
	Names  Names            // what a number or a label may mean; default: live checkpoints

	// Between is called between the steps of whatever must survive a kill; tests end the
	// process there. Default: nothing is called.
	Between func(step string)

	// MirrorPaths are what a mirror of a format writes when it is at a path of the
	// worktree, "." for its top; none: there is no such format. Default: none.
	MirrorPaths func(format, at string) []string
}

// Service is the program's domain in one worktree. It is not for concurrent use.
type Service struct {
	Repo     *git.Repo
	Store    *store.Store
	shot     *snapshot.Shot
	Env      []string
	Now      func() time.Time
	Warn     func(string)
	Settings *Settings

	mirrorPaths func(format, at string) []string
	names       Names

	Between func(step string) // see Options.Between
}

// OpenAt opens another worktree of the same repository.
func OpenAt(ctx context.Context, s *Service, dir string) (*Service, error) {
	env := make([]string, 0, len(s.Env))
	for _, kv := range s.Env {
		switch key, _, _ := strings.Cut(kv, "="); key {
		case "GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_PREFIX", "GIT_CHECKPOINT_SESSION", "GIT_CHECKPOINT_STEP", "GIT_CHECKPOINT_STATE": // of this worktree
		default:
			env = append(env, kv)
		}
	}
	return Open(ctx, Options{Dir: dir, Env: env, Now: s.Now, Warn: s.Warn, Between: s.Between, MirrorPaths: s.mirrorPaths})
}

// Open finds the repository. An error is of KindUnusable when there is none.
func Open(ctx context.Context, o Options) (*Service, error) {
	repo, err := git.Open(ctx, git.Options{Dir: o.Dir, Env: o.Env})
	if err != nil {
		return nil, Classify(err)
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
	repo.ReclaimRefs() // before anybody reads a ref
	now := func() time.Time { return o.Now().UTC().Truncate(time.Millisecond) }
	s := &Service{Repo: repo, Env: o.Env, Now: now, Warn: o.Warn, mirrorPaths: o.MirrorPaths, names: o.Names, Between: o.Between}
	s.Store = store.New(store.Options{Repo: repo, Now: now, Random: o.Random, Warn: o.Warn})
	s.Settings = s.readSettings(ctx)
	s.Store.Signer = s.signer(o.Asking)
	return s, nil
}

// Close ends the processes that were kept.
func (s *Service) Close() error {
	if s.shot != nil {
		s.shot.Close()
	}
	return s.Repo.Close()
}

// Shot opens the worktree for captures on first use.
func (s *Service) Shot() (*snapshot.Shot, error) {
	if s.shot != nil {
		return s.shot, nil
	}
	shot, err := snapshot.New(s.Repo)
	if err != nil {
		return nil, Classify(err)
	}
	shot.Leave = s.mirrored()
	s.shot = shot
	return shot, nil
}

// RetryBorrowed does what only reads, although it makes objects. Where the repository cannot be
// written it is done once more, with a place of its own for these.
func (s *Service) RetryBorrowed(do func() error) error {
	err := do()
	if !git.Unwritable(err) || s.Repo.Borrowed() != "" || s.Repo.Borrow() != nil {
		return err
	}
	if s.shot != nil {
		s.shot.Close()
		s.shot = nil
	}
	return do()
}

// Getenv looks a variable of the environment up.
func (s *Service) Getenv(key string) string { return lookupEnv(s.Env, key) }

// WorktreeName is "main" or the name of the linked worktree.
func (s *Service) WorktreeName() string {
	if s.Repo.GitDir == s.Repo.CommonDir {
		return "main"
	}
	return filepath.Base(s.Repo.GitDir)
}

// NewEvent starts an event of this worktree, here and now.
func (s *Service) NewEvent(kind journal.Kind, session name.Session) (journal.Event, error) {
	id, err := s.Store.WorktreeID()
	if err != nil {
		return journal.Event{}, err
	}
	now := s.Now()
	author, _ := s.Repo.Identity(now)
	return journal.Event{
		Kind: kind, Session: session, Time: now, Actor: author.Person(),
		Worktree: s.WorktreeName(), WorktreeID: id,
	}, nil
}

// NameIn fills an event that names a checkpoint.
func NameIn(e *journal.Event, r *record.Record, commit name.OID) {
	e.Checkpoint, e.Label, e.Step, e.StepName, e.Iteration = r.ID, r.Label, r.Step, r.StepName, r.Iteration
	e.Milestone, e.Trigger, e.CheckpointStatus = r.Milestone, r.Trigger, r.Status
	e.Commit, e.Record, e.Previous, e.RebuiltFrom = commit, r.Checksum, r.Previous, r.RebuiltFrom
}

// Classify gives an error of a lower layer its kind.
func Classify(err error) error {
	var known *Error
	var missing *snapshot.MissingError
	var hostile *snapshot.HostileError
	var large *snapshot.TooLargeError
	var twin *store.TwinError
	var broken *store.DamagedError
	var locked *snapshot.LockedError
	var changed *snapshot.ChangedError
	var busy *store.BusyError
	var spoilt *snapshot.IntentError
	switch {
	case err == nil, errors.As(err, &known):
		return err
	case errors.Is(err, context.Canceled):
		return &Error{Kind: KindInterrupt, Message: "interrupted", Hints: nil}
	case errors.Is(err, git.ErrUnusable) && strings.Contains(err.Error(), "dubious ownership"):
		return &Error{Kind: KindUnusable, Err: err, Hints: []string{"it belongs to another user; `git status` there says how to trust it"}}
	case errors.Is(err, git.ErrUnusable):
		return &Error{Kind: KindUnusable, Err: err}
	case errors.As(err, &missing):
		return &Error{Kind: KindInvalid, Err: err, Hints: []string{"nothing was changed; `git fsck` says what else the repository lacks"}}
	case errors.Is(err, git.ErrUnreadable), errors.Is(err, git.ErrGarbled):
		return &Error{Kind: KindInvalid, Err: err, Hints: []string{"`git fsck` says what else is damaged, `git checkpoint validate` which checkpoints are"}}
	case errors.As(err, &twin):
		return &Error{Kind: KindUsage, Err: err, Hints: []string{"use the session that there is, or a name that differs in more than case"}}
	case errors.As(err, &broken):
		return &Error{Kind: KindInvalid, Err: err}
	case errors.As(err, &hostile):
		return &Error{Kind: KindInvalid, Err: err, Hints: []string{"nothing was changed; somebody else made this checkpoint: `git checkpoint delete` drops it"}}
	case errors.As(err, &large):
		hints := []string{"add what does not belong there to .gitignore, or go on with --large"}
		for _, d := range large.Directories {
			hints = append(hints, fmt.Sprintf("%s: %d files, %d MiB", d.Path, d.Files, d.Bytes>>20))
		}
		return &Error{Kind: KindRefused, Err: err, Hints: hints}
	case errors.As(err, &busy) && busy.Lock != "":
		return &Error{Kind: KindFailed, Err: err, Hints: []string{"wait for the other git process; if none is running, remove that file"}}
	case errors.As(err, &spoilt):
		return &Error{Kind: KindInvalid, Err: err, Hints: []string{SpoiltHint(spoilt.Path)}}
	case errors.As(err, &locked):
		return &Error{Kind: KindRefused, Err: err, Hints: []string{"wait for the other git process; if none is running, remove that file"}}
	case errors.Is(err, snapshot.ErrMoved), errors.Is(err, snapshot.ErrBusy):
		return &Error{Kind: KindRefused, Err: err, Hints: []string{"nothing was changed; run the command again"}}
	case errors.As(err, &changed):
		return &Error{Kind: KindRefused, Err: err, Hints: []string{"nothing was changed; run the command again when nothing else writes to the worktree"}}
	case errors.Is(err, git.ErrMissing), errors.Is(err, git.ErrUnreadable), errors.Is(err, git.ErrGarbled):
		return &Error{Kind: KindInvalid, Err: err, Hints: []string{"`git checkpoint validate --deep` says what is damaged, and of what"}}
	}
	return &Error{Kind: KindFailed, Err: err}
}

// Usage makes an error about the request itself.
func Usage(hint, format string, args ...any) error {
	e := &Error{Kind: KindUsage, Message: fmt.Sprintf(format, args...)}
	if hint != "" {
		e.Hints = []string{hint}
	}
	return e
}
