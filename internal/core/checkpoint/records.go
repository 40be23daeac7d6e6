package checkpoint

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"git-checkpoint/internal/core/workflow"
	"git-checkpoint/internal/format/journal"
	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/format/record"
	"git-checkpoint/internal/git"
	"git-checkpoint/internal/storage/store"
)

// ReadRecord returns the record of a checkpoint. It compares the record with the journal event and
// with the checkpoint commit C, so that a swapped or edited part is detected. With such an error it
// still returns what it read. The message is the newest one, if it was corrected.
func ReadRecord(ctx context.Context, s *store.Store, e *journal.Entry) (*record.Record, error) {
	got, err := ReadStored(ctx, s, e)
	return DescribedBy(e, got.Record), err
}

// DescribedBy returns the record with the corrected message of the checkpoint, if there is one.
func DescribedBy(e *journal.Entry, r *record.Record) *record.Record {
	message := e.Described()
	if message == "" || r == nil {
		return r
	}
	corrected := *r
	corrected.Message = message
	return &corrected
}

// ReadStored is ReadRecord for callers that also need how the record is stored.
func ReadStored(ctx context.Context, s *store.Store, e *journal.Entry) (store.Stored, error) {
	got, err := s.Stored(ctx, e.Event().Commit)
	if err != nil {
		return got, err
	}
	rec := got.Record
	commit, err := s.Repo.Commits.Read(ctx, string(e.Event().Commit))
	switch {
	case err != nil:
	case rec.ID != e.Checkpoint:
		err = fmt.Errorf("its record belongs to %s", rec.ID)
	case e.Event().Record != "" && rec.Checksum != e.Event().Record:
		err = errors.New("its record is not the one that the journal names")
	case rec.Snapshot.Tree == "" && commit.Tree == git.HashObject(s.Repo.Format, "tree", nil): // a checkpoint without files has the empty tree
	case rec.Snapshot.Tree != commit.Tree:
		err = fmt.Errorf("its record names the tree %s, but its commit has the tree %s", rec.Snapshot.Tree, commit.Tree)
	}
	return got, err
}

// CorruptError returns the error for a checkpoint that cannot be read, with ways out as hints: the
// last checkpoint before it that is valid, and a rebuild. A workflow's own message for "corrupt" comes
// first. No hint says to delete it: something of it may still be readable.
func (s *Rules) CorruptError(ctx context.Context, st *journal.State, e *journal.Entry, err error) error {
	if ctx.Err() != nil { // the time was up; that says nothing about the checkpoint
		return err
	}
	known := &Error{Kind: KindInvalid, Message: fmt.Sprintf("checkpoint %s cannot be read", CalledBy(e)), Err: err}
	if isLater(err) {
		known.Hints = []string{newerReads}
		return known
	}
	last := lastValid(ctx, s.Store, st, e)
	if last != nil {
		known.Hints = append(known.Hints, fmt.Sprintf("`git checkpoint rollback %s` goes back to %s, the last valid one", TypedName(st, last), Said(ctx, s.Store, st, last)))
	}
	if to := RewrittenTo(ctx, s.Repo, st.Session, e); to != "" {
		known.Err = fmt.Errorf("history was rewritten: %s is gone, and its ref is at %s now", e.Event().Commit.Short(), to.Short())
		known.Hints = append(known.Hints, RewrittenHint(s.Repo, st.Session, e.Checkpoint))
		return known
	}
	if trace := RewriteTrace(s.Repo); trace != "" {
		known.Hints = append(known.Hints, "a tool rewrote the history of this repository ("+trace+"): `git checkpoint rebuild --all` adopts what it made of the checkpoints, or says what to type")
	}
	brings := "brings back its files, topic and metrics, but not its state; an undamaged copy in a clone or remote still has that"
	if _, unread := ReadRecord(ctx, s.Store, e); unread == nil {
		brings = "takes what is missing from the worktree if it is there; an undamaged copy in a clone or remote still has it"
	}
	known.Hints = append(known.Hints, "`git checkpoint rebuild "+string(e.Checkpoint)+"` "+brings)
	if def, defErr := s.DefinitionFor(ctx, st); defErr == nil {
		said := map[string]any{"session": string(st.Session), "workflow": def.Name, "label": e.Label, "id": string(e.Checkpoint), "step": e.Step, "step_name": e.Event().StepName, "error": err.Error()}
		if last != nil {
			said["last_valid"] = last.Label
		}
		known.Hints = append(OwnWords(def, "corrupt", said), known.Hints...)
	}
	return known
}

