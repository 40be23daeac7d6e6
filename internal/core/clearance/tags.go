package clearance

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/format/record"
	"git-checkpoint/internal/format/render"
	"git-checkpoint/internal/git"
	"git-checkpoint/internal/storage/store"
)

// tagRule is the version of the rule in public.go. Increase it when the rule lets less through.
const tagRule = 1

// digest returns a hash of all that decides which tags are private.
func (sc *Scanner) digest(s *checkpoint.Service) string {
	var all strings.Builder
	fmt.Fprintf(&all, "%d\n%s%t\n", tagRule, sc.verdicts.head, s.TagsPrivate())
	for _, fingerprint := range slices.Sorted(maps.Keys(sc.allowed)) {
		fmt.Fprintln(&all, fingerprint)
	}
	sum := sha256.Sum256([]byte(all.String()))
	return hex.EncodeToString(sum[:8])
}

// tagMemory is the file "tags" beside the verdicts. Its first line has the digest under which the
// tags of all sessions were looked at. Each further one is "history <commit> <what it holds>", where
// nothing after the commit means that nothing in its history is private, or "told <session>". A lost
// or torn file costs another look.
type tagMemory struct {
	path    string
	digest  string // of the rule now
	looked  string // the digest of the file; empty: there was none
	history map[name.OID]string
	order   []name.OID // of history, the oldest first
	told    map[name.Session]bool
	changed bool
}

// maxHistory bounds how many commits are remembered.
const maxHistory = 100

func readTagMemory(repo *git.Repo, digest string) *tagMemory {
	dir := cmp.Or(repo.Objects.Borrowed(), filepath.Join(repo.CommonDir, "checkpoint"))
	m := &tagMemory{path: filepath.Join(dir, "tags"), digest: digest, history: map[name.OID]string{}, told: map[name.Session]bool{}}
	data, _ := os.ReadFile(m.path) //nolint:errcheck // without it everything is looked at
	for line := range strings.Lines(string(data)) {
		line, whole := strings.CutSuffix(line, "\n")
		word, rest, _ := strings.Cut(line, " ")
		switch {
		case !whole:
		case word == "tags":
			m.looked = rest
		case word == "told":
			m.told[name.Session(rest)] = true
		case word == "history" && m.looked == digest:
			commit, why, _ := strings.Cut(rest, " ")
			m.history[name.OID(commit)], m.order = why, append(m.order, name.OID(commit))
		}
	}
	return m
}

// remember keeps what the history of a commit holds.
func (m *tagMemory) remember(commit name.OID, why string) {
	m.order = append(slices.DeleteFunc(m.order, func(oid name.OID) bool { return oid == commit }), commit)
	m.history[commit], m.changed = why, true
}

// save writes the file if it has changed. Of two processes that do so at once the last one wins.
func (m *tagMemory) save() error {
	if !m.changed {
		return nil
	}
	m.changed = false
	var text bytes.Buffer
	// The digest changes only when all tags were looked at again. What was remembered under another
	// digest is dropped.
	fmt.Fprintln(&text, "tags", m.looked)
	for session := range m.told {
		fmt.Fprintln(&text, "told", session)
	}
	if m.looked == m.digest {
		for _, commit := range m.order[max(0, len(m.order)-maxHistory):] {
			fmt.Fprintln(&text, "history", commit, m.history[commit])
		}
	}
	made, err := os.CreateTemp(filepath.Dir(m.path), "tmp-tags-")
	if err != nil {
		return fmt.Errorf("remember which tags are private: %w", err)
	}
	_, err = made.Write(text.Bytes())
	err = errors.Join(err, made.Close())
	if err == nil {
		err = os.Rename(made.Name(), m.path)
	}
	if err != nil {
		os.Remove(made.Name()) //nolint:errcheck // it is swept later
		return fmt.Errorf("remember which tags are private: %w", err)
	}
	return nil
}

// TellOnce reports whether to say that a step of the session has no tag: true only the first time.
func TellOnce(ctx context.Context, s *checkpoint.Service, session name.Session) bool {
	j, err := newPrivacy(ctx, s)
	if err != nil || j.memory.told[session] {
		return false
	}
	j.memory.told[session], j.memory.changed = true, true
	return j.close() == nil
}

// ReviewTags removes the tags that the rule does not let through, and says how many and why. It does
// so once after the rule has changed: after an upgrade from a version that tagged everything, or when
// the rules of the guard, what was allowed or checkpoint.tagPrivate have changed. Tags that came from
// a remote stay.
func ReviewTags(ctx context.Context, s *checkpoint.Service) {
	if err := reviewTags(ctx, s); err != nil {
		s.Warn("step tags were not looked at: " + err.Error())
	}
}

func reviewTags(ctx context.Context, s *checkpoint.Service) error {
	j, err := newPrivacy(ctx, s)
	if err != nil {
		return err
	}
	if j.memory.looked == j.memory.digest {
		return nil
	}
	if !s.TagsPrivate() {
		if err := j.removePrivate(ctx); err != nil {
			return err
		}
	}
	j.memory.looked, j.memory.changed = j.memory.digest, true
	return j.close()
}

