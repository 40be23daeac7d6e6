package git

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"git-checkpoint/internal/name"
)

// Resolve gives the id that a ref points to, or ErrMissing.
func (b *Batch) Resolve(ctx context.Context, ref name.Ref) (name.OID, error) {
	oids, err := b.ResolveAll(ctx, ref)
	if err == nil && oids[ref] == "" {
		err = fmt.Errorf("ref %q: %w", ref, ErrMissing)
	}
	return oids[ref], err
}

// shadows are the places where git looks for a full ref name that does not exist:
// a tag called "refs/x/y", which a fetch brings along, would answer for refs/x/y.
var shadows = [...]string{"refs/%s", "refs/tags/%s", "refs/heads/%s", "refs/remotes/%s", "refs/remotes/%s/HEAD"}

// ResolveAll gives the ids of those refs that exist, without a further process. A
// ref whose object is missing looks here as if it did not exist; Refs tells.
func (b *Batch) ResolveAll(ctx context.Context, refs ...name.Ref) (map[name.Ref]name.OID, error) {
	found := make(map[name.Ref]name.OID, len(refs))
	var specs, doubtful []string
	for _, r := range refs {
		specs = append(specs, string(r))
	}
	if err := b.Info(ctx, specs, func(i int, o Object, err error) error {
		if err == nil {
			found[refs[i]] = o.OID
			for _, s := range shadows {
				doubtful = append(doubtful, fmt.Sprintf(s, refs[i]))
			}
		}
		return unlessMissing(err)
	}); err != nil {
		return nil, err
	}
	shadowed := false
	if err := b.Info(ctx, doubtful, func(_ int, _ Object, err error) error {
		shadowed = shadowed || err == nil
		return unlessMissing(err)
	}); err != nil || !shadowed {
		return found, err
	}
	exact, err := b.repo.Refs(ctx, specs...)
	if err != nil {
		return nil, err
	}
	clear(found)
	for _, v := range exact {
		if slices.Contains(refs, v.Ref) {
			found[v.Ref] = v.OID
		}
	}
	return found, nil
}

func unlessMissing(err error) error {
	if errors.Is(err, ErrMissing) {
		return nil
	}
	return err
}
