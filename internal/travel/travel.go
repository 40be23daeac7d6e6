// Package travel carries checkpoints to other repositories and back: push, fetch, sync
// and bundles. Journals are united, so that no side loses an event of the other.
package travel

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"git-checkpoint/internal/checkpoint"
	"git-checkpoint/internal/clearance"
	"git-checkpoint/internal/git"
	"git-checkpoint/internal/name"
	"git-checkpoint/internal/remote"
	"git-checkpoint/internal/store"
)

// Request is what `push`, `fetch` and `sync` were asked for.
type Request struct {
	Remote   string   // empty: the configured one
	Sessions []string // none: all
	Tags     TagTravel
	Ask      bool // there is somebody whom git may ask for a credential
	Quietly  bool // in the background: nothing is sent where there is no event to send

	Unscanned clearance.Unscanned
	Agree     clearance.Agree // asks about untracked files; nil: there is nobody to ask
}

// TagTravel says whether a push sends tags.
type TagTravel int

// The choices.
const (
	TagsStay TagTravel = iota
	TagsTravel
)

// Outcome is what became of one ref, in a word.
type Outcome string

// The outcomes.
const (
	OutcomeCreated  Outcome = "created"
	OutcomeUpdated  Outcome = "updated"
	OutcomeDeleted  Outcome = "deleted"
	OutcomeAdopted  Outcome = "adopted"
	OutcomeRejected Outcome = "rejected"
	OutcomeConflict Outcome = "conflict"
)

// Line is one ref that was sent or brought, or was not.
type Line struct {
	Remote  string   `json:"remote"`
	Ref     name.Ref `json:"ref"`
	Outcome Outcome  `json:"outcome"`
	Message string   `json:"message"`

	Verb string `json:"-"` // "push" or "fetch"
}

// Answer is what `push`, `fetch` and `sync` answer, also beside an error.
type Answer struct {
	Remote string
	Lines  []Line
}

// trip is one push, fetch or sync on its way.
type trip struct {
	s        *checkpoint.Service
	remote   *remote.Remote
	sessions []name.Session // none: all
	req      Request
	answer   *Answer
	memory   memory

	alone   bool             // the remote has no atomic push
	written map[name.Ref]int // lines by ref, of this verb
	checked map[name.OID]arrival
	tips    map[name.Session]name.OID // journals that the remote took
	skipped map[name.Ref]name.OID     // not fetched, because it was dead here
	again   bool                      // a gc took something that came, and it was given up
	ours    map[name.Session]*Joined  // journals that a push has read
	// tracking are the refs of tracked.
	tracking map[name.Ref]name.OID
	said     map[string]bool       // warnings, each of which is said once
	settled  string                // the state after a push that left nothing to fetch
	tracked  map[name.OID][]string // journals as they were last seen, and at which remotes
}

// newTrip finds the remote and checks what was asked for.
func newTrip(s *checkpoint.Service, req Request) (*trip, error) {
	r, err := remoteOf(s, req.Remote)
	if err != nil {
		return nil, err
	}
	if req.Ask {
		r.Asking = remote.MayAsk
	}
	t := &trip{s: s, remote: r, req: req, written: map[name.Ref]int{}, checked: map[name.OID]arrival{}, tips: map[name.Session]name.OID{}}
	t.answer = &Answer{Remote: remote.Redact(r.Name), Lines: []Line{}}
	for _, text := range req.Sessions {
		session, err := name.ParseSession(text)
		if err != nil {
			return nil, checkpoint.Usage("", "%v", err)
		}
		if !slices.Contains(t.sessions, session) {
			t.sessions = append(t.sessions, session)
		}
	}
	t.memory = memoryOf(s, r.Name)
	return t, nil
}

