package remote

import (
	"context"
	"errors"
	"fmt"

	"git-checkpoint/internal/format/name"
)

// Capability is one thing that a host takes or does not.
type Capability struct {
	What string
	OK   bool
	Why  string // why the host refused it
}

// Probe finds out what a host accepts. It pushes refs that no reader looks at and deletes them
// again. commit may be any commit that is here. The first capability is about refs under the
// mapping's names. If the host refuses these and no prefix is configured, branches are tried. An
// error means that the host could not be asked.
func (r *Remote) Probe(ctx context.Context, commit name.OID) ([]Capability, error) {
	if _, err := r.List(ctx); err != nil {
		return nil, err
	}
	leaf := fmt.Sprintf("_probe/%08x", r.Random())
	ours, branch := name.Ref(name.CheckpointRoot+leaf), name.Ref("refs/heads/checkpoints/"+leaf)
	there := string(r.Mapping.ToRemote(ours))
	first, err := r.takes(ctx, EachAlone, "accepts refs below "+there[:len(there)-len(leaf)], Update{Ref: ours, New: commit})
	all := []Capability{first}
	switch {
	case err != nil:
		return all, err
	case first.OK:
		return r.probeFurther(ctx, all, ours, commit)
	case r.Mapping != Mapping{}:
		return all, nil
	}
	second, err := r.takes(ctx, EachAlone, "accepts refs below refs/heads/checkpoints/", Update{Ref: branch, New: commit})
	if err != nil {
		return all, err
	}
	if all = append(all, second); !second.OK {
		return all, nil
	}
	third, err := r.takes(ctx, EachAlone, "lets refs be deleted", Update{Ref: branch})
	return append(all, third), err
}

// takes pushes the updates and reports whether the host accepted all of them.
func (r *Remote) takes(ctx context.Context, unity Unity, what string, updates ...Update) (Capability, error) {
	c := Capability{What: what, OK: true}
	outcomes, err := r.Push(ctx, updates, unity)
	for _, o := range outcomes {
		if o.Verdict > Held {
			c.OK, c.Why = false, o.Reason
		}
	}
	return c, err
}

// probeFurther finds out whether the host lists the ref that it accepted, whether it supports
// atomic pushes, and whether it lets the refs be deleted.
func (r *Remote) probeFurther(ctx context.Context, all []Capability, ours name.Ref, commit name.OID) ([]Capability, error) {
	listed, err := r.List(ctx)
	if err != nil {
		return all, err
	}
	c := Capability{What: "shows them to clients that fetch", OK: listed.Heads[r.Mapping.ToRemote(ours)] != ""}
	if !c.OK {
		c.Why = "it hides them"
	}
	all = append(all, c)
	second := ours + "-2"
	atomic, err := r.takes(ctx, AllOrNone, "accepts all of a push or none (atomic)", Update{Ref: second, New: commit})
	if errors.Is(err, ErrNotAtomic) {
		atomic.OK, atomic.Why = false, "so deletions will not be pushed"
	} else if err != nil {
		return all, err
	}
	all = append(all, atomic)
	gone := []Update{{Ref: ours}}
	if atomic.OK {
		gone = append(gone, Update{Ref: second})
	}
	deleted, err := r.takes(ctx, EachAlone, "lets refs be deleted", gone...)
	if !deleted.OK {
		deleted.Why += "; it keeps " + string(r.Mapping.ToRemote(ours))
	}
	return append(all, deleted), err
}
