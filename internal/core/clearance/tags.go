package clearance

// A tag is public: `git push --tags` sends it, with everything that it reaches, and asks nobody. So a
// step has a tag only if it is meant to have one and holds nothing private. What somebody agreed to send
// to one remote makes no difference: a tag may go to any.

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"strconv"
	"strings"

	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/format/record"
	"git-checkpoint/internal/git"
	"git-checkpoint/internal/storage/store"
)

// What keeps a step from having a tag, besides private files, in words that follow "it holds".
const (
	holdsPrompt     = "prompts to a coding agent"
	holdsTranscript = "transcripts of a coding agent"
	holdsSecret     = "what looks like a secret"
	holdsUnscanned  = "what was not scanned for secrets"
	holdsCheckpoint = "a checkpoint below its own commit"
	NotMeant        = "a step that is not meant to have one" // the reason of a step that nobody meant to tag
)

// TagRule returns the rule for the tags of a repository: a function that says why a checkpoint commit has
// no tag, or "". Whether a step is meant to have one is in its record. What it holds is looked at
// whatever checkpoint.guard says; what cannot be read counts as not scanned.
func TagRule(s *checkpoint.Service) func(context.Context, name.OID) (string, error) {
	return func(ctx context.Context, commit name.OID) (string, error) {
		why, err := untagged(ctx, s, commit)
		switch {
		case ctx.Err() != nil: // nothing else may stop a transaction: files may have moved already
			return "", context.Cause(ctx)
		case err != nil:
			return holdsUnscanned, nil //nolint:nilerr // what cannot be read has no tag
		}
		return why, nil
	}
}

func untagged(ctx context.Context, s *checkpoint.Service, commit name.OID) (string, error) {
	got, err := s.Store.Stored(ctx, commit)
	if err != nil {
		return "", err
	}
	if meant, said := record.Tagged.Of(got.Record.Extra); said && !meant {
		return NotMeant, nil
	}
	if s.Settings.TagsPrivate() || s.Store.Private == nil {
		return "", nil
	}
	return secrets(ctx, s, commit, got)
}

// secrets says what a checkpoint holds that no tag may send, or "".
func secrets(ctx context.Context, s *checkpoint.Service, commit name.OID, got store.Stored) (string, error) {
	private := &Private{}
	if err := private.add(ctx, s.Store, commit, got); err != nil {
		return "", err
	}
	for k, said := range kinds {
		if len(private.files[k]) > 0 {
			return said.held, nil
		}
	}
	switch {
	case private.Prompts > 0:
		return holdsPrompt, nil
	case private.Transcripts > 0:
		return holdsTranscript, nil
	}
	c, head, err := commitOf(ctx, s.Repo, commit)
	if err != nil {
		return "", err
	}
	scanner, err := OpenScanner(ctx, s)
	if err != nil {
		return "", err
	}
	from, shallow := c.Parents[:len(c.Parents)-1], s.Repo.Commits.IsShallow()
	var objects []met
	clean := fmt.Sprint("below ", from, len(scanner.expunged.Objects), shallow)
	if shallow || !scanner.notes.has(clean) {
		held, err := heldByUser(ctx, s.Repo)
		if err != nil {
			return "", err
		}
		large := fmt.Sprintf("large below %x", sha256.Sum256(fmt.Append(nil, from, held)))
		if scanner.notes.has(large) {
			return holdsUnscanned, nil
		}
		var below bool
		if objects, below, err = unsent(ctx, s.Store, from, held); err != nil || below {
			return holdsCheckpoint, err
		}
		if len(objects) > maxObjects { // the next step with the same HEAD need not count again
			scanner.notes.isFirst(large)
			return holdsUnscanned, scanner.Close()
		}
	}
	return marked(ctx, s, scanner, append(objects, met{commit, ""}, met{got.Commit, ""}), got.Commit, c.Tree, head, clean)
}

// maxObjects bounds what is scanned for a tag: somebody waits for the step.
const maxObjects = 20_000

// heldByUser returns what the remote-tracking refs and the tags of the user name.
func heldByUser(ctx context.Context, repo *git.Repo) (held []name.OID, err error) {
	refs, err := repo.Refs.List(ctx, "refs/remotes/", "refs/tags/")
	for _, r := range refs {
		if !strings.HasPrefix(string(r.Ref), name.TagRoot) {
			held = append(held, r.OID)
		}
	}
	return held, err
}

// unsent returns what the newest commits up to HEAD's bring that held does not reach, maxObjects and those of one commit at
// the most. It also reports whether one of them is a checkpoint: HEAD may be detached at one.
func unsent(ctx context.Context, s *store.Store, from, held []name.OID) (objects []met, below bool, err error) {
	const maxUnsent = 100 // how many commits below a checkpoint are looked at
	if len(from) == 0 {
		return nil, false, nil
	}
	args := []string{"rev-list", "--ignore-missing", "--max-count=" + strconv.Itoa(maxUnsent), "--stdin"}
	listed, err := s.Repo.Run(ctx, git.Cmd{Args: args, Stdin: git.Revisions(from, held)})
	if err != nil {
		return nil, false, err
	}
	for _, oid := range strings.Fields(string(listed.Stdout)) {
		if len(objects) > maxObjects {
			break
		}
		c, err := s.Repo.Commits.Read(ctx, oid)
		if err != nil {
			return nil, false, err
		}
		if _, err := record.ParseMessage(c.Message); err == nil {
			if _, err := s.Record(ctx, name.OID(oid)); err == nil { // a commit of land has only the message
				return nil, true, nil
			}
		}
		var before git.Commit
		if len(c.Parents) > 0 {
			if before, err = s.Repo.Commits.Read(ctx, string(c.Parents[0])); errors.Is(err, git.ErrMissing) {
				continue // in a shallow clone it is not known what this one brings
			} else if err != nil {
				return nil, false, err
			}
		}
		objects = append(objects, met{name.OID(oid), ""})
		if err := addNew(ctx, s.Repo, &objects, before.Tree, c.Tree); err != nil {
			return nil, false, err
		}
	}
	return objects, false, nil
}

