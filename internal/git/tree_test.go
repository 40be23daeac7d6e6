package git

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/test/gittest"

	"pgregory.net/rapid"
)

// part draws from few names, so that files, directories and the sort order collide often.
var part = rapid.SampledFrom([]string{"a", "a.b", "a-b", "a0", "b", "ä", "-x", "sp ace", "ta\tb", "new\nline", "\xff"})

var treePath = rapid.Custom(func(t *rapid.T) string {
	return strings.Join(rapid.SliceOfN(part, 1, 4).Draw(t, "parts"), "/")
})

// files draws a set of paths none of which is a directory of another one.
func files(oids []name.OID) *rapid.Generator[map[string]Entry] {
	return rapid.Custom(func(t *rapid.T) map[string]Entry {
		out := map[string]Entry{}
		for _, p := range rapid.SliceOfN(treePath, 0, 12).Draw(t, "paths") {
			if collides(out, p) {
				continue
			}
			out[p] = Entry{
				Mode: rapid.SampledFrom([]Mode{ModeFile, ModeExec, ModeSymlink, ModeGitlink}).Draw(t, "mode"),
				OID:  rapid.SampledFrom(oids).Draw(t, "oid"),
			}
		}
		return out
	})
}

func collides(at map[string]Entry, p string) bool {
	for other := range at {
		if other == p || strings.HasPrefix(other, p+"/") || strings.HasPrefix(p, other+"/") {
			return true
		}
	}
	return false
}

// plainTree lets git make a tree of files in a private index, one after the other.
func plainTree(f *fixture, sets ...map[string]Entry) name.OID {
	var in strings.Builder
	for _, set := range sets {
		var paths []string
		for p := range set {
			paths = append(paths, p)
		}
		slices.Sort(paths)
		for _, p := range paths { // removals first: git would drop what stands in the way
			if set[p].Mode == 0 {
				fmt.Fprintf(&in, "0 %s\t%s\x00", strings.Repeat("0", 40), p)
			}
		}
		for _, p := range paths {
			if e := set[p]; e.Mode != 0 {
				fmt.Fprintf(&in, "%o %s\t%s\x00", e.Mode, e.OID, p)
			}
		}
	}
	f.Git("read-tree", "--empty")
	f.GitIn(in.String(), "update-index", "-z", "--replace", "--index-info")
	return name.OID(f.Git("write-tree", "--missing-ok"))
}

func TestEditTreeAgainstGit(t *testing.T) {
	f := newFixture(t)
	r := f.open()
	oids := []name.OID{f.Blob("1"), f.Blob("2")}
	rapid.Check(t, func(rt *rapid.T) {
		base, edits := files(oids).Draw(rt, "base"), files(oids).Draw(rt, "edits")
		for _, p := range rapid.SliceOfN(treePath, 0, 4).Draw(rt, "removed") {
			if !collides(edits, p) {
				edits[p] = Entry{}
			}
		}
		for p := range base {
			if rapid.Bool().Draw(rt, "remove") && !collides(edits, p) {
				edits[p] = Entry{}
			}
		}
		want := plainTree(f, base, edits)
		got, err := r.Trees.Edit(ctx(t), plainTree(f, base), edits)
		if err != nil {
			rt.Fatal(err)
		}
		if got != want {
			rt.Fatalf("got\n%s\nwant\n%s", f.Git("ls-tree", "-r", string(got)), f.Git("ls-tree", "-r", string(want)))
		}
	})
}

