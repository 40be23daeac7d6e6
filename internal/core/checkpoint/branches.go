package checkpoint

// A default session belongs to the branch on which it was begun: whoever switches branches goes on in the
// session of the other branch, and comes back to this one.

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"git-checkpoint/internal/core/workflow"
	"git-checkpoint/internal/format/journal"
	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/git"
	"git-checkpoint/internal/storage/store"
)

// workBranch returns the branch that is worked on: that of HEAD, or in a rebase the one that is rebased.
// It is "" for a HEAD that is detached otherwise.
func workBranch(repo *git.Repo) name.Ref {
	if repo.Head.Branch != "" {
		return repo.Head.Branch
	}
	for _, dir := range []string{"rebase-merge", "rebase-apply"} {
		data, err := os.ReadFile(filepath.Join(repo.GitDir, dir, "head-name"))
		if branch := strings.TrimSpace(string(data)); err == nil && strings.HasPrefix(branch, "refs/heads/") {
			return name.Ref(branch)
		}
	}
	return ""
}

// usedOn returns the session in which this worktree last made a checkpoint on a branch, or "".
func usedOn(ctx context.Context, s *store.Store, branch name.Ref) name.Session {
	var used map[name.Ref]name.Session
	if known, err := Recall(s.Repo, branchesFile, &used); err != nil || !known || used[branch] == "" {
		return ""
	}
	if st, err := s.State(ctx, used[branch]); err != nil || st.NewestEntry() == nil {
		return ""
	}
	return used[branch]
}

// Follow notes that this worktree works in a session on the branch that is checked out: it follows a branch that is made
// while it works. One that stays on every branch is not noted.
func Follow(ctx context.Context, s *store.Store, session name.Session) error {
	used, branch := map[name.Ref]name.Session{}, workBranch(s.Repo)
	if _, err := Recall(s.Repo, branchesFile, &used); err != nil || branch == "" || used[branch] == session || stays(ctx, s, session) {
		return err
	}
	used[branch] = session
	return Remember(s, branchesFile, used)
}

// branchSession returns the session of the branch, or "" if there is none: the one in which this worktree last made
// a checkpoint on it, else its default session. If there are several, such as those of clones, it is the one that this
// worktree used last, else one that was begun in this clone, else the first by name.
func (s *Sessions) branchSession(ctx context.Context) (name.Session, error) {
	branch := workBranch(s.Repo)
	if branch == "" {
		return "", nil
	}
	if used := usedOn(ctx, s.Store, branch); used != "" {
		return used, nil
	}
	base := name.SessionFromBranch(branch.Short())
	st, err := lastUsed(ctx, s.Store, func(session name.Session) bool { return hasNumber(session, base) }, func(st *journal.State) bool { return st.Branch == string(branch) })
	if st == nil && err == nil {
		st, err = lastUsed(ctx, s.Store, nil, func(st *journal.State) bool {
			return isDefault(st) && (st.Branch == string(branch) || !IsClosed(st.Status) && s.Renamed(ctx, st))
		})
	}
	if st == nil || err != nil {
		return "", err
	}
	return st.Session, nil
}

// OwnSession returns the session that a create goes to which names none and has none active: that of the branch, or a
// new one of its name. A session in which no worktree of this clone has an event is somebody else's, so another one
// begins beside it, which passed says.
func (s *Sessions) OwnSession(ctx context.Context) (session, passed name.Session, err error) {
	session, err = s.branchSession(ctx)
	if err != nil || session != "" && workedHere(ctx, s.Store, session) {
		return session, "", err
	}
	own, err := newSession(ctx, s.Store)
	return own, session, err
}

// workedHere reports whether a worktree that this clone has or had has an event in a session that can be read.
func workedHere(ctx context.Context, s *store.Store, session name.Session) bool {
	st, err := s.State(ctx, session)
	return err != nil || st.Place != "" || slices.ContainsFunc(OwnWorktrees(s), func(id string) bool { return st.Worked(id) })
}