// addNew adds the files of a tree that another one does not have.
func addNew(ctx context.Context, repo *git.Repo, objects *[]met, from, to name.OID) error {
	changes, err := repo.Trees.Diff(ctx, from, to)
	for _, ch := range changes {
		if ch.New.Mode != 0 && ch.New.Mode != git.ModeGitlink {
			*objects = append(*objects, met{ch.New.OID, ch.Path})
		}
	}
	return err
}

// marked says what the guard finds in some objects, in a record commit m, and in the files that HEAD does
// not have. If it finds nothing, it notes clean, so that no later step with the same HEAD has to look below that.
func marked(ctx context.Context, s *checkpoint.Service, scanner *Scanner, objects []met, m, tree, head name.OID, clean string) (string, error) {
	made, err := s.Repo.Commits.Read(ctx, string(m))
	if err != nil {
		return "", err
	}
	if err := addNew(ctx, s.Repo, &objects, head, tree); err != nil {
		return "", err
	}
	entries, err := s.Repo.Trees.Read(ctx, made.Tree)
	if err != nil {
		return "", err
	}
	for _, e := range entries {
		switch {
		case !e.IsTree():
			objects = append(objects, met{e.OID, e.Name})
		case e.Name == store.IndexPath:
			err = addNew(ctx, s.Repo, &objects, head, e.OID)
		default:
			err = addNew(ctx, s.Repo, &objects, "", e.OID)
		}
		if err != nil {
			return "", err
		}
	}
	if len(objects) > maxObjects {
		return holdsUnscanned, nil
	}
	for _, one := range objects {
		if scanner.expunged.Objects[one.oid] {
			return holdsSecret, nil
		}
	}
	report := &Report{}
	if err := scanner.scanObjects(ctx, report, objects, math.MaxInt64); err != nil {
		return "", err
	}
	if len(report.Found)+len(report.Gaps) == 0 {
		scanner.notes.isFirst(clean)
	}
	scanner.closeOrWarn(s)
	switch {
	case len(report.Stopped()) > 0:
		return holdsSecret, nil
	case len(report.Gaps) > 0:
		return holdsUnscanned, nil
	}
	return "", nil
}

// WrongTag is a tag that the rule would not make.
type WrongTag struct {
	Ref     name.Ref
	Commit  name.OID
	Why     string // what it holds
	Fetched bool   // the checkpoint was made in another clone, so the tag may be from there
}

// WrongTags returns those of some tags that name a checkpoint of their session and that the rule would not
// make because of what they hold. Any other tag is the user's. unknown counts those whose commits are not here.
func WrongTags(ctx context.Context, s *checkpoint.Service, tags []git.RefValue) (out []WrongTag, unknown int, err error) {
	if s.Settings.TagsPrivate() || s.Store.Private == nil {
		return nil, 0, nil
	}
	for _, r := range tags {
		part, _, _ := strings.Cut(strings.TrimPrefix(string(r.Ref), name.TagRoot), "/")
		session := name.Session(part)
		if !store.IsTag(session, r.Ref) {
			continue
		}
		if !s.Repo.Objects.Batch().Has(r.OID) {
			unknown++
			continue
		}
		c, err := s.Repo.Commits.Read(ctx, string(r.OID))
		if err != nil {
			continue // a tag object, or damaged
		}
		told, err := record.ParseMessage(c.Message)
		if err != nil || told.Session != session {
			continue
		}
		var why string
		got, err := s.Store.Stored(ctx, r.OID)
		if err == nil {
			why, err = secrets(ctx, s, r.OID, got)
		}
		if ctx.Err() != nil {
			return nil, 0, context.Cause(ctx)
		}
		if err != nil {
			why = holdsUnscanned
		}
		if why != "" {
			out = append(out, WrongTag{r.Ref, r.OID, why, isFetched(ctx, s.Store, session, told.ID)})
		}
	}
	return out, unknown, nil
}

// isFetched reports whether a checkpoint was made in another clone.
func isFetched(ctx context.Context, s *store.Store, session name.Session, id name.ID) bool {
	st, err := s.State(ctx, session)
	if err != nil || st.Entry(id) == nil {
		// Only a clone that has not fetched it has neither an event nor a ref of it.
		_, err := s.Repo.Refs.Resolve(ctx, name.CheckpointRef(session, id))
		return err != nil && (st == nil || !st.Dead(id))
	}
	// The id of a linked worktree that is gone is not known any more, so only that of the main
	// worktree is certain.
	main := checkpoint.OwnDir{Path: filepath.Join(s.Repo.CommonDir, "checkpoint")}
	e := st.Entry(id).Event()
	return e.Worktree == "main" && e.WorktreeID != "" && main.Said(checkpoint.WorktreeIDFile) != e.WorktreeID
}
