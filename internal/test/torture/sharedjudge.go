package torture

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// mostMaybe is how many changes of some files may or may not have been taken back, for all possibilities
// to be tried.
const mostMaybe = 12

// verdict is what a revert has to do with a change.
type verdict int

const (
	stays verdict = iota
	goes
	maybe // the plan says that it is not sure, or the change is nowhere
)

// judge checks the files after a revert: they are those that everybody else's changes make of the files
// at the beginning, unless the plan named a path as a conflict or as changed during a command, or said
// that what the step did with it is not known to be its own.
func (g *gathering) judge(c *run, d *deed, said *reply, conflicts map[string]bool, before, now leaves) error {
	during, left := map[string]bool{}, map[string]bool{}
	for _, f := range said.Files {
		during[f.Path] = during[f.Path] || f.During
	}
	for _, l := range said.Left {
		left[l.Path] = true
	}
	for p := range conflicts {
		if is, was := now[p], before[p]; !d.marks && !is.same(was) {
			return fmt.Errorf("%s has a conflict and was changed: %v", p, is)
		}
	}
	group := g.groups()
	maybes, gone := map[string][]int{}, map[int]bool{}
	n := 0
	for at, done := range g.deeds {
		for i := range done.effects {
			ch := &done.effects[i]
			switch g.verdict(d, at, ch, during, left) {
			case goes:
				gone[n] = true
			case maybe:
				maybes[group[ch.path]] = append(maybes[group[ch.path]], n)
			}
			n++
		}
	}
	for name := range maps.Values(group) {
		c.tally["judged"]++
		if err := g.fits(name, group, gone, maybes[name], conflicts, now); err != nil {
			return err
		}
	}
	return nil
}

// fits reports whether the files of a group are what is left of all changes, for one choice of those that
// may be gone.
func (g *gathering) fits(name string, group map[string]string, gone map[int]bool, maybes []int, conflicts map[string]bool, now leaves) error {
	if len(maybes) > mostMaybe {
		return nil
	}
	except := maps.Clone(conflicts)
	for p, in := range group {
		if in != name {
			except[p] = true
		}
	}
	var nearest []string
	for choice := range 1 << len(maybes) {
		without := maps.Clone(gone)
		for i, n := range maybes {
			if choice>>i&1 == 1 {
				without[n] = true
			}
		}
		wrong := differing(g.after(without, false), now, except)
		if len(wrong) == 0 || len(differing(g.after(without, true), now, except)) == 0 {
			return nil
		}
		if choice == 0 || len(wrong) < len(nearest) {
			nearest = wrong
		}
	}
	return fmt.Errorf("%d choices, and none fits: %s", 1<<len(maybes), strings.Join(nearest, "; "))
}

// groups returns a name for each path, the same for those between which files were moved.
func (g *gathering) groups() map[string]string {
	group := map[string]string{}
	for p := range g.first {
		group[p] = p
	}
	for _, d := range g.deeds {
		for i := range d.effects {
			for _, p := range d.effects[i].paths() {
				if group[p] == "" {
					group[p] = p
				}
			}
			if ch := d.effects[i]; ch.does == "move" {
				from, to := group[ch.path], group[ch.to]
				for p, in := range group {
					if in == from {
						group[p] = to
					}
				}
			}
		}
	}
	return group
}

// verdict says what a revert does with a change, which is that of the deed at a place.
func (g *gathering) verdict(r *deed, at int, ch *change, during, left map[string]bool) verdict {
	d := g.deeds[at]
	has := func(in map[string]bool) bool {
		return slices.ContainsFunc(ch.paths(), func(p string) bool { return in[p] })
	}
	if r.only != nil && !slices.ContainsFunc(ch.paths(), func(p string) bool { return slices.Contains(r.only, p) }) {
		return stays
	}
	if r.form == "outside" {
		if d.who == "P" {
			return maybe
		}
		return stays
	}
	if d.who == r.who {
		switch {
		case r.form == "by", len(ch.paths()) > 1 && r.only != nil:
			return maybe // it says only what is its own
		case d.turn < r.turn || d.turn > r.to:
			return stays
		case has(left):
			return maybe
		}
		return goes
	}
	// What others did to it while a tool of the agent worked.
	for _, w := range g.deeds[:at] {
		if w.who == r.who && w.does == "before" && (w.ended == 0 || w.ended > at) && (has(during) || w.tool == "Write" && strings.Contains(w.input, fmt.Sprintf("%q", ch.path))) {
			return maybe
		}
	}
	return stays
}
