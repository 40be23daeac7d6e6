// Package transfer writes sessions to files and reads them back.
//
// Export writes a git bundle, or a form for people and programs with the bundle inside. The same
// sessions give the same bytes on every machine.
// ArchiveToWrite reads a session for the writers of other systems' layouts (package
// interop).
//
// Import: Load takes the bundle out of such a file and leaves the rest to
// travel.ImportBundle. Import takes what was read from another
// system's layout and makes checkpoints of it; see import.go.
//
// Everything that leaves the repository passes through the gate in package clearance first.
package transfer

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/core/clearance"
	"git-checkpoint/internal/format/archive"
	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/git"
	"git-checkpoint/internal/storage/lfs"
	"git-checkpoint/internal/storage/remote"
	"git-checkpoint/internal/verb/travel"
)

// ExportRequest holds the options of `export`.
type ExportRequest struct {
	Destination

	Sessions []string // empty: all
	Since    string   // an earlier bundle; what it holds is left out

	Unscanned bool            // objects that could not be scanned for secrets are written, too
	Agree     clearance.Agree // asks whether something private may be in the file; nil: nobody can be asked
}

// Exported is the answer of `export`.
type Exported struct {
	File        string         `json:"file"`
	Format      string         `json:"format"`
	Sessions    []name.Session `json:"sessions"`
	Checkpoints int            `json:"checkpoints"`
	Bytes       int64          `json:"bytes"`
	Needs       []name.OID     `json:"needs,omitempty"` // in a shallow clone: commits that a reader must have
}

// exportBundle is a bundle while it is made: the header, and what the pack has to hold.
type exportBundle struct {
	s       *checkpoint.Service
	header  archive.Header
	without []name.OID // commits that the reader has, from the earlier bundle
	// Commits that the reader must have, because they are not in this shallow clone.
	elsewhere []name.OID
	sessions  []name.Session
	listing   *remote.Listing
	count     int  // the number of checkpoints that are exported
	private   bool // says that a file of a checkpoint was readable by its owner only
	session   map[name.Session]*travel.Joined
}

// Export writes the journals, checkpoints and notes of the sessions to a file: a git bundle, or a tar or JSON lines with
// the bundle inside, which is the only part that an import reads. The same sessions give the same bytes.
func Export(ctx context.Context, s *checkpoint.Service, req ExportRequest, format string) (*Exported, error) {
	p, err := pack(ctx, s, req)
	if err != nil {
		return nil, err
	}
	if format == "bundle" {
		return p.save(ctx, req, format, func(w io.Writer) error { return p.write(ctx, w) })
	}
	var bundle bytes.Buffer
	if err := p.write(ctx, &bundle); err != nil {
		return nil, err
	}
	write := p.lines
	if format == "tar" {
		write = p.tar
	}
	return p.save(ctx, req, format, func(w io.Writer) error { return write(ctx, w, bundle.Bytes()) })
}

// pack decides what the bundle holds. The notes commit is a new object, so in a repository
// that cannot be written a second try keeps new objects in a place of their own, see
// RetryBorrowed.
func pack(ctx context.Context, s *checkpoint.Service, req ExportRequest) (*exportBundle, error) {
	return checkpoint.RetryBorrowed(s, func() (*exportBundle, error) { return packOnce(ctx, s, req) })
}

func packOnce(ctx context.Context, s *checkpoint.Service, req ExportRequest) (*exportBundle, error) {
	p := &exportBundle{s: s, header: archive.Header{Format: s.Repo.Format}, session: map[name.Session]*travel.Joined{}}
	chosen, err := travel.ParseSessions(req.Sessions)
	if err != nil {
		return nil, err
	}
	refs, err := s.Repo.Refs.List(ctx, name.CheckpointRoot)
	if err != nil {
		return nil, err
	}
	p.listing = remote.NewListing()
	for _, r := range refs {
		p.listing.Add(r.Ref, r.OID)
	}
	p.listing.Keep(chosen)
	for session, of := range p.listing.Sessions {
		if of.Archive == "" {
			continue
		}
		if of.Archived, err = s.Store.CheckArchive(ctx, session, of.Archive); err != nil {
			return nil, err
		}
	}
	for _, session := range chosen {
		if p.listing.Sessions[session] == nil {
			return nil, checkpoint.UnknownSessionError(ctx, s.Store, session)
		}
	}
	if p.sessions = p.listing.Names(); len(p.sessions) == 0 {
		return nil, checkpoint.Failure(checkpoint.KindNotFound, "", "there are no sessions to export")
	}
	// What the earlier bundle has is left out of the refs, and its objects out of the pack.
	had, err := earlierBundle(req.Since)
	if err != nil {
		return nil, err
	}
	if err := p.choose(ctx, had); err != nil {
		return nil, err
	}
	if err := p.prove(ctx); err != nil {
		return nil, err
	}
	if err := p.needs(ctx); err != nil {
		return nil, err
	}
	if err := req.Check(archive.IsExport); err != nil {
		return nil, err
	}
	if err := p.mayLeave(ctx, req); err != nil {
		return nil, err
	}
	return p, p.sayOutside(ctx)
}

