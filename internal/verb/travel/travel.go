// Package travel moves checkpoints between repositories: push, fetch, sync and bundles. Journals
// are merged in both directions, so neither side loses an event of the other.
//
// A transfer (this file) is one run of push, fetch or sync against one remote. Both verbs list the refs
// here and at the remote first, then decide per session what has to move:
//
//	push.go, send.go    plan what the remote lacks and send it in a safe order
//	sendnotes.go        build the notes commit of a push
//	fetch.go, unite.go  fetch into a quarantine, verify, and join with what is here
//	arrival.go          verify one checkpoint that came from elsewhere
//	expunged.go         remove expunged content from the remote; learn what others expunged
//	bundle.go           import a bundle file with the same verification as a fetch
//	tracking.go         remember what a remote had, so that the next transfer can be short
//
// The decisions about single refs are pure and live in package remote (remote.PlanPush). Start
// reading with Push and Fetch.
package travel

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"sync"

	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/core/clearance"
	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/format/render"
	"git-checkpoint/internal/git"
	"git-checkpoint/internal/storage/remote"
	"git-checkpoint/internal/storage/store"
)

// Request holds the options of `push`, `fetch` and `sync`.
type Request struct {
	Remote   string   // empty: the configured remote, see remoteOf
	Sessions []string // empty: all sessions
	Tags     bool     // send the checkpoint tags too; everybody who clones a remote gets its tags
	Ask      bool     // a person is at the terminal, so git may prompt for a credential
	Quietly  bool     // background push: skip a journal that has no event that the remote lacks

	Unscanned bool            // objects that could not be scanned for secrets are sent, too
	Agree     clearance.Agree // asks whether untracked files may be sent; nil: nobody can be asked

	// First is called by CompareRemote for each address at which a push would ask; nil if none is
	// planned.
	First func(clearance.FirstTime) error
}

// Outcome says in one word what happened to one ref. It is part of the JSON output.
type Outcome string

// The outcomes of a ref. Adopted is a checkpoint whose ref no event of the journal named. Conflict
// means that both sides have the ref with different values; both values are kept.
const (
	OutcomeCreated  Outcome = "created"
	OutcomeUpdated  Outcome = "updated"
	OutcomeDeleted  Outcome = "deleted"
	OutcomeAdopted  Outcome = "adopted"
	OutcomeRejected Outcome = "rejected"
	OutcomeConflict Outcome = "conflict"
)

// Line reports on one ref of a push or fetch, including a ref that was rejected.
type Line struct {
	Remote  string   `json:"remote"`
	Ref     name.Ref `json:"ref"`
	Outcome Outcome  `json:"outcome"`
	Message string   `json:"message"`
	// Heads are those of a session that went on in several places, in the line of the journal that says so.
	Heads []checkpoint.Head `json:"heads,omitempty"`

	Verb string `json:"-"` // "push" or "fetch"
}

// Answer is the result of `push`, `fetch` and `sync`. It is also returned with an error, because
// refs that were moved before the error stay moved.
type Answer struct {
	Remote string
	// URL of the remote, as git's configuration has it but without credentials; empty: Remote is one.
	URL   string
	Lines []Line
}

