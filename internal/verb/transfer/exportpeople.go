package transfer

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strconv"
	"strings"
	"time"

	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/format/archive"
	"git-checkpoint/internal/format/journal"
	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/format/record"
	"git-checkpoint/internal/git"
	"git-checkpoint/internal/storage/store"
	"git-checkpoint/internal/verb/create"
	"git-checkpoint/internal/verb/inspect"
	"git-checkpoint/internal/verb/session"
)

// tar writes a manifest and a history per session, and the record, outputs and files of each checkpoint. The bundle is
// the first member, so a reader finds it without unpacking the rest.
func (p *exportBundle) tar(ctx context.Context, w io.Writer, bundle []byte) error {
	t := archive.NewWriter(w)
	if err := t.File(archive.BundleMember, 0o644, p.newest(), bundle); err != nil {
		return err
	}
	for _, session := range p.sessions {
		if err := p.tarSession(ctx, t, session); err != nil {
			return err
		}
	}
	return t.Close()
}

// newest returns the time of the newest event. Members of an export have the times of their
// content and not of the clock, so that the bytes are reproducible.
func (p *exportBundle) newest() time.Time {
	var at time.Time
	for _, j := range p.session {
		if st := j.Fold(); st != nil && st.UpdatedAt.After(at) {
			at = st.UpdatedAt
		}
	}
	return at
}

// entries returns the checkpoints of a session that are exported, in the order of the
// journal.
func (p *exportBundle) entries(session name.Session) []*journal.Entry {
	st := p.session[session].Fold()
	if st == nil {
		return nil
	}
	held := p.listing.Sessions[session].Held()
	return slices.DeleteFunc(slices.Clone(st.Checkpoints()), func(e *journal.Entry) bool {
		return e.Dead || held[e.Checkpoint] != e.Event().Commit
	})
}

// tarSession writes <session>/manifest.json, <session>/history.jsonl and a directory per
// checkpoint.
func (p *exportBundle) tarSession(ctx context.Context, t *archive.Writer, in name.Session) error {
	st := p.session[in].Fold()
	if st == nil {
		return nil
	}
	manifest, err := json.MarshalIndent(session.ManifestOf(st), "", "  ")
	if err != nil {
		return err
	}
	if err := t.File(string(in)+"/manifest.json", 0o644, st.UpdatedAt, append(manifest, '\n')); err != nil {
		return err
	}
	var history bytes.Buffer
	if err := writeEvents(&history, st); err != nil {
		return err
	}
	if err := t.File(string(in)+"/history.jsonl", 0o644, st.UpdatedAt, history.Bytes()); err != nil {
		return err
	}
	for _, e := range p.entries(in) {
		if err := p.tarCheckpoint(ctx, t, in, e); err != nil {
			return fmt.Errorf("export %s: %w", e.Label, err)
		}
	}
	return nil
}

// writeEvents writes a line for each event of a session.
func writeEvents(w io.Writer, st *journal.State) error {
	for _, e := range st.Events() {
		if err := writeLine(w, "event", inspect.LineOf(e)); err != nil {
			return err
		}
	}
	return nil
}

// tarCheckpoint writes the record, the outputs and the files of a checkpoint. A symbolic link becomes a
// file with its target as content, so that unpacking the tar cannot write outside of it.
func (p *exportBundle) tarCheckpoint(ctx context.Context, t *archive.Writer, session name.Session, e *journal.Entry) error {
	got, err := p.s.Store.Stored(ctx, e.Event().Commit)
	if err != nil {
		return err
	}
	rec, dir := got.Record, string(session)+"/"+string(e.Checkpoint)+"/"
	add := func(member string, oid name.OID, mode fs.FileMode) error {
		blob, err := p.s.Repo.Objects.Batch().Typed(ctx, string(oid), "blob")
		if err != nil {
			return err
		}
		return t.File(dir+member, mode, rec.CreatedAt, blob.Data)
	}
	if err := t.File(dir+"record.json", 0o644, rec.CreatedAt, got.Raw); err != nil {
		return err
	}
	for _, output := range create.SortedKeys(rec.Outputs) {
		if err := add("outputs/"+output, rec.Outputs[output].OID, 0o644); err != nil {
			return err
		}
	}
	tree, err := p.s.Repo.Commits.TreeOf(ctx, e.Event().Commit)
	if err != nil {
		return err
	}
	files, err := p.s.Repo.Trees.Diff(ctx, "", tree)
	for _, f := range files {
		// A repository inside the worktree is not part of the checkpoint, only its HEAD is. Names in a tar are UTF-8.
		if err == nil && f.New.Mode != git.ModeGitlink {
			err = add("files/"+strings.ToValidUTF8(f.Path, "\uFFFD"), f.New.OID, permissions(f, rec))
		}
	}
	return err
}

// permissions returns the file mode of a tar's member. git records only whether a file is executable; a
// record may take rights away from that, and never adds any.
func permissions(f git.Change, rec *record.Record) fs.FileMode {
	usual := fs.FileMode(0o644)
	if f.New.Mode == git.ModeExec {
		usual = 0o755
	}
	if bits, err := strconv.ParseUint(rec.Snapshot.Modes[record.Path(f.Path)], 8, 12); err == nil {
		return usual & fs.FileMode(bits)
	}
	return usual
}

// lines writes JSON lines for other programs: a line per session, event and checkpoint, and at the end
// the bundle in base64.
func (p *exportBundle) lines(ctx context.Context, w io.Writer, bundle []byte) error {
	for _, in := range p.sessions {
		st := p.session[in].Fold()
		if st == nil {
			continue
		}
		if err := writeLine(w, "session", session.ManifestOf(st)); err != nil {
			return err
		}
		if err := writeEvents(w, st); err != nil {
			return err
		}
		for _, e := range p.entries(in) {
			d, err := detailOf(ctx, p.s.Store, e.Event().Commit)
			if err != nil {
				return fmt.Errorf("export %s: %w", e.Label, err)
			}
			if err := writeLine(w, "checkpoint", d); err != nil {
				return err
			}
		}
	}
	return archive.WriteBundleLines(w, bytes.NewReader(bundle))
}

// detailOf returns a checkpoint as the lines have it.
func detailOf(ctx context.Context, s *store.Store, commit name.OID) (*checkpoint.Detail, error) {
	got, err := s.Stored(ctx, commit)
	if err != nil {
		return nil, err
	}
	return &checkpoint.Detail{Record: got.Record, Raw: got.Raw, Commit: commit, Ref: name.CheckpointRef(got.Record.Session, got.Record.ID)}, nil
}

// writeLine writes a JSON object on one line, with its type as the first member.
func writeLine(w io.Writer, kind string, value any) error {
	text, err := json.Marshal(value)
	if err != nil {
		return err
	}
	var line bytes.Buffer
	if err := json.Compact(&line, text); err != nil {
		return err
	}
	_, err = fmt.Fprintf(w, "{\"type\":%q,%s\n", kind, line.Bytes()[1:])
	return err
}
