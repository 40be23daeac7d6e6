package remote

// git checks each object that a fetch brings, and a single one that it refuses ends the whole fetch.
// Then the refs are fetched in parts: the journals first, then session by session, and the refs of a
// session that git refuses. What is left out are only refs that reach such an object.

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"

	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/sys/gather"
	"git-checkpoint/internal/sys/lazy"
)

// harmless are the rules of git fsck that this program demotes to warnings: a rollback writes what
// they complain about as any other file, and git itself ignores or survives it. A rule that an older
// git does not know only makes it warn. Rules about the structure of trees and about names stay
// errors.
var harmless = []string{
	"gitattributesMissing", "gitattributesLarge", "gitattributesLineLength", "gitattributesBlob", "gitattributesSymlink",
	"gitmodulesMissing", "gitmodulesLarge", "gitmodulesBlob", "gitmodulesName", "gitmodulesUrl", "gitmodulesPath", "gitmodulesUpdate", "gitmodulesParse",
	"gitignoreSymlink", "mailmapSymlink", "symlinkTargetMissing", "symlinkTargetBlob", "symlinkTargetLength", "symlinkPointsToGitDir",
	"badDate", "badDateOverflow", "zeroPaddedDate", "badTimezone", "missingSpaceBeforeDate",
	"badName", "badEmail", "missingEmail", "missingNameBeforeEmail", "missingSpaceBeforeEmail", "multipleAuthors",
	"badFilemode", "zeroPaddedFilemode", "nulInCommit", "badTagName", "missingTaggerEntry", "extraHeaderEntry", "badGpgsig", "badHeaderContinuation",
}

// Harmless returns the rules of git fsck that are demoted to warnings.
func Harmless() []string { return slices.Clone(harmless) }

// hardened makes git check every object that comes, even where the user's own configuration has
// switched these checks off.
var hardened = sync.OnceValue(func() []string {
	config := []string{
		"fetch.fsckObjects=true", "transfer.fsckObjects=true", "fetch.fsck.hasDotgit=error", "fetch.fsck.hasDotdot=error",
		"fetch.fsck.hasDot=error", "fetch.fsck.fullPathname=error", "fetch.fsck.emptyName=error",
	}
	config = append(config, gather.List(harmless, func(rule string) string { return "fetch.fsck." + rule + "=warn" })...)
	return config
})

// refusal matches what git prints when it refuses an object of a fetch, or when the remote cannot
// send one. culprit matches the object and the rule, where git names them.
var (
	refusal = lazy.Pattern(`fsck error|fsck failed|fatal: invalid (?:commit|tree|blob|tag)\b|Not all child objects|not receive expected object|possible repository corruption`)
	culprit = lazy.Pattern(`(?m)^error: object ([0-9a-f]{40,64}): (\w+: .*)$`)
)

// refused returns why git refused an object of a fetch, or nil if err says something else.
func refused(err error) error {
	var said *Error
	if !errors.As(err, &said) || !refusal().MatchString(said.stderr) {
		return nil
	}
	if m := culprit().FindStringSubmatch(said.stderr); m != nil {
		return fmt.Errorf("git refuses object %s: %s", name.OID(m[1]).Short(), Redact(m[2]))
	}
	return err
}

// maxTries bounds how often one Fetch connects to the remote. The search for sessions leaves some of
// them to the search in the sessions that it finds.
const (
	maxTries     = 20
	sessionTries = 17
)

// sifting is one Fetch that may have to leave something out.
type sifting struct {
	remote *Remote
	got    *Quarantine
	tries  int
	why    error // of the last try that was refused
}

// unit are refs that are fetched together or not at all.
type unit []name.Ref

// Fetch fetches refs, given by their names here, into a new quarantine. there is the listing that
// the refs are from. Refs with an object that git refuses are left out, see Quarantine.Left; a
// session without its journal is left out as a whole. After an error nothing stays.
func (r *Remote) Fetch(ctx context.Context, refs []name.Ref, there *Listing) (*Quarantine, error) {
	s := &sifting{remote: r, got: &Quarantine{repo: r.Repo, Got: map[name.Ref]name.OID{}, Left: map[name.Ref]Refusal{}}}
	all, err := s.try(ctx, []unit{refs}, there)
	if err == nil && !all {
		err = s.sift(ctx, refs)
	}
	if err != nil {
		s.got.Close(ctx)
		return nil, err
	}
	return s.got, nil
}

