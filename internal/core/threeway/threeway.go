// Package threeway merges changes into a tree, path by path.
//
// A Merge begins with a tree (ours), and each Apply brings changes from one version of a file to
// another into it: a change of a step in reverse, or what an attempt did. A path is decided by
// three versions: the one that the change starts from (base), the one that it leads to (theirs),
// and ours. Where two of them are equal, the result is the third, with its exact bytes and its
// mode. Only if all three are regular files that differ, their lines are merged, by `git
// merge-file` on temporary files: `git merge-tree` would run the merge drivers that .gitattributes
// names. Everything else is a conflict. A path that has a conflict stays as it is, or gets conflict
// markers.
//
// Files that were renamed without another change are followed, on both sides (renames.go).
package threeway

import (
	"cmp"
	"context"
	"io/fs"
	"maps"
	"slices"
	"strings"

	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/git"
	"git-checkpoint/internal/storage/snapshot"
	"git-checkpoint/internal/sys/gather"
)

// Version is a file at a path. The zero Version stands for no file.
type Version struct {
	Entry git.Entry
	Raw   name.OID    // a blob with its exact bytes, if git would not check them out; see snapshot.Capture
	Perm  fs.FileMode // permission bits; 0: usual ones
}

// Side is a tree, with what a tree cannot express.
type Side struct {
	Tree  name.OID
	Raw   map[string]name.OID
	Modes map[string]fs.FileMode
}

// SideOf returns the files of a target.
func SideOf(t snapshot.Target) Side { return Side{t.Tree, t.Raw, t.Modes} }

// Target returns the target that has the files of a merge. It has no index, so what is staged stays as
// it is. The rest comes from t.
func (s Side) Target(t snapshot.Target) snapshot.Target {
	return snapshot.Target{Tree: s.Tree, Raw: s.Raw, Modes: s.Modes, ModesKnown: t.ModesKnown, Skipped: t.Skipped, Keep: t.Keep}
}

// VersionAt returns the version that a side has of a path, whose tree entry is e.
func (s Side) VersionAt(path string, e git.Entry) Version {
	if e.Mode == 0 {
		return Version{}
	}
	return Version{git.Entry{Mode: e.Mode, OID: e.OID}, s.Raw[path], s.Modes[path]}
}

// exists reports whether there is a file.
func (v Version) exists() bool { return v.Entry.Mode != 0 }

// regular reports whether v is a regular file, rather than a link, a submodule or none.
func (v Version) regular() bool { return v.Entry.Mode == git.ModeFile || v.Entry.Mode == git.ModeExec }

// holds reports whether both have the same content.
func (v Version) holds(o Version) bool { return v.Entry.OID == o.Entry.OID && v.Raw == o.Raw }

// Same reports whether both are the same file, with its bytes and its mode in git.
func (v Version) Same(o Version) bool { return v.holds(o) && v.Entry.Mode == o.Entry.Mode }

// Change leads from one version of a path to another.
type Change struct {
	Path     string
	From, To Version
	Called   Names
}

// Names are the sides as conflict markers name them.
type Names struct{ Ours, Base, Theirs string }

// Diff returns the changes that lead from one tree to another, sorted by path. Files with the same
// blob and other exact bytes are among them.
func Diff(ctx context.Context, repo *git.Repo, from, to Side, called Names) ([]Change, error) {
	differ, err := repo.Trees.Diff(ctx, from.Tree, to.Tree)
	if err != nil {
		return nil, err
	}
	changes, at := make([]Change, 0, len(differ)), map[string]bool{}
	for _, d := range differ {
		at[d.Path] = true
		changes = append(changes, Change{d.Path, from.VersionAt(d.Path, d.Old), to.VersionAt(d.Path, d.New), called})
	}
	for _, raw := range []map[string]name.OID{from.Raw, to.Raw} {
		for p := range raw {
			if at[p] || from.Raw[p] == to.Raw[p] {
				continue
			}
			at[p] = true
			e, there, err := repo.Trees.Lookup(ctx, from.Tree, p)
			if err != nil {
				return nil, err
			}
			if there {
				changes = append(changes, Change{p, from.VersionAt(p, e), to.VersionAt(p, e), called})
			}
		}
	}
	slices.SortFunc(changes, func(a, b Change) int { return strings.Compare(a.Path, b.Path) })
	return changes, nil
}

// How says how a change came out.
type How string

// The values of How, the least important first.
const (
	Same     How = "same"     // nothing to do: ours has it already
	Restored How = "restored" // nobody else has changed the file, so it becomes theirs to the byte
	Merged   How = "merged"   // it has what is ours and what is theirs
	Conflict How = "conflict"
)

// order returns how important a How is.
func (h How) order() int { return slices.Index([]How{Same, Restored, Merged, Conflict}, h) }

// SameLines is the Why of a conflict that markers can show. All others leave the file as it is.
const SameLines = "the same lines changed since"