// newSession returns the free name of a default session of the branch. If a session of the name belongs to another
// branch, as after two branches whose names are cleaned to the same one, -2, -3 and so on is appended. With a detached
// HEAD the name has the first digits of its commit.
func newSession(ctx context.Context, s *store.Store) (name.Session, error) {
	branch := workBranch(s.Repo)
	if branch == "" {
		return newDefault(ctx, s, name.Session("detached-"+s.Repo.Head.OID.Short()))
	}
	base, err := newDefault(ctx, s, name.SessionFromBranch(branch.Short()))
	if err != nil {
		return base, err
	}
	for n := 1; ; n++ {
		session := base
		if n > 1 {
			session = name.Session(fmt.Sprintf("%s-%d", base, n))
		}
		// A free name is taken, unless it differs from an existing session only in case: file
		// systems that ignore case would mix their refs.
		_, err := s.State(ctx, session)
		if errors.Is(err, store.ErrNoSession) {
			err = s.CheckTwin(ctx, session)
			if _, twin := errors.AsType[*store.TwinError](err); twin {
				continue // another branch's session, whose name differs in case only
			}
			return session, err
		}
		if err != nil {
			return session, err
		}
	}
}

// hasNumber reports whether a session has the name base, or that with the digits of a clone, a number, or
// both after it.
func hasNumber(session, base name.Session) bool {
	rest, ok := strings.CutPrefix(string(session), string(base))
	if !ok || rest == "" {
		return ok
	}
	numbers := strings.Split(rest, "-")
	return numbers[0] == "" && len(numbers) <= 3 && !slices.ContainsFunc(numbers[1:], func(n string) bool {
		_, err := strconv.ParseUint(n, 10, 32)
		return err != nil
	})
}

// isDefault reports whether nobody gave a session its name or a workflow: it was begun by a checkpoint.
func isDefault(st *journal.State) bool {
	return st.Started != nil && st.Started.Branch != "" && cmp.Or(st.Workflow, workflow.DefaultName) == workflow.DefaultName &&
		hasNumber(st.Session, name.SessionFromBranch(name.Ref(st.Started.Branch).Short()))
}

// lastUsed returns the session that fits and that this worktree used last, else one that was begun
// in a worktree of this repository, else the first that fits. It is nil if none fits. A session
// that called selects and that cannot be read is taken, and the command reports the damage; where called is nil, it is left out.
func lastUsed(ctx context.Context, s *store.Store, called func(name.Session) bool, fits func(*journal.State) bool) (best *journal.State, err error) {
	all, err := s.Sessions(ctx)
	if err != nil {
		return nil, err
	}
	here, own := worktreeIDs(s)
	bestUsed, bestBegun := time.Time{}, false
	for _, session := range all {
		if called != nil && !called(session) {
			continue
		}
		st, err := s.State(ctx, session)
		if err != nil && called != nil && !errors.Is(err, store.ErrNoSession) {
			return &journal.State{Session: session}, nil
		}
		if err != nil || !fits(st) {
			continue
		}
		used, begun := st.LastBy(here), st.Started != nil && slices.Contains(own, st.Started.WorktreeID)
		if best == nil || used.After(bestUsed) || used.Equal(bestUsed) && begun && !bestBegun {
			best, bestUsed, bestBegun = st, used, begun
		}
	}
	return best, nil
}

// OwnWorktrees returns the ids of all worktrees that the repository has or had.
func OwnWorktrees(s *store.Store) []string {
	_, own := worktreeIDs(s)
	return own
}

// worktreeIDs returns the id of this worktree, or "" if nothing was made here, and those of all worktrees
// that the repository has or had.
func worktreeIDs(s *store.Store) (here string, own []string) {
	own = s.LinkedIDs()
	dirs, _ := OwnDirs(s.Repo) //nolint:errcheck // without the linked ones
	for _, dir := range dirs {
		if id := dir.Said(WorktreeIDFile); id != "" {
			own = append(own, id)
			if dir.Path == filepath.Join(s.Repo.GitDir, "checkpoint") {
				here = id
			}
		}
	}
	return here, own
}

// isHere reports whether the active session goes on here: it stays active until somebody switches,
// or it is the session of this branch, or of a conversation that is at work here. Earlier versions put steps of several branches into one
// session. Such a session goes on, too, if its current step was made on this branch, or, if this
// branch has no session, if any of its steps was.
func (s *Sessions) isHere(ctx context.Context, active name.Session) bool {
	branch := workBranch(s.Repo)
	if branch == "" || stays(ctx, s.Store, active) {
		return true
	}
	st, err := s.Store.State(ctx, active)
	ofAgent := err == nil && st.Workflow == workflow.AgentName
	if err != nil || st.Branch == string(branch) || ofAgent && isLive(s.Store, active) {
		return true
	}
	e, used := st.CurrentEntry(), usedOn(ctx, s.Store, branch)
	if e == nil || used != "" {
		return used == active
	}
	if !ofAgent && madeOn(ctx, s.Store, branch, e) {
		return true
	}
	if session, err := s.branchSession(ctx); err != nil || session != "" {
		return session == active
	}
	return s.Renamed(ctx, st) || !ofAgent && madeOn(ctx, s.Store, branch, st.Checkpoints()...)
}