func TestDiffTreesAgainstGit(t *testing.T) {
	f := newFixture(t)
	r := f.open()
	oids := []name.OID{f.Blob("1"), f.Blob("2")}
	rapid.Check(t, func(rt *rapid.T) {
		a, b := plainTree(f, files(oids).Draw(rt, "a")), plainTree(f, files(oids).Draw(rt, "b"))
		changes, err := r.Trees.Diff(ctx(t), a, b)
		if err != nil {
			rt.Fatal(err)
		}
		zero := strings.Repeat("0", 40)
		side := func(e Entry) (string, name.OID) {
			if e.Mode == 0 {
				return "000000", name.OID(zero)
			}
			return fmt.Sprintf("%06o", e.Mode), e.OID
		}
		beyond, err := r.Trees.ListNew(ctx(t), a, b)
		if err != nil {
			rt.Fatal(err)
		}
		for line := range strings.Lines(f.Git("rev-list", "--objects", "--no-object-names", "--filter=blob:none", string(b), "^"+string(a))) {
			if oid := name.OID(strings.TrimSpace(line)); !slices.Contains(beyond, oid) {
				rt.Errorf("%s is not among those beyond: %v", oid, beyond)
			}
		}
		var got []string
		for _, c := range changes {
			oldMode, oldOID := side(c.Old)
			newMode, newOID := side(c.New)
			got = append(got, fmt.Sprintf("%s %s %s %s %s", oldMode, newMode, oldOID, newOID, c.Path))
		}
		var want []string
		fields := strings.Split(f.Git("diff-tree", "-r", "-z", "--no-renames", "--no-abbrev", string(a), string(b)), "\x00")
		for i := 0; i+1 < len(fields); i += 2 {
			meta := strings.TrimPrefix(fields[i], ":")
			want = append(want, meta[:strings.LastIndexByte(meta, ' ')]+" "+fields[i+1])
		}
		slices.Sort(got)
		slices.Sort(want)
		if !slices.Equal(got, want) {
			rt.Fatalf("got\n%q\nwant\n%q", got, want)
		}
	})
}

func TestTreeCodec(t *testing.T) {
	for _, format := range gittest.Formats() {
		t.Run(format, func(t *testing.T) {
			f := newFixture(t, "--object-format="+format)
			r := f.open()
			blob := f.Blob("x")
			sub, err := r.Trees.Write(ctx(t), []Entry{{ModeFile, "f", blob}})
			if err != nil {
				t.Fatal(err)
			}
			oid, err := r.Trees.Write(ctx(t), []Entry{{ModeFile, "a0", blob}, {ModeTree, "a", sub}, {ModeExec, "a.b", blob}})
			if err != nil {
				t.Fatal(err)
			}
			f.Git("fsck", "--strict", "--no-dangling")
			var names []string
			entries, err := r.Trees.Read(ctx(t), oid)
			for _, e := range entries {
				names = append(names, e.Name)
			}
			if err != nil || !slices.Equal(names, []string{"a.b", "a", "a0"}) {
				t.Errorf("%q %v", names, err)
			}
			if e, ok, err := r.Trees.Lookup(ctx(t), oid, "a/f"); !ok || e.OID != blob || err != nil {
				t.Errorf("%+v %v %v", e, ok, err)
			}
			for _, p := range []string{"a/g", "a/f/g", "nothing"} {
				if e, ok, err := r.Trees.Lookup(ctx(t), oid, p); ok || err != nil {
					t.Errorf("%s: %+v %v", p, e, err)
				}
			}
			if empty, err := r.Trees.Edit(ctx(t), sub, map[string]Entry{"f": {}}); err != nil || f.Git("cat-file", "-p", string(empty)) != "" {
				t.Errorf("emptied: %s %v", empty, err)
			}
			for _, p := range []string{".git/x", "a/../b", "a//b", "/a", "a/.GIT"} {
				if _, err := r.Trees.Edit(ctx(t), "", map[string]Entry{p: {Mode: ModeFile, OID: blob}}); err == nil {
					t.Errorf("%q was written", p)
				}
			}
			if _, err := r.Trees.Write(ctx(t), []Entry{{ModeFile, "f", blob[:10]}}); err == nil {
				t.Error("a short object id was written")
			}
		})
	}
}

// Eleven trees that each contain the next one eight times stand for eight billion paths.
func TestTreeBomb(t *testing.T) {
	if testing.Short() {
		t.Skip("four million paths; TestHostileTrees is the sample")
	}
	f := newFixture(t)
	r := f.open()
	e := Entry{Mode: ModeFile, OID: f.Blob("x")}
	for range 11 {
		var entries []Entry
		for i := range 8 {
			e.Name = fmt.Sprint(i)
			entries = append(entries, e)
		}
		oid, err := r.Trees.Write(ctx(t), entries)
		if err != nil {
			t.Fatal(err)
		}
		e = Entry{Mode: ModeTree, OID: oid}
	}
	if _, err := r.Trees.Diff(ctx(t), "", e.OID); err == nil || !strings.Contains(err.Error(), "paths") {
		t.Errorf("%v", err)
	}
}