// remoteOf is the remote that the request, the configuration, the branch or custom
// names, in this order.
func remoteOf(s *checkpoint.Service, request string) (*remote.Remote, error) {
	named := request
	if named == "" {
		named, _ = s.Settings.Get("checkpoint.remote")
	}
	if branch, ok := strings.CutPrefix(string(s.Repo.Head.Branch), "refs/heads/"); named == "" && ok {
		if named, _ = s.Repo.Config.Get("branch." + branch + ".remote"); named == "." {
			named = "" // it follows a branch that is here: nothing would travel
		}
	}
	if named == "" {
		named = "origin"
		if len(s.Repo.Config.Keys("remote.")) == 0 {
			return nil, &checkpoint.Error{Kind: checkpoint.KindFailed, Message: "no remote is configured", Hints: []string{"`git remote add origin URL` names one, or give its address"}}
		}
	}
	prefix, _ := s.Settings.Get("checkpoint.refPrefix")
	mapping, err := remote.ParseMapping(prefix)
	if err != nil {
		return nil, checkpoint.Usage("`git config checkpoint.refPrefix refs/heads/checkpoints/` is one", "checkpoint.refPrefix: %v", err)
	}
	r := &remote.Remote{Repo: s.Repo, Name: named, Mapping: mapping, Now: s.Now, Random: s.Store.Random}
	if err := r.Check(); err != nil {
		return nil, checkpoint.Usage("", "%v", err)
	}
	return r, nil
}

// here reads what this repository holds, in one listing.
func (t *trip) here(ctx context.Context) (*remote.Listing, error) {
	refs, err := t.s.Repo.Refs(ctx, name.CheckpointRoot, string(name.NotesRef), TrackingRoot)
	if err != nil {
		return nil, checkpoint.Classify(err)
	}
	l := remote.NewListing()
	t.tracked, t.tracking = map[name.OID][]string{}, map[name.Ref]name.OID{}
	for _, r := range refs {
		if rest, is := strings.CutPrefix(string(r.Ref), TrackingRoot); is {
			at := path.Dir(path.Dir(rest))
			t.tracked[r.OID] = append(t.tracked[r.OID], at)
			t.tracking[r.Ref] = r.OID
			continue
		}
		l.Add(r.Ref, r.OID)
	}
	l.Keep(t.sessions)
	for session, of := range l.Sessions {
		if err := t.readArchive(ctx, session, of); err != nil && t.once(err) {
			t.s.Warn(err.Error()) // one that cannot be read holds nothing
		}
	}
	return l, nil
}

// once reports whether an error was not told of yet.
func (t *trip) once(err error) bool {
	if t.said == nil {
		t.said = map[string]bool{}
	}
	told := t.said[err.Error()]
	t.said[err.Error()] = true
	return !told
}

// elsewhere reports whether a journal's tip was last seen at another remote, too, one
// that comes before this one: of two remotes only one is to bring them together.
func (t *trip) elsewhere(tip name.OID) bool {
	return slices.ContainsFunc(t.tracked[tip], func(at string) bool { return at < t.remote.Name })
}

// both reads here and there at the same time.
func (t *trip) both(ctx context.Context) (here, there *remote.Listing, err error) {
	type read struct {
		l   *remote.Listing
		err error
	}
	far := make(chan read, 1)
	go func() {
		l, err := t.remote.List(ctx)
		far <- read{l, err}
	}()
	if here, err = t.here(ctx); err == nil {
		t.readAhead(ctx, here)
	}
	got := <-far
	if err != nil {
		return nil, nil, err
	}
	if got.err != nil {
		return nil, nil, unreachable(got.err)
	}
	got.l.Keep(t.sessions)
	return here, got.l, nil
}

// readAhead reads journals that differ from what a remote was last seen to have, while
// the remote is being listed. What it cannot read is read again, and told, later.
func (t *trip) readAhead(ctx context.Context, here *remote.Listing) {
	t.ours = map[name.Session]*Joined{}
	for session, of := range here.Sessions {
		if of.Journal != "" && !t.sentBefore(of.Journal) && len(t.ours) < fewJournals {
			if mine, err := JournalOf(ctx, t.s, session); err == nil && mine != nil && mine.log.Tip().OID == of.Journal {
				t.ours[session] = mine
			}
		}
	}
}

// fewJournals is how many are read ahead.
const fewJournals = 4

