package snapshot

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"path"
	"slices"
	"strings"
	"testing"

	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/git"
)

// parseListed reads a list such as "a=644:x b=add c=conflict": paths with a mode and content, with an
// intent-to-add entry or with conflict stages.
func parseListed(text string) (list []listed) {
	for _, field := range strings.Fields(text) {
		p, what, _ := strings.Cut(field, "=")
		l := listed{path: p, intent: what == "add", conflict: what == "conflict"}
		if mode, content, ok := strings.Cut(what, ":"); ok {
			l.file = git.Entry{Mode: map[string]git.Mode{"644": git.ModeFile, "755": git.ModeExec, "link": git.ModeSymlink, "module": git.ModeGitlink}[mode], OID: name.OID(content)}
		}
		list = append(list, l)
	}
	return list
}

// showCarried writes a result as parseListed reads it. After it come the paths that are staged again,
// those over a change, and those that were left out.
func showCarried(all []carried) string {
	var index, again, over, left []string
	for _, e := range all {
		mode := map[git.Mode]string{git.ModeFile: "644", git.ModeExec: "755", git.ModeSymlink: "link", git.ModeGitlink: "module"}[e.file.Mode]
		switch {
		case e.conflict:
			index = append(index, e.path+"=conflict")
		case e.intent:
			index = append(index, e.path+"=add")
		case e.file.Mode != 0:
			index = append(index, fmt.Sprintf("%s=%s:%s", e.path, mode, e.file.OID))
		}
		if e.again {
			again = append(again, e.path)
		}
		if e.again && e.over {
			over = append(over, e.path)
		}
		if e.left {
			left = append(left, e.path)
		}
	}
	return fmt.Sprintf("%s | %s | %s | %s", strings.Join(index, " "), strings.Join(again, " "), strings.Join(over, " "), strings.Join(left, " "))
}

// Each way in which an index can differ from HEAD is carried to another HEAD as docs/safety.md says.
func TestCarryStaged(t *testing.T) {
	for _, k := range []struct{ what, then, index, after, want string }{
		{"the same entry follows", "a=644:1", "a=644:1", "a=644:2", "a=644:2 |  |  | "},
		{"the same entry is gone", "a=644:1", "a=644:1", "", " |  |  | "},
		{"an entry that HEAD has since", "", "", "a=644:1", "a=644:1 |  |  | "},
		{"only the mode", "a=644:1", "a=755:1", "a=644:2", "a=755:2 | a | a | "},
		{"only the mode, HEAD as then", "a=644:1", "a=755:1", "a=644:1", "a=755:1 | a |  | "},
		{"only the mode, and HEAD has it", "a=644:1", "a=755:1", "a=755:2", "a=755:2 |  |  | "},
		{"only the mode, and HEAD has no such file", "a=644:1", "a=755:1", "", "a=755:1 | a | a | "},
		{"only the mode, and HEAD has a link", "a=644:1", "a=755:1", "a=link:2", "a=755:1 | a | a | "},
		{"only the content", "a=644:1", "a=644:2", "a=755:1", "a=755:2 | a | a | "},
		{"only the content, HEAD as then", "a=644:1", "a=644:2", "a=644:1", "a=644:2 | a |  | "},
		{"only the content, and HEAD has it", "a=644:1", "a=644:2", "a=755:2", "a=755:2 |  |  | "},
		{"only the content, and HEAD has no such file", "a=644:1", "a=644:2", "", "a=644:2 | a | a | "},
		{"only the content, and HEAD has a submodule", "a=644:1", "a=644:2", "a=module:3", "a=644:2 | a | a | "},
		{"only the content of a link", "a=link:1", "a=link:2", "a=link:3", "a=link:2 | a | a | "},
		{"mode and content", "a=644:1", "a=755:2", "a=644:3", "a=755:2 | a | a | "},
		{"a file that became a link", "a=644:1", "a=link:1", "a=644:2", "a=link:1 | a | a | "},
		{"added", "", "a=644:1", "", "a=644:1 | a |  | "},
		{"added, and HEAD has another one", "", "a=644:1", "a=644:2", "a=644:1 | a | a | "},
		{"added, and committed since", "", "a=644:1", "a=644:1", "a=644:1 |  |  | "},
		{"a submodule", "a=module:1", "a=module:2", "a=module:3", "a=module:2 | a | a | "},
		{"a rename", "a=644:1", "b=644:1", "a=644:1 c=644:3", "b=644:1 c=644:3 | a b |  | "},
		{"a rename of a file that HEAD changed", "a=644:1", "b=644:1", "a=644:2", "b=644:1 | a b | a | "},
		{"deleted", "a=644:1", "", "a=644:2", " | a | a | "},
		{"deleted, in HEAD too", "a=644:1", "", "", " |  |  | "},
		{"intended to be added", "", "a=add", "", "a=add | a |  | "},
		{"intended to be added, and HEAD has it", "", "a=add", "a=644:1", "a=644:1 |  |  | "},
		{"removed and intended to be added", "a=644:1", "a=add", "a=644:1", "a=add | a |  | "},
		{"removed and intended to be added, gone in HEAD", "a=644:1", "a=add", "", "a=add | a | a | "},
		{"conflict", "a=644:1", "a=conflict", "a=644:2", "a=conflict | a | a | "},
		{"conflict, and HEAD has no such file", "", "a=conflict", "", "a=conflict | a |  | "},
		{"a file where HEAD has a directory", "", "a=644:1", "a/b=644:2", "a/b=644:2 |  |  | a"},
		{"a file below a file of HEAD", "", "a/b=644:1", "a=644:2", "a=644:2 |  |  | a/b"},
		{"an intended file below a file of HEAD", "", "a/b/c=add", "a=644:2", "a=644:2 |  |  | a/b/c"},
		{"a directory that replaces a file", "a=644:1", "a/b=644:1", "a=644:1 c=644:1", "a/b=644:1 c=644:1 | a a/b |  | "},
		{"a file that replaces a directory", "a/b=644:1 a/c=644:1", "a=644:1", "a/b=644:2 a/c=644:1", "a=644:1 | a a/b a/c | a/b | "},
		{"a file that replaces a directory in which HEAD has more", "a/b=644:1", "a=644:1", "a/b=644:1 a/d=644:1", "a/d=644:1 | a/b |  | a"},
		{"conflict stages stand beside anything", "", "a=conflict", "a/b=644:2", "a=conflict a/b=644:2 | a |  | "},
		{"names that sort around a slash", "a=644:1 a.b=644:1", "a.b=644:1 a/b=644:1", "a=644:1 a.b=644:2", "a.b=644:2 a/b=644:1 | a a/b |  | "},
		{"no commit yet", "", "a=644:1 b=644:1", "b=644:2", "a=644:1 b=644:1 | a b | b | "},
	} {
		if got := showCarried(carryLists(parseListed(k.then), parseListed(k.index), parseListed(k.after))); got != k.want {
			t.Errorf("%s: %s, want %s", k.what, got, k.want)
		}
	}
}