func FuzzParseTree(f *testing.F) {
	f.Add([]byte("100644 a\x0012345678901234567890"), false)
	f.Add([]byte("40000 a\x0012345678901234567890123456789012"), true)
	f.Add([]byte("7777777 \x00"), false)
	f.Add([]byte("100 644 a"), false)
	f.Add([]byte("x"), false)
	f.Add([]byte("8 a"), false)
	f.Fuzz(func(t *testing.T, data []byte, long bool) {
		hashLen := 20
		if long {
			hashLen = 32
		}
		entries, err := ParseTree(data, hashLen)
		if err != nil {
			if !errors.Is(err, ErrUnreadable) {
				t.Errorf("callers do not know that the tree is damaged: %v", err)
			}
			return
		}
		for _, e := range entries {
			if e.Name == "" || len(e.OID) != 2*hashLen {
				t.Errorf("%+v", e)
			}
		}
		encoded, err := EncodeTree(entries)
		if err != nil {
			t.Fatal(err)
		}
		if again, err := ParseTree(encoded, hashLen); err != nil || !slices.Equal(again, entries) {
			t.Errorf("%v %v %v", entries, again, err)
		}
	})
}

// A comparison that is asked for again gives the same, whatever the caller did with the first result.
func TestDiffAgain(t *testing.T) {
	r := newFixture(t).open()
	var trees []name.OID
	for _, text := range []string{"one", "two", "three"} {
		blob, err := r.Objects.Write(t.Context(), "blob", []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		tree, err := r.Trees.Edit(t.Context(), "", map[string]Entry{"a": {Mode: ModeFile, OID: blob}, "b": {Mode: ModeFile, OID: blob}})
		if err != nil {
			t.Fatal(err)
		}
		trees = append(trees, tree)
	}
	for _, pair := range [][2]int{{0, 1}, {0, 1}, {0, 1}, {1, 0}, {0, 2}, {0, 1}} {
		got, err := r.Trees.Diff(t.Context(), trees[pair[0]], trees[pair[1]])
		if err != nil {
			t.Fatal(err)
		}
		want := [2]name.OID{}
		for i, n := range pair {
			e, _, err := r.Trees.Lookup(t.Context(), trees[n], "b")
			if err != nil {
				t.Fatal(err)
			}
			want[i] = e.OID
		}
		if len(got) != 2 || got[1].Path != "b" || [2]name.OID{got[1].Old.OID, got[1].New.OID} != want {
			t.Errorf("from %d to %d: %v, not %v", pair[0], pair[1], got, want)
		}
		slices.Reverse(got)
		got[0] = Change{}
	}
}

// Trees that name each other are refused before they fill the memory: they have few entries and many paths. As many
// copies of a directory as a project may have are compared.
func TestUnfoldedTrees(t *testing.T) {
	f := newFixture(t)
	ctx, trees := t.Context(), f.open().Trees
	file := Entry{Mode: ModeFile, OID: f.Blob("x")}
	grow := func(e Entry) Entry {
		var entries []Entry
		for i := range 10 {
			e.Name = fmt.Sprint(i)
			entries = append(entries, e)
		}
		oid, err := trees.Write(ctx, entries)
		if err != nil {
			t.Fatal(err)
		}
		return Entry{Mode: ModeTree, OID: oid}
	}
	tree := file
	for range 4 {
		tree = grow(tree)
	}
	if changes, err := trees.Diff(ctx, "", tree.OID); err != nil || len(changes) != 10_000 {
		t.Errorf("%d paths, %v", len(changes), err)
	}
	for range 4 {
		tree = grow(tree)
	}
	for _, pair := range [][2]name.OID{{"", tree.OID}, {tree.OID, ""}} {
		if _, err := trees.Diff(ctx, pair[0], pair[1]); err == nil || !strings.Contains(err.Error(), "paths in") {
			t.Errorf("compared %v: %v", pair, err)
		}
	}
	if err := trees.Walk(ctx, tree.OID, func(string, Entry) error { return nil }); err == nil {
		t.Error("walked")
	}
}
