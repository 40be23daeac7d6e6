// Package store keeps checkpoints, notes, tags and journals as git objects and
// refs. It owns the layout of a checkpoint's two commits, the notes tree, the
// derived tags, the one transaction that changes them together and its retries,
// and the small files of a worktree: the active session, its id, cached journals.
//
// It decides nothing: what to create, remove or say in the journal comes from the
// caller, on each try anew. It refuses to write on top of what a later version
// wrote, to move a ref that it did not expect, and to touch a lock or a ref that
// is not its own.
package store

import (
	"math/rand/v2"
	"sync"
	"time"

	"git-checkpoint/internal/git"
	"git-checkpoint/internal/name"
)

// Store is the checkpoints of one repository, seen from one worktree. It is safe
// for concurrent use.
type Store struct {
	Repo   *git.Repo
	Now    func() time.Time
	Random func() uint32
	Warn   func(string) // a line for people
	Signer *Signer      // nil: nothing is signed

	Tries    int           // after which a change that loses every race gives up
	Patience time.Duration // after which it gives up on a lock

	mu   sync.Mutex
	kept map[name.Session]*cache // journals that were read, while nobody uses them

	whole    int                               // how many of the newest checkpoints a list reads each time
	written  map[name.Session]bool             // by transactions of this Store
	archives map[name.OID]map[name.ID]name.OID // archives that were read
}

// Options are what a Store needs from outside; only Repo has no default.
type Options struct {
	Repo     *git.Repo
	Now      func() time.Time
	Random   func() uint32
	Warn     func(string)
	Tries    int
	Patience time.Duration
}

// The bounds of a change that loses every race.
const (
	defaultTries    = 60
	defaultPatience = 30 * time.Second
)

// New opens the store of a repository. It reads nothing yet.
func New(o Options) *Store {
	s := &Store{Repo: o.Repo, Now: o.Now, Random: rand.Uint32, Warn: o.Warn, Tries: o.Tries, Patience: o.Patience,
		whole: readWhole, kept: map[name.Session]*cache{}, archives: map[name.OID]map[name.ID]name.OID{}}
	if s.Now == nil {
		s.Now = time.Now
	}
	if o.Random != nil {
		var mu sync.Mutex
		s.Random = func() uint32 {
			mu.Lock()
			defer mu.Unlock()
			return o.Random()
		}
	}
	if s.Warn == nil {
		s.Warn = func(string) {}
	}
	if s.Tries <= 0 {
		s.Tries = defaultTries
	}
	if s.Patience <= 0 {
		s.Patience = defaultPatience
	}
	return s
}
