package git

import (
	"context"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"git-checkpoint/internal/name"
)

// garbage looks through what nothing holds: the commits of it that ours names are doomed, with
// all that nothing else of it needs. Spared is what the rest hangs on.
func (r *Repo) garbage(ctx context.Context, ours func(Commit) bool) (doomed, spared []name.OID, err error) {
	loose, err := r.unreachable(ctx)
	if err != nil {
		return nil, nil, err
	}
	var roots []name.OID
	var lock sync.Mutex
	err = r.eachObject(ctx, loose.of("commit"), func(o Object) {
		lock.Lock()
		defer lock.Unlock()
		if c, err := ParseCommit(o.OID, o.Data); err == nil && ours(c) {
			roots = append(roots, c.OID)
		}
	})
	if err != nil || len(roots) == 0 {
		return nil, nil, err
	}
	below, err := r.closure(ctx, loose, roots)
	if err != nil {
		return nil, nil, err
	}
	var others []name.OID
	for oid := range loose {
		if _, in := below[oid]; !in {
			others = append(others, oid)
		}
	}
	needed, err := r.closure(ctx, loose, others)
	if err != nil {
		return nil, nil, err
	}
	for oid := range below {
		if _, kept := needed[oid]; !kept {
			doomed = append(doomed, oid)
		}
	}
	for oid, isRoot := range needed {
		if isRoot {
			spared = append(spared, oid)
		}
	}
	return doomed, spared, nil
}

// heap is objects that nothing holds, with their types.
type heap map[name.OID]string

func (h heap) of(typ string) []name.OID {
	var out []name.OID
	for oid, t := range h {
		if t == typ {
			out = append(out, oid)
		}
	}
	return out
}

// unreachable lists what no ref, no log of one, and no index of any worktree holds.
func (r *Repo) unreachable(ctx context.Context) (heap, error) {
	res, err := r.Run(ctx, Cmd{Args: []string{"fsck", "--connectivity-only", "--unreachable", "--no-dangling", "--no-progress"}})
	// Damage is told by other lines and by the exit code, and stops nobody: what is
	// damaged may be what was pruned.
	if code := ExitCode(err); err != nil && (code < 0 || code >= 128) {
		return nil, fmt.Errorf("find what nothing holds: %w", err)
	}
	found := heap{}
	for line := range strings.Lines(string(res.Stdout)) {
		if words := strings.Fields(line); len(words) == 3 && words[0] == "unreachable" {
			found[name.OID(words[2])] = words[1]
		}
	}
	// Before 2.40 that looks at no index but this worktree's. Each names blobs, and trees in its cache.
	indexed, err := r.Output(ctx, "rev-list", "--objects", "--indexed-objects")
	if err != nil {
		return nil, fmt.Errorf("find what the indexes hold: %w", err)
	}
	for line := range strings.Lines(indexed) {
		oid, _, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		delete(found, name.OID(oid))
	}
	return found, nil
}

// closure gives those of a heap that some reach, and says of each whether no other one
// led to it.
func (r *Repo) closure(ctx context.Context, of heap, roots []name.OID) (map[name.OID]bool, error) {
	met := make(map[name.OID]bool, len(roots))
	for _, oid := range roots {
		met[oid] = true
	}
	for level := slices.Collect(maps.Keys(met)); len(level) > 0; {
		var lock sync.Mutex
		var next []name.OID
		lead := func(to name.OID) {
			if _, in := of[to]; !in {
				return
			}
			if _, known := met[to]; !known {
				next = append(next, to)
			}
			met[to] = false
		}
		level = slices.DeleteFunc(level, func(oid name.OID) bool { return of[oid] == "blob" })
		err := r.eachObject(ctx, level, func(o Object) {
			lock.Lock()
			defer lock.Unlock()
			eachNeed(o, r.HashLen(), lead)
		})
		if err != nil {
			return nil, err
		}
		level = next
	}
	return met, nil
}

// eachNeed tells what an object names.
func eachNeed(o Object, hashLen int, lead func(name.OID)) {
	switch o.Type {
	case "commit":
		if c, err := ParseCommit(o.OID, o.Data); err == nil {
			lead(c.Tree)
			for _, p := range c.Parents {
				lead(p)
			}
		}
	case "tree":
		EachEntry(o.Data, hashLen, func(_ Mode, _, id []byte) { lead(name.OID(hex.EncodeToString(id))) }) //nolint:errcheck // what a damaged one does not tell it does not hold
	case "tag":
		if line, _, found := strings.Cut(string(o.Data), "\n"); found {
			lead(name.OID(strings.TrimPrefix(line, "object ")))
		}
	}
}

// eachObject reads objects by several readers at once; those that cannot be read are
// passed over.
func (r *Repo) eachObject(ctx context.Context, oids []name.OID, each func(Object)) error {
	specs := make([]string, len(oids))
	for i, oid := range oids {
		specs[i] = string(oid)
	}
	slices.Sort(specs)
	return r.ProveApart(ctx, specs, MaxObject, func(_ int, o Object, err error) error {
		if err == nil {
			each(o)
		}
		return nil
	})
}