// Outcome is the result for a path.
type Outcome struct {
	Path   string
	How    How
	Why    string // of a conflict
	Marked bool   // set if the file gets conflict markers. Otherwise a file with a conflict stays as it is
	Also   string // where else the file is or was: under the other name of a rename. Empty: nowhere
}

// Merge is a tree while changes are merged into it.
type Merge struct {
	Theirs []name.OID // the trees that the changes lead to. A database gets the files that one of them has

	repo    *git.Repo
	ours    Side
	markers bool
	edits   map[string]Version  // what becomes of the paths that are not ours any more
	out     map[string]*Outcome // of every path of the changes
	moved   map[string]string   // where ours has a path that was renamed
	pairs   map[string]string   // the paths of a rename that was reversed, in both directions
}

// Begin begins a merge. With markers, conflicts of lines are written into the files.
func Begin(repo *git.Repo, ours Side, markers bool) *Merge {
	return &Merge{nil, repo, ours, markers, map[string]Version{}, map[string]*Outcome{}, map[string]string{}, map[string]string{}}
}

// Apply merges changes that all start from the tree base.
func (m *Merge) Apply(ctx context.Context, base name.OID, changes []Change) error {
	since, err := m.sinceBase(ctx, base)
	if err != nil {
		return err
	}
	s := &set{Merge: m, base: base, changed: since}
	s.findRenames()
	pairs, rest := renamed(changes)
	for _, p := range pairs {
		if err := s.applyRename(ctx, p); err != nil {
			return err
		}
	}
	if err := s.refuseEdited(ctx, rest); err != nil {
		return err
	}
	for _, c := range rest {
		if err := s.one(ctx, c); err != nil {
			return err
		}
	}
	return nil
}

// sinceBase returns the entries of the paths that differ between a tree and ours, as both have them.
func (m *Merge) sinceBase(ctx context.Context, base name.OID) (map[string]git.Change, error) {
	changes, err := m.repo.Trees.Diff(ctx, base, m.ours.Tree)
	if err != nil {
		return nil, err
	}
	return gather.Map(changes, func(c git.Change) (string, git.Change) { return c.Path, c }), nil
}

// set is a merge while the changes from one tree are applied.
type set struct {
	*Merge
	base    name.OID
	changed map[string]git.Change // between base and ours

	renames map[string]string // in ours since base: exact ones
	edited  map[string]string // likewise, of files whose content changed, too; nil: not looked for yet
}

// versionNow returns what ours has at a path by now. like is the version in base.
func (s *set) versionNow(path string, like Version) Version {
	if v, edited := s.edits[path]; edited {
		return v
	}
	if c, changed := s.changed[path]; changed {
		return s.ours.VersionAt(path, c.New)
	}
	return s.ours.VersionAt(path, like.Entry)
}

// one applies the change of one path.
func (s *set) one(ctx context.Context, c Change) error {
	if s.failed(c.Path) {
		return nil
	}
	at, why, err := s.find(ctx, c.Path, c.From)
	if err != nil {
		return err
	}
	if at != c.Path && !c.To.exists() {
		why = "renamed to " + at + " since" // or copied, and the copy is not ours to delete
	}
	if why != "" {
		s.conflict(c.Path, why)
		return nil
	}
	got, how, why, err := s.three(ctx, c, s.versionNow(at, c.From))
	if err != nil {
		return err
	}
	if how == Conflict && !got.exists() {
		s.conflict(c.Path, why)
		return nil
	}
	s.note(c.Path, how, why)
	s.out[c.Path].Marked = how == Conflict
	if how != Same {
		s.edits[at] = got
	}
	return nil
}

// three merges one file. A version that is returned with a conflict has markers.
func (s *set) three(ctx context.Context, c Change, ours Version) (Version, How, string, error) {
	base, theirs := c.From, c.To
	switch {
	case ours.Same(theirs) || base.Same(theirs):
		return ours, Same, "", nil
	case base.Entry.Mode == git.ModeGitlink || ours.Entry.Mode == git.ModeGitlink || theirs.Entry.Mode == git.ModeGitlink:
		return Version{}, Conflict, "a submodule or nested repository", nil
	case ours.Same(base):
		return theirs, Restored, "", nil
	case !ours.exists():
		return Version{}, Conflict, "deleted since", nil
	case !theirs.exists():
		return Version{}, Conflict, "changed since it was made", nil
	case !base.exists():
		return Version{}, Conflict, "made again since it was deleted", nil
	case !base.regular() || !ours.regular() || !theirs.regular():
		return Version{}, Conflict, "a link, or not a file of the same kind any more", nil
	}
	return s.regular(ctx, c, ours)
}

