package remote

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"maps"
	"path"
	"slices"
	"strings"

	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/git"
)

// Listing holds the refs of a repository at one moment, by their names here. The repository is a
// remote, this one, or a bundle.
type Listing struct {
	Sessions map[name.Session]*Session
	Notes    name.OID
	Tags     map[name.Ref]name.OID

	Heads map[name.Ref]name.OID // all refs of a remote by their names there, branches included
}

// Session holds the refs of one session in some repository.
type Session struct {
	Journal, Archive name.OID
	Checkpoints      map[name.ID]name.OID // those with a ref of their own
	Archived         map[name.ID]name.OID // those that the archive lists; nil: the archive was not read
}

// Held returns the checkpoints that the repository has, with a ref of their own or in the archive.
// A ref goes before the archive. The caller must not change the map.
func (s *Session) Held() map[name.ID]name.OID {
	if len(s.Archived) == 0 {
		return s.Checkpoints
	}
	all := maps.Clone(s.Archived)
	maps.Copy(all, s.Checkpoints)
	return all
}

// List lists the refs of a remote with git ls-remote. It ignores names outside the grammar. A remote with another object format is an error.
func (r *Remote) List(ctx context.Context) (*Listing, error) {
	var out bounded
	_, err := r.run(ctx, "list", git.Cmd{Args: []string{"ls-remote", "--refs", "--quiet", "--", r.address()}, Stdout: &out})
	// Reading stops with an error at the bound, so look at the bound first.
	if out.over {
		return nil, &Error{Remote: Redact(r.Name), Verb: "list", Text: "it has more refs than can be read"}
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
		id, err := name.ParseOID(oid)
		if err == nil {
			l.Heads[name.Ref(ref)] = id
		}
		here, ours := r.Mapping.ToLocal(name.Ref(ref))
		if !ours {
			continue
		}
		if len(oid) != 2*r.Repo.HashLen() {
			return nil, &Error{Remote: Redact(r.Name), Verb: "list", Text: fmt.Sprintf("its object ids have %d digits, but here they have %d", len(oid), 2*r.Repo.HashLen())}
		}
		if err == nil {
			l.Add(here, id)
		}
	}
	return l, nil
}

// Prefix finds among refs those of a session that is not below refs/checkpoints/, and returns what
// is before its name; "" if there is none.
func Prefix(refs []name.Ref) string {
	for _, ref := range refs {
		at, journal := strings.CutSuffix(string(ref), "/journal")
		prefix, session := path.Split(at)
		if !journal || prefix == name.CheckpointRoot || prefix == "refs/" {
			continue
		}
		for _, other := range refs {
			id, below := strings.CutPrefix(string(other), at+"/")
			if _, err := name.ParseID(id); below && err == nil && session != "" {
				return prefix
			}
		}
	}
	return ""
}

// NewListing returns an empty listing.
func NewListing() *Listing {
	return &Listing{Sessions: map[name.Session]*Session{}, Tags: map[name.Ref]name.OID{}, Heads: map[name.Ref]name.OID{}}
}

// Add adds one ref. A ref that is not a checkpoint, journal, archive, tag or the notes is ignored.
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

// Set records what a push did to one ref. An empty oid means that the ref was deleted.
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

// Keep drops all sessions but the named ones. With no names it keeps all.
func (l *Listing) Keep(sessions []name.Session) {
	if len(sessions) > 0 {
		maps.DeleteFunc(l.Sessions, func(s name.Session, _ *Session) bool { return !slices.Contains(sessions, s) })
	}
}

// Session returns one session of the listing, or an empty one if the listing does not have it.
func (l *Listing) Session(s name.Session) *Session {
	if found := l.Sessions[s]; found != nil {
		return found
	}
	return &Session{Checkpoints: map[name.ID]name.OID{}}
}

// ValueOf returns the value of a journal, an archive, a checkpoint or the notes, or "".
func (l *Listing) ValueOf(ref name.Ref) name.OID {
	session, leaf, ok := name.SplitCheckpointRef(ref)
	of := l.Session(session)
	switch {
	case !ok:
		return l.Notes
	case leaf == "journal":
		return of.Journal
	case leaf == "archive":
		return of.Archive
	}
	return of.Checkpoints[name.ID(leaf)]
}

// Names returns the sessions, sorted.
func (l *Listing) Names() []name.Session { return slices.Sorted(maps.Keys(l.Sessions)) }

// Digest returns a hash of the listing: journals, archives, checkpoints and notes, but not tags.
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

// bounded is a buffer that fails once more than maxListing bytes are written to it.
type bounded struct {
	bytes.Buffer
	over bool
}

func (b *bounded) Write(p []byte) (int, error) {
	const maxListing = 256 << 20 // bounds the answer of a remote, in bytes. It is enough for more than a million refs
	if b.Len()+len(p) > maxListing {
		b.over = true
		return 0, fmt.Errorf("more than %d bytes", maxListing)
	}
	return b.Buffer.Write(p)
}
