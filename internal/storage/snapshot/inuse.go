package snapshot

// A database is restored only while nobody has it open: a program would go on writing to a file that is gone, or keep a
// log beside another file. What belongs to it goes away before the database is exchanged, and comes after it.

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/git"
	"git-checkpoint/internal/storage/worktree"
)

// InUseError says that programs have databases open that a restore would change.
type InUseError struct {
	Top   string            // of the worktree, from the working directory
	Open  map[string]string // the program, by path from the working directory
	Whole bool              // says that the command takes no paths, so that nothing can be left as it is
}

func (e *InUseError) Error() string {
	var is, but []string
	for _, p := range slices.Sorted(maps.Keys(e.Open)) {
		said := p
		if strings.ContainsFunc(p, unicode.IsControl) {
			said = strconv.Quote(p)
		}
		is, but = append(is, fmt.Sprintf("%s is open in %s", said, e.Open[p])), append(but, name.Quoted(":!"+patternOf(p)+"*"))
	}
	said := strings.Join(is, ", ") + ": stop it"
	if e.Whole {
		return said
	}
	return said + fmt.Sprintf(", or leave it as it is: -- %s %s", e.Top, strings.Join(but, " "))
}

// patternOf returns a pattern on one line that matches a path.
func patternOf(p string) string {
	var out strings.Builder
	for _, r := range p {
		switch {
		case unicode.IsControl(r):
			r = '?'
		case strings.ContainsRune(`\[*?`, r):
			out.WriteByte('\\')
		}
		out.WriteRune(r)
	}
	return out.String()
}

// goesFirst reports whether a file is taken away before what may be its database is exchanged.
func (o Op) goesFirst() bool {
	return o.kind() == OpWrite && o.Old.Mode != 0 && worktree.DatabaseOf(o.Path) != ""
}

// databaseOf returns the database, of now or of the target, that a path belongs to by its name; "" if there is none.
func (s *planner) databaseOf(ctx context.Context, p *Plan, q string) string {
	base := worktree.DatabaseOf(q)
	if base == "" || s.files.IsDatabase(base) || HasDatabase(ctx, s.repo, p.Target.Tree, base) {
		return base
	}
	return ""
}

// HasDatabase reports whether a tree has a database at a path.
func HasDatabase(ctx context.Context, repo *git.Repo, tree name.OID, p string) bool {
	e, has, err := repo.Trees.Lookup(ctx, tree, p)
	if err != nil || !has || !regular(e.Mode) {
		return false
	}
	got, err := repo.Objects.Batch().Object(ctx, string(e.OID))
	return err == nil && worktree.IsDatabase(got.Data)
}

// hasDatabase reports whether a database is at a path. The capture knows that of the files that it read.
func (s *planner) hasDatabase(c *Capture, p string) bool {
	info, err := s.files.Lstat(p)
	if err != nil || info == nil {
		return false
	}
	if seen, known := c.hashes.known(p, info); known {
		return seen.database
	}
	return s.files.HoldsDatabase(p, info)
}

// isLoose reports whether no restore touches a path that belongs to a database: an -shm, and a file of a database that
// neither side has.
func (s *planner) isLoose(ctx context.Context, p *Plan, q string) bool {
	base := worktree.DatabaseOf(q)
	_, now, _ := s.repo.Trees.Lookup(ctx, p.Cur.Tree, base)     //nolint:errcheck // then it is not there
	_, then, _ := s.repo.Trees.Lookup(ctx, p.Target.Tree, base) //nolint:errcheck // likewise
	return strings.HasSuffix(q, "-shm") || !now && !then
}

// isHalf reports whether something else of the database that a path belongs to stays untouched, and so this does.
func (s *planner) isHalf(ctx context.Context, p *Plan, q string, untouched func(string) bool) bool {
	base := cmp.Or(worktree.DatabaseOf(q), q)
	return slices.ContainsFunc(worktree.Group(base), func(at string) bool { return at != q && untouched(at) }) && s.databaseOf(ctx, p, base+worktree.Sides[0]) == base
}

// isIdle reports whether a file is a rollback journal that SQLite does not heed.
func (s *planner) isIdle(p string) bool {
	return strings.HasSuffix(p, "-journal") && !s.files.HasJournal(p)
}

