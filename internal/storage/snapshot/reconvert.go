package snapshot

// The same blob may stand for different bytes in the worktree, if the .gitattributes of the two
// sides of a restore convert it in different ways. A comparison of the trees does not show that.

import (
	"context"
	"maps"
	"os"
	"path"
	"slices"

	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/git"
	"git-checkpoint/internal/sys/gather"
)

// addConverted adds operations for files that have the same blob on both sides but would be checked
// out differently, if the file on disk is not what the target's attributes make of it. Where only
// the mode was to change, the file is replaced instead. Files below changed attributes are looked
// at, and no others. changes are the differences between the two trees.
func (s *planner) addConverted(ctx context.Context, p *Plan, changes []git.Change, untouched func(string) bool) error {
	p.reattributed = slices.ContainsFunc(changes, func(c git.Change) bool { return holdsAttributes(c.Path) })
	if !p.reattributed {
		return nil
	}
	entries, err := s.belowAttributes(ctx, p, changes, untouched)
	if len(entries) == 0 || err != nil {
		return err
	}
	now, before, err := s.convertedIn(ctx, p.Cur.Tree, entries)
	if err != nil {
		return err
	}
	defer os.Remove(before) //nolint:errcheck // disposable
	then, after, err := s.convertedIn(ctx, p.Target.Tree, entries)
	if err != nil {
		return err
	}
	defer os.Remove(after) //nolint:errcheck // disposable
	differ := gather.Those(slices.Sorted(maps.Keys(entries)), func(q string) bool { return now[q] != then[q] })
	return s.compareSmudged(ctx, after, differ, func(i int, _ []byte, same bool) error { // Stage reports a file that git could not convert
		if at := slices.IndexFunc(p.Ops, func(o Op) bool { return o.Path == differ[i] }); same {
			return nil
		} else if at >= 0 {
			p.Ops[at].Split = true
		} else {
			p.Ops = append(p.Ops, Op{Path: differ[i], Old: entries[differ[i]], New: entries[differ[i]]})
		}
		return nil
	})
}

// belowAttributes returns the files on disk that keep their blob although attributes change in
// their directory or above it. Files with exact bytes on either side are left out: no attributes
// apply to these.
func (s *planner) belowAttributes(ctx context.Context, p *Plan, changes []git.Change, untouched func(string) bool) (map[string]git.Entry, error) {
	dirs, differ := map[string]bool{}, map[string]bool{}
	for _, c := range changes {
		if holdsAttributes(c.Path) {
			dirs[path.Dir(c.Path)] = true
		}
		differ[c.Path] = c.Old.OID != c.New.OID || !regular(c.Old.Mode)
	}
	out := map[string]git.Entry{}
	for dir := range dirs {
		tree, prefix := git.Entry{OID: p.Target.Tree}, ""
		if dir != "." {
			e, ok, err := s.repo.Trees.Lookup(ctx, p.Target.Tree, dir)
			if err != nil {
				return nil, err
			}
			if !ok || !e.IsTree() {
				continue
			}
			tree, prefix = e, dir+"/"
		}
		err := s.repo.Trees.Walk(ctx, tree.OID, func(below string, e git.Entry) error {
			q := prefix + below
			if !regular(e.Mode) || differ[q] || p.Scope.Only != nil && !p.Scope.Only(q) || p.Cur.Raw[q] != "" || p.Target.Raw[q] != "" || untouched(q) {
				return nil
			}
			info, err := s.files.Lstat(q)
			if err == nil && info != nil && info.Mode().IsRegular() { // a sparse checkout lacks some
				out[q] = e
			}
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	return out, nil
}

// convertedIn returns for each of entries a text that says how git converts it on a checkout with
// the attributes in a tree; it is missing where git writes the blob as it is. index is a private
// index of entries and attributes, which the caller must remove.
func (s *planner) convertedIn(ctx context.Context, tree name.OID, entries map[string]git.Entry) (how map[string]string, index string, err error) {
	attrs, err := s.attributes(ctx, tree, entries)
	if err != nil {
		return nil, "", err
	}
	if index, err = s.listIndex(ctx, entries, attrs); err != nil {
		return nil, "", err
	}
	files, at := []filtered{}, map[string]int{}
	for q := range entries {
		at[q] = len(files)
		files = append(files, filtered{candidate: candidate{path: q}})
	}
	answer, err := s.checkAttr(ctx, index, files, "--cached")
	if err == nil {
		files, err = s.filterConverted(files, at, answer)
	}
	if err != nil {
		os.Remove(index) //nolint:errcheck // disposable
		return nil, "", err
	}
	how = map[string]string{}
	for _, f := range files {
		if !f.inOnly {
			how[f.path] = "converted"
		}
	}
	for i := 0; i+2 < len(answer); i += 3 {
		if how[answer[i]] != "" {
			how[answer[i]] += "\x00" + answer[i+1] + "=" + answer[i+2]
		}
	}
	return how, index, nil
}
