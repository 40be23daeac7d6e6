package checkpoint

// A default session that is begun in a clone which has a remote is named after the branch and the clone,
// main-482117395: two clones that both began "main" would otherwise mix two jobs in one session when they sync.

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"git-checkpoint/internal/format/journal"
	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/git"
	"git-checkpoint/internal/storage/store"
)

// The name of a session ends in this many digits of the clone; earlier versions took fewer.
const cloneDigits, formerCloneDigits = 9, 4

// newDefault returns the name of a default session that is begun here: base, with the digits of the clone
// where another clone may have begun one of that name, too.
func newDefault(ctx context.Context, s *store.Store, base name.Session) (name.Session, error) {
	clone, err := isClone(ctx, s.Repo)
	if err != nil || !clone {
		return base, err
	}
	number, err := s.CloneNumber()
	return base + "-" + name.Session(number), err
}

// isClone reports whether the repository has a remote, and got something from there. A repository
// that has only pushed is where the content of the remote began: every clone of it adds digits, so
// none has a session of the same name.
func isClone(ctx context.Context, repo *git.Repo) (bool, error) {
	config := repo.Config
	remotes := config.Remotes("url")
	for _, remote := range remotes {
		// A repository made by git clone --bare has no refspec that fetches branches, so nothing shows
		// whether it fetched any.
		if _, fetches := config.Get("remote." + remote + ".fetch"); !fetches {
			return true, nil
		}
	}
	if len(remotes) == 0 {
		return false, nil
	}
	seen, err := repo.Refs.List(ctx, "refs/remotes/")
	for _, r := range seen {
		if strings.HasSuffix(string(r.Ref), "/HEAD") {
			continue
		}
		log, err := repo.Output(ctx, "log", "--walk-reflogs", "--format=%gs", string(r.Ref), "--")
		first := strings.TrimSpace(log[strings.LastIndex(strings.TrimSpace(log), "\n")+1:])
		if err != nil || first != "update by push" {
			return true, nil //nolint:nilerr // without a log nothing tells
		}
	}
	if len(seen) > 0 || err != nil {
		return false, err
	}
	for _, key := range config.Keys("branch.") { // of a clone of an empty repository
		if of, _ := config.Get(key); strings.HasSuffix(key, ".remote") && of != "." {
			return true, nil
		}
	}
	return false, nil
}

// IsOfClone reports whether a session has the name base and the digits of a clone after it.
func IsOfClone(session, base name.Session) bool {
	rest, ok := strings.CutPrefix(string(session), string(base)+"-")
	return ok && (len(rest) == cloneDigits || len(rest) == formerCloneDigits) && strings.Trim(rest, "0123456789") == ""
}

// SessionCalled returns the session that a person calls so: by its name, or a default one of a clone by its
// branch alone, main for main-482117395. It is "" if there is none, and KindUsage if several fit.
func SessionCalled(ctx context.Context, s *store.Store, text string) (name.Session, error) {
	called, err := name.ParseSession(text)
	if err != nil {
		return "", nil //nolint:nilerr // no session has such a name
	}
	if _, missing := s.State(ctx, called); !errors.Is(missing, store.ErrNoSession) {
		return called, nil
	}
	sessions, err := s.Sessions(ctx)
	if err != nil {
		return "", err
	}
	var found []name.Session
	for _, session := range sessions {
		if !IsOfClone(session, called) {
			continue
		}
		if st, err := s.State(ctx, session); err == nil && isDefault(st) && name.SessionFromBranch(name.Ref(st.Started.Branch).Short()) == called {
			found = append(found, session)
		}
	}
	if len(found) > 1 {
		e := Failure(KindUsage, "", "%q is ambiguous: %d clones have a session of it", called, len(found))
		for _, session := range found {
			e.Hints = append(e.Hints, Steps(ctx, s, session))
		}
		return "", e
	}
	if len(found) == 0 {
		return "", nil
	}
	return found[0], nil
}

// SayBeside warns of a session that came from elsewhere, if this repository has a default session
// of the same branch: both go on beside each other.
func SayBeside(ctx context.Context, s *store.Store, came name.Session) {
	st, err := s.State(ctx, came)
	if err != nil || !isDefault(st) {
		return
	}
	own, err := lastUsed(ctx, s, nil, func(other *journal.State) bool {
		return other.Session != came && isDefault(other) && other.Branch == st.Branch
	})
	if err != nil || own == nil {
		return
	}
	s.Warn(fmt.Sprintf("%s: another session of %s, beside %s; `git checkpoint session switch %s` goes on there",
		Steps(ctx, s, came), name.Ref(st.Branch).Short(), own.Session, came))
}
