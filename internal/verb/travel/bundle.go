package travel

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"

	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/format/archive"
	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/git"
	"git-checkpoint/internal/storage/remote"
	"git-checkpoint/internal/storage/store"
)

// OpenBundle opens a bundle, which may be gzipped, and reads its header. pack then reads what
// follows the header. The caller calls closeFile.
func OpenBundle(file string) (h archive.Header, closeFile func(), pack io.Reader, err error) {
	f, err := os.Open(file)
	if err != nil {
		return h, nil, nil, &checkpoint.Error{Kind: checkpoint.KindNotFound, Err: err}
	}
	r, err := archive.Decompress(bufio.NewReader(f))
	if err == nil {
		h, err = archive.ReadHeader(r)
	}
	if err != nil {
		f.Close() //nolint:errcheck // only read
		return h, nil, nil, Invalid(err)
	}
	return h, func() { f.Close() }, r, nil //nolint:errcheck // only read
}

// Invalid wraps the error of a damaged or unsuitable file from which nothing was imported.
func Invalid(err error) error {
	return &checkpoint.Error{Kind: checkpoint.KindInvalid, Err: err, Hints: []string{"nothing was imported"}}
}

// ImportBundle verifies a bundle as a whole and then joins its sessions as a fetch does. If a
// concurrent gc deletes the unpacked objects, which no ref names yet, it waits for the gc and reads
// the file again.
func ImportBundle(ctx context.Context, s *checkpoint.Service, file string) (*Answer, error) {
	for try := 1; ; try++ {
		came := remote.NewListing()
		answer, err := importBundle(ctx, s, file, came)
		gone := func(session name.Session) bool { // its journal was unpacked, and a gc has deleted it
			tip := came.Sessions[session].Journal
			return tip != "" && !Exists(ctx, s.Repo, tip)
		}
		if err == nil || !checkpoint.Vanished(err) && !slices.ContainsFunc(came.Names(), gone) || try >= checkpoint.Attempts || ctx.Err() != nil {
			return answer, err
		}
		if err := s.Repo.Maintenance.AwaitGC(ctx); err != nil {
			return nil, err
		}
	}
}

// importBundle does one try of ImportBundle. It fills in came as soon as the bundle is unpacked, so
// that the caller can tell an object lost to a gc from an invalid bundle.
func importBundle(ctx context.Context, s *checkpoint.Service, file string, came *remote.Listing) (*Answer, error) {
	header, closeFile, pack, err := OpenBundle(file)
	if err != nil {
		return nil, err
	}
	defer closeFile()
	if header.Format != s.Repo.Format {
		return nil, Invalid(fmt.Errorf("the bundle has %s objects, but this repository has %s", header.Format, s.Repo.Format))
	}
	if err := unpack(ctx, s.Repo, header, pack); err != nil {
		return nil, err
	}
	s.Trace("arrived")
	var commits []name.OID
	for _, r := range header.Refs {
		came.Add(r.Name, r.OID)
		commits = append(commits, r.OID)
	}
	if err := connected(ctx, s.Repo, commits); err != nil {
		return nil, Invalid(fmt.Errorf("the bundle lacks objects that it needs: %w", err))
	}
	t := newTransfer(&remote.Remote{Repo: s.Repo, Name: file})
	t.s, t.answer.Remote, t.verb = s, file, "fetch"
	if err := t.verifyAll(ctx, came); err != nil {
		return nil, err
	}
	for _, session := range came.Names() {
		of := came.Sessions[session]
		u := &union{t: t, session: session, tip: of.Journal, came: maps.Clone(of.Checkpoints), there: maps.Clone(of.Checkpoints)}
		u.unfold(of, nil)
		if err := u.run(ctx); err != nil {
			return t.answer, err
		}
	}
	return t.answer, t.verdict()
}

// unpack adds the objects of a bundle to the object store. No ref names them yet. git index-pack
// checks each object (--strict) and completes a thin pack. The commits that the bundle builds on
// have to be here.
func unpack(ctx context.Context, repo *git.Repo, header archive.Header, pack io.Reader) error {
	const maxPack = 1 << 40 // bounds the size of an imported pack: 1 TiB
	for _, need := range header.Needs {
		if !Exists(ctx, repo, need) {
			return checkpoint.Failure(checkpoint.KindFailed, "import the earlier bundle first; one from a shallow clone can be imported only where commit "+string(need)+" is", "the bundle builds on %s, which is not in this repository", need.Short())
		}
	}
	strict := strictly(ctx, repo)
	_, err := repo.Run(ctx, git.Cmd{
		Args:  []string{"index-pack", "--stdin", strict, "--fix-thin", fmt.Sprintf("--max-input-size=%d", int64(maxPack))},
		Stdin: pack,
	})
	if err != nil {
		if ctx.Err() != nil {
			return err
		}
		return Invalid(fmt.Errorf("the pack of the bundle is incomplete or invalid: %w", err))
	}
	return nil
}

// strictly returns the option for git index-pack that checks objects as a fetch does. Unlike git
// fetch, index-pack fails at a rule that it does not know. It says so before it looks for the pack, so
// one without a name tells which rules this git lacks.
func strictly(ctx context.Context, repo *git.Repo) string {
	rules := remote.Harmless()
	for {
		option := "--strict=" + strings.Join(rules, "=warn,") + "=warn"
		_, err := repo.Run(ctx, git.Cmd{Args: []string{"index-pack", option, ""}})
		said, is := errors.AsType[*git.Error](err)
		if !is {
			return option
		}
		_, unknown, found := strings.Cut(said.Stderr, "Unhandled message id: ")
		before := len(rules)
		rules = slices.DeleteFunc(rules, func(rule string) bool { return found && strings.EqualFold(rule, strings.TrimSpace(unknown)) })
		if len(rules) == before || len(rules) == 0 {
			return option
		}
	}
}

// verifyAll verifies every session of a bundle and refuses all of them for one bad checkpoint. A
// fetch rejects single checkpoints instead, but a file can be made again and should be whole.
func (t *transfer) verifyAll(ctx context.Context, came *remote.Listing) error {
	for _, session := range came.Names() {
		of := came.Sessions[session]
		var j Joined
		if of.Journal != "" {
			log, err := t.s.Store.LogAt(ctx, of.Journal, nil)
			if err != nil {
				return Invalid(fmt.Errorf("session %q: %w", session, err))
			}
			if j.log = log; j.Fold().Session != session {
				return Invalid(fmt.Errorf("session %q has the journal of %q", session, j.Fold().Session))
			}
		}
		if err := t.readArchive(ctx, session, of); err != nil {
			return Invalid(fmt.Errorf("session %q: %w", session, err))
		}
		held := of.Held()
		for _, id := range slices.Sorted(maps.Keys(held)) {
			a := t.inspect(ctx, session, id, held[id], j.Fold())
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			if a.err != nil {
				return Invalid(fmt.Errorf("checkpoint %s of session %q: %w", id, session, a.err))
			}
		}
		// Nothing can be joined with a session that is damaged here.
		if _, err := t.s.Store.State(ctx, session); err != nil && !errors.Is(err, store.ErrNoSession) {
			return err
		}
	}
	return nil
}
