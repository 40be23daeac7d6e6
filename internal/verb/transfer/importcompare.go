package transfer

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
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
)

// comparison verifies that the readable part of a tar or JSON lines file says the same as
// the bundle inside. Only the bundle is imported, so a person who reviewed the readable
// part would otherwise approve something else. The bundle's objects are in the repository
// by then. Members may be missing, since an older version may have written fewer, but those
// that exist must match exactly.
type comparison struct {
	s      *checkpoint.Service
	came   *remote.Listing
	states map[name.Session]*journal.State // by the journals in the bundle
	events map[name.OID]*journal.Event     // of these sessions
	// The checkpoint at hand, as a directory, and its members with their blobs: a tar has
	// all of one before the next.
	last string
	has  map[string]bool
}

// maxManifest bounds a manifest in bytes, since it is read as a whole.
const maxManifest = 64 << 20

// session returns the session from the bundle. If the bundle was made with --since and has
// nothing new of the session, the journal in this repository is used.
func (c *comparison) session(ctx context.Context, text string) (*journal.State, error) {
	in, err := name.ParseSession(text)
	if err != nil || c.states[in] != nil {
		return c.states[in], err
	}
	tip := c.came.Session(in).Journal
	if tip == "" {
		// Nothing of it is here or in the bundle, so nothing could be compared.
		if tip, err = c.s.Tip(ctx, in); err != nil || tip == "" {
			return nil, cmp.Or(err, fmt.Errorf("the bundle has no session %q", in))
		}
	}
	log, err := c.s.Store.LogAt(ctx, tip, nil)
	if err != nil {
		return nil, err
	}
	c.states[in] = log.Fold()
	for _, e := range log.Events() {
		c.events[e.OID] = e
	}
	return c.states[in], nil
}

// commitOf returns the commit of a checkpoint in the journal.
func commitOf(st *journal.State, id string) (name.OID, error) {
	parsed, err := name.ParseID(id)
	if err != nil {
		return "", err
	}
	e := st.Entry(parsed)
	if e == nil || e.Dead {
		return "", fmt.Errorf("the bundle has no checkpoint %s in session %q", parsed, st.Session)
	}
	return e.Event().Commit, nil
}

// line compares one JSON line, by its type. in is the session that it has to be of; empty: any.
func (c *comparison) line(ctx context.Context, in, kind string, line []byte) error {
	// Go's JSON decoder replaces invalid bytes silently, so two different texts could compare as
	// equal.
	if !utf8.Valid(line) {
		return errors.New("it is not UTF-8")
	}
	if _, err := record.ParseJSON(line, record.Limits{Size: maxManifest, Values: maxManifest}); err != nil {
		return err
	}
	said, err := membersOf(line)
	if err != nil || kind == "bundle" {
		return err
	}
	delete(said, "type")
	text := func(member string) string {
		value, _ := said[member].(string)
		return value
	}
	if in != "" && text("session") != in {
		return fmt.Errorf("it is not of session %q", in)
	}
	st, err := c.session(ctx, text("session"))
	if err != nil {
		return err
	}
	var exported any
	switch kind {
	case "session":
		delete(said, "active") // depends on the worktree
		exported = session.ManifestOf(st)
	case "event":
		e := c.events[name.OID(text("oid"))]
		if e == nil || e.Session != st.Session {
			return fmt.Errorf("the bundle has no event %q in session %q", name.Clip(text("oid"), name.Said), st.Session)
		}
		exported = inspect.LineOf(e)
	case "checkpoint":
		commit, err := commitOf(st, text("id"))
		if err != nil {
			return err
		}
		if exported, err = detailOf(ctx, c.s, commit); err != nil {
			return err
		}
	default:
		return fmt.Errorf("an export has no lines of type %q", name.Clip(kind, name.Said))
	}
	return agrees(said, exported, kind == "checkpoint") // a checksum covers all its members
}

// agrees returns an error that names the first member which an export would write
// differently, or that is missing if all have to be there.
func agrees(said map[string]any, value any, all bool) error {
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
	for member := range meant {
		if _, there := said[member]; !there && all {
			return fmt.Errorf("%q is missing", member)
		}
	}
	return nil
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
	st, err := c.session(ctx, in)
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
		return c.line(ctx, in, "session", text)
	case rest == "history.jsonl":
		return archive.ReadLines(bufio.NewReader(content), func(kind string, line []byte) error { return c.line(ctx, in, kind, line) })
	}
	id, file, _ := strings.Cut(rest, "/")
	if at := in + "/" + id; c.last != at {
		commit, err := commitOf(st, id)
		if err != nil {
			return err
		}
		members, _, err := tarMembers(ctx, c.s, commit)
		if err != nil {
			return err
		}
		c.last, c.has = at, map[string]bool{}
		for _, t := range members {
			c.has[t.path+"\x00"+string(t.oid)] = true
		}
	}
	if m.Dir {
		return nil
	}
	// One path may have several blobs: names that are not UTF-8 can become equal in a tar.
	oid, err := git.HashBlob(c.s.Repo.Format, m.Size, content)
	if err == nil && !c.has[file+"\x00"+string(oid)] {
		err = errors.New("the bundle has no such file, or one with other contents")
	}
	return err
}
