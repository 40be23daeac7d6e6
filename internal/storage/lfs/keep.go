package lfs

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"git-checkpoint/internal/format/name"
)

// Keep makes sure that the content which the given trees name outlives `git lfs prune`: it gets a
// second name, as a hard link, or as a copy of at most most bytes where links cannot be made. What a
// remote-tracking ref has is at the remote, and content that is not here cannot be kept. It
// returns what could not be kept, with the reason.
func (s *Store) Keep(ctx context.Context, trees []name.OID, most int64) (failed []Named, why error) {
	named, err := PointersBelow(ctx, s.repo, trees, nil, true)
	if err != nil {
		return nil, err
	}
	for _, n := range named {
		if err := s.keepOne(n.Pointer, most); err != nil {
			failed, why = append(failed, n), err
		}
	}
	return failed, why
}

func (s *Store) keepOne(p Pointer, most int64) error {
	if holds(s.link(p.ID), p) || !holds(s.object(p.ID), p) {
		return nil
	}
	if err := os.MkdirAll(s.kept, 0o777); err != nil {
		return err
	}
	return linkOrCopy(s.object(p.ID), s.link(p.ID), most)
}

// AtRisk returns why Keep could not keep content, and "" if it could, or has.
func (s *Store) AtRisk(p Pointer, most int64) string {
	if holds(s.link(p.ID), p) || !holds(s.object(p.ID), p) || p.Size <= most {
		return ""
	}
	if err := os.MkdirAll(s.kept, 0o777); err != nil {
		return err.Error()
	}
	probe := filepath.Join(s.kept, "tmp-"+p.ID[:8]+fmt.Sprint(os.Getpid()))
	defer os.Remove(probe) //nolint:errcheck // it may not be there
	if err := os.Link(s.object(p.ID), probe); err != nil {
		return "no hard link to it can be made"
	}
	return ""
}

// Sweep removes what Keep kept for trees that no checkpoint has any more, and keeps what is not
// kept yet. trees lists the present trees. It is called twice, so that what a checkpoint needs that
// is made meanwhile stays.
func (s *Store) Sweep(ctx context.Context, trees func() ([]name.OID, error), most int64) error {
	const asideSuffix = "-gone" // ends the name of what a sweep is about to remove
	if !s.InUse() {
		return nil
	}
	entries, _ := os.ReadDir(s.kept) //nolint:errcheck // nothing is kept yet
	wanted, err := s.wanted(ctx, trees, most)
	if err != nil {
		return err
	}
	var aside []string
	for _, e := range entries {
		id := strings.TrimSuffix(e.Name(), asideSuffix)
		switch {
		case strings.HasPrefix(id, "tmp-"):
			os.Remove(s.link(id)) //nolint:errcheck // the next sweep tries again
		case !isID(id):
		case id != e.Name(): // a sweep was killed here
			aside = append(aside, id)
		case !wanted[id]:
			if err := os.Rename(s.link(id), s.link(id)+asideSuffix); err != nil {
				return err
			}
			aside = append(aside, id)
		}
	}
	if len(aside) == 0 {
		return nil
	}
	if wanted, err = s.wanted(ctx, trees, most); err != nil {
		return err
	}
	for _, id := range aside {
		if wanted[id] {
			err = errors.Join(err, os.Rename(s.link(id)+asideSuffix, s.link(id)))
		} else {
			err = errors.Join(err, os.Remove(s.link(id)+asideSuffix))
		}
	}
	return err
}

// wanted returns the ids that are to be kept, and keeps those that are not kept yet.
func (s *Store) wanted(ctx context.Context, trees func() ([]name.OID, error), most int64) (map[string]bool, error) {
	all, err := trees()
	if err != nil {
		return nil, err
	}
	named, err := PointersBelow(ctx, s.repo, all, nil, true)
	wanted := map[string]bool{}
	for _, n := range named {
		wanted[n.ID] = true
		s.keepOne(n.Pointer, most) //nolint:errcheck // the save that made it has said so
	}
	return wanted, err
}