// isLive reports whether a conversation with an agent is at work here in a session, on whatever branch it
// has switched to. Hooks remember that.
func isLive(s *store.Store, session name.Session) bool {
	const liveFor = time.Hour // how long after its last event a conversation counts as live that has not ended
	dir := memory(s.Repo, "agents")
	files, _ := os.ReadDir(dir) //nolint:errcheck // no agent was here
	for _, file := range files {
		var c struct {
			Session name.Session `json:"session"`
			Last    time.Time    `json:"last"`
			Ended   bool         `json:"ended"`
		}
		data, err := os.ReadFile(filepath.Join(dir, file.Name()))
		if err == nil && json.Unmarshal(data, &c) == nil && c.Session == session && !c.Ended && s.Now().Sub(c.Last) < liveFor {
			return true
		}
	}
	return false
}

// stays reports whether a session stays active on every branch: somebody started it by name or
// switched to it, or it has a workflow or a branch of its own. One that cannot be read, or that has
// no branch, stays, too.
func stays(ctx context.Context, s *store.Store, active name.Session) bool {
	if IsFixed(s.Repo, active) {
		return true
	}
	st, err := s.State(ctx, active)
	if err != nil || st.Branch == "" || OwnsBranch(st) {
		return true
	}
	of := cmp.Or(st.Workflow, workflow.DefaultName)
	return of != workflow.DefaultName && of != workflow.AgentName
}

// Staying says that a session stays here on a branch that is not its own or has another one: "stays; main has its own". It is
// "" for any other session.
func (s *Sessions) Staying(ctx context.Context, st *journal.State) string {
	active, err := s.Store.ActiveSession()
	branch := workBranch(s.Repo)
	if err != nil || active != st.Session || branch == "" || !stays(ctx, s.Store, active) {
		return ""
	}
	switch own, err := s.branchSession(ctx); {
	case err == nil && own != "" && own != active:
		return "stays; " + branch.Short() + " has its own"
	case st.Branch != "" && st.Branch != string(branch):
		return "stays"
	}
	return ""
}

// madeOn reports whether one of these checkpoints was made on a branch. The newest, which are last, are read first.
func madeOn(ctx context.Context, s *store.Store, branch name.Ref, made ...*journal.Entry) bool {
	for _, e := range slices.Backward(made) {
		if e.Dead || e.Safety {
			continue
		}
		if rec, err := ReadRecord(ctx, s, e); err == nil && name.Ref(rec.Git.Branch) == branch {
			return true
		}
	}
	return false
}

// Renamed reports whether the branch of a session has the name now of the branch that is worked on: reflogs say so, or that
// this one was made from it, and it is gone. Where there are none, or they have expired, a new branch begins a session of its own.
func (s *Sessions) Renamed(ctx context.Context, st *journal.State) bool {
	branch := workBranch(s.Repo)
	if st.CurrentEntry() == nil || st.Branch == "" || branch == "" || st.Branch == string(branch) {
		return false
	}
	if _, err := s.Repo.Refs.Resolve(ctx, name.Ref(st.Branch)); !errors.Is(err, git.ErrMissing) {
		return false
	}
	log, known := s.reflogs.Load(branch)
	if !known {
		log, _ = s.Repo.Output(ctx, "log", "-g", "--format=%gD %gs", string(branch), "HEAD", "--") //nolint:errcheck // then there are none
		s.reflogs.Store(branch, log)
	}
	return slices.ContainsFunc(strings.Split(log.(string), "\n"), func(said string) bool { //nolint:forcetypeassert // stored above
		return strings.HasPrefix(said, string(branch)+"@") && strings.Contains(said, " renamed "+st.Branch+" to ") ||
			strings.HasSuffix(said, " from "+name.Ref(st.Branch).Short()+" to "+branch.Short())
	})
}

// HeadContains reports whether HEAD is at a commit or descends from it. No commit, "", is in every history.
func HeadContains(ctx context.Context, repo *git.Repo, commit name.OID) bool {
	if commit == "" || commit == repo.Head.OID {
		return true
	}
	_, err := repo.Output(ctx, "merge-base", "--is-ancestor", string(commit), "HEAD")
	return err == nil
}

