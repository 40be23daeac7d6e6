package transfer

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"git-checkpoint/internal/checkpoint"
	"git-checkpoint/internal/clearance"
	"git-checkpoint/internal/inspect"
	"git-checkpoint/internal/journal"
	"git-checkpoint/internal/name"
	"git-checkpoint/internal/record"
	"git-checkpoint/internal/store"
)

// Archive is a session as a whole, for whoever writes it in another system's layout.
type Archive struct {
	Session   name.Session
	Workflow  string // the built-in one, where the session's is a copy of it
	Topic     string
	Branch    string // short name; empty: none
	Status    string
	CreatedAt time.Time
	UpdatedAt time.Time
	// ChangedAt is UpdatedAt without what only an import said.
	ChangedAt   time.Time
	Current     name.ID
	Checkpoints []Archived       // in the order of the journal; neither dead ones nor safety checkpoints
	Rollbacks   []ArchivedReturn // without those that an import derived
	Events      []inspect.HistoryLine
	Gone        []string // keys of imported checkpoints that were pruned
	Touched     bool     // something happened to it here
	Problems    []string // checkpoints that could not be read, and why
}

// Archived is one checkpoint with all that its record commit holds.
type Archived struct {
	Record    *record.Record
	Raw       json.RawMessage
	Commit    name.OID
	Live      bool
	Discarded bool
	Pinned    bool
	Outputs   map[string][]byte
	Import    *ImportSource // nil: it was made here
}

// ImportSource is what a checkpoint was imported from.
type ImportSource struct {
	Format, Key, Path string
	Files             map[string][]byte
}

// ArchivedReturn is a rollback or undo. Imported ones have labels where no checkpoint is.
type ArchivedReturn struct {
	From, To           name.ID
	FromLabel, ToLabel string
	At                 time.Time
	Reason             string
	Imported           bool
}

// SessionNames lists the sessions, sorted.
func SessionNames(ctx context.Context, s *checkpoint.Service) ([]name.Session, error) {
	infos, _, err := s.Store.Sessions(ctx)
	if err != nil {
		return nil, checkpoint.Classify(err)
	}
	var out []name.Session
	for _, info := range infos {
		out = append(out, info.Session)
	}
	return out, nil
}

// ArchiveToWrite reads a session for whoever writes it outside of this repository. The
// guard looks at its records, states, outputs and imported files; files of the worktree
// are in no layout.
func ArchiveToWrite(ctx context.Context, s *checkpoint.Service, session name.Session, unscanned clearance.Unscanned) (*Archive, error) {
	a, err := ReadArchive(ctx, s, session)
	if err != nil {
		return nil, err
	}
	what := clearance.Sending{To: "files of another layout", Unscanned: unscanned, Within: func(path string) bool {
		top, _, _ := strings.Cut(path, "/")
		return top == "checkpoint.json" || top == "outputs" || top == "import"
	}}
	for _, c := range a.Checkpoints {
		what.Labels = append(what.Labels, clearance.Holder{Commit: c.Commit, Label: c.Record.Label})
		if m, err := s.Store.RecordCommit(ctx, c.Commit); err == nil {
			what.Tips = append(what.Tips, m)
		}
	}
	return a, clearance.MayLeave(ctx, s, what)
}

// ReadArchive reads a session. What cannot be read of it is told in Problems.
func ReadArchive(ctx context.Context, s *checkpoint.Service, session name.Session) (*Archive, error) {
	st, err := s.State(ctx, session)
	if err != nil {
		return nil, err
	}
	a := &Archive{
		Session: session, Workflow: st.Workflow, Topic: st.Topic, Branch: shortBranch(st.Branch), Status: st.Status,
		CreatedAt: st.CreatedAt, UpdatedAt: st.UpdatedAt, ChangedAt: changedAt(st), Current: st.Current,
	}
	if a.Status == "" {
		a.Status = checkpoint.StatusOpen
	}
	if d, err := s.DefinitionOf(ctx, session); err == nil && st.Workflow != "" && d.Origin() != "" {
		a.Workflow = d.Origin()
	}
	for _, e := range st.Checkpoints() {
		if e.Dead {
			if key := checkpoint.Trailer(e.Event(), checkpoint.TrailerKey); key != "" {
				a.Gone = append(a.Gone, key)
			}
			continue
		}
		if e.Safety {
			continue
		}
		c, err := archived(ctx, s, e)
		if err != nil {
			if ctx.Err() != nil {
				return nil, checkpoint.Classify(err)
			}
			a.Problems = append(a.Problems, checkpoint.DamagedError(e, err).Error())
			continue
		}
		a.Checkpoints = append(a.Checkpoints, c)
	}
	for _, e := range st.Rollbacks {
		if checkpoint.Trailer(e, checkpoint.TrailerDerived) == "" {
			a.Rollbacks = append(a.Rollbacks, ArchivedReturn{
				From: e.From, To: e.To, FromLabel: e.FromLabel, ToLabel: e.ToLabel, At: e.Time, Reason: e.Reason,
				Imported: checkpoint.Trailer(e, checkpoint.TrailerFormat) != "",
			})
		}
	}
	for _, e := range st.Events() {
		a.Events = append(a.Events, inspect.LineOf(e))
		a.Touched = a.Touched || touches(e)
	}
	return a, nil
}

