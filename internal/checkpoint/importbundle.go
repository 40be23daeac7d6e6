package checkpoint

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"

	"git-checkpoint/internal/archive"
	"git-checkpoint/internal/git"
	"git-checkpoint/internal/name"
	"git-checkpoint/internal/remote"
	"git-checkpoint/internal/store"
)

// openBundle reads the header of a bundle and leaves pack at what follows.
func openBundle(file string) (h archive.Header, closeFile func(), pack io.Reader, err error) {
	f, err := os.Open(file)
	if err != nil {
		return h, nil, nil, &Error{Kind: KindNotFound, Err: err}
	}
	r, err := archive.Decompress(bufio.NewReader(f))
	if err == nil {
		h, err = archive.ReadHeader(r)
	}
	if err != nil {
		f.Close() //nolint:errcheck // only read
		return h, nil, nil, invalid(err)
	}
	return h, func() { f.Close() }, r, nil //nolint:errcheck // only read
}

func invalid(err error) error {
	return &Error{Kind: KindInvalid, Err: err, Hints: []string{"nothing was imported"}}
}

// ImportBundle verifies a bundle as a whole, and then joins what it holds like a fetch.
// What a gc takes meanwhile is read from the file again.
func (s *Service) ImportBundle(ctx context.Context, file string) (*TravelAnswer, error) {
	for try := 1; ; try++ {
		came := remote.NewListing()
		answer, err := s.importBundle(ctx, file, came)
		if err == nil || !vanished(err) && !s.lacks(ctx, came) || try >= attempts || ctx.Err() != nil {
			return answer, err
		}
		if err := s.repo.AwaitGC(ctx); err != nil {
			return nil, classify(err)
		}
	}
}

// lacks reports whether something is not here that was unpacked whole.
func (s *Service) lacks(ctx context.Context, came *remote.Listing) bool {
	for _, of := range came.Sessions {
		if of.Journal != "" && !s.exists(ctx, of.Journal) {
			return true
		}
	}
	return false
}

// importBundle notes in came what the bundle brought, as soon as it is unpacked.
func (s *Service) importBundle(ctx context.Context, file string, came *remote.Listing) (*TravelAnswer, error) {
	header, closeFile, pack, err := openBundle(file)
	if err != nil {
		return nil, err
	}
	defer closeFile()
	if header.Format != s.repo.Format {
		return nil, invalid(fmt.Errorf("the bundle has %s objects, and this repository %s", header.Format, s.repo.Format))
	}
	if err := s.unpack(ctx, header, pack); err != nil {
		return nil, err
	}
	for _, r := range header.Refs {
		came.Add(r.Name, r.OID)
	}
	if err := s.unpacked(ctx, header); err != nil {
		return nil, err
	}
	t := &trip{
		s: s, remote: &remote.Remote{Repo: s.repo, Name: file}, written: map[name.Ref]int{}, checked: map[name.OID]arrival{},
		answer: &TravelAnswer{Remote: file, Lines: []TravelLine{}},
	}
	if err := t.verifyAll(ctx, came); err != nil {
		return nil, err
	}
	for _, session := range came.Names() {
		of := came.Sessions[session]
		u := &union{t: t, session: session, tip: of.Journal, came: maps.Clone(of.Checkpoints), there: maps.Clone(of.Checkpoints)}
		u.unfold(of, nil)
		if err := u.run(ctx); err != nil {
			return t.answer, classify(err)
		}
	}
	return t.answer, t.verdict()
}

// maxPack bounds a pack that is imported.
const maxPack = 1 << 40

// unpack puts the objects of a bundle into the object store, where no ref names them
// yet. git checks each of them, and that none is missing.
func (s *Service) unpack(ctx context.Context, header archive.Header, pack io.Reader) error {
	for _, need := range header.Needs {
		if !s.exists(ctx, need) {
			return &Error{
				Kind: KindFailed, Message: fmt.Sprintf("the bundle goes on from %s, which is not here", need.Short()),
				Hints: []string{"import the bundle before it first"},
			}
		}
	}
	_, err := s.repo.Run(ctx, git.Cmd{
		Args:  []string{"index-pack", "--stdin", "--strict", "--fix-thin", fmt.Sprintf("--max-input-size=%d", int64(maxPack))},
		Stdin: pack,
	})
	if err != nil {
		if ctx.Err() != nil {
			return classify(err)
		}
		return invalid(fmt.Errorf("the pack of the bundle is not whole or not valid: %w", err))
	}
	return nil
}

// unpacked finds out whether all is here that a bundle says it holds.
func (s *Service) unpacked(ctx context.Context, header archive.Header) error {
	s.trace("arrived")
	var commits []name.OID
	for _, r := range header.Refs {
		commits = append(commits, r.OID)
	}
	if err := s.connected(ctx, commits); err != nil {
		return invalid(fmt.Errorf("the bundle lacks objects that it needs: %w", err))
	}
	return nil
}

// verifyAll refuses all of it for one bad member.
func (t *trip) verifyAll(ctx context.Context, came *remote.Listing) error {
	for _, session := range came.Names() {
		of := came.Sessions[session]
		var j joined
		if of.Journal != "" {
			log, err := t.s.store.LogAt(ctx, of.Journal, nil)
			if err != nil {
				return invalid(fmt.Errorf("session %q: %w", session, err))
			}
			if j.log = log; j.fold().Session != session {
				return invalid(fmt.Errorf("session %q has the journal of %q", session, j.fold().Session))
			}
		}
		if of.Archive != "" {
			members, err := t.s.store.CheckArchive(ctx, session, of.Archive)
			if err != nil {
				return invalid(fmt.Errorf("session %q: %w", session, err))
			}
			of.Archived = members
		}
		held := of.Held()
		for _, id := range slices.Sorted(maps.Keys(held)) {
			a := t.inspect(ctx, session, id, held[id])
			if a.err == nil {
				a.err = a.agrees(j.fold())
			}
			if ctx.Err() != nil {
				return classify(context.Cause(ctx))
			}
			if a.err != nil {
				return invalid(fmt.Errorf("checkpoint %s of session %q: %w", id, session, a.err))
			}
		}
		if err := t.s.joinable(ctx, session); err != nil {
			return err
		}
	}
	return nil
}

// joinable refuses a session that nothing can be brought into.
func (s *Service) joinable(ctx context.Context, session name.Session) error {
	_, err := s.store.State(ctx, session)
	if err == nil || errors.Is(err, store.ErrNoSession) {
		return nil
	}
	return classify(err)
}