// prove refuses a checkpoint with a path that a rollback would refuse: unpacking a tar would write it. It
// also notes whether there are private files.
func (p *exportBundle) prove(ctx context.Context) error {
	for _, session := range p.sessions {
		var seen name.OID
		for _, e := range p.entries(session) {
			if rec, err := p.s.Store.Record(ctx, e.Event().Commit); err == nil {
				for _, mode := range rec.Snapshot.Modes {
					p.private = p.private || strings.HasSuffix(mode, "00")
				}
			}
			if err := travel.Writable(ctx, p.s.Store, e.Event().Commit, &seen); err != nil {
				return checkpoint.Failure(checkpoint.KindRefused, "`git checkpoint delete "+string(e.Checkpoint)+"` removes it; `--session` exports others without it",
					"%s of %s is not exported: %v", e.Label, session, err)
			}
		}
	}
	return nil
}

// mayLeave passes the bundle through the clearance gate.
func (p *exportBundle) mayLeave(ctx context.Context, req ExportRequest) error {
	what := clearance.Sending{To: "the export", Tips: p.tips(), Held: p.without, Unscanned: req.Unscanned}
	for _, session := range p.sessions {
		// A journal that cannot be read only costs the labels in the message of a refusal.
		if log, err := p.s.Store.Log(ctx, session); err == nil {
			what.Labels = append(what.Labels, clearance.Holders(log)...)
		}
	}
	private, err := clearance.ToFile(ctx, p.s, what, p.commits(), req.Agree)
	p.private = p.private || private
	return err
}

// commits returns the checkpoints in the bundle.
func (p *exportBundle) commits() (out []name.OID) {
	for _, r := range p.header.Refs {
		session, _, is := name.SplitCheckpointRef(r.Name)
		switch {
		case !is:
		case r.Name == name.ArchiveRef(session):
			out = slices.AppendSeq(out, maps.Values(p.listing.Sessions[session].Archived))
		default:
			out = append(out, r.OID)
		}
	}
	return out
}

// sayOutside warns about files of git-lfs, because an export does not contain their content.
func (p *exportBundle) sayOutside(ctx context.Context) error {
	named, err := lfs.PointersBelow(ctx, p.s.Repo, p.tips(), p.without, false)
	if len(named) > 0 {
		p.s.Store.Warn(fmt.Sprintf("the export has only the pointers of %s of git-lfs, not the content: %s", lfs.Count(named), lfs.Paths(named)))
	}
	return err
}

// earlierBundle returns the refs of an earlier bundle, or none if no file is given.
func earlierBundle(file string) (map[name.Ref]name.OID, error) {
	had := map[name.Ref]name.OID{}
	if file == "" {
		return had, nil
	}
	header, closeFile, _, err := travel.OpenBundle(file)
	// The message names the earlier bundle, because the user gave two files.
	if said, is := errors.AsType[*checkpoint.Error](err); is && said.Kind == checkpoint.KindInvalid {
		return nil, checkpoint.Failure(checkpoint.KindInvalid, "", "read the earlier bundle %q: %v", file, said.Err)
	}
	if err != nil {
		return nil, err
	}
	closeFile()
	for _, r := range header.Refs {
		had[r.Name] = r.OID
	}
	return had, nil
}

// choose lists the refs of the bundle, without those that the earlier bundle has with the
// same value. Dead checkpoints are left out.
func (p *exportBundle) choose(ctx context.Context, had map[name.Ref]name.OID) error {
	add := func(ref name.Ref, oid name.OID) {
		if oid != "" && had[ref] != oid {
			p.header.Refs = append(p.header.Refs, archive.Ref{Name: ref, OID: oid})
		}
	}
	notes := map[string]git.Entry{}
	for _, session := range p.sessions {
		of := p.listing.Sessions[session]
		j, err := travel.JournalOf(ctx, p.s.Store, session)
		if err != nil {
			return err
		}
		p.session[session] = j
		add(name.JournalRef(session), of.Journal)
		add(name.ArchiveRef(session), of.Archive)
		for id, commit := range of.Held() {
			if st := j.Fold(); st != nil && st.Dead(id) {
				continue
			}
			if of.Checkpoints[id] != "" {
				add(name.CheckpointRef(session, id), commit)
			}
			p.count++
			// A record that cannot be read gets no note. The import will report it.
			if blob, err := p.s.Store.RecordBlob(ctx, commit); err == nil {
				// The notes tree uses git's fanout of two digits.
				notes[string(commit[:2])+"/"+string(commit[2:])] = git.Entry{Mode: git.ModeFile, OID: blob}
			}
		}
	}
	if len(notes) > 0 && len(p.header.Refs) > 0 {
		oid, err := p.notes(ctx, notes)
		if err != nil {
			return err
		}
		add(name.NotesRef, oid)
	}
	// The earlier bundle may be from a clone that had more. Only what is here can be
	// excluded.
	for _, oid := range had {
		if travel.Exists(ctx, p.s.Repo, oid) {
			p.without = append(p.without, oid)
		}
	}
	slices.Sort(p.without)
	slices.SortFunc(p.header.Refs, func(a, b archive.Ref) int { return strings.Compare(string(a.Name), string(b.Name)) })
	if len(p.header.Refs) == 0 {
		return checkpoint.Failure(checkpoint.KindNothing, "", "the earlier bundle already has everything")
	}
	return nil
}