// lastValid returns the newest live checkpoint before e whose record can be read. It gives up and
// returns nil after mostLenders damaged ones.
func lastValid(ctx context.Context, s *store.Store, st *journal.State, e *journal.Entry) *journal.Entry {
	looked := 0
	for i, c := range st.Backward() {
		if !c.Live || i >= e.Place {
			continue
		}
		if _, err := ReadRecord(ctx, s, st.At(i)); err == nil {
			return st.At(i)
		}
		if looked++; looked == mostLenders {
			break
		}
	}
	return nil
}

// DamagedError is CorruptError without the search for a valid checkpoint: its hint names what helps
// in any case.
func DamagedError(e *journal.Entry, err error) error {
	if errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled) {
		return err
	}
	hint := "`git checkpoint rebuild " + string(e.Checkpoint) + "` says what became of it, and brings back what it can; `git checkpoint rollback` goes back to an older one"
	if isLater(err) {
		hint = newerReads
	}
	return &Error{Kind: KindInvalid, Message: fmt.Sprintf("checkpoint %s cannot be read", CalledBy(e)), Err: err, Hints: []string{hint}}
}

// newerReads is the only hint for a record of a later format. The hints for damage would destroy a
// checkpoint that is whole.
const newerReads = "it is not damaged: a newer git-checkpoint made it, and can read it"

// isLater reports whether err says that a record has a later format than this program knows.
func isLater(err error) bool { return isA[*record.FormatError](err) }

// VerifyObjects returns an error if an object that the commit reaches is missing or cannot be
// opened. Objects that HEAD's commit also reaches are not looked at: they are the user's history,
// and checking all of it would take long.
func VerifyObjects(ctx context.Context, repo *git.Repo, commit name.OID) error {
	args := []string{"rev-list", "--objects", "--no-object-names", string(commit)}
	if repo.Head.OID != "" {
		args = append(args, "^"+string(repo.Head.OID))
	}
	listed, err := repo.Run(ctx, git.Cmd{Args: append(args, "--")})
	// A positive exit code means that git found damage. Its first line names the object.
	if failed, is := errors.AsType[*git.Error](err); is && failed.Code >= 0 {
		first, _, _ := strings.Cut(strings.TrimSpace(failed.Stderr), "\n")
		return errors.New(strings.TrimPrefix(first, "fatal: "))
	}
	if err != nil {
		return err
	}
	objects := strings.Fields(string(listed.Stdout))
	return repo.Objects.Batch().Info(ctx, objects, func(i int, _ git.Object, err error) error {
		if err != nil {
			return fmt.Errorf("object %s: %w", name.OID(objects[i]).Short(), err)
		}
		return nil
	})
}

// UnknownSince explains a failed comparison with the tree of a checkpoint. If that tree cannot be
// read, it returns a warning that says so. It returns "" if the tree is whole, because then the
// comparison failed for another reason.
func UnknownSince(ctx context.Context, repo *git.Repo, label string, tree name.OID) string {
	if _, err := repo.Trees.Diff(ctx, "", tree); err == nil || ctx.Err() != nil {
		return ""
	}
	return fmt.Sprintf("%s: the tree of its files (%s) cannot be read, so it is unknown what changed since; `git checkpoint rebuild %s` says what can be repaired", label, tree, label)
}

// Attempts is how often an operation is tried when a concurrent git gc removes objects while they
// arrive.
const Attempts = 3

// Vanished reports whether a transaction failed because objects disappeared while the refs that
// need them were written, and the refs were removed again. Nothing is left behind then, so the
// operation can be tried again.
func Vanished(err error) bool {
	missing, is := errors.AsType[*store.MissingObjectsError](err)
	return is && missing.TakenBack
}

// OwnWords returns the lines of a workflow's message for a moment, or none if the message is that of
// the default workflow: these are printed by the program itself, which adds colors and columns.
// The message may refer to the values.
func OwnWords(d *workflow.Definition, moment string, values map[string]any) []string {
	if words, has := d.Messages[moment]; !has || words == workflow.Default().Messages[moment] {
		return nil
	}
	return strings.Split(d.Message(moment, values), "\n")
}
