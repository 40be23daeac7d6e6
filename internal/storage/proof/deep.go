package proof

// This file reads every object below checkpoints. It works in two passes: judge first reads all
// objects that are new, and marks the damaged ones. Only if there are any does it walk the trees
// again to find the paths.

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"sync"

	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/git"
	"git-checkpoint/internal/storage/lfs"
	"git-checkpoint/internal/storage/store"
	"git-checkpoint/internal/storage/worktree"
	"git-checkpoint/internal/sys/gather"
)

// together is how many objects are requested at once. It is large enough to keep git busy, and
// small enough that what was read does not fill the memory.
const together = 1024

// Deep reads every object below checkpoints. Checkpoints share most objects, so it remembers what
// it has read, and reads each object once for all checkpoints of a run.
type Deep struct {
	store *store.Store
	lfs   *lfs.Store
	read  func(objects int) // called with the number of objects read

	seen  map[[32]byte]struct{}        // ids of all objects that were read, as bytes to save memory
	lock  sync.Mutex                   // guards bad
	bad   map[name.OID]fault           // the damaged objects
	known map[name.OID][]damagedObject // by tree: the damage below it; filled only once there is damage
}

// fault says what is wrong with an object.
type fault struct {
	kind Kind
	text string
}

// damagedObject is a damaged object and its path below a tree.
type damagedObject struct {
	path string
	oid  name.OID
}

// NewDeep returns a Deep that has read nothing. It calls read with how many more objects were read.
func NewDeep(s *store.Store, read func(objects int)) *Deep {
	return &Deep{store: s, lfs: lfs.Open(s.Repo), read: read, seen: map[[32]byte]struct{}{}, bad: map[name.OID]fault{}, known: map[name.OID][]damagedObject{}}
}

// first reports whether an object has not been read before, and marks it as read.
func (d *Deep) first(oid name.OID) bool {
	var key [32]byte
	if _, err := hex.Decode(key[:], []byte(oid)); err != nil {
		return true
	}
	_, met := d.seen[key]
	if !met {
		d.seen[key] = struct{}{}
	}
	return !met
}

// damaged marks an object as damaged. Several readers call it at once.
func (d *Deep) damaged(oid name.OID, f fault) {
	d.lock.Lock()
	defer d.lock.Unlock()
	d.bad[oid] = f
}

// checkTrees reads everything below the trees roots that was not read before.
func (d *Deep) checkTrees(ctx context.Context, roots []name.OID) error {
	var trees, blobs []string
	for _, oid := range roots {
		if oid != "" && d.first(oid) {
			trees = append(trees, string(oid))
		}
	}
	for len(trees) > 0 {
		some := trees[:min(len(trees), together)]
		trees = trees[len(some):]
		below := make([][]git.Entry, len(some))
		err := d.store.Repo.Objects.ProveInParallel(ctx, some, git.MaxObject, func(i int, o git.Object, err error) error {
			entries, err := treeOf(o, err, d.store.Repo.HashLen())
			if err != nil {
				kind, what := treeFault(err)
				d.damaged(name.OID(some[i]), fault{kind, what})
			}
			for _, e := range entries {
				if strings.Contains(e.Name, "/") || git.RefusedName(e.Name, e.Mode == git.ModeSymlink) {
					d.damaged(name.OID(some[i]), fault{TreeRefused, fmt.Sprintf("not written by a rollback: it contains %q, a name that git refuses", e.Name)})
				}
			}
			below[i] = entries
			return nil
		})
		if err != nil {
			return err
		}
		for _, e := range slices.Concat(below...) {
			switch {
			// A gitlink names a commit of another repository, which is not here.
			case e.Mode == git.ModeGitlink || !d.first(e.OID):
			case e.IsTree():
				trees = append(trees, string(e.OID))
			default:
				blobs = append(blobs, string(e.OID))
			}
		}
		d.read(len(some))
		// Blobs wait until there are enough for a batch, also across trees.
		if blobs, err = d.checkBlobs(ctx, blobs, together); err != nil {
			return err
		}
	}
	_, err := d.checkBlobs(ctx, blobs, 1)
	return err
}

// checkBlobs reads blobs in batches while at least enough of them are waiting. It returns those that
// still wait.
func (d *Deep) checkBlobs(ctx context.Context, blobs []string, enough int) ([]string, error) {
	for len(blobs) >= enough {
		some := blobs[:min(len(blobs), together)]
		blobs = blobs[len(some):]
		err := d.store.Repo.Objects.ProveInParallel(ctx, some, lfs.MaxPointer, func(i int, o git.Object, err error) error {
			if p, is := lfs.Parse(o.Data); err == nil && is && d.lfs.File(p) == "" {
				d.damaged(name.OID(some[i]), fault{OutsideMissing, fmt.Sprintf("a file of git-lfs, and its content (%d bytes) is not here", p.Size)})
			}
			if err == nil && o.Type != "blob" {
				err = fmt.Errorf("%w: a %s, not a blob", errWrongType, o.Type)
			}
			switch {
			case errors.Is(err, git.ErrMissing):
				d.damaged(name.OID(some[i]), fault{BlobMissing, "missing"})
			case err != nil:
				d.damaged(name.OID(some[i]), fault{BlobGarbled, fmt.Sprintf("garbled: %v", err)})
			}
			return nil
		})
		if err != nil {
			return blobs, err
		}
		d.read(len(some))
	}
	return slices.Clone(blobs), nil
}

