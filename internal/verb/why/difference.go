package why

import (
	"context"
	"maps"
	"slices"

	"git-checkpoint/internal/core/threeway"
	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/git"
	"git-checkpoint/internal/sys/gather"
)

// changed returns what a checkpoint changed since its base and that one's tree, and by path what differs from HEAD; nil: HEAD is
// where it was. It returns false where something cannot be read, or there is too much.
func (b *build) changed(ctx context.Context, i int32) (from name.OID, changes []git.Change, committed map[string]git.Change, ok bool) {
	p, before := b.x.Checkpoints[i], b.x.base(i)
	moved := ""
	if before >= 0 {
		base := b.x.Checkpoints[before]
		if from = base.Tree; from == "" {
			return "", nil, nil, false
		}
		if base.Head != p.Head {
			moved = string(p.Head)
		}
	} else if p.Head != "" {
		c, err := b.s.Repo.Commits.Read(ctx, string(p.Head))
		if err != nil {
			return "", nil, nil, false
		}
		from = c.Tree
	}
	var err error
	if changes, err = b.s.Repo.Trees.Diff(ctx, from, p.Tree); err != nil || len(changes) > mostIn {
		return "", nil, nil, false
	}
	if moved != "" {
		if committed, err = b.differsFrom(ctx, moved, p.Tree); err != nil {
			return "", nil, nil, false
		}
	}
	return from, changes, committed, true
}

// difference reads what a checkpoint changed since its base. Where something cannot be read, nothing is
// claimed of it.
func (b *build) difference(ctx context.Context, i int32) (f found) {
	from, changes, committed, ok := b.changed(ctx, i)
	if !ok {
		return f
	}
	// Whoever renames a file and writes more than it had has not written its lines, though git takes it for a new one.
	before := renames(ctx, b.s.Repo, from, b.x.Checkpoints[i].Tree, changes, "-M10%")
	for _, c := range changes {
		of := foundChange{path: c.Path}
		if was, is := before[c.Path]; is {
			of.from, c.Old = was.Path, was.Old
		}
		if committed != nil {
			if _, own := committed[c.Path]; !own {
				continue // a commit brought it
			}
		}
		if isFile(c.New) && f.lines <= mostIn {
			of.entries = b.added(ctx, c, committed[c.Path].Old)
			f.lines += len(of.entries)
		}
		f.changes = append(f.changes, of)
	}
	if f.lines > mostIn {
		for i := range f.changes {
			f.changes[i].entries = nil
		}
	}
	return f
}

// differsFrom returns what differs between a commit and a tree, by path.
func (b *build) differsFrom(ctx context.Context, commit string, tree name.OID) (map[string]git.Change, error) {
	c, err := b.s.Repo.Commits.Read(ctx, commit)
	if err != nil {
		return nil, err
	}
	changes, err := b.s.Repo.Trees.Diff(ctx, c.Tree, tree)
	of := gather.Map(changes, func(c git.Change) (string, git.Change) { return c.Path, c })
	return of, err
}

// added returns the entries of the lines that neither the file before nor that of HEAD has.
func (b *build) added(ctx context.Context, c git.Change, committed git.Entry) (out []entry) {
	f := &files{x: b.x, repo: b.s.Repo} // others work at the same time
	after, before, have := f.read(ctx, c.New).text, f.matched(ctx, c.Old, c.New), f.matched(ctx, committed, c.New)
	for i := range after {
		if before[i] == alone && have[i] == alone {
			out = append(out, after.entryOf(i))
		}
	}
	return out
}

// renames returns, by new path, the removal of the file that it was, of changes between two trees, as git finds it with
// the option alike.
func renames(ctx context.Context, repo *git.Repo, from, to name.OID, changes []git.Change, alike string) map[string]git.Change {
	gone, made := map[string]git.Change{}, false
	for _, c := range changes {
		if c.New.Mode == 0 {
			gone[c.Path] = c
		}
		made = made || c.Old.Mode == 0
	}
	if len(gone) == 0 || !made {
		return nil
	}
	found, _ := threeway.Renames(ctx, repo, from, to, alike) //nolint:errcheck // then none is known
	return gather.Map(slices.Collect(maps.Keys(found)), func(was string) (string, git.Change) { return found[was], gone[was] })
}
