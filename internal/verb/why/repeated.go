package why

import (
	"cmp"
	"context"
	"slices"

	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/git"
)

// git blame takes a line that a file has several times for any of them, and then names a commit that has
// nothing to do with it. A session that has the file, too, went from one to the other in smaller steps:
// there is less to choose from. It is asked for a line that is unknown otherwise.

// tip returns the newest state of a session, or -1.
func (a *asker) tip(ctx context.Context, of *session) int32 {
	all := a.momentsOf(ctx, of)
	if len(all) == 0 {
		return -1
	}
	tip := all[len(all)-1].point
	if a.wide && tip >= 0 {
		return a.theTurns(ctx).latest[a.x.Checkpoints[tip].Worktree]
	}
	return tip
}

// holding returns the newest checkpoint of a session that has a file exactly as it is now, and its name there;
// -1 if there is none.
func (a *asker) holding(ctx context.Context, of *session, paths []string, now git.Entry) (int32, string) {
	tip := a.tip(ctx, of)
	if tip < 0 {
		return -1, ""
	}
	for _, path := range paths {
		if was := a.file(ctx, a.x.Checkpoints[tip].Tree, path); isFile(was) && slices.Equal(a.read(ctx, was).numbers, a.read(ctx, now).numbers) {
			return tip, path
		}
		w := a.walkOf(ctx, tip, path)
		for n := range min(len(w.versions), mostVersions) {
			if v := a.fill(ctx, w, n); v.now.OID == now.OID {
				return v.point, v.path
			}
		}
	}
	return -1, ""
}

// same returns the partner of line i of a file in an older version, as matched does; doubtful where too much changed
// to tell. Between versions that lie far apart a function may have gone and a like one come: its lines must then
// follow one that was added only once, without a change between them.
func (a *asker) same(ctx context.Context, from, to git.Entry, i int) int {
	at := a.matched(ctx, from, to)[i]
	if at < 0 {
		return at
	}
	s, t := a.read(ctx, from).numbers, a.read(ctx, to).numbers
	for j, k := i, at; j >= 0 && k >= 0; j, k = j-1, k-1 {
		if s[k] != t[j] {
			return doubtful
		}
		if a.distinct(ctx, to, j) && a.once(ctx, from, k) {
			return at
		}
	}
	if i == at {
		return at // all before it is the same
	}
	return doubtful
}

// elsewhere returns who made line i of the file as it is now, if the sessions' own steps tell that another
// commit brought it than git blame says, and that commit. paths are the names that the file has or had.
func (a *asker) elsewhere(ctx context.Context, paths []string, here git.Entry, i int) (all []Claim, by *aim) {
	t := a.content(ctx, here)
	if i < 0 || i >= len(t) || a.distinct(ctx, here, i) {
		return nil, nil
	}
	for n, can := range a.adding(t, i) {
		if !can {
			continue
		}
		for _, b := range a.brought(ctx, &a.x.Sessions[n], paths, here, i) {
			c, e := a.aimAt(ctx, b, "")
			if c == nil {
				continue
			}
			claims := slices.DeleteFunc(a.claims(ctx, c, b.path, e, b.from-1), func(claim Claim) bool {
				return claim.Session != a.x.Sessions[n].Name || !a.confirmed(ctx, paths, here, i, claim)
			})
			if len(claims) > 0 {
				all, by = append(all, claims...), c
				break
			}
		}
	}
	return dropWeaker(all), by
}

// brought returns the commits that may have brought line i of a file, oldest first: those in which the file
// is as in a step of a session that has the line, and in whose parents it is not.
func (a *asker) brought(ctx context.Context, of *session, paths []string, here git.Entry, i int) []blamedLine {
	point, path := a.holding(ctx, of, paths, here)
	if point < 0 {
		return nil
	}
	w := a.walkOf(ctx, point, path)
	places := a.follow(ctx, w, a.file(ctx, a.x.Checkpoints[point].Tree, path), i)
	if len(places) == 0 {
		return nil
	}
	lines, names := map[name.OID]int{}, slices.Clone(paths)
	for n, line := range places {
		v := &w.versions[n]
		lines[v.now.OID], names = line+1, append(names, v.path)
	}
	slices.Sort(names)
	return a.withFile(ctx, lines, slices.Compact(names), a.x.Checkpoints[w.versions[len(places)-1].point].At)
}

// withFile returns the commits of HEAD's history since a time in which a file of these names is one of some
// blobs, and was none of them before, oldest first. lines has the number of the line in each.
func (a *asker) withFile(ctx context.Context, lines map[name.OID]int, names []string, since int64) (out []blamedLine) {
	find := func(c *git.Commit) (string, int) {
		for _, path := range names {
			if c == nil {
				break
			}
			if line := lines[a.file(ctx, c.Tree, path).OID]; line > 0 {
				return path, line
			}
		}
		return "", 0
	}
	for oid := range a.ancestors(ctx, a.s.Repo.Head.OID) {
		c := a.commit(ctx, oid)
		if c == nil || c.Committer.When.Unix() < since {
			continue
		}
		path, line := find(c)
		if line == 0 || slices.ContainsFunc(c.Parents, func(p name.OID) bool { _, had := find(a.commit(ctx, p)); return had > 0 }) {
			continue
		}
		out = append(out, blamedLine{commit: oid, path: path, from: line})
	}
	slices.SortFunc(out, func(x, y blamedLine) int {
		return cmp.Or(a.commit(ctx, x.commit).Committer.When.Compare(a.commit(ctx, y.commit).Committer.When), cmp.Compare(x.commit, y.commit))
	})
	return out
}
