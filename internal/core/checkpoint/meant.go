package checkpoint

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"git-checkpoint/internal/core/workflow"
	"git-checkpoint/internal/format/journal"
	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/format/render"
	"git-checkpoint/internal/storage/store"
	"git-checkpoint/internal/sys/lazy"
)

var (
	// ancestorPattern matches HEAD~1, @^, ~2^ and the like; the group has all the suffixes.
	ancestorPattern = lazy.Pattern(`^(?:HEAD|head|@)?((?:[~^]\d{0,4})*)$`)
	// backPattern matches -1, @{1} and HEAD@{1}.
	backPattern = lazy.Pattern(`^-(\d{1,4})$|^(?:HEAD|@)@?\{(\d{1,4})\}$`)
)

// MeantParent translates what git users type for an older commit (HEAD~1, HEAD^, -1, @{1}) to this
// program's name for an older checkpoint, such as "@~1". It returns "" for anything else. Only
// hints use it: Resolve does not accept these forms.
func MeantParent(typed string) string {
	back := 0
	if m := backPattern().FindStringSubmatch(typed); m != nil {
		back, _ = strconv.Atoi(m[1] + m[2]) //nolint:errcheck // the pattern bounds it
	} else if m := ancestorPattern().FindStringSubmatch(typed); m != nil && typed != "" {
		for step := range strings.FieldsFuncSeq(strings.NewReplacer("~", " ~", "^", " ^").Replace(m[1]), func(r rune) bool { return r == ' ' }) {
			count := 1
			if len(step) > 1 {
				count, _ = strconv.Atoi(step[1:]) //nolint:errcheck // the pattern bounds it
			}
			back += count
		}
	} else {
		return ""
	}
	if back == 0 {
		return "@"
	}
	return fmt.Sprintf("@~%d", back)
}

// FileIn splits "<checkpoint>:<path>", the syntax that git has for a file in a commit. Because
// "<session>:<checkpoint>" has the same shape, a session with the name before the colon takes
// precedence; then "<session>:<checkpoint>:<path>" is the file. When typed names no file, ok is
// false and ref is typed.
func FileIn(ctx context.Context, s *Sessions, session, typed string) (ref, path string, ok bool) {
	ref, path, ok = strings.Cut(typed, ":")
	if !ok || ref == "refs" || strings.HasPrefix(ref, "refs/") {
		return typed, "", false
	}
	if in, err := SessionCalled(ctx, s.Store, ref); err != nil || in != "" {
		inner, path, ok := strings.Cut(path, ":")
		return ref + ":" + inner, path, ok
	}
	// A discarded checkpoint also counts: the caller reports that error better than "no such
	// checkpoint".
	_, err := s.Resolve(ctx, session, ref)
	if err != nil && !isA[*discardedError](err) {
		return typed, "", false
	}
	return ref, path, true
}

// fileHint extends an unknown-session error. In "<session>:<ref>" the part before the colon looks
// like a checkpoint, so the user may have meant a file of that checkpoint.
func fileHint(err error, session, ref string) error {
	if known, is := errors.AsType[*Error](err); is && (numberPattern().MatchString(session) || parentPattern().MatchString(session) || strings.HasPrefix(session, "cp-")) {
		known.Hints = append(known.Hints, fmt.Sprintf("a file of checkpoint %s: `git checkpoint rollback %s -- %s`", session, session, ref))
	}
	return err
}

// MeantFile adds a hint to the error for a name that no checkpoint has, if a file has it: the command
// that was meant, in which format gets the file, as typed, with quotes if a shell needs them.
func (s *Sessions) MeantFile(ctx context.Context, session, typed, format string, err error) error {
	if !s.IsFile(ctx, session, typed, err) {
		return err
	}
	hint := fmt.Sprintf("%q is a file: `git checkpoint "+format+"`", name.Clip(typed, name.Said), name.Quoted(typed))
	return WithHints(err, func(hints []string) []string { return append([]string{hint}, hints...) })
}

// IsFile reports whether err says that no checkpoint has a name, but the worktree or the current checkpoint has a
// file or directory that is called like this, and the session has a current checkpoint.
func (s *Sessions) IsFile(ctx context.Context, session, typed string, err error) bool {
	if KindOf(err) != KindNotFound {
		return false
	}
	at, err := s.Repo.RelativePath(typed)
	if err != nil || at == "." && typed != "." {
		return false
	}
	st, err := ChosenState(ctx, s, session)
	if err != nil || st.CurrentEntry() == nil {
		return false
	}
	if _, err := os.Lstat(filepath.Join(s.Repo.WorkTree, filepath.FromSlash(at))); err == nil {
		return true
	}
	commit, err := s.Repo.Commits.Read(ctx, string(st.CurrentEntry().Event().Commit))
	if err != nil {
		return false
	}
	_, has, err := s.Repo.Trees.Lookup(ctx, commit.Tree, at)
	return err == nil && has
}

// bothMeant returns the error for a number that is typed where an agent's session is active, if the newest session in
// which people work here has that number, too: the agent may have begun without the person noticing. It is nil otherwise,
// even where somebody chose the agent's session.
func (s *Rules) bothMeant(ctx context.Context, session, ref string, found *Found) *Error {
	if found == nil || session != "" || s.Settings.Getenv("GIT_CHECKPOINT_SESSION") != "" || !numberPattern().MatchString(ref) || found.State.Workflow != workflow.AgentName || IsChosen(s.Repo, found.Session) {
		return nil
	}
	own := personsNewest(ctx, s.Store)
	if own == nil || byNumber(own, ref) == nil {
		return nil
	}
	said := func(st *journal.State, e *journal.Entry) string {
		m := Mentioned(ctx, s.Store, st, e)
		m.Name = ref
		return fmt.Sprintf("`%s:%s`%s, %s", st.Session, ref, strings.TrimPrefix(m.String(), ref), render.Ago(e.Event().Time, s.Store.Now()))
	}
	failed := Failure(KindRefused, said(found.State, found.Entry), "%q is a step of %s, which an agent began, and of %s", ref, found.Session, own.Session)
	failed.Hints = append(failed.Hints, said(own, byNumber(own, ref)), fmt.Sprintf("`git checkpoint session switch %s` goes back to yours", own.Session))
	return failed
}

// personsNewest returns the session without an agent that this worktree used last, or nil.
func personsNewest(ctx context.Context, s *store.Store) (newest *journal.State) {
	here, _ := worktreeIDs(s)
	states, err := States(ctx, s, "")
	if err != nil || here == "" {
		return nil
	}
	for _, st := range states {
		if st.Workflow == workflow.AgentName || IsClosed(st.Status) || !st.Worked(here) {
			continue
		}
		if newest == nil || st.LastBy(here).After(newest.LastBy(here)) {
			newest = st
		}
	}
	return newest
}
