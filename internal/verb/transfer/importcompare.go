package transfer

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"
	"unicode/utf8"

	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/format/archive"
	"git-checkpoint/internal/format/journal"
	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/format/record"
	"git-checkpoint/internal/git"
	"git-checkpoint/internal/storage/remote"
	"git-checkpoint/internal/verb/inspect"
	"git-checkpoint/internal/verb/session"
	"git-checkpoint/internal/verb/travel"
)

// comparison verifies that the readable part of a tar or JSON lines file says the same as
// the bundle inside. Only the bundle is imported, so a person who reviewed the readable
// part would otherwise approve something else. The bundle's objects are in the repository
// by then. Members may be missing, since an older version may have written fewer, but those
// that exist must match exactly.
type comparison struct {
	s        *checkpoint.Service
	came     *remote.Listing
	sessions map[name.Session]*compared
}

// compared is one session with the journal from the bundle.
type compared struct {
	state  *journal.State
	events map[name.OID]*journal.Event
	// The checkpoint at hand: a tar has all members of one before the next.
	last *tarred
}

// tarred lists the members that a tar has of one checkpoint: paths below its directory,
// with blobs.
type tarred struct {
	id    name.ID
	blobs map[string][]name.OID
}

// maxManifest bounds a manifest in bytes, since it is read as a whole.
const maxManifest = 64 << 20

// session returns the session from the bundle. If the bundle was made with --since and has
// nothing new of the session, the journal in this repository is used.
func (c *comparison) session(ctx context.Context, text string) (*compared, error) {
	in, err := name.ParseSession(text)
	if err != nil {
		return nil, err
	}
	if known := c.sessions[in]; known != nil {
		return known, nil
	}
	known := &compared{events: map[name.OID]*journal.Event{}}
	if tip := c.came.Session(in).Journal; tip != "" {
		log, err := c.s.Store.LogAt(ctx, tip, nil)
		if err != nil {
			return nil, err
		}
		known.state = log.Fold()
	} else if j, err := travel.JournalOf(ctx, c.s, in); err != nil {
		return nil, err
	} else if known.state = j.Fold(); known.state == nil {
		// Nothing of it is here or in the bundle, so nothing could be compared.
		return nil, fmt.Errorf("the bundle has no session %q", in)
	}
	for _, e := range known.state.Events() {
		known.events[e.OID] = e
	}
	c.sessions[in] = known
	return known, nil
}

// commit returns the commit of a checkpoint in the journal.
func (k *compared) commit(id string) (name.OID, error) {
	parsed, err := name.ParseID(id)
	if err != nil {
		return "", err
	}
	e := k.state.Entry(parsed)
	if e == nil || e.Dead {
		return "", fmt.Errorf("the bundle has no checkpoint %s in session %q", parsed, k.state.Session)
	}
	return e.Event().Commit, nil
}

// line compares one JSON line, by its type.
func (c *comparison) line(ctx context.Context, kind string, line []byte) error {
	// Go's JSON decoder replaces invalid bytes silently, so two different texts could compare as
	// equal.
	if !utf8.Valid(line) {
		return errors.New("it is not UTF-8")
	}
	said, err := strictly(line)
	if err != nil || kind == "bundle" {
		return err
	}
	delete(said, "type")
	in, _ := said["session"].(string)
	known, err := c.session(ctx, in)
	if err != nil {
		return err
	}
	switch kind {
	case "session":
		return manifestAgrees(known, said)
	case "event":
		oid, _ := said["oid"].(string)
		e := known.events[name.OID(oid)]
		if e == nil {
			return fmt.Errorf("the bundle has no event %q in session %q", name.Clip(oid, name.Said), in)
		}
		return agrees(said, inspect.LineOf(e))
	case "checkpoint":
		return c.recordAgrees(ctx, known, said)
	}
	return fmt.Errorf("an export has no lines of type %q", name.Clip(kind, name.Said))
}

// manifestAgrees compares a manifest except for "active", which depends on the worktree.
func manifestAgrees(known *compared, said map[string]any) error {
	delete(said, "active")
	return agrees(said, session.ManifestOf(known.state))
}

