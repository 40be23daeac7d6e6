package why

import (
	"context"

	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/git"
)

// changed returns what a checkpoint changed since its base, and by path what differs from HEAD; nil: HEAD is
// where it was. It returns false where something cannot be read, or there is too much.
func (b *build) changed(ctx context.Context, i int32) (changes []git.Change, committed map[string]git.Change, ok bool) {
	p, before := b.x.Checkpoints[i], b.x.base(i)
	from, moved := name.OID(""), ""
	if before >= 0 {
		base := b.x.Checkpoints[before]
		if from = base.Tree; from == "" {
			return nil, nil, false
		}
		if base.Head != p.Head {
			moved = string(p.Head)
		}
	} else if p.Head != "" {
		c, err := b.s.Repo.Commits.Read(ctx, string(p.Head))
		if err != nil {
			return nil, nil, false
		}
		from = c.Tree
	}
	changes, err := b.s.Repo.Trees.Diff(ctx, from, p.Tree)
	if err != nil || len(changes) > mostIn {
		return nil, nil, false
	}
	if moved != "" {
		if committed, err = b.beyond(ctx, moved, p.Tree); err != nil {
			return nil, nil, false
		}
	}
	return changes, committed, true
}

// difference reads what a checkpoint changed since its base. Where something cannot be read, nothing is
// claimed of it.
func (b *build) difference(ctx context.Context, i int32) (f found) {
	changes, committed, ok := b.changed(ctx, i)
	if !ok {
		return f
	}
	renamed := b.renames(ctx, changes)
	for _, c := range changes {
		of := foundChange{path: c.Path}
		if was, is := renamed[c.Path]; is {
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
	of := make(map[string]git.Change, len(changes))
	for _, c := range changes {
		of[c.Path] = c
	}
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

// mostRenames is how many new files are compared with how many deleted ones.
const mostRenames = 30

// renames returns by new path the deleted file that it was: one with the same content, or else with at
// least half of the same lines.
func (b *build) renames(ctx context.Context, changes []git.Change) map[string]git.Change {
	var gone, made []git.Change
	for _, c := range changes {
		switch {
		case c.New.Mode == 0 && isFile(c.Old):
			gone = append(gone, c)
		case c.Old.Mode == 0 && isFile(c.New):
			made = append(made, c)
		}
	}
	out := map[string]git.Change{}
	if len(gone) == 0 || len(made) == 0 {
		return out
	}
	used := exactly(gone, made, out)
	if len(gone) > mostRenames || len(made) > mostRenames {
		return out
	}
	for _, m := range made {
		if _, done := out[m.Path]; done {
			continue
		}
		after, best := b.readLines(ctx, m.New).text, 0
		for _, g := range gone {
			before := b.readLines(ctx, g.Old).text
			if n := common(before, after); !used[g.Path] && n > best && 2*n >= max(len(before), len(after)) {
				out[m.Path], best = g, n
			}
		}
		if best > 0 {
			used[out[m.Path].Path] = true
		}
	}
	return out
}

// exactly puts into out the files that were renamed and not changed, and returns their old paths.
func exactly(gone, made []git.Change, out map[string]git.Change) (used map[string]bool) {
	used = map[string]bool{}
	for _, m := range made {
		for _, g := range gone {
			if !used[g.Path] && g.Old.OID == m.New.OID {
				out[m.Path], used[g.Path] = g, true
				break
			}
		}
	}
	return used
}

// common counts the lines of b that are in a too.
func common(a, b text) (n int) {
	left := map[string]int{}
	for _, line := range a {
		left[line]++
	}
	for _, line := range b {
		if left[line] > 0 {
			left[line]--
			n++
		}
	}
	return n
}
