package git

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"git-checkpoint/internal/format/name"
)

// Resolve returns the id that a ref points to. The error wraps ErrMissing if the ref does not
// exist.
func (r *Refs) Resolve(ctx context.Context, ref name.Ref) (name.OID, error) {
	oids, err := r.ResolveAll(ctx, ref)
	if err == nil && oids[ref] == "" {
		err = fmt.Errorf("ref %q: %w", ref, ErrMissing)
	}
	return oids[ref], err
}

// shadows are the places where git looks for a name after it has not found it as a full ref name: a
// tag called "refs/x/y", which a fetch may bring, would answer for the ref refs/x/y.
var shadows = [...]string{"refs/%s", "refs/tags/%s", "refs/heads/%s", "refs/remotes/%s", "refs/remotes/%s/HEAD"}

// ResolveAll returns the ids of those refs that exist, even if the object is missing. In most
// repositories it starts no process.
func (r *Refs) ResolveAll(ctx context.Context, wanted ...name.Ref) (map[name.Ref]name.OID, error) {
	found := make(map[name.Ref]name.OID, len(wanted))
	files := r.files()
	var rest []name.Ref
	for _, ref := range wanted {
		switch oid, err := files.Resolve(ref); {
		case err != nil:
			rest = append(rest, ref)
		case oid != "":
			found[ref] = oid
		}
	}
	if len(rest) == 0 {
		return found, nil
	}
	asked, err := r.askRefs(ctx, rest)
	maps.Copy(found, asked)
	return found, err
}

// askRefs has git resolve refs. It asks the cat-file process first, for the refs and for everything
// that could shadow them. If a ref was not found or one could be shadowed, it lists the refs
// instead: for cat-file, a ref whose object is missing does not exist.
func (r *Refs) askRefs(ctx context.Context, refs []name.Ref) (map[name.Ref]name.OID, error) {
	specs, of := make([]string, 0, 6*len(refs)), make([]name.Ref, 0, len(refs))
	for _, ref := range refs {
		specs, of = append(specs, string(ref)), append(of, ref)
	}
	for _, ref := range refs {
		for _, s := range shadows {
			specs = append(specs, fmt.Sprintf(s, ref))
		}
	}
	found := make(map[name.Ref]name.OID, len(refs))
	shadowed := false
	err := r.objects.Batch().exchange(ctx, nil, specs, func(i int, o Object, err error) error {
		switch {
		case errors.Is(err, ErrMissing):
			return nil
		case err == nil && i < len(of):
			found[of[i]] = o.OID
		case err == nil:
			shadowed = true
		}
		return err
	})
	if err != nil || !shadowed && len(found) == len(refs) {
		return found, err
	}
	exact, err := r.List(ctx, specs[:len(refs)]...)
	if err != nil {
		return nil, err
	}
	// The answers of cat-file may be those of shadowing refs. Only the listing counts.
	clear(found)
	for _, v := range exact {
		if slices.Contains(refs, v.Ref) {
			found[v.Ref] = v.OID
		}
	}
	return found, nil
}
