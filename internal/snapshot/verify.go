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

// verifyObjects reads every blob that is to be written and compares it with its id, before
// anything is touched: git itself trusts the content of a loose object. It also fills p.large.
func (s *Shot) verifyObjects(ctx context.Context, p *Plan) error {
	v := &verification{}
	for _, o := range p.Ops {
		if oid := o.content(); oid != "" && o.kind() == "write" {
			v.specs, v.paths = append(v.specs, string(oid)), append(v.paths, o.Path)
		}
	}
	bad, large := make([]bool, len(v.specs)), make([]bool, len(v.specs))
	err := s.repo.ProveApart(ctx, v.specs, 0, func(i int, got git.Object, err error) error {
		bad[i], large[i] = err != nil || got.Type != "blob", got.Size >= largeFile
		if stopped(err) {
			return err
		}
		return nil
	})
	if err != nil {
		return err
	}
	p.large = map[name.OID]bool{}
	for i, spec := range v.specs {
		if bad[i] {
			v.lacks(i)
		}
		p.large[name.OID(spec)] = large[i]
	}
	return v.result()
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
	if err != nil {
		return err
	}
	return v.result()
}

// verification checks a list of blobs and collects what is wrong. specs are object ids, paths the
// files that need them, in the same order.
type verification struct {
	specs, paths []string
	missing      MissingError
}

// lacks records that blob i is missing or damaged.
func (v *verification) lacks(i int) {
	v.missing.OIDs, v.missing.Paths = append(v.missing.OIDs, name.OID(v.specs[i])), append(v.missing.Paths, v.paths[i])
}

// result returns the MissingError, or nil if nothing is wrong.
func (v *verification) result() error {
	if len(v.missing.OIDs) == 0 {
		return nil
	}
	return &v.missing
}

// stopped reports whether an error says that the work was given up, which tells nothing about an
// object.
func stopped(err error) bool {
	return errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
}