// notes writes a notes commit for the exported checkpoints alone. Its date is that of the
// newest event, so that the same sessions give the same bytes on every machine.
func (p *exportBundle) notes(ctx context.Context, entries map[string]git.Entry) (name.OID, error) {
	tree, err := p.s.Repo.Trees.Edit(ctx, "", entries)
	if err != nil {
		return "", err
	}
	by := git.Signature{Name: "git-checkpoint", Email: "git-checkpoint@localhost", When: p.newest().UTC()}
	// Without any event the date is the zero time, which git cannot store. Move it to 1970.
	if by.When.Unix() < 0 {
		by.When = by.When.AddDate(1969, 0, 0)
	}
	return p.s.Repo.Commits.Write(ctx, git.Commit{Tree: tree, Author: by, Committer: by, Message: "checkpoint notes\n"})
}

// needs computes the prerequisites of the bundle: the commits at the boundary to what the
// reader has.
func (p *exportBundle) needs(ctx context.Context) error {
	if err := p.needsOfShallow(ctx); err != nil || len(p.without) == 0 {
		return err
	}
	res, err := p.s.Repo.Run(ctx, git.Cmd{Args: []string{"rev-list", "--boundary", "--stdin"}, Stdin: git.Revisions(p.tips(), p.without)})
	if err != nil {
		return err
	}
	for line := range strings.Lines(string(res.Stdout)) {
		if oid, is := strings.CutPrefix(strings.TrimSpace(line), "-"); is {
			p.header.Needs = append(p.header.Needs, name.OID(oid))
		}
	}
	slices.Sort(p.header.Needs)
	p.header.Needs = slices.Compact(p.header.Needs)
	return nil
}

// needsOfShallow adds the commits at which the history is cut off in a shallow clone: what is
// exported builds on them, and they are not here.
func (p *exportBundle) needsOfShallow(ctx context.Context) error {
	cut, err := p.s.Repo.Commits.Shallow()
	if err != nil || len(cut) == 0 {
		return err
	}
	res, err := p.s.Repo.Run(ctx, git.Cmd{Args: []string{"rev-list", "--stdin"}, Stdin: git.Revisions(p.tips(), p.without)})
	if err != nil {
		return err
	}
	for line := range strings.Lines(string(res.Stdout)) {
		oid := name.OID(strings.TrimSpace(line))
		if !cut[oid] {
			continue
		}
		commit, err := p.s.Repo.Commits.Read(ctx, string(oid))
		if err != nil {
			return err
		}
		missing, err := p.s.Repo.Objects.Batch().Missing(ctx, commit.Parents)
		if err != nil {
			return err
		}
		p.elsewhere = slices.AppendSeq(p.elsewhere, maps.Keys(missing))
	}
	slices.Sort(p.elsewhere)
	p.elsewhere = slices.Compact(p.elsewhere)
	p.header.Needs = slices.Clone(p.elsewhere)
	return nil
}

// tips returns the values of the refs.
func (p *exportBundle) tips() (tips []name.OID) {
	for _, r := range p.header.Refs {
		tips = append(tips, r.OID)
	}
	return tips
}

// write writes the header and the pack. The options make the pack independent of how this
// repository is packed and configured, and of the number of threads, so that the bytes are
// reproducible.
func (p *exportBundle) write(ctx context.Context, w io.Writer) error {
	if _, err := w.Write(p.header.Encode()); err != nil {
		return fmt.Errorf("write bundle: %w", err)
	}
	// One thread and no reuse of deltas: both would make the pack depend on this machine.
	args := []string{"pack-objects", "--revs", "--stdout", "--quiet", "--threads=1", "--no-reuse-delta", "--no-reuse-object", "--delta-base-offset",
		"--window=10", "--depth=50", "--compression=6", "--no-use-bitmap-index"}
	if len(p.without) > 0 {
		// A thin pack may have deltas against objects that the reader has.
		args = append(args, "--thin")
	}
	out := &sized{w: w}
	_, err := p.s.Repo.Run(ctx, git.Cmd{
		Args: args, Config: []string{"pack.useSparse=false", "pack.windowMemory=0", "core.bigFileThreshold=512m", "pack.packSizeLimit=0", "pack.island="},
		Stdin: git.Revisions(p.tips(), p.without), Stdout: out,
	})
	if out.err != nil || ctx.Err() != nil {
		return fmt.Errorf("write bundle: %w", cmp.Or(out.err, err))
	}
	if err != nil {
		return &checkpoint.Error{Kind: checkpoint.KindFailed, Message: "write bundle", Err: err, Hints: []string{
			"if an object here is damaged, `git checkpoint validate --all --deep` names its checkpoint, and `git checkpoint rebuild` brings back what it can",
		}}
	}
	return nil
}