// checkHeads reads the commits that HEAD was at, because `rollback --branch` goes there. What is
// below them is the user's history, which `git fsck` proves.
func (d *Deep) checkHeads(ctx context.Context, heads []name.OID) error {
	some := gather.List(gather.Those(heads, func(oid name.OID) bool { return oid != "" && d.first(oid) }), func(oid name.OID) string { return string(oid) })
	d.read(len(some))
	return d.store.Repo.Objects.Batch().Prove(ctx, some, git.MaxObject, func(i int, o git.Object, err error) error {
		// A missing one is reported by the verdict itself.
		if _, err := commitOf(o, err); err != nil && !errors.Is(err, git.ErrMissing) {
			d.bad[name.OID(some[i])] = fault{HeadGarbled, fmt.Sprintf("the commit that HEAD was at is garbled: %v", err)}
		}
		return nil
	})
}

// addDamage reads everything below some checkpoints, and adds the damage to their verdicts.
func (d *Deep) addDamage(ctx context.Context, verdicts []Verdict) error {
	var roots, heads []name.OID
	for i := range verdicts {
		v := &verdicts[i]
		roots, heads = append(roots, v.Parts.Commit.Tree, v.Parts.recordTree), append(heads, v.head())
	}
	if err := d.checkTrees(ctx, roots); err != nil {
		return err
	}
	if err := d.checkHeads(ctx, heads); err != nil {
		return err
	}
	for i := range verdicts {
		v := &verdicts[i]
		if f, bad := d.bad[v.head()]; bad {
			v.find(f.kind, string(v.head()), f.text)
		}
		for _, side := range []struct {
			tree name.OID
			what string
		}{{v.Parts.Commit.Tree, "file"}, {v.Parts.recordTree, "part"}} {
			found, err := d.findings(ctx, side.tree, side.what)
			if err != nil {
				return err
			}
			for _, f := range found {
				if f.Kind == OutsideMissing {
					f.Hint = d.fetches(v)
				}
				// The proof of the record may have reported the same object.
				if !slices.ContainsFunc(v.Findings, func(k Finding) bool { return k.Object == f.Object }) {
					v.Findings = append(v.Findings, f)
				}
			}
		}
	}
	return nil
}

// findings returns the damage below a tree. what says what the tree contains: "file" or "part".
func (d *Deep) findings(ctx context.Context, tree name.OID, what string) ([]Finding, error) {
	if len(d.bad) == 0 || tree == "" {
		return nil, nil
	}
	places, err := d.damagedBelow(ctx, tree)
	if err != nil {
		return nil, err
	}
	var out []Finding
	for _, at := range places {
		f := d.bad[at.oid]
		if f.kind == OutsideMissing && !d.isLFS(ctx, tree, at.path) {
			continue // it only looks like a pointer
		}
		which := "the tree of its " + what + "s"
		if at.path != "" {
			which = fmt.Sprintf("its %s %q", what, at.path)
		}
		out = append(out, Finding{f.kind, string(at.oid), which + " is " + f.text, ""})
	}
	return out, nil
}

// fetches returns the command that brings the content of a checkpoint's files of git-lfs.
func (d *Deep) fetches(v *Verdict) string {
	remote, set := d.store.Repo.Config.Get("checkpoint.remote")
	if !set {
		remote = "origin"
	}
	commits := string(v.Parts.RecordCommit)
	if v.Entry != nil {
		commits = string(v.Entry.Event().Commit) + " " + commits
	}
	return fmt.Sprintf("this fetches it, if the remote has it: git lfs fetch %s %s", name.Quoted(remote), commits)
}

// isLFS reports whether the attributes in a tree give a file to git-lfs, as far as an attributes file
// above it names that filter at all.
func (d *Deep) isLFS(ctx context.Context, tree name.OID, file string) bool {
	above := map[string]bool{}
	worktree.AddAbove(above, file)
	for dir := range above {
		e, found, err := d.store.Repo.Trees.Lookup(ctx, tree, path.Join(dir, ".gitattributes"))
		if err == nil && found {
			o, err := d.store.Repo.Objects.Batch().Typed(ctx, string(e.OID), "blob")
			if err == nil && bytes.Contains(o.Data, []byte("filter=lfs")) {
				return true
			}
		}
	}
	return false
}

// damagedBelow returns the damaged objects below a tree. Everything below it has been read already, so the
// answer can be kept.
func (d *Deep) damagedBelow(ctx context.Context, tree name.OID) ([]damagedObject, error) {
	const maxPlaces = 20 // the most damaged places that are reported of one tree
	if _, bad := d.bad[tree]; bad {
		return []damagedObject{{"", tree}}, nil
	}
	if places, known := d.known[tree]; known {
		return places, nil
	}
	d.known[tree] = nil // stops at a cycle, which needs two objects with one id
	entries, err := d.store.Repo.Trees.Read(ctx, tree)
	if err != nil {
		return nil, err
	}
	var out []damagedObject
	for _, e := range entries {
		var under []damagedObject
		if _, bad := d.bad[e.OID]; bad && e.Mode != git.ModeGitlink {
			under = []damagedObject{{"", e.OID}}
		} else if e.IsTree() {
			if under, err = d.damagedBelow(ctx, e.OID); err != nil {
				return nil, err
			}
		}
		for _, u := range under {
			path := e.Name
			if u.path != "" {
				path += "/" + u.path
			}
			if len(out) < maxPlaces {
				out = append(out, damagedObject{path, u.oid})
			}
		}
	}
	d.known[tree] = out
	return out, nil
}