// recordAgrees compares a record. Unlike elsewhere no member may be missing, as a checksum
// covers all.
func (c *comparison) recordAgrees(ctx context.Context, known *compared, said map[string]any) error {
	id, _ := said["id"].(string)
	commit, err := known.commit(id)
	if err != nil {
		return err
	}
	got, err := c.s.Store.Stored(ctx, commit)
	if err != nil {
		return err
	}
	sealed, err := membersOf(got.Raw)
	if err != nil {
		return err
	}
	// The checksum of a record covers every member.
	for member := range sealed {
		if _, there := said[member]; !there {
			return fmt.Errorf("%q is missing", member)
		}
	}
	return agrees(said, &checkpoint.Detail{Record: got.Record, Raw: got.Raw, Commit: commit, Ref: name.CheckpointRef(known.state.Session, got.Record.ID)})
}

// agrees returns an error that names the first member which an export would write
// differently.
func agrees(said map[string]any, value any) error {
	text, err := json.Marshal(value)
	if err != nil {
		return err
	}
	meant, err := membersOf(text)
	if err != nil {
		return err
	}
	for member, is := range said {
		if would, there := meant[member]; !there || !reflect.DeepEqual(is, would) {
			return fmt.Errorf("%q is not what the bundle says", name.Clip(member, name.Said))
		}
	}
	return nil
}

// strictly is membersOf for text from outside.
func strictly(text []byte) (map[string]any, error) {
	if _, err := record.ParseJSON(text, record.Limits{Size: maxManifest, Values: maxManifest}); err != nil {
		return nil, err
	}
	return membersOf(text)
}

// membersOf decodes a JSON object. Numbers keep their digits, so that they compare exactly.
func membersOf(object []byte) (map[string]any, error) {
	var members map[string]any
	d := json.NewDecoder(bytes.NewReader(object))
	d.UseNumber()
	err := d.Decode(&members)
	return members, err
}

// member compares one member of a tar, and puts its name into an error.
func (c *comparison) member(ctx context.Context, m archive.Member, content io.Reader) error {
	if m.Name == archive.BundleMember && !m.Dir || m.Dir && m.Name == "." {
		return nil
	}
	err := c.compareMember(ctx, m, content)
	if err != nil {
		return fmt.Errorf("%q: %w", name.Clip(m.Name, name.Said), err)
	}
	return nil
}

// compareMember finds the session and the checkpoint by the member's path, and compares the
// content.
func (c *comparison) compareMember(ctx context.Context, m archive.Member, content io.Reader) error {
	in, rest, _ := strings.Cut(m.Name, "/")
	known, err := c.session(ctx, in)
	if err != nil || m.Dir && rest == "" {
		return err
	}
	switch {
	case m.Dir:
	case rest == "manifest.json":
		text, err := io.ReadAll(io.LimitReader(content, maxManifest+1))
		if err != nil {
			return err
		}
		said, err := strictly(text)
		if err != nil {
			return err
		}
		return manifestAgrees(known, said)
	case rest == "history.jsonl":
		return archive.ReadLines(bufio.NewReader(content), func(kind string, line []byte) error { return c.line(ctx, kind, line) })
	}
	id, file, _ := strings.Cut(rest, "/")
	// The members of a checkpoint follow one another, so its lists are kept until the next
	// one begins.
	if known.last == nil || string(known.last.id) != id {
		if known.last, err = c.tarred(ctx, known, id); err != nil {
			return err
		}
	}
	if m.Dir {
		return nil
	}
	oid, err := git.HashBlob(c.s.Repo.Format, m.Size, content)
	// A file matches if any blob of that path has its content.
	if err == nil && !slices.Contains(known.last.blobs[file], oid) {
		err = errors.New("the bundle has no such file, or one with other contents")
	}
	return err
}

// tarred lists the members that an export would write for a checkpoint. One path may have
// several blobs: names that are not UTF-8 can become equal in a tar.
func (c *comparison) tarred(ctx context.Context, known *compared, id string) (*tarred, error) {
	commit, err := known.commit(id)
	if err != nil {
		return nil, err
	}
	rec, err := c.s.Store.Record(ctx, commit)
	if err != nil {
		return nil, err
	}
	blob, err := c.s.Store.RecordBlob(ctx, commit)
	if err != nil {
		return nil, err
	}
	t := &tarred{id: rec.ID, blobs: map[string][]name.OID{"record.json": {blob}}}
	for output, o := range rec.Outputs {
		t.blobs["outputs/"+output] = []name.OID{o.OID}
	}
	at, err := c.s.Repo.Commits.Read(ctx, string(commit))
	if err != nil {
		return nil, err
	}
	files, err := c.s.Repo.Trees.Diff(ctx, "", at.Tree)
	if err != nil {
		return nil, err
	}
	for _, f := range files {
		path := memberPath(f.Path)
		t.blobs[path] = append(t.blobs[path], f.New.OID)
	}
	return t, nil
}