// line notes what became of a ref; what is said later of the same ref replaces it.
func (t *trip) line(verb string, ref name.Ref, outcome Outcome, message string) {
	l := Line{Remote: t.answer.Remote, Ref: ref, Outcome: outcome, Message: message, Verb: verb}
	if i, known := t.written[ref]; known && t.answer.Lines[i].Verb == verb {
		t.answer.Lines[i] = l
		return
	}
	t.written[ref] = len(t.answer.Lines)
	t.answer.Lines = append(t.answer.Lines, l)
}

// verdict is the error that the lines amount to: nil when all went well.
func (t *trip) verdict() error {
	var conflicts, rejected int
	for _, l := range t.answer.Lines {
		switch l.Outcome {
		case OutcomeConflict:
			conflicts++
		case OutcomeRejected:
			rejected++
		}
	}
	switch {
	case conflicts > 0:
		return &checkpoint.Error{
			Kind: checkpoint.KindConflict, Message: fmt.Sprintf("%s another value at %s than here; both are kept", refsThat(conflicts, "has", "have"), t.answer.Remote),
			Hints: []string{"compare them with `git ls-remote " + t.answer.Remote + "`; `git checkpoint delete ID` gives up the one that is here"},
		}
	case rejected > 0:
		return &checkpoint.Error{
			Kind: checkpoint.KindFailed, Message: refsThat(rejected, "was", "were") + " not taken; nothing is lost, and running it again goes on from here", Hints: t.advice(),
		}
	}
	return nil
}

func refsThat(n int, one, more string) string {
	if n == 1 {
		return "1 ref " + one
	}
	return fmt.Sprintf("%d refs %s", n, more)
}

// advice is what can be done about refs that were not taken.
func (t *trip) advice() []string {
	for _, l := range t.answer.Lines {
		if l.Outcome == OutcomeRejected && strings.Contains(l.Message, "hidden ref") {
			return []string{"`git checkpoint init --remote-check` tells what the remote takes"}
		}
	}
	return nil
}

// refused reports whether a ref was not taken by a fetch.
func (t *trip) refused(ref name.Ref) bool {
	return slices.ContainsFunc(t.answer.Lines, func(l Line) bool {
		return l.Ref == ref && l.Verb == "fetch" && l.Outcome == OutcomeRejected
	})
}

// unreachable gives an error of a remote its kind and says what to do.
func unreachable(err error) error {
	var said *remote.Error
	if !errors.As(err, &said) {
		return checkpoint.Classify(err)
	}
	e := &checkpoint.Error{Kind: checkpoint.KindFailed, Err: err}
	for _, known := range [...][2]string{
		{"could not read Username", "credentials come from git's helpers: `git config credential.helper`; nothing is asked for off a terminal"},
		{"could not read Password", "credentials come from git's helpers: `git config credential.helper`; nothing is asked for off a terminal"},
		{"Authentication failed", "the credential is missing, wrong or expired; git's credential helper has to give another"},
		{"Permission denied (publickey", "ssh has no key that the other side takes"},
		{"does not appear to be a git repository", "`git remote -v` lists the remotes"},
		{"does not exist", "`git remote -v` lists the remotes"},
		{"No space left on device", "a disk is full; nothing that was there is lost"},
		{"Host key verification failed", "connect once with ssh by hand, and accept the key"},
	} {
		if strings.Contains(said.Text, known[0]) {
			e.Hints = append(e.Hints, known[1])
			break
		}
	}
	return e
}

// JournalOf reads a session's own journal; nil when there is none.
func JournalOf(ctx context.Context, s *checkpoint.Service, session name.Session) (*Joined, error) {
	log, err := s.Store.Log(ctx, session)
	if errors.Is(err, store.ErrNoSession) {
		return nil, nil
	}
	if err != nil {
		return nil, checkpoint.Classify(err)
	}
	return &Joined{log: log}, nil
}

// Exists reports whether an object is here.
func Exists(ctx context.Context, s *checkpoint.Service, oid name.OID) bool {
	found := false
	err := s.Repo.Batch().Info(ctx, []string{string(oid)}, func(_ int, _ git.Object, err error) error {
		found = err == nil
		return nil
	})
	return err == nil && found
}

// IncomingAge is how old a quarantine is before it counts as left behind.
const IncomingAge = 24 * time.Hour