// randomFiles draws a tree of a few paths, which differs from base at some of them.
func randomFiles(r *rand.Rand, base map[string]string) map[string]string {
	out := maps.Clone(base)
	if out == nil {
		out = map[string]string{}
	}
	for range r.IntN(5) {
		p := []string{"a", "b", "b.c", "b/c", "b/c/d", "b/e", "f"}[r.IntN(7)]
		delete(out, p)
		if r.IntN(4) == 0 {
			continue
		}
		maps.DeleteFunc(out, func(q, _ string) bool { return strings.HasPrefix(q, p+"/") || strings.HasPrefix(p, q+"/") })
		out[p] = []string{"644", "755", "644", "link", "module"}[r.IntN(5)] + ":" + []string{"1", "2", "3"}[r.IntN(3)]
	}
	return out
}

// listOf returns files as a list, with or without those paths that are the same in all three.
func listOf(files map[string]string, keep func(string) bool) []listed {
	var fields []string
	for p, f := range files {
		if keep(p) {
			fields = append(fields, p+"="+f)
		}
	}
	list := parseListed(strings.Join(fields, " "))
	slices.SortFunc(list, func(a, b listed) int { return strings.Compare(a.path, b.path) })
	return list
}

// carryLists is carryAll for what HEAD then, the index then and HEAD afterwards have.
func carryLists(then, index, after []listed) []carried {
	at, x := map[string]three{}, &IndexState{}
	for n, list := range [][]listed{then, index, after} {
		for _, l := range list {
			t := at[l.path]
			t[n] = l.file
			at[l.path] = t
			if l.intent {
				x.IntentToAdd = append(x.IntentToAdd, l.path)
			} else if l.conflict {
				x.Unmerged = append(x.Unmerged, git.Unmerged{Path: l.path})
			}
		}
	}
	return carryAll(at, x)
}

// naiveCarried is what the index has to be, written path by path from the table in docs/safety.md.
func naiveCarried(c, i, h map[string]string) map[string]string {
	out := map[string]string{}
	for p, f := range h {
		if c[p] == i[p] || i[p] == "add" && c[p] == "" {
			out[p] = f
		}
	}
	follows := make([]string, 0, len(out))
	for p := range out {
		follows = append(follows, p)
	}
	for p, f := range i {
		if f == c[p] || out[p] != "" {
			continue
		}
		cm, cc, _ := strings.Cut(c[p], ":")
		im, ic, _ := strings.Cut(f, ":")
		hm, hc, _ := strings.Cut(h[p], ":")
		file := func(m string) bool { return m == "644" || m == "755" }
		if file(cm) && file(im) && file(hm) {
			if cc == ic {
				f = im + ":" + hc
			} else if cm == im {
				f = hm + ":" + ic
			}
		}
		if f == "conflict" || !slices.ContainsFunc(follows, func(q string) bool {
			return strings.HasPrefix(q, p+"/") || strings.HasPrefix(p, q+"/")
		}) {
			out[p] = f
		}
	}
	return out
}