// regular is three for three regular files of which no two are the same.
func (s *set) regular(ctx context.Context, c Change, ours Version) (Version, How, string, error) {
	base, theirs := c.From, c.To
	// Files have only two modes, so if one side changed the mode, the result is the mode that the
	// other side does not have.
	got := ours
	if ours.Entry.Mode == base.Entry.Mode {
		got.Entry.Mode = theirs.Entry.Mode
	}
	switch {
	case base.holds(theirs) || ours.holds(theirs):
		return got, Merged, "", nil
	case ours.holds(base):
		got.Entry.OID, got.Raw = theirs.Entry.OID, theirs.Raw
		return got, Merged, "", nil
	case base.Raw != "" || ours.Raw != "" || theirs.Raw != "":
		return Version{}, Conflict, "its bytes on disk are not those in git", nil
	}
	oid, clean, err := s.lines(ctx, c, ours)
	got.Entry.OID = oid
	switch {
	case err != nil || clean && got.Same(ours):
		return ours, Same, "", err
	case clean:
		return got, Merged, "", nil
	case oid == "":
		return Version{}, Conflict, "not text, and changed since", nil
	case !s.markers:
		return Version{}, Conflict, SameLines, nil
	}
	return got, Conflict, SameLines, nil
}

// failed reports whether a path has a conflict already. After its first one it is not merged any more.
func (m *Merge) failed(path string) bool { return m.out[path] != nil && m.out[path].How == Conflict }

// note records the outcome for a path, if it is more important than the one before.
func (m *Merge) note(path string, how How, why string) {
	if old := m.out[path]; old == nil || old.How.order() < how.order() {
		m.out[path] = &Outcome{Path: path, How: how, Why: why}
	}
}

// conflict records a conflict, and leaves the path and the other one of its rename as they were.
func (m *Merge) conflict(path, why string) {
	for _, p := range []string{path, m.pairs[path]} {
		if p != "" {
			m.note(p, Conflict, why)
			delete(m.edits, p)
			if to := m.moved[p]; to != "" {
				delete(m.edits, to)
			}
		}
	}
}

// Outcomes returns the outcome for each path of the changes, sorted by path.
func (m *Merge) Outcomes() []Outcome {
	out := make([]Outcome, 0, len(m.out))
	for _, p := range slices.Sorted(maps.Keys(m.out)) {
		o := *m.out[p]
		o.Also = cmp.Or(m.pairs[p], m.moved[p])
		out = append(out, o)
	}
	return out
}

// Done ends the merge and returns the result. A file that would have to be where a directory is, or
// below a file, becomes a conflict.
func (m *Merge) Done(ctx context.Context) (Side, error) {
	const clashes = "a file where a directory is now, or the other way round" // why a file is not put where it would be
	if err := m.keepWhole(ctx); err != nil {
		return Side{}, err
	}
	for again := true; again; {
		again = false
		for _, p := range slices.Sorted(maps.Keys(m.edits)) {
			v, still := m.edits[p]
			if !still || !v.exists() {
				continue
			}
			clash, err := m.clashes(ctx, p)
			if err != nil {
				return Side{}, err
			}
			if clash {
				for from, to := range m.moved { // it is not the path of the change
					if to == p {
						m.conflict(from, clashes)
					}
				}
				m.conflict(p, clashes)
				again = true
			}
		}
	}
	entries := map[string]git.Entry{}
	out := Side{Raw: maps.Clone(m.ours.Raw), Modes: maps.Clone(m.ours.Modes)}
	if out.Raw == nil {
		out.Raw = map[string]name.OID{}
	}
	if out.Modes == nil {
		out.Modes = map[string]fs.FileMode{}
	}
	for p, v := range m.edits {
		entries[p] = v.Entry
		delete(out.Raw, p)
		delete(out.Modes, p)
		if v.Raw != "" {
			out.Raw[p] = v.Raw
		}
		if v.Perm != 0 {
			out.Modes[p] = v.Perm
		}
	}
	var err error
	out.Tree, err = m.repo.Trees.Edit(ctx, m.ours.Tree, entries)
	return out, err
}

// clashes reports whether a file cannot be at p, because p is a directory or below a file.
func (m *Merge) clashes(ctx context.Context, p string) (bool, error) {
	for i := range p {
		if p[i] != '/' {
			continue
		}
		above, edited := m.edits[p[:i]]
		if !edited {
			e, there, err := m.repo.Trees.Lookup(ctx, m.ours.Tree, p[:i])
			if err != nil {
				return false, err
			}
			if there && !e.IsTree() {
				return true, nil
			}
		}
		if above.exists() {
			return true, nil
		}
	}
	e, there, err := m.repo.Trees.Lookup(ctx, m.ours.Tree, p)
	if err != nil || !there || !e.IsTree() {
		return false, err
	}
	clash := false
	err = m.repo.Trees.Walk(ctx, e.OID, func(below string, _ git.Entry) error {
		v, edited := m.edits[strings.Join([]string{p, below}, "/")]
		clash = clash || !edited || v.exists()
		return nil
	})
	return clash, err
}
