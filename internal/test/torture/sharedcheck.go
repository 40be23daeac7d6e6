package torture

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"
)

// gathering is a shared world while it is executed.
type gathering struct {
	first leaves
	now   leaves
	deeds []done
	gone  leaves         // what was deleted, as it was
	open  map[string]int // by the use of a tool: where in deeds it began

	makers map[string]map[string]*deed // see recall
	asked  bool
}

// done is a deed that was executed.
type done struct {
	*deed
	effects []change // the changes that changed something
	ended   int      // of the beginning of a tool's use: where in gathering.deeds the hook after it is; 0: not yet
}

// share executes a deed.
func (c *run) share(op Op) error {
	if c.shared == nil {
		first, err := c.leaves()
		if err != nil {
			return err
		}
		c.shared = &gathering{first: first, now: maps.Clone(first), gone: leaves{}, open: map[string]int{}}
	}
	if op.Verb == "revert" {
		if measuring && !c.shared.asked {
			if err := c.shared.recall(c); err != nil {
				return err
			}
			c.shared.asked = true
		}
		return c.shared.revert(c, op)
	}
	g, d := c.shared, op.Deed
	call := fmt.Sprint(d.who, d.call)
	switch d.does {
	case "before":
		g.open[call] = len(g.deeds)
	case "work", "after", "fail":
		if began, is := g.open[call]; d.who != "P" && !is {
			return nil // left out to make the case smaller
		} else if d.does != "work" {
			g.deeds[began].ended = len(g.deeds)
			delete(g.open, call)
		}
	case "prompt", "end":
		for i := range g.deeds {
			if was := &g.deeds[i]; was.who == d.who && was.does == "before" && was.ended == 0 {
				was.ended = len(g.deeds)
			}
		}
		maps.DeleteFunc(g.open, func(call string, _ int) bool { return call[:1] == d.who })
	}
	g.deeds = append(g.deeds, done{deed: d, effects: g.effects(d)})
	return c.host.shell(op.Tree, []string{op.Line})
}

// effects makes the changes of a deed in the model, and returns those that changed something.
func (g *gathering) effects(d *deed) (all []change) {
	for _, ch := range d.changes {
		was := maps.Clone(g.now)
		if l, there := was[ch.path]; there && ch.does == "whole" {
			ch.from = append([]string{}, l.lines...)
		} else if ch.does == "whole" {
			ch.gone = g.gone[ch.path].lines
		} else if there && ch.does == "gone" {
			g.gone[ch.path] = l
		}
		if ch.apply(g.now) && len(differing(was, g.now, nil)) > 0 {
			if all = append(all, ch); measuring {
				g.note(was, d, &ch)
			}
		}
	}
	return all
}

// leaves reads the files of the worktree.
func (c *run) leaves() (leaves, error) {
	all, err := readDisk(filepath.Join(c.host.root, "repo"), func(p string) bool { return p == ".git" })
	files := leaves{}
	for p, n := range all {
		switch {
		case n.Type == fs.ModeSymlink:
			files[p] = leaf{target: n.Data}
		case n.file():
			files[p] = leaf{lines: strings.Split(strings.TrimSuffix(n.Data, "\n"), "\n"), exec: n.Perm&0o100 != 0}
			if n.Data == "" {
				files[p] = leaf{exec: n.Perm&0o100 != 0}
			}
		}
	}
	return files, err
}

// after returns the files after all deeds, without the changes that are left out: their numbers are
// their places in all effects. Where a move is left out, what was done to the new path is done to the old.
// With again, a file that is written after it was deleted is the old one with changes: a revert compares lines,
// and takes back one that was made before the deletion and stands there again. Whoever then deletes what they wrote
// themselves took nothing of the old one, which is there if its deletion is left out.
func (g *gathering) after(without map[int]bool, again bool) leaves {
	files, gone, stayed, n := maps.Clone(g.first), leaves{}, map[string]string{}, 0
	under := map[string]leaf{} // by who and path: what a deletion that is left out would have taken, when they wrote there
	for _, d := range g.deeds {
		for _, ch := range d.effects {
			_, there := files[ch.path]
			if at := stayed[ch.path]; at != "" && !there {
				ch.path = at
			}
			switch {
			case !without[n]:
				mine := d.who + ch.path
				if old, is := under[mine]; ch.does == "gone" && is {
					files[ch.path] = old
					delete(under, mine)
					break
				} else if ch.does == "gone" {
					gone[ch.path] = files[ch.path]
				} else if again && ch.gone != nil {
					if !there {
						files[ch.path] = leaf{lines: gone[ch.path].lines}
					} else if ch.from == nil {
						under[mine] = files[ch.path]
					}
					ch.from = ch.gone
				}
				ch.apply(files)
			case ch.does == "move":
				stayed[ch.to] = ch.path
			}
			n++
		}
	}
	return files
}

// reply is what a revert says.
type reply struct {
	Files []struct {
		Path   string `json:"path"`
		How    string `json:"how"`
		During bool   `json:"during"`
		Marked bool   `json:"marked"`
	} `json:"files"`
	Left []struct {
		Path string `json:"path"`
		By   string `json:"by"`
	} `json:"left"`
}

// reverting is a revert, with what was there before it.
type reverting struct {
	*run
	op     Op
	args   []string
	before leaves
	aside  string
}