// HereSession returns the session that the next checkpoint goes to, without a request: NamedSession, or
// that of the branch. It is "" if there is none, or if that is somebody else's.
func (s *Sessions) HereSession(ctx context.Context) (name.Session, error) {
	session, err := s.NamedSession(ctx, "")
	if err != nil || session != "" {
		return session, err
	}
	if session, err = s.branchSession(ctx); err != nil || session == "" || !workedHere(ctx, s.Store, session) {
		return "", err
	}
	return session, nil
}

// IsOfBranch reports whether a session belongs to the branch that is worked on, or its current checkpoint was made there by
// this worktree.
func IsOfBranch(ctx context.Context, s *store.Store, st *journal.State) bool {
	branch := workBranch(s.Repo)
	here, _ := worktreeIDs(s)
	e := st.CurrentEntry()
	return st.Branch == string(branch) || e != nil && st.Workflow != workflow.AgentName && !st.LastBy(here).IsZero() && madeOn(ctx, s, branch, e)
}

// lastHere returns a session of the branch whatever its name: the one that this worktree used last, else the only one that
// is open. It is nil if there is none.
func lastHere(ctx context.Context, s *store.Store, states []*journal.State) (found *journal.State) {
	here, _ := worktreeIDs(s)
	var open []*journal.State
	for _, st := range states {
		switch used := st.LastBy(here); {
		case st.CurrentEntry() == nil || !IsOfBranch(ctx, s, st):
		case !used.IsZero():
			if found == nil || used.After(found.LastBy(here)) {
				found = st
			}
		case !IsClosed(st.Status):
			open = append(open, st)
		}
	}
	if found == nil && len(open) == 1 {
		return open[0]
	}
	return found
}

// noSteps returns the error for a branch without a session. It names the active session, else the newest one with steps, and
// the way there.
func noSteps(ctx context.Context, s *store.Store, states []*journal.State) error {
	active, _ := s.ActiveSession() //nolint:errcheck // then it is not preferred
	there := slices.MaxFunc(states, func(a, b *journal.State) int {
		rank := func(st *journal.State) int {
			switch {
			case st.CurrentEntry() == nil:
				return 0
			case st.Session == active:
				return 3
			case IsClosed(st.Status):
				return 1
			}
			return 2
		}
		return cmp.Or(cmp.Compare(rank(a), rank(b)), a.UpdatedAt.Compare(b.UpdatedAt))
	})
	if there.CurrentEntry() == nil { // nor does any other session have one
		return Failure(KindNotFound, "`git checkpoint save -m MESSAGE` makes one", "no steps on %s", PlaceName(workBranch(s.Repo)))
	}
	way, said := "git checkpoint list --session "+string(there.Session), ""
	if command := SwitchTo(ctx, s.Repo, name.Ref(there.Branch)); command != "" && there.Branch != string(workBranch(s.Repo)) {
		way, said = command, "`"+way+"` shows them"
	}
	return Failure(KindNotFound, said, "no steps on %s; %s: %s", PlaceName(workBranch(s.Repo)), strings.TrimSuffix(strings.TrimSuffix(Steps(ctx, s, there.Session), "s"), " step"), way)
}

// WarnOfBranch prints err as a warning if it means that there is a session, but not on this branch.
func WarnOfBranch(ctx context.Context, s *store.Store, err error) {
	if sessions, failed := s.Sessions(ctx); failed == nil && len(sessions) > 0 {
		s.Warn(MessageOf(err))
	}
}

// nameThere adds to the error for a branch without a session how to name what was typed in another
// one, the newest first.
func nameThere(ctx context.Context, s *store.Store, ref string, err error) error {
	states, failed := States(ctx, s, "")
	if KindOf(err) != KindNotFound || failed != nil {
		return err
	}
	slices.SortStableFunc(states, func(a, b *journal.State) int { return b.UpdatedAt.Compare(a.UpdatedAt) })
	var there []string
	for _, st := range states {
		if found, failed := byName(st, ref); failed == nil && len(found) > 0 && len(there) < OthersNamed {
			there = append(there, fmt.Sprintf("`%s:%s` is one of %s", st.Session, ref, st.Session))
		}
	}
	return WithHints(err, func(hints []string) []string { return append(there, hints...) })
}

// Steps says how many steps a session has, as in "main has 4 steps". It is "" for one that cannot be read.
func Steps(ctx context.Context, s *store.Store, session name.Session) string {
	st, err := s.State(ctx, session)
	if err != nil {
		return ""
	}
	steps := countSteps(st)
	if steps == 1 {
		return fmt.Sprintf("%s has 1 step", session)
	}
	return fmt.Sprintf("%s has %d steps", session, steps)
}
