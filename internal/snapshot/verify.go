package snapshot

import (
	"context"
	"errors"
	"fmt"

	"git-checkpoint/internal/git"
	"git-checkpoint/internal/name"
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

// wholeObject is the size in bytes up to which a blob is held in memory to compute its id. Larger
// ones are hashed as a stream.
const wholeObject = 1 << 20

// verifyObjects reads every blob that is to be written and compares it with its id, before
// anything is touched: git itself trusts the content of a loose object. It also fills p.large.
func (s *Shot) verifyObjects(ctx context.Context, p *Plan) error {
	v := &verification{format: s.repo.Format}
	p.large = map[name.OID]bool{}
	for _, o := range p.Ops {
		if oid := o.content(); oid != "" && o.kind() == "write" {
			v.specs, v.paths = append(v.specs, string(oid)), append(v.paths, o.Path)
		}
	}
	var small, large []int
	err := s.repo.Batch().Info(ctx, v.specs, func(i int, got git.Object, err error) error {
		switch {
		case stopped(err):
			return err
		case err != nil || got.Type != "blob":
			v.lacks(i)
		case got.Size > wholeObject:
			p.large[name.OID(v.specs[i])] = got.Size >= largeFile
			large = append(large, i)
		default:
			small = append(small, i)
		}
		return nil
	})
	if err == nil {
		err = s.repo.Batch().Objects(ctx, v.of(small), v.judge(small))
	}
	if err == nil {
		err = s.repo.Batch().Prove(ctx, v.of(large), 0, v.judge(large))
	}
	if err == nil && len(v.missing.OIDs) > 0 {
		return &v.missing
	}
	return err
}

// verifyStaged checks that the blobs exist that the index is to name and does not name now. Their
// content is not read. In a partial clone blobs may be missing; git fetches them when they are
// needed.
func (s *Shot) verifyStaged(ctx context.Context, p *Plan) error {
	if _, partial := s.repo.Config.Get("extensions.partialClone"); partial || p.Index == nil {
		return nil
	}
	changes, err := s.repo.DiffTrees(ctx, p.Cur.Index.Tree, p.IndexTree)
	if err != nil {
		return fmt.Errorf("read what is to be staged: %w", err)
	}
	v := &verification{}
	add := func(path string, e git.Entry) {
		if e.Mode != 0 && e.Mode != git.ModeGitlink {
			v.specs, v.paths = append(v.specs, string(e.OID)), append(v.paths, path)
		}
	}
	for _, c := range changes {
		add(c.Path, c.New)
	}
	for _, u := range p.Index.Unmerged {
		add(u.Path, u.Entry)
	}
	err = s.repo.Batch().Info(ctx, v.specs, func(i int, got git.Object, err error) error {
		if stopped(err) {
			return err
		}
		if err != nil || got.Type != "blob" {
			v.lacks(i)
		}
		return nil
	})
	if err == nil && len(v.missing.OIDs) > 0 {
		return &v.missing
	}
	return err
}

// verification checks a list of blobs and collects what is wrong. specs are object ids, paths the
// files that need them, in the same order.
type verification struct {
	format       string
	specs, paths []string
	missing      MissingError
}

// lacks records that blob i is missing or damaged.
func (v *verification) lacks(i int) {
	v.missing.OIDs, v.missing.Paths = append(v.missing.OIDs, name.OID(v.specs[i])), append(v.missing.Paths, v.paths[i])
}

// stopped reports whether an error says that the work was given up, which tells nothing about an
// object.
func stopped(err error) bool {
	return errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
}

// of returns the ids of some blobs, by their index in specs.
func (v *verification) of(which []int) []string {
	out := make([]string, len(which))
	for n, i := range which {
		out[n] = v.specs[i]
	}
	return out
}

// judge returns a callback for Batch.Objects and Batch.Prove, to which the blobs which[0],
// which[1], ... were passed. Prove has checked the ids of large blobs already.
func (v *verification) judge(which []int) func(int, git.Object, error) error {
	return func(n int, got git.Object, err error) error {
		i := which[n]
		if stopped(err) {
			return err
		}
		if err != nil || got.Size <= wholeObject && string(git.HashObject(v.format, got.Type, got.Data)) != v.specs[i] {
			v.lacks(i)
		}
		return nil
	}
}