// sift fetches refs of which git refuses at least one.
func (s *sifting) sift(ctx context.Context, refs []name.Ref) error {
	var journals, sessions []unit
	at := map[name.Session]int{}
	for _, ref := range refs {
		session, leaf, ours := name.SplitCheckpointRef(ref)
		if !ours || leaf == "journal" { // the notes are not ours in this sense, and belong to no session
			journals = append(journals, unit{ref})
			continue
		}
		if _, known := at[session]; !known {
			at[session] = len(sessions)
			sessions = append(sessions, nil)
		}
		sessions[at[session]] = append(sessions[at[session]], ref)
	}
	if err := s.search(ctx, journals, len(sessions) == 0, sessionTries, s.leave); err != nil {
		return err
	}
	guilty := len(s.got.Left) == 0
	sessions = slices.DeleteFunc(sessions, func(u unit) bool {
		session, _, _ := name.SplitCheckpointRef(u[0])
		return s.got.LeftOut(name.JournalRef(session))
	})
	var bad []unit
	var why []error
	err := s.search(ctx, sessions, guilty, sessionTries, func(u unit, reason error, sure bool) {
		if !sure {
			s.leave(u, reason, false)
			return
		}
		bad, why = append(bad, u), append(why, reason)
	})
	for i := 0; i < len(bad) && err == nil; i++ {
		s.why = why[i]
		err = s.search(ctx, slices.Collect(slices.Chunk(bad[i], 1)), true, maxTries, s.leave)
	}
	return err
}

// leave leaves out refs. sure says that git refused an object of theirs, and not only of other refs
// that were fetched with them.
func (s *sifting) leave(u unit, why error, sure bool) {
	var said *Error
	r := Refusal{Why: why.Error(), Sure: sure && !errors.As(why, &said)}
	if !sure {
		r.Why += fmt.Sprintf("; or this is of another ref, as the search ended after %d tries: fetch again", s.tries)
	}
	for _, ref := range u {
		s.got.Left[ref] = r
	}
}

// search fetches units and passes those that git refuses to leave. guilty says that there is such a
// unit among them, for the reason in s.why. It halves the units until it has found one, from either
// end in turn, and then tries the rest together: finding one takes as many tries as the logarithm
// of their number. After limit tries it leaves all that are not here.
func (s *sifting) search(ctx context.Context, units []unit, guilty bool, limit int, leave func(unit, error, bool)) error {
	for turn := 0; len(units) > 0; turn++ {
		if !guilty && s.tries < limit {
			if all, err := s.try(ctx, units, nil); all || err != nil {
				return err
			}
			guilty = true
		}
		suspects := units
		for len(suspects) > 1 && s.tries < limit {
			middle := len(suspects) / 2
			half, other := suspects[:middle], suspects[middle:]
			if turn%2 == 1 {
				half, other = other, half
			}
			all, err := s.try(ctx, half, nil)
			if err != nil {
				return err
			}
			if suspects = half; all {
				suspects = other
				clear(half)
			}
		}
		if guilty = guilty && len(suspects) == 1; guilty {
			leave(suspects[0], s.why, true)
			suspects[0], guilty = nil, false
			units = slices.DeleteFunc(units, func(u unit) bool { return u == nil })
			continue
		}
		for _, u := range units {
			if u != nil {
				leave(u, s.why, false)
			}
		}
		return nil
	}
	return nil
}

// try fetches units at once and reports whether they came. That git refuses an object is not an
// error.
func (s *sifting) try(ctx context.Context, units []unit, there *Listing) (bool, error) {
	s.tries++
	q, err := s.remote.fetch(ctx, slices.Concat(units...), there)
	if why := refused(err); why != nil {
		s.why = why
		return false, nil //nolint:nilerr // s.why has the reason
	}
	if err != nil {
		return false, err
	}
	s.got.refs = append(s.got.refs, q.refs...)
	maps.Copy(s.got.Got, q.Got)
	return true, nil
}
