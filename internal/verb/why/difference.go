package why

import (
	"context"

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
		if committed, err = b.beyond(ctx, moved, p.Tree); err != nil {
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
	before := b.renames(ctx, from, b.x.Checkpoints[i].Tree, changes)
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

// beyond returns what differs between a commit and a tree, by path.
func (b *build) beyond(ctx context.Context, commit string, tree name.OID) (map[string]git.Change, error) {
	c, err := b.s.Repo.Commits.Read(ctx, commit)
	if err != nil {
		return nil, err
	}
	changes, err := b.s.Repo.Trees.Diff(ctx, c.Tree, tree)
	of := gather.Map(changes, func(c git.Change) (string, git.Change) { return c.Path, c })
	return of, err
}

// added returns the entries of the lines that neither the file before nor that of HEAD has.
func (b *build) added(ctx context.Context, c git.Change, committed git.Entry) []entry {
	after, old, theirs := b.readLines(ctx, c.New), b.readLines(ctx, c.Old), b.readLines(ctx, committed)
	if !after.known || !old.known || !theirs.known {
		return nil
	}
	before, have := match(old.text, after.text), match(theirs.text, after.text)
	var out []entry
	for i := range after.text {
		if before[i] == alone && have[i] == alone {
			out = append(out, after.text.entryOf(i))
		}
	}
	return out
}

// readLines reads a file of a tree. What is not a file has no lines.
func (b *build) readLines(ctx context.Context, e git.Entry) content {
	if !isFile(e) {
		return content{known: true}
	}
	data, is := blobOf(ctx, b.s.Repo.Objects, b.x.lacks, e)
	if !is {
		return content{}
	}
	return content{text: split(string(data)), known: true}
}

// renames returns by new path the deleted file that it was, as git finds it.
func (b *build) renames(ctx context.Context, from, to name.OID, changes []git.Change) map[string]git.Change {
	gone, made := map[string]git.Change{}, false
	for _, c := range changes {
		if c.New.Mode == 0 && isFile(c.Old) {
			gone[c.Path] = c
		}
		made = made || c.Old.Mode == 0 && isFile(c.New)
	}
	if len(gone) == 0 || !made {
		return nil
	}
	found, _ := threeway.Renames(ctx, b.s.Repo, from, to) //nolint:errcheck // then none is known
	out := map[string]git.Change{}
	for was, is := range found {
		if c, known := gone[was]; known {
			out[is] = c
		}
	}
	return out
}