// revert executes a revert, checks what it left, and undoes and redoes it.
func (g *gathering) revert(c *run, op Op) (err error) {
	r := &reverting{run: c, op: op}
	if r.before, err = c.leaves(); err != nil {
		return err
	}
	if wrong := differing(g.after(nil, false), r.before, nil); len(wrong) > 0 {
		return fmt.Errorf("the model does not know what %v", wrong)
	}
	if r.args, err = c.spelled(op); err != nil || r.args == nil {
		return err
	}
	if r.aside, err = c.left(); err != nil {
		return err
	}
	said, conflicts, err := r.plan()
	if err != nil || said == nil {
		return err
	}
	reverted, now, err := r.do("revert", append([]string{"-y", "--json"}, r.args...)...)
	if err != nil {
		return err
	}
	if reverted.code != 0 {
		return broken("revert %s: exit %d: %s", words(r.args...), reverted.code, reverted.err)
	}
	c.tally["revert"]++
	if err := g.judge(c, op.Deed, said, conflicts, r.before, now); err != nil {
		return broken("revert %s: %v", words(r.args...), err)
	}
	for i, walk := range []struct {
		verb string
		want leaves
	}{{"undo", r.before}, {"redo", now}, {"undo", r.before}} {
		walked, is, err := r.do(walk.verb, "-y")
		if err != nil {
			return err
		}
		if wrong := differing(walk.want, is, nil); walked.code != 0 || len(wrong) > 0 {
			return broken("%s (%d) of a revert: exit %d: %s: %v", walk.verb, i, walked.code, walked.err, wrong)
		}
		c.tally[walk.verb]++
	}
	return nil
}

// do runs a command and returns the files after it. If it failed, they must be those before it; the index
// and the branches always must.
func (r *reverting) do(verb string, args ...string) (result, leaves, error) {
	got, err := r.program(Op{Verb: verb, Tree: r.op.Tree}, args...)
	if err != nil {
		return got, nil, err
	}
	now, err := r.leaves()
	if err != nil {
		return got, nil, err
	}
	is, err := r.left()
	if err == nil && is != r.aside {
		err = broken("%s %s changed the index, HEAD or a branch: %s, was %s", verb, words(args...), is, r.aside)
	}
	if wrong := differing(r.before, now, nil); err == nil && got.code != 0 && len(wrong) > 0 {
		err = broken("%s %s: exit %d, and the files are others: %v", verb, words(args...), got.code, wrong)
	}
	return got, now, err
}

// plan returns what the revert says that it will do, and the paths with conflicts, which it leaves out
// of the arguments if it is refused for them. The reply is nil if there is nothing to take back.
func (r *reverting) plan() (*reply, map[string]bool, error) {
	got, now, err := r.do("revert", append([]string{"-n", "--json"}, r.args...)...)
	if err != nil {
		return nil, nil, err
	}
	if wrong := differing(r.before, now, nil); len(wrong) > 0 {
		return nil, nil, broken("a dry run of revert changed files: %v", wrong)
	}
	switch {
	case got.code == 8, got.code == 129 && r.op.Deed.only != nil: // 129: it did not touch these paths
		r.tally["nothing"]++
		return nil, nil, nil
	case got.code != 0 && got.code != 4:
		return nil, nil, broken("revert %s: exit %d: %s", words(r.args...), got.code, got.err)
	}
	said := &reply{}
	if err := json.Unmarshal([]byte(got.out), said); err != nil {
		return nil, nil, broken("revert %s: exit %d, and no JSON: %s%s", words(r.args...), got.code, got.out, got.err)
	}
	conflicts := map[string]bool{}
	var clean []string
	for _, f := range said.Files {
		if f.How == "conflict" {
			conflicts[f.Path] = true
		} else if f.How != "same" {
			clean = append(clean, f.Path)
		}
	}
	if got.code == 0 {
		return said, conflicts, nil
	}
	r.tally["conflict"]++
	switch {
	case len(conflicts) == 0:
		return nil, nil, broken("revert %s: exit 4 without a conflict: %s", words(r.args...), got.err)
	case len(clean) == 0:
		return nil, nil, nil
	}
	if i := slices.Index(r.args, "--"); i >= 0 {
		r.args = r.args[:i]
	}
	r.args = slices.Concat(r.args, []string{"--"}, clean)
	return said, conflicts, nil
}

// spelled returns the arguments of a revert, with the numbers that steps have; nil: there is no such step.
func (c *run) spelled(op Op) ([]string, error) {
	r, err := c.host.start(op.Tree, nil, "sh", "-c", prelude+"printf '%s\\n' "+op.Line)
	if err != nil {
		return nil, err
	}
	args := strings.Split(strings.TrimSuffix(r.out, "\n"), "\n")
	for _, a := range args {
		if a == "" || strings.HasPrefix(a, "..") || strings.HasSuffix(a, "..") {
			return nil, nil // nothing was done in that turn
		}
	}
	return args, nil
}

// left returns what a revert leaves alone: the index, HEAD and the branches.
func (c *run) left() (string, error) {
	index, err := c.host.git("repo", "", "ls-files", "-s", "-v")
	if err != nil {
		return "", err
	}
	refs, err := c.host.git("repo", "", "for-each-ref", "--format=%(refname) %(objectname)", "refs/heads", "refs/stash")
	return index + refs, err
}

// differing names the paths that are not the same on both sides.
func differing(want, is leaves, except map[string]bool) (wrong []string) {
	for _, p := range slices.Sorted(maps.Keys(want)) {
		if got, there := is[p]; !except[p] && (!there || !got.same(want[p])) {
			wrong = append(wrong, fmt.Sprintf("%s should be %v, is %v", p, want[p], got))
		}
	}
	for _, p := range slices.Sorted(maps.Keys(is)) {
		if _, there := want[p]; !there && !except[p] {
			wrong = append(wrong, fmt.Sprintf("%s should not be there, is %v", p, is[p]))
		}
	}
	return wrong
}
