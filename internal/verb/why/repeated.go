package why

import (
	"context"
	"slices"

	"git-checkpoint/internal/format/name"
)

// git blame takes a line that a file has several times for any of them, and then names a commit that has
// nothing to do with it. A session that has the file, too, went from one to the other in smaller steps:
// there is less to choose from. It is asked for a line that is unknown otherwise.

// confirmed reports whether a claim to a line holds from the file as it is now, too. git blame may have taken one
// of several equal lines for another one, and then its commit is that of the wrong line.
func (j judge) confirmed(ctx context.Context, at lineAt, claim Claim) bool {
	if at.line >= len(j.files.read(ctx, at.file).text) {
		return false
	}
	if j.files.distinct(ctx, at.file, at.line) {
		return true
	}
	of := j.x.sessionNamed(claim.Session)
	if of == nil {
		return false
	}
	return slices.ContainsFunc(j.journals.tips(ctx, of), func(tip int32) bool {
		held, i := j.journals.holding(ctx, tip, at), at.line
		if held == nowhere {
			k := slices.IndexFunc(at.names, func(path string) bool { return isFile(j.journals.file(ctx, saved{point: tip, path: path})) })
			if k < 0 {
				return false
			}
			held = saved{point: tip, path: at.names[k]}
			if i = j.files.partner(ctx, j.journals.file(ctx, held), at.file, i); i < 0 {
				return false
			}
		}
		o := j.journals.walk(ctx, held).origin(ctx, i)
		return o != nowhere && j.x.Checkpoints[o.point].ID == claim.Checkpoint
	})
}

// claimElsewhere returns who made a line, if the sessions' own steps tell that another commit brought it than git
// blame says, and that commit.
func (j judge) claimElsewhere(ctx context.Context, at lineAt) (all []Claim, by *arrival) {
	t := j.files.read(ctx, at.file).text
	if at.line < 0 || at.line >= len(t) || j.files.distinct(ctx, at.file, at.line) {
		return nil, nil
	}
	for n := range j.x.Sessions {
		of := &j.x.Sessions[n]
		for _, b := range j.brought(ctx, of, at) {
			c := j.commits.arrivalOf(ctx, b.Commit)
			if c == nil {
				continue
			}
			claims := slices.DeleteFunc(j.claims(ctx, j.commits.line(ctx, c, b)), func(claim Claim) bool {
				return claim.Session != of.Name || !j.confirmed(ctx, at, claim)
			})
			if len(claims) > 0 {
				all, by = append(all, claims...), c
				break
			}
		}
	}
	return dropWeaker(all), by
}

// brought returns the commits that may have brought a line, oldest first: those in which the file is as in a step
// of a session that has the line, and in whose parents it is not.
func (j judge) brought(ctx context.Context, of *session, at lineAt) []Place {
	var w *walk
	var places []int
	for _, tip := range j.journals.tips(ctx, of) {
		if held := j.journals.holding(ctx, tip, at); held != nowhere && len(places) == 0 {
			w = j.journals.walk(ctx, held)
			places = w.follow(ctx, w.start, at.line)
		}
	}
	if len(places) == 0 {
		return nil
	}
	lines, names := map[name.OID]int{}, slices.Clone(at.names)
	for n, line := range places {
		v := &w.versions[n]
		lines[v.now.OID], names = line+1, append(names, v.path)
	}
	slices.Sort(names)
	return j.commits.bringing(ctx, lines, slices.Compact(names), j.x.Checkpoints[w.versions[len(places)-1].point].At)
}
