package rollback

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"
	"strings"

	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/format/render"
)

// Fingerprint returns a digest of what the plan does: the paths and what happens to each, the
// checkpoints, the branch and HEAD. `rollback --plan DIGEST` applies a plan only if a new one has
// the same fingerprint. The present content of the files does not count: the safety checkpoint
// keeps it, and a file that a program keeps writing would change every plan before anyone could
// confirm it.
func (r *Plan) Fingerprint() (string, error) {
	const fingerprintSize = 12 // in bytes
	answer := *r.answer
	// These differ between a dry run and a real one.
	answer.DryRun, answer.Digest = false, ""
	// These depend on the present content alone.
	answer.Plan.Unsaved, answer.NotBroughtBack, answer.ChangedSince = nil, nil, nil
	answer.Plan.Unignored = slices.Clone(answer.Plan.Unignored)
	for i := range answer.Plan.Unignored {
		answer.Plan.Unignored[i].Files = 0
	}
	data, err := json.Marshal(struct {
		Answer Answer
		Head   name.OID
		Branch name.Ref
	}{answer, r.s.Repo.Head.OID, r.s.Repo.Head.Branch})
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:fingerprintSize]), nil
}

// Digest returns the fingerprint and the tree of the files from which the plan starts, by which a refusal
// names what has changed since.
func (r *Plan) Digest() (string, error) {
	seen, err := r.Fingerprint()
	if err == nil && r.cur != nil {
		seen += string(r.cur.Tree)
	}
	return seen, err
}

// PlanChanged begins the error for a plan that has changed.
const PlanChanged = "the plan is no longer the same"

// Expect returns an error if the plan is not the one of a digest, and notes what has changed since. A digest
// may lack the tree.
func (r *Plan) Expect(ctx context.Context, digest string) error {
	seen, err := r.Fingerprint()
	if err != nil {
		return err
	}
	tree, same := strings.CutPrefix(digest, seen)
	if !same {
		tree = digest[min(len(seen), len(digest)):]
	}
	was, _ := name.ParseOID(tree) //nolint:errcheck // then no file is named
	if changed := Some(r.NoteChangedSince(ctx, was)); !same {
		if r.cur != nil && was == r.cur.Tree {
			changed = " (no file is another, but HEAD, what is staged, or the checkpoints)"
		}
		return checkpoint.Failure(checkpoint.KindRefused, "get the new plan with --dry-run --json", "%s%s; nothing was changed", PlanChanged, changed)
	}
	return nil
}

// NoteChangedSince notes in the answer which files of the plan have changed since the worktree had the files
// of the tree was, and returns all paths that have changed. Both are empty if that tree is not
// known any more.
func (r *Plan) NoteChangedSince(ctx context.Context, was name.OID) (all []checkpoint.Path) {
	if was == "" || r.cur == nil || was == r.cur.Tree {
		return nil
	}
	changes, err := r.s.Repo.Trees.Diff(ctx, was, r.cur.Tree)
	if err != nil {
		return nil
	}
	r.answer.ChangedSince = nil
	for _, c := range changes {
		path := checkpoint.Path(c.Path)
		all = append(all, path)
		if p := r.answer.Plan; slices.Contains(slices.Concat(p.Write, p.Delete, p.Mode), path) {
			r.answer.ChangedSince = append(r.answer.ChangedSince, path)
		}
	}
	return all
}

// lookAgain returns the plan for the files as they are now. It fails if that one does something else,
// or if HEAD has moved. The user may have edited files while reading the plan.
func (r *Plan) lookAgain(ctx context.Context) (*Plan, error) {
	if err := r.sameHead(ctx); err != nil {
		return nil, err
	}
	now, err := plan(ctx, r.asked)
	if err != nil {
		return nil, err
	}
	changed := now.NoteChangedSince(ctx, r.cur.Tree)
	seen, err := r.Fingerprint()
	again, failed := now.Fingerprint()
	if err != nil || failed != nil {
		return nil, cmp.Or(err, failed)
	}
	if seen != again {
		return nil, changedSince("the worktree has changed" + Some(changed))
	}
	return now, nil
}

// Some names some of the paths, in parentheses, after a space.
func Some(paths []checkpoint.Path) string {
	const mostNamed = 5 // how many paths Some names
	if len(paths) == 0 {
		return ""
	}
	said := render.First(paths, mostNamed, "and %d more", func(p checkpoint.Path) string { return name.Clip(string(p), name.Said) })
	return " (" + strings.Join(said, ", ") + ")"
}