func shortBranch(ref string) string {
	const heads = "refs/heads/"
	if len(ref) > len(heads) && ref[:len(heads)] == heads {
		return ref[len(heads):]
	}
	return ""
}

// touches reports whether something happened here that another layout would show.
func touches(e *journal.Event) bool {
	switch e.Kind {
	case journal.KindStart, journal.KindImport, journal.KindResume, journal.KindPin, journal.KindUnpin:
		return false
	}
	return checkpoint.Trailer(e, checkpoint.TrailerFormat) == ""
}

// changedAt is when something last happened to the session in its own time.
func changedAt(st *journal.State) time.Time {
	var at time.Time
	for _, e := range st.Events() {
		if e.Kind != journal.KindImport && checkpoint.Trailer(e, checkpoint.TrailerDerived) == "" && e.Time.After(at) {
			at = e.Time
		}
	}
	return at
}

func archived(ctx context.Context, s *checkpoint.Service, e *journal.Entry) (Archived, error) {
	rec, raw, m, err := s.ReadRecord(ctx, e)
	if err != nil {
		return Archived{}, err
	}
	c := Archived{
		Record: rec, Raw: raw, Commit: e.Event().Commit, Live: e.Live, Discarded: e.Discarded, Pinned: e.Pinned, Outputs: map[string][]byte{},
	}
	for n := range rec.Outputs {
		if c.Outputs[n], err = s.Store.Output(ctx, m, n); err != nil {
			return c, err
		}
	}
	told, ok := rec.Extra[memberImported]
	if !ok {
		return c, nil
	}
	var im importedMember
	if json.Unmarshal(told, &im) != nil {
		return c, nil //nolint:nilerr // somebody else's member of that name
	}
	c.Import = &ImportSource{Format: im.Format, Key: im.Key, Path: im.Path, Files: map[string][]byte{}}
	for n := range im.Files {
		content, err := s.Store.Imported(ctx, m, n)
		if err != nil {
			return c, fmt.Errorf("read what it was imported from: %w", err)
		}
		c.Import.Files[n] = content
	}
	return c, nil
}

// Session is the name of a session that is known to be one.
func Session(s string) name.Session { return name.Session(s) }

// MadeHere reports whether a session has checkpoints that were not imported.
func MadeHere(ctx context.Context, s *checkpoint.Service, session string) (bool, error) {
	st, err := s.Store.State(ctx, name.Session(session))
	if errors.Is(err, store.ErrNoSession) {
		return false, nil
	}
	if err != nil {
		return false, checkpoint.Classify(err)
	}
	for _, e := range st.Checkpoints() {
		if !e.Dead && !e.Safety && checkpoint.Trailer(e.Event(), checkpoint.TrailerDigest) == "" {
			return true, nil
		}
	}
	return false, nil
}

// ForeignSettings translates the configuration file of another system, and names what has no
// meaning here; it sets nothing.
func ForeignSettings(s *checkpoint.Service, workflow string, document json.RawMessage, origin string) (settings []checkpoint.Setting, unused []string, err error) {
	def, err := s.Definition(workflow)
	if err != nil {
		return nil, nil, err
	}
	found, err := def.Configuration(document)
	settings = []checkpoint.Setting{}
	for _, kv := range found.Settings {
		settings = append(settings, checkpoint.Setting{Key: kv.Key, Value: kv.Value, Origin: origin})
	}
	return settings, found.Unused, err
}