// On random trees the result is that of a naive reading of the table. A commit of it changes only
// paths that were staged, it is the index itself under the HEAD of then, no file is where a directory
// has to be, and paths that are the same everywhere may be left out of the lists.
func TestCarryStagedAtRandom(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for n := range 5000 {
		c := randomFiles(r, nil)
		i := randomFiles(r, c)
		h := randomFiles(r, c)
		if n%10 == 0 {
			h = c
		}
		for _, p := range slices.Sorted(maps.Keys(i)) {
			switch r.IntN(20) {
			case 0:
				i[p] = "conflict"
			case 1:
				i[p] = "add"
			}
		}
		all := func(string) bool { return true }
		got := carryLists(listOf(c, all), listOf(i, all), listOf(h, all))
		differ := func(p string) bool { return c[p] != i[p] || c[p] != h[p] }
		if short := carryLists(listOf(c, differ), listOf(i, differ), listOf(h, differ)); !slices.Equal(short, slices.DeleteFunc(slices.Clone(got), func(e carried) bool { return !differ(e.path) })) {
			t.Fatalf("%v, %v, %v: without equal paths %s, with them %s", c, i, h, showCarried(short), showCarried(got))
		}
		if is, _, _ := strings.Cut(showCarried(got), " | "); is != shownAsIs(naiveCarried(c, i, h)) {
			t.Fatalf("%v, %v, %v: %s, want %s", c, i, h, is, shownAsIs(naiveCarried(c, i, h)))
		}
		checkCarried(t, c, i, h, got)
	}
}

// shownAsIs lists files as showCarried does.
func shownAsIs(files map[string]string) string {
	fields := make([]string, 0, len(files))
	for p, f := range files {
		fields = append(fields, p+"="+f)
	}
	slices.SortFunc(fields, func(a, b string) int {
		p, _, _ := strings.Cut(a, "=")
		q, _, _ := strings.Cut(b, "=")
		return strings.Compare(p, q)
	})
	return strings.Join(fields, " ")
}

// checkCarried checks what has to hold for every result.
func checkCarried(t *testing.T, c, i, h map[string]string, got []carried) {
	t.Helper()
	files := map[string]string{}
	for _, e := range got {
		text, _, _ := strings.Cut(showCarried([]carried{e}), " | ")
		_, f, _ := strings.Cut(text, "=")
		if f != "" {
			files[e.path] = f
		}
		if f != h[e.path] && c[e.path] == i[e.path] {
			t.Fatalf("%v, %v, %v: a commit changes %q, which was not staged", c, i, h, e.path)
		}
		if (f != h[e.path]) != e.again {
			t.Fatalf("%v, %v, %v: %q is said to be staged: %v", c, i, h, e.path, e.again)
		}
	}
	if fmt.Sprint(c) == fmt.Sprint(h) && fmt.Sprint(files) != fmt.Sprint(i) {
		t.Fatalf("%v, %v: under the same HEAD the index is %v", c, i, files)
	}
	for p, f := range files {
		for d := path.Dir(p); d != "."; d = path.Dir(d) {
			if files[d] != "" && f != "conflict" && files[d] != "conflict" {
				t.Fatalf("%v, %v, %v: %q is below the file %q", c, i, h, p, d)
			}
		}
	}
}

// Where HEAD stays at one commit, nothing is read and the index is the recorded one. A HEAD that
// cannot be read leaves the index as it is, and so does one of then without a complete list of what
// was staged.
func TestCarryUnreadable(t *testing.T) {
	repo := repository(t)
	shot, err := New(repo)
	if err != nil {
		t.Fatal(err)
	}
	index := &IndexState{Tree: rawTree(t, repo, git.ModeFile, "dir/a")}
	lost := name.OID(strings.Repeat("1", len(repo.Head.OID)))
	for _, k := range []struct {
		what        string
		heads       Heads
		same, stays bool
	}{
		{"the same commit", Heads{Then: lost, After: lost}, true, false},
		{"HEAD is lost", Heads{Then: repo.Head.OID, After: lost, Listed: true}, false, true},
		{"HEAD of then is lost, no list", Heads{Then: lost, After: repo.Head.OID, Staged: []string{"dir/a"}}, false, true},
		{"HEAD of then is lost", Heads{Then: lost, After: repo.Head.OID, Staged: []string{"dir/a"}, Listed: true}, false, false},
	} {
		got, said, err := shot.planner.carrier.carry(t.Context(), index, &IndexState{Tree: index.Tree}, k.heads)
		switch {
		case err != nil:
			t.Errorf("%s: %v", k.what, err)
		case k.same != (got == index), k.stays != (said != nil && said.Stays != ""), k.stays != (got == nil):
			t.Errorf("%s: %v, %v", k.what, got, said)
		case !k.same && !k.stays && (got.Tree != index.Tree || !slices.Equal(said.Staged, []string{"dir/a"}) || said.Over != nil):
			t.Errorf("%s: %v, %v", k.what, got, said)
		}
	}
}