// isBeside reports whether a file is there that SQLite would take for a part of the database beside it.
func (s *planner) isBeside(p string) bool {
	info, err := s.files.Lstat(p)
	return (err != nil || info != nil) && !s.isIdle(p)
}

// findDatabases finds the databases of the plan. A file beside one of them that is in no checkpoint is in the way:
// SQLite would take it for a part of the new one.
func (s *planner) findDatabases(ctx context.Context, p *Plan, _ []git.Change) error {
	p.databases = map[string]string{}
	replaced := make([]bool, len(p.Ops)) // where a database is replaced or deleted
	if err := git.Each(len(p.Ops), func(i int) error {
		replaced[i] = regular(p.Ops[i].Old.Mode) && s.hasDatabase(p.Cur, p.Ops[i].Path)
		return nil
	}); err != nil {
		return err
	}
	for i, o := range p.Ops {
		base := s.databaseOf(ctx, p, o.Path)
		data, read := p.contents[o.content()]
		becomes := worktree.IsDatabase(data) || !read && o.kind() == OpWrite && slices.ContainsFunc(worktree.Group(o.Path)[1:], s.isBeside) && HasDatabase(ctx, s.repo, p.Target.Tree, o.Path)
		if base == "" && (becomes || replaced[i]) {
			base = o.Path
		}
		if k := o.kind(); base == "" || k != OpWrite && k != OpDelete {
			continue
		}
		p.databases[o.Path] = base
		for _, q := range worktree.Group(o.Path)[1:] {
			if _, held, err := s.repo.Trees.Lookup(ctx, p.Cur.Tree, q); err != nil {
				return err
			} else if !held && s.isBeside(q) && !slices.ContainsFunc(p.Ops, func(o Op) bool { return o.Path == q }) {
				p.Collisions = append(p.Collisions, Collision{Path: q, Reason: "ignored, not captured", Ignored: true})
			}
		}
	}
	return nil
}

// refuseOpen returns an InUseError if a program has a database open that the plan changes.
func (s *planner) refuseOpen(_ context.Context, p *Plan, _ []git.Change) error {
	for _, o := range p.Ops { // some that findDatabases saw stay
		if base := p.databases[o.Path]; base != "" && !slices.Contains(p.open, base) {
			p.open = append(p.open, base)
		}
	}
	return s.inUse(s.files.OpenIn(p.open))
}

// inUse returns the error for databases that are open, nil if none is.
func (s *checkout) inUse(open map[string]string) error {
	if len(open) == 0 {
		return nil
	}
	e := &InUseError{Top: s.repo.Typed(""), Open: map[string]string{}}
	for p, by := range open {
		e.Open[s.repo.Typed(p)] = by
	}
	return e
}

// LockDatabases has whoever opens a database of the restore wait until it ends: the old file and the new one. It returns
// an InUseError if a program has one open. Begin calls it; after a kill it is due before Apply and Back.
func (r *Restore) LockDatabases() error {
	err := r.worktree.inUse(r.worktree.files.OpenIn(r.open))
	if !worktree.Locks {
		return err
	}
	for _, base := range r.open {
		had := true
		if f, failed := r.worktree.files.OpenToLock(base); failed == nil { // otherwise nobody is kept out
			had = worktree.LockOut(f) || slices.ContainsFunc(r.locked, func(l *os.File) bool {
				ours, _ := l.Stat()            //nolint:errcheck // then it is another file
				this, _ := f.Stat()            //nolint:errcheck // likewise
				return os.SameFile(ours, this) // a hard link: this process has locked it
			})
			r.locked = append(r.locked, f)
		}
		if err == nil && !had {
			err = r.worktree.inUse(map[string]string{base: "another program"})
		}
	}
	for i, o := range r.intent.Ops {
		if !slices.Contains(r.open, o.Path) {
			continue
		}
		if f, failed := os.OpenFile(r.intent.newFile(i), os.O_RDWR, 0); failed == nil {
			worktree.LockOut(f)
			r.locked = append(r.locked, f)
		}
	}
	return err
}
