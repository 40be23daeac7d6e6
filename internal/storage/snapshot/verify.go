package snapshot

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"

	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/git"
	"git-checkpoint/internal/storage/worktree"
)

// MissingError names the objects that a restore needs and that are missing or damaged. Paths[i]
// is a path that needs OIDs[i].
type MissingError struct {
	Paths []string
	OIDs  []name.OID
}

func (e *MissingError) Error() string {
	return fmt.Sprintf("%d of the objects needed for this are missing or damaged; the first is %s (%q)", len(e.OIDs), e.OIDs[0], e.Paths[0])
}

// verifyObjects reads every blob that is to be written and compares it with its id, before
// anything is touched: git itself trusts the content of a loose object. It also fills p.large and p.contents.
func (s *planner) verifyObjects(ctx context.Context, p *Plan, _ []git.Change) error {
	const keptContents = 256 << 20 // limits Plan.contents, so that what was read here is mostly not inflated again to write it
	lowerGOGC(len(p.Ops)/5, 60)
	v := &verification{}
	for _, o := range p.Ops {
		if oid := o.content(); oid != "" && o.kind() == OpWrite {
			v.add(o.Path, oid)
		}
	}
	var kept atomic.Int64
	err := s.repo.Objects.ProveInParallel(ctx, v.specs, worktree.LargeFile-1, func(i int, got git.Object, err error) error {
		if kept.Add(int64(len(got.Data))) <= keptContents {
			v.got[i].Data = got.Data
		}
		return v.answer(i, got, err)
	})
	p.large, p.contents = map[name.OID]bool{}, map[name.OID][]byte{}
	for i, spec := range v.specs {
		p.large[name.OID(spec)] = v.got[i].Size >= worktree.LargeFile
		if data := v.got[i].Data; data != nil {
			p.contents[name.OID(spec)] = data
		}
	}
	return v.result(err)
}

// verifyStaged checks that the blobs exist that the index is to name and does not name now. Their
// content is not read. In a partial clone blobs may be missing; git fetches them when they are
// needed.
func (s *planner) verifyStaged(ctx context.Context, p *Plan, _ []git.Change) error {
	if s.repo.Promisor() != "" || p.Index == nil {
		return nil
	}
	changes, err := s.repo.Trees.Diff(ctx, p.Cur.Index.Tree, p.IndexTree)
	if err != nil {
		return fmt.Errorf("read what is to be staged: %w", err)
	}
	v := &verification{}
	add := func(path string, e git.Entry) {
		if e.Mode != 0 && e.Mode != git.ModeGitlink {
			v.add(path, e.OID)
		}
	}
	for _, c := range changes {
		add(c.Path, c.New)
	}
	for _, u := range p.Index.Unmerged {
		add(u.Path, u.Entry)
	}
	return v.result(s.repo.Objects.Batch().Info(ctx, v.specs, v.answer))
}

// verification is a list of blobs that files need, and what was found out about each.
type verification struct {
	specs, paths []string
	got          []git.Object // of another type, or of none, if the blob is missing or damaged
}

func (v *verification) add(path string, oid name.OID) {
	v.specs, v.paths, v.got = append(v.specs, string(oid)), append(v.paths, path), append(v.got, git.Object{})
}

// answer notes the answer about blob i. It may be called for several at a time.
func (v *verification) answer(i int, got git.Object, err error) error {
	switch {
	case stopped(err):
		return err
	case err == nil:
		v.got[i].Type, v.got[i].Size = got.Type, got.Size
	}
	return nil
}

// result returns err, or a MissingError if a blob is missing or damaged.
func (v *verification) result(err error) error {
	missing := &MissingError{}
	for i, got := range v.got {
		if got.Type != "blob" {
			missing.OIDs, missing.Paths = append(missing.OIDs, name.OID(v.specs[i])), append(missing.Paths, v.paths[i])
		}
	}
	if err != nil || len(missing.OIDs) == 0 {
		return err
	}
	return missing
}

// Damaged reports whether an error says that an object is missing or cannot be read.
func Damaged(err error) bool {
	return errors.Is(err, git.ErrMissing) || errors.Is(err, git.ErrUnreadable) || errors.Is(err, git.ErrGarbled)
}

// stopped reports whether an error says that the work was given up, which says nothing about an
// object.
func stopped(err error) bool {
	return errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
}