// removePrivate removes the tags of all sessions that are private and were made here.
func (j *privacy) removePrivate(ctx context.Context) error {
	tags, err := j.privateTags(ctx)
	if err != nil {
		return err
	}
	var updates []git.Update
	reasons := map[string]bool{}
	for _, t := range tags {
		if !t.Fetched {
			updates, reasons[t.Why] = append(updates, git.Update{Ref: t.Ref, Old: t.Commit}), true
		}
	}
	if len(updates) == 0 {
		return nil
	}
	if err := j.s.Repo.Refs.Update(ctx, updates); err != nil {
		return fmt.Errorf("remove tags that are private: %w", err)
	}
	they, them := "it holds ", "it"
	if len(updates) > 1 {
		they, them = "they hold ", "them"
	}
	j.s.Warn(render.Count(len(updates), "step tag", "step tags") + " removed: " + they + strings.Join(slices.Sorted(maps.Keys(reasons)), " and ") +
		", and \"git push --tags\" would send " + them)
	return nil
}

// retract removes the tags that hold something private which the remote does not have already. held
// are the commits that the remote has.
func retract(ctx context.Context, s *checkpoint.Service, held []name.OID) error {
	if s.TagsPrivate() {
		return nil
	}
	j, err := newPrivacy(ctx, s)
	if err != nil {
		return err
	}
	j.public, j.thorough = append([]name.OID{}, held...), true
	clear(j.memory.history) // it is about what other remotes lack
	return errors.Join(j.removePrivate(ctx), j.close())
}

// PrivateTag is a tag of a step that holds something private.
type PrivateTag struct {
	Ref     name.Ref
	Commit  name.OID
	Why     string // what it holds
	Fetched bool   // the checkpoint was made in another clone, so the tag may be from there
}

// PrivateTags returns the tags of steps here that the rule does not let through.
func PrivateTags(ctx context.Context, s *checkpoint.Service) ([]PrivateTag, error) {
	j, err := newPrivacy(ctx, s)
	if err != nil {
		return nil, err
	}
	tags, err := j.privateTags(ctx)
	return tags, errors.Join(err, j.close())
}

// PrivateAmong is PrivateTags for tags elsewhere. It also counts those whose commits are not here.
func PrivateAmong(ctx context.Context, s *checkpoint.Service, tags map[name.Ref]name.OID) (private []PrivateTag, unknown int, err error) {
	j, err := newPrivacy(ctx, s)
	if err != nil {
		return nil, 0, err
	}
	var refs []git.RefValue
	for _, ref := range slices.Sorted(maps.Keys(tags)) {
		if s.Repo.Objects.Batch().Has(tags[ref]) {
			refs = append(refs, git.RefValue{Ref: ref, OID: tags[ref]})
		} else {
			unknown++
		}
	}
	private, err = j.among(ctx, refs)
	return private, unknown, errors.Join(err, j.close())
}

func (j *privacy) privateTags(ctx context.Context) ([]PrivateTag, error) {
	refs, err := j.s.Repo.Refs.List(ctx, strings.TrimSuffix(name.TagRoot, "/"))
	if err != nil {
		return nil, err
	}
	return j.among(ctx, refs)
}

// among returns the tags that hold something private, of those that name a checkpoint of their
// session. Any other tag is the user's.
func (j *privacy) among(ctx context.Context, refs []git.RefValue) (out []PrivateTag, err error) {
	for _, r := range refs {
		part, _, _ := strings.Cut(strings.TrimPrefix(string(r.Ref), name.TagRoot), "/")
		session := name.Session(part)
		if !store.IsTag(session, r.Ref) {
			continue
		}
		c, err := j.s.Repo.Commits.Read(ctx, string(r.OID))
		if err != nil {
			continue // a tag object, or damaged
		}
		told, err := record.ParseMessage(c.Message)
		if err != nil || told.Session != session {
			continue
		}
		why, err := j.private(ctx, r.OID)
		if err != nil {
			return nil, err
		}
		if why != "" {
			out = append(out, PrivateTag{r.Ref, r.OID, why, j.isFetched(ctx, session, told.ID)})
		}
	}
	return out, nil
}

// isFetched reports whether a checkpoint was made in another clone.
func (j *privacy) isFetched(ctx context.Context, session name.Session, id name.ID) bool {
	st, err := j.s.Store.State(ctx, session)
	if err != nil || st.Entry(id) == nil {
		// Only a clone that has not fetched it has neither an event nor a ref of it.
		_, err := j.s.Repo.Refs.Resolve(ctx, name.CheckpointRef(session, id))
		return err != nil && (st == nil || !st.Dead(id))
	}
	// The id of a linked worktree that is gone is not known any more, so only that of the main
	// worktree is certain.
	here, _ := os.ReadFile(filepath.Join(j.s.Repo.CommonDir, "checkpoint", "worktree-id")) //nolint:errcheck // without it no checkpoint was made here
	e := st.Entry(id).Event()
	return e.Worktree == "main" && e.WorktreeID != "" && strings.TrimSpace(string(here)) != e.WorktreeID
}
