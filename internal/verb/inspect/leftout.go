package inspect

// What a checkpoint left out cannot be brought back or compared. This file lists it anyway, with
// what stat data shows.

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/format/record"
	"git-checkpoint/internal/format/render"
	"git-checkpoint/internal/git"
	"git-checkpoint/internal/storage/snapshot"
	"git-checkpoint/internal/verb/create"
)

// LeftOut is a path that a checkpoint left out.
type LeftOut struct {
	Path    checkpoint.Path `json:"path"` // a directory ends in "/"
	Reason  string          `json:"reason"`
	Changed bool            `json:"changed"`           // something was written there since
	Deleted bool            `json:"deleted,omitempty"` // nothing is there any more
}

// Moved is a submodule or nested repository that has changed.
type Moved struct {
	Path  checkpoint.Path `json:"path"`
	Head  bool            `json:"head"`  // it is at another commit
	Files bool            `json:"files"` // files in it changed
}

// LeftOutOf returns what a record left out, except mirrors of checkpoints. sight is Worktree.Sight,
// for the files as they are now.
func LeftOutOf(settings *checkpoint.Settings, r *record.Record, sight func(string) string) (out []LeftOut) {
	for _, sk := range r.Snapshot.Skipped {
		if sk.Reason == snapshot.ReasonMirror {
			continue
		}
		l := LeftOut{Path: sk.Path, Reason: ReasonOf(settings, sk)}
		switch now, then := sight(string(sk.Path)), create.SightOf(sk); {
		case now == "" || now == then:
		case now == snapshot.SightGone:
			l.Deleted = true
		case then == "": // a record of an earlier version has at most a size
			l.Changed = sk.Size > 0 && !strings.HasPrefix(now, fmt.Sprintf("%d ", sk.Size))
		default:
			l.Changed = true
		}
		out = append(out, l)
	}
	return out
}

// ReasonOf returns the reason for which a path was left out, with the limit for a large file.
func ReasonOf(settings *checkpoint.Settings, sk record.Skipped) string {
	if limit, err := settings.Size("checkpoint.maxFileSize", checkpoint.DefaultMaxFileSize); err == nil && sk.Reason == snapshot.ReasonLarge && sk.Size > limit {
		return "larger than " + strings.Replace(render.Size(limit), ".0 ", " ", 1)
	}
	if sk.Reason == snapshot.ReasonUnignored {
		return sk.Reason + "; git checkpoint save takes it"
	}
	return sk.Reason
}

// Incomplete reports whether something other than a mirror of checkpoints was left out.
func Incomplete(skipped []record.Skipped) bool {
	return slices.ContainsFunc(skipped, func(sk record.Skipped) bool { return sk.Reason != snapshot.ReasonMirror })
}

// held is what one side of a comparison knows about submodules and nested repositories.
type held struct {
	tree    name.OID
	skipped []record.Skipped
}

// sights returns the sights of submodules and nested repositories, by path without the final slash.
func (h held) sights() map[string]string {
	out := map[string]string{}
	for _, sk := range h.skipped {
		switch sk.Reason {
		case snapshot.ReasonNested, snapshot.ReasonUnborn, snapshot.ReasonFormat, snapshot.ReasonSubmodule:
			out[strings.TrimSuffix(string(sk.Path), "/")] = create.SightOf(sk)
		}
	}
	return out
}

// MovedInside returns the submodules and nested repositories that changed between a checkpoint and
// a capture.
func MovedInside(ctx context.Context, repo *git.Repo, then *record.Record, now *snapshot.Capture) ([]Moved, error) {
	return movedInside(ctx, repo, held{then.Snapshot.Tree, then.Snapshot.Skipped}, held{now.Tree, create.SkippedOf(now)})
}

func movedInside(ctx context.Context, repo *git.Repo, then, now held) ([]Moved, error) {
	changes, err := repo.Trees.Diff(ctx, now.tree, then.tree) // the plan of a rollback has compared them so
	if err != nil {
		return nil, err
	}
	moved := map[string]*Moved{}
	at := func(p string) *Moved {
		if moved[p] == nil {
			moved[p] = &Moved{Path: checkpoint.Path(p)}
		}
		return moved[p]
	}
	for _, c := range changes {
		if c.Old.Mode == git.ModeGitlink && c.New.Mode == git.ModeGitlink {
			at(c.Path).Head = true
		}
	}
	before, after := then.sights(), now.sights()
	for p, sight := range after {
		// A submodule that is not listed was clean, and has changes of its own now.
		if was, listed := before[p]; listed && was != "" && sight != "" && was != sight || !listed && isGitlink(ctx, repo, then.tree, p) {
			at(p).Files = true
		}
	}
	for p := range before {
		if _, listed := after[p]; !listed && isGitlink(ctx, repo, now.tree, p) {
			at(p).Files = true
		}
	}
	var out []Moved
	for _, m := range moved {
		out = append(out, *m)
	}
	slices.SortFunc(out, func(a, b Moved) int { return strings.Compare(string(a.Path), string(b.Path)) })
	return out, nil
}

// isGitlink reports whether a tree has a gitlink at p.
func isGitlink(ctx context.Context, repo *git.Repo, tree name.OID, p string) bool {
	e, ok, err := repo.Trees.Lookup(ctx, tree, p)
	return err == nil && ok && e.Mode == git.ModeGitlink
}
