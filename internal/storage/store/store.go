// Package store keeps checkpoints, notes, tags and journals as git objects and refs, in the layout
// of docs/format.md. It also keeps the small files of a worktree: its active session, its id, and
// caches.
//
// Store is the main type. WriteCheckpoint (draft.go) writes the two commits of a checkpoint, C and
// M, but no ref. Transact (transact.go) changes refs: it calls a function of the caller that builds
// a Change from a View of the session, adds what follows from it (journal.go, archive.go, notes.go,
// tags.go), and updates all refs in one git transaction. If another writer was faster, it starts
// again from the new refs. Its parts read: contents (read.go), records (summaries.go), journals
// (log.go) and inventory (sessions.go, archive.go).
//
// The package makes no decisions: what to create, remove or record in the journal comes from the
// caller, anew on each attempt. It refuses to write on top of what a later version wrote, to move a
// ref that has an unexpected value, and to touch a lock or a ref that is not its own.
package store

import (
	"context"
	"math/rand/v2"
	"sync"
	"time"

	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/git"
)

// Store gives access to the checkpoints of one repository, from one of its worktrees. It is safe
// for concurrent use. Its own methods change refs; everything else is in a part for each kind of thing
// that is stored.
type Store struct {
	*contents   // what the commits of a checkpoint hold
	*records    // records, one by one and as lists
	*inventory  // which sessions and checkpoints there are, by their refs and by archives
	*journals   // journals, and what this worktree has seen of them
	*composer   // writes the commits of a checkpoint
	*localFiles // the files of this worktree: its active session, its id

	Repo    *git.Repo
	Now     func() time.Time // in UTC, cut to the millisecond where checkpoint.Open made the Store: records keep no finer times
	Random  func() uint32    // safe for concurrent use
	Warn    func(string)     // receives one line for the user
	Tagless bool             // no change makes or moves a tag; those that it would leave on the wrong checkpoint are deleted

	// Private says what a checkpoint commit holds that is not for everybody, so that it must not have
	// a tag; "" if there is nothing of the kind. nil: every milestone may have one.
	Private func(ctx context.Context, commit name.OID) (string, error)

	tries    int           // how many races a transaction may lose before it gives up
	patience time.Duration // how long a transaction waits for a lock before it gives up

	mu      sync.Mutex            // protects written
	written map[name.Session]bool // sessions that this Store has changed
}

// Options are the dependencies of a Store. Everything but Repo has a default.
type Options struct {
	Repo   *git.Repo
	Now    func() time.Time
	Random func() uint32
	Warn   func(string)
}

// New returns the Store of a repository. It reads nothing yet.
func New(o Options) *Store {
	const tries, patience = 60, 30 * time.Second // of a transaction that loses every race
	s := &Store{Repo: o.Repo, Now: o.Now, Random: rand.Uint32, Warn: o.Warn, tries: tries, patience: patience, written: map[name.Session]bool{}}
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
	s.contents = &contents{o.Repo}
	s.localFiles = &localFiles{o.Repo, s.Random}
	s.inventory = &inventory{contents: s.contents, warn: s.Warn, archives: map[name.OID]map[name.ID]name.OID{}}
	s.records = &records{contents: s.contents, refs: s.inventory, local: s.localFiles, whole: readWhole}
	s.journals = &journals{repo: o.Repo, refs: s.inventory, local: s.localFiles, kept: map[name.Session]*cache{}}
	s.composer = &composer{repo: o.Repo}
	return s
}
