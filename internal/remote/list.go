package remote

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"git-checkpoint/internal/git"
	"git-checkpoint/internal/name"
)

// Listing is what a remote had when it was read, by our names.
type Listing struct {
	Sessions map[name.Session]*Session
	Notes    name.OID
	Tags     map[name.Ref]name.OID
}

// Session is one session's refs in some repository.
type Session struct {
	Journal, Archive name.OID
	Checkpoints      map[name.ID]name.OID // that have a ref of their own
	Archived         map[name.ID]name.OID // that the archive holds, as far as that was read
}

// Held are the checkpoints that are there, by a ref or in the archive.
func (s *Session) Held() map[name.ID]name.OID {
	if len(s.Archived) == 0 {
		return s.Checkpoints
	}
	all := maps.Clone(s.Archived)
	maps.Copy(all, s.Checkpoints)
	return all
}

// maxListing bounds what a remote may answer: a few hundred thousand refs.
const maxListing = 256 << 20

// List reads the refs of a remote. Refs that are none of ours, or outside the grammar,
// are passed over.
func (r *Remote) List(ctx context.Context) (*Listing, error) {
	var out bounded
	_, err := r.run(ctx, "list", git.Cmd{Args: []string{"ls-remote", "--refs", "--quiet", "--", r.address()}, Stdout: &out})
	if out.over {
		return nil, &Error{Remote: Redact(r.Name), Verb: "list", Text: "it has more refs than can be"}
	}
	if err != nil {
		return nil, err
	}
	l := NewListing()
	for line := range strings.Lines(out.String()) {
		oid, ref, ok := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		if !ok {
			continue
		}
		here, ours := r.Mapping.Here(name.Ref(ref))
		if !ours {
			continue
		}
		if len(oid) != 2*r.Repo.HashLen() {
			return nil, &Error{Remote: Redact(r.Name), Verb: "list", Text: fmt.Sprintf("its object ids have %d digits, and here they have %d", len(oid), 2*r.Repo.HashLen())}
		}
		if id, err := name.ParseOID(oid); err == nil {
			l.Add(here, id)
		}
	}
	return l, nil
}

// shows reports whether the remote lists a ref.
func (r *Remote) shows(ctx context.Context, ref name.Ref) (bool, error) {
	var out bounded
	_, err := r.run(ctx, "list", git.Cmd{Args: []string{"ls-remote", "--refs", "--quiet", "--", r.address()}, Stdout: &out})
	return strings.Contains(out.String(), "\t"+string(r.Mapping.There(ref))+"\n"), err
}

// NewListing is an empty one.
func NewListing() *Listing {
	return &Listing{Sessions: map[name.Session]*Session{}, Tags: map[name.Ref]name.OID{}}
}

// Add takes one ref in; one that has no meaning is passed over.
func (l *Listing) Add(ref name.Ref, oid name.OID) {
	if ref == name.NotesRef {
		l.Notes = oid
		return
	}
	if strings.HasPrefix(string(ref), name.TagRoot) {
		l.Tags[ref] = oid
		return
	}
	session, leaf, ok := name.SplitCheckpointRef(ref)
	if !ok {
		return
	}
	id, err := name.ParseID(leaf)
	if err != nil && leaf != "journal" && leaf != "archive" {
		return
	}
	s := l.Sessions[session]
	if s == nil {
		s = &Session{Checkpoints: map[name.ID]name.OID{}}
		l.Sessions[session] = s
	}
	switch {
	case err == nil:
		s.Checkpoints[id] = oid
	case leaf == "journal":
		s.Journal = oid
	default:
		s.Archive = oid
	}
}

// Set notes what a push did to one ref; an empty oid: it is gone.
func (l *Listing) Set(ref name.Ref, oid name.OID) {
	if oid != "" {
		l.Add(ref, oid)
		return
	}
	session, leaf, ok := name.SplitCheckpointRef(ref)
	if s := l.Sessions[session]; ok && s != nil {
		delete(s.Checkpoints, name.ID(leaf))
		if leaf == "archive" {
			s.Archive, s.Archived = "", nil
		}
		if len(s.Checkpoints) == 0 && s.Journal == "" && s.Archive == "" {
			delete(l.Sessions, session)
		}
	}
}

// Keep leaves only the sessions that are named; none named: all.
func (l *Listing) Keep(sessions []name.Session) {
	if len(sessions) == 0 {
		return
	}
	for s := range l.Sessions {
		if !slices.Contains(sessions, s) {
			delete(l.Sessions, s)
		}
	}
}

// Session is one session of the listing, empty when it has none.
func (l *Listing) Session(s name.Session) *Session {
	if found := l.Sessions[s]; found != nil {
		return found
	}
	return &Session{Checkpoints: map[name.ID]name.OID{}}
}

// Names lists the sessions in order.
func (l *Listing) Names() []name.Session {
	var all []name.Session
	for s := range l.Sessions {
		all = append(all, s)
	}
	slices.Sort(all)
	return all
}

// Digest is the same for listings that are the same.
func (l *Listing) Digest() string {
	h := sha256.New()
	for _, session := range l.Names() {
		of := l.Sessions[session]
		fmt.Fprintf(h, "%s journal %s archive %s\n", session, of.Journal, of.Archive)
		for _, id := range slices.Sorted(maps.Keys(of.Checkpoints)) {
			io.WriteString(h, string(id)+" "+string(of.Checkpoints[id])+"\n") //nolint:errcheck // a hash takes everything
		}
	}
	return fmt.Sprintf("%x", h.Sum([]byte(l.Notes)))
}

// bounded is a buffer that takes no more than a listing may have.
type bounded struct {
	bytes.Buffer
	over bool
}

func (b *bounded) Write(p []byte) (int, error) {
	if b.Len()+len(p) > maxListing {
		b.over = true
		return 0, fmt.Errorf("more than %d bytes", maxListing)
	}
	return b.Buffer.Write(p)
}