// Address returns the address of a remote in parentheses, as people write it: "(github.com/a/b)". It is empty
// where the remote has no name and is the address itself.
func (a *Answer) Address(remote string) string {
	if a.URL == "" || remote != a.Remote {
		return ""
	}
	_, at, is := strings.Cut(a.URL, "://")
	if host, path, short := strings.Cut(a.URL, ":"); !is && short && !strings.ContainsAny(host, `/\`) && len(host) > 1 {
		at, is = host+"/"+strings.TrimPrefix(path, "/"), true // git@github.com:a/b
	}
	if !is || strings.HasPrefix(a.URL, "file:") {
		return " (" + strings.TrimPrefix(a.URL, "file://") + ")"
	}
	host, path, _ := strings.Cut(at, "/")
	host = host[strings.LastIndexByte(host, '@')+1:]
	return " (" + host + "/" + strings.TrimSuffix(strings.TrimSuffix(path, "/"), ".git") + ")"
}

// transfer is the state of one push, fetch or sync. Sync uses the same one for its fetch and its push.
type transfer struct {
	s        *checkpoint.Service
	remote   *remote.Remote
	sessions []name.Session // empty: all sessions
	req      Request
	answer   *Answer
	memory   memory
	verb     string // of the lines to come: "push" or "fetch"

	alone bool // set once the remote turned out not to support atomic pushes
	// written maps a ref to the index of its line in answer.Lines, for the verb and the place at
	// work.
	written map[name.Ref]int
	checked map[name.OID]arrival      // caches the checkpoints that inspect has verified, by commit
	tips    map[name.Session]name.OID // the journals that the remote accepted. They become the tracking refs
	// again asks for another fetch: a concurrent gc deleted objects that this one had brought, or a
	// checkpoint that was left out is alive.
	again    bool
	ours     map[name.Session]*Joined // caches the journals here, see journalHere
	tracking map[name.Ref]name.OID    // maps each tracking ref (see trackingRef) to its value. here fills it in
	said     map[string]bool          // warnings that were already printed
	hasOld   bool                     // the remote has a session from before a rewrite, see leaveBegunAnew
	noNotes  bool                     // the host refuses the notes, which is not a failure
	hint     string                   // what helps with a ref that the remote refused
	unsent   []string                 // says what content outside git was not sent, see sendOutside
}

// run makes a transfer. It also returns what it did with an error.
func run(s *checkpoint.Service, req Request, do func(*transfer) error) (*Answer, error) {
	t, err := newTrip(s, req)
	if err != nil {
		return nil, err
	}
	err = do(t)
	if err == nil {
		err = t.verdict()
	}
	return t.answer, t.unsentError(err)
}

// newTrip finds the remote and validates the request.
func newTrip(s *checkpoint.Service, req Request) (*transfer, error) {
	r, err := remoteOf(s.Rules, req.Remote)
	if err != nil {
		return nil, err
	}
	r.MayAsk = req.Ask
	t := newTransfer(r)
	t.s, t.req, t.memory = s, req, memoryOf(s.Repo, r.Name)
	if url, named := s.Repo.Config.Get("remote." + r.Name + ".url"); named {
		t.answer.URL = remote.Redact(url)
	}
	t.sessions, err = ParseSessions(req.Sessions)
	return t, err
}

func newTransfer(from *remote.Remote) *transfer {
	return &transfer{
		remote: from, answer: &Answer{Remote: remote.Redact(from.Name), Lines: []Line{}}, written: map[name.Ref]int{},
		checked: map[name.OID]arrival{}, tips: map[name.Session]name.OID{}, ours: map[name.Session]*Joined{}, said: map[string]bool{},
	}
}

// ParseSessions returns the sessions that a request names, each once.
func ParseSessions(texts []string) (sessions []name.Session, err error) {
	for _, text := range texts {
		session, err := name.ParseSession(text)
		if err != nil {
			return nil, checkpoint.Usage("", "%v", err)
		}
		if !slices.Contains(sessions, session) {
			sessions = append(sessions, session)
		}
	}
	return sessions, nil
}

// remoteOf returns the remote to talk to: that of the request, else DefaultRemote. With no remote configured
// at all it returns an error with a hint.
func remoteOf(s *checkpoint.Rules, request string) (*remote.Remote, error) {
	named := cmp.Or(request, s.DefaultRemote())
	if named == "" {
		return nil, checkpoint.Failure(checkpoint.KindFailed, "`git remote add origin URL` adds one, or give a URL", "no remote is configured")
	}
	prefix, _ := s.Settings.Get("checkpoint.refPrefix")
	mapping, err := remote.ParseMapping(prefix)
	if err != nil {
		return nil, checkpoint.Usage("`git config checkpoint.refPrefix refs/heads/checkpoints/` is one", "checkpoint.refPrefix: %v", err)
	}
	r := &remote.Remote{Repo: s.Repo, Name: named, Mapping: mapping, Now: s.Store.Now, Random: s.Store.Random}
	if err := r.Check(); err != nil {
		return nil, checkpoint.Usage("", "%v", err)
	}
	return r, nil
}

// PrefixHint says how to use the checkpoints that a remote has below a prefix of its own.
func PrefixHint(prefix string) string {
	return "`git config checkpoint.refPrefix " + name.Quoted(prefix) + "`, then `git checkpoint fetch` brings them"
}

// listLocal lists the refs of this repository with one call of git: checkpoints, notes and tracking
// refs. It also reads the archives of the sessions.
func (t *transfer) listLocal(ctx context.Context) (*remote.Listing, error) {
	refs, err := t.s.Repo.Refs.List(ctx, name.CheckpointRoot, string(name.NotesRef), name.TrackingRoot)
	if err != nil {
		return nil, err
	}
	l := remote.NewListing()
	t.tracking = map[name.Ref]name.OID{}
	for _, r := range refs {
		if strings.HasPrefix(string(r.Ref), name.TrackingRoot) {
			t.tracking[r.Ref] = r.OID
		} else {
			l.Add(r.Ref, r.OID)
		}
	}
	t.clones(l)
	t.adviseArchive(l)
	l.Keep(t.sessions)
	for session, of := range l.Sessions {
		if err := t.readArchive(ctx, session, of); err != nil && t.isFirst(err) {
			t.s.Store.Warn(err.Error()) // an archive that cannot be read counts as empty
		}
	}
	return l, nil
}

// isFirst reports whether err is seen for the first time in this transfer, and remembers it.
func (t *transfer) isFirst(err error) bool {
	told := t.said[err.Error()]
	t.said[err.Error()] = true
	return !told
}

// seenElsewhere reports whether the journal's tip was also last seen at another remote whose name sorts
// before the name of this one. With two remotes only one may act on it. Otherwise each would undo
// the merge of the other.
func (t *transfer) seenElsewhere(tip name.OID) bool {
	for ref, seen := range t.tracking {
		// The part between the root and "<session>/journal" is the name of the remote, which may
		// contain slashes.
		at := path.Dir(path.Dir(strings.TrimPrefix(string(ref), name.TrackingRoot)))
		if seen == tip && at < t.remote.Name {
			return true
		}
	}
	return false
}

// both lists the refs here and at the remote concurrently, because the remote usually answers late.
func (t *transfer) both(ctx context.Context) (here, there *remote.Listing, err error) {
	var far sync.WaitGroup
	var farErr error
	far.Go(func() { there, farErr = t.remote.List(ctx) })
	here, err = t.listLocal(ctx)
	far.Wait()
	if err != nil {
		return nil, nil, err
	}
	if farErr != nil {
		return nil, nil, unreachable(farErr)
	}
	if err := t.leaveBegunAnew(here, there); err != nil {
		return nil, nil, err
	}
	if prefix := remote.Prefix(slices.Sorted(maps.Keys(there.Heads))); prefix != "" && len(there.Sessions) == 0 {
		t.s.Store.Warn(t.answer.Remote + " has checkpoints below " + prefix + ", where nothing looks for them here; " + PrefixHint(prefix))
	}
	t.clones(there)
	there.Keep(t.sessions)
	return here, there, nil
}

// clones adds the sessions that the request calls by their branch alone, main for main-4821. If
// several clones have such a session, all of them are transferred.
func (t *transfer) clones(l *remote.Listing) {
	for _, called := range t.sessions {
		if l.Sessions[called] != nil {
			continue
		}
		for session := range l.Sessions {
			if checkpoint.IsOfClone(session, called) && !slices.Contains(t.sessions, session) {
				t.sessions = append(t.sessions, session)
			}
		}
	}
}

// leaveBegunAnew removes from a listing of the remote the sessions whose journal was rewritten
// together with the history and that go on under another name here. A push refuses, because what it
// sends would stand at the remote beside what the rewrite removed.
func (t *transfer) leaveBegunAnew(here, there *remote.Listing) error {
	list, err := clearance.ReadExpunged(t.s.Repo)
	if err != nil {
		return err
	}
	for session, as := range list.Anew {
		at := there.Sessions[session]
		// A new session of that name has nothing to do with the old one.
		if at == nil || at.Journal == "" || here.Sessions[session] != nil && here.Sessions[session].Journal == at.Journal {
			continue
		}
		told := fmt.Sprintf("%s still has session %s from before its history was rewritten; it goes on as %s here", t.answer.Remote, session, as)
		if t.verb == "push" {
			refs := t.remote.Mapping.ToRemote(name.Ref(name.CheckpointRoot + string(session) + "/*"))
			return &checkpoint.Error{Kind: checkpoint.KindRefused, Message: told, Hints: []string{
				"`git ls-remote --refs " + name.Quoted(t.remote.Name) + " '" + string(refs) + "' | cut -f 2 | xargs git push " + name.Quoted(t.remote.Name) + " --delete` removes it there, with what the rewrite took out of it",
				"whoever has fetched it should clone again: a push from an old clone would bring it back",
			}}
		}
		t.s.Store.Warn(told + ", so nothing of it is fetched")
		delete(there.Sessions, session)
		t.hasOld = true
	}
	return nil
}

// line records what happened to a ref. A later line of the same verb about the same ref replaces
// the earlier one, as in a push that is planned again.
func (t *transfer) line(ref name.Ref, outcome Outcome, message string) {
	l := Line{Remote: t.answer.Remote, Ref: ref, Outcome: outcome, Message: message, Verb: t.verb}
	if i, known := t.written[ref]; known && t.answer.Lines[i].Verb == t.verb {
		t.answer.Lines[i] = l
		return
	}
	t.written[ref] = len(t.answer.Lines)
	t.answer.Lines = append(t.answer.Lines, l)
}

// verdict turns the lines into the error of the whole transfer: a conflict counts most, then a rejected
// ref. It is nil when every ref went well.
func (t *transfer) verdict() error {
	var conflicts, rejected int
	for _, l := range t.answer.Lines {
		switch l.Outcome {
		case OutcomeConflict:
			conflicts++
		case OutcomeRejected:
			if l.Ref == name.NotesRef && t.noNotes {
				continue
			}
			rejected++
		}
	}
	switch {
	case conflicts > 0:
		return checkpoint.Failure(checkpoint.KindConflict, "compare them with `git ls-remote "+t.answer.Remote+"`; `git checkpoint validate` says which of the two the journal names", "%s a different value at %s than here; both are kept", render.Count(conflicts, "ref has", "refs have"), t.answer.Remote)
	case rejected > 0:
		return checkpoint.Failure(checkpoint.KindFailed, t.hint, "%s not accepted; nothing is lost, and running the command again continues from here", render.Count(rejected, "ref was", "refs were"))
	}
	return nil
}

// unreachable converts an error of package remote to a checkpoint.Error, with a hint where the text
// is one that git is known to print. Other errors are classified as usual.
func unreachable(err error) error {
	said, is := errors.AsType[*remote.Error](err)
	if !is {
		return err
	}
	e := &checkpoint.Error{Kind: checkpoint.KindFailed, Err: err}
	for _, known := range [...][2]string{
		{"could not read Username", "set up a credential helper of git (`git config credential.helper`); without a terminal, nothing is asked"},
		{"could not read Password", "set up a credential helper of git (`git config credential.helper`); without a terminal, nothing is asked"},
		{"Authentication failed", "the credential is missing, wrong or expired; git's credential helper must provide a valid one"},
		{"Permission denied (publickey", "ssh has no key that the server accepts"},
		{"does not appear to be a git repository", "`git remote -v` lists the remotes"},
		{"does not exist", "`git remote -v` lists the remotes"},
		{"bad object worktrees/", "the HEAD of a linked worktree names no commit; if `git worktree add` was cut off there, `git worktree remove --force` removes it"},
		{"No space left on device", "a disk is full; nothing that was there before is lost"},
		{"Host key verification failed", "connect with ssh by hand once, and accept the host key"},
	} {
		if strings.Contains(said.Text, known[0]) {
			e.Hints = append(e.Hints, known[1])
			break
		}
	}
	return e
}

// journalHere returns the journal of a session in this repository, from the cache if it still has
// this tip.
func (t *transfer) journalHere(ctx context.Context, session name.Session, tip name.OID) (*Joined, error) {
	if j := t.ours[session]; j != nil && j.log.Tip().OID == tip {
		return j, nil
	}
	j, err := JournalOf(ctx, t.s.Store, session)
	t.ours[session] = j
	return j, err
}

// JournalOf reads the journal of a session in this repository. It returns nil without an error when
// the session does not exist.
func JournalOf(ctx context.Context, s *store.Store, session name.Session) (*Joined, error) {
	log, err := s.Log(ctx, session)
	if errors.Is(err, store.ErrNoSession) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return &Joined{log: log}, nil
}

// Exists reports whether an object is in this repository. An error of git counts as no.
func Exists(ctx context.Context, repo *git.Repo, oid name.OID) bool {
	missing, err := repo.Objects.Batch().Missing(ctx, []name.OID{oid})
	return err == nil && !missing[oid]
}
