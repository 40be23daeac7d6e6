package threeway

import (
	"context"
	"maps"
	"slices"
	"strings"

	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/git"
	"git-checkpoint/internal/sys/gather"
)

// Only a file that has exactly the content of one that is gone, and is the only one with it, counts
// as renamed. Anything else that looks like a rename may not be one.

// pair is a file that a change renames: it is gone at from and new at to.
type pair struct{ from, to Change }

// renamed divides changes into renames and the rest.
func renamed(changes []Change) (pairs []pair, rest []Change) {
	found := matched(changes)
	byPath := gather.Map(changes, func(c Change) (string, Change) { return c.Path, c })
	taken := map[string]bool{}
	for _, from := range slices.Sorted(maps.Keys(found)) {
		pairs = append(pairs, pair{byPath[from], byPath[found[from]]})
		taken[from], taken[found[from]] = true, true
	}
	return pairs, gather.Those(changes, func(c Change) bool { return !taken[c.Path] })
}

// matched returns the new path of each file that changes rename.
func matched(changes []Change) map[string]string {
	type both struct{ gone, made []string }
	at := map[[2]name.OID]*both{}
	of := func(v Version) *both {
		key := [2]name.OID{v.Entry.OID, v.Raw}
		if at[key] == nil {
			at[key] = &both{}
		}
		return at[key]
	}
	for _, c := range changes {
		switch {
		case c.From.regular() && !c.To.exists():
			of(c.From).gone = append(of(c.From).gone, c.Path)
		case c.To.regular() && !c.From.exists():
			of(c.To).made = append(of(c.To).made, c.Path)
		}
	}
	found := map[string]string{}
	for key, b := range at {
		if len(b.gone) == 1 && len(b.made) == 1 && !git.IsEmptyBlob(key[0]) {
			found[b.gone[0]] = b.made[0]
		}
	}
	return found
}

// findRenames finds what was renamed in ours since base.
func (s *set) findRenames() {
	changes := make([]Change, 0, len(s.changed))
	for p, c := range s.changed {
		changes = append(changes, Change{Path: p, From: Side{}.VersionAt(p, c.Old), To: s.ours.VersionAt(p, c.New)})
	}
	s.renames = matched(changes)
}

// find returns where ours has a file of base. why is set if it was renamed and changed, too: then
// it is unclear what a change to it means.
func (s *set) find(ctx context.Context, path string, base Version) (at, why string, err error) {
	if to := s.moved[path]; to != "" {
		return to, "", nil
	}
	if !base.exists() || s.versionNow(path, base).exists() {
		return path, "", nil
	}
	if _, edited := s.edits[path]; edited { // a newer change removed it
		return path, "", nil
	}
	if to := s.renames[path]; to != "" && s.out[to] == nil {
		s.moved[path] = to
		return to, "", nil
	}
	if s.edited == nil {
		if s.edited, err = Renames(ctx, s.repo, s.base, s.ours.Tree, "-M"); err != nil {
			return path, "", err
		}
	}
	if to := s.edited[path]; to != "" {
		return path, "renamed to " + to + " and changed since", nil
	}
	return path, "", nil
}

// refuseEdited makes conflicts of files that the changes rename and edit, if they are not at the new name as the changes
// expect: what came back at the old name would lack what was done since.
func (s *set) refuseEdited(ctx context.Context, changes []Change) error {
	at, made, gone := map[string]Change{}, false, false
	entries := map[string]git.Entry{}
	for _, c := range changes {
		at[c.Path], entries[c.Path] = c, c.To.Entry
		made, gone = made || !c.From.exists(), gone || !c.To.exists()
	}
	if !made || !gone {
		return nil
	}
	theirs, err := s.repo.Trees.Edit(ctx, s.base, entries)
	if err != nil {
		return err
	}
	found, err := Renames(ctx, s.repo, s.base, theirs, "-M")
	for from, to := range found {
		if c, is := at[from]; is && at[to].To.exists() && !git.IsEmptyBlob(c.From.Entry.OID) && !s.versionNow(from, c.From).Same(c.From) {
			s.pairs[from], s.pairs[to] = to, from
			s.conflict(from, "renamed and changed, and changed or deleted since")
		}
	}
	return err
}

// Renames returns what git takes for renames from one tree to another: by old path the new one. alike is git's option for
// how much of a file has to stay: "-M" means half, "-M10%" a tenth.
func Renames(ctx context.Context, repo *git.Repo, from, to name.OID, alike string) (map[string]string, error) {
	const mostCompared = "-l2000" // how many files git compares with each other to find renames
	out, err := repo.Run(ctx, git.Cmd{Args: []string{"diff-tree", "-r", "-z", alike, mostCompared, "--diff-filter=R", "--no-ext-diff", "--no-textconv", "--name-status", string(from), string(to)}})
	if err != nil {
		return nil, err
	}
	found := map[string]string{}
	fields := strings.Split(string(out.Stdout), "\x00")
	for i := 0; i+2 < len(fields); i += 3 { // R095, the old path, the new one
		found[fields[i+1]] = fields[i+2]
	}
	return found, nil
}

// applyRename applies a rename: what base has at p.from.Path goes to p.to.Path.
func (s *set) applyRename(ctx context.Context, p pair) error {
	from, to := p.from.Path, p.to.Path
	if s.failed(from) || s.failed(to) {
		s.pairs[from], s.pairs[to] = to, from
		s.conflict(from, "the file that it was renamed from or to has a conflict")
		return nil
	}
	at, why, err := s.find(ctx, from, p.from.From)
	if err != nil {
		return err
	}
	ours := s.versionNow(at, p.from.From)
	switch {
	case why != "":
	case !ours.exists():
		why = "deleted since"
	case at == to: // somebody renamed it back
		s.note(from, Same, "")
		s.note(to, Same, "")
		return nil
	case at != from: // as for git: one file, two new names
		why = "renamed to " + at + " since"
	case s.versionNow(to, p.to.From).exists():
		why = "made again since it was renamed"
	}
	s.pairs[from], s.pairs[to] = to, from
	if why != "" {
		s.conflict(from, why)
		return nil
	}
	how := Merged
	if ours.Same(p.from.From) {
		how, ours = Restored, p.to.To
	} else if ours.Entry.Mode == p.from.From.Entry.Mode {
		ours.Entry.Mode = p.to.To.Entry.Mode
	}
	s.edits[from], s.edits[to] = Version{}, ours
	s.note(from, how, "")
	s.note(to, how, "")
	return nil
}
