package git

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/test/gittest"

	"pgregory.net/rapid"
)

// TestEditIndexAgainstGit edits an index from one random tree to another. Apart from stat data, the
// result must be the index that git's own read-tree writes.
func TestEditIndexAgainstGit(t *testing.T) {
	for _, format := range gittest.Formats() {
		for _, version := range []string{"2", "4"} {
			t.Run(format+" "+version, func(t *testing.T) {
				f := newFixture(t, "--object-format="+format)
				f.Git("config", "index.version", version)
				blob := f.GitIn("content", "hash-object", "-w", "--stdin")
				other := f.GitIn("others", "hash-object", "-w", "--stdin")
				paths := rapid.SliceOfNDistinct(rapid.StringMatching(`[a-c](/[a-b]{1,2}){0,3}/f[0-9]|a[-.0]b/f|é/`+strings.Repeat("x", 150)), 1, 12, rapid.ID[string])
				rapid.Check(t, func(rt *rapid.T) { f.compareEdit(rt, paths, blob, other) })
			})
		}
	}
}

func (f *fixture) compareEdit(t *rapid.T, paths *rapid.Generator[[]string], blobs ...string) {
	index := filepath.Join(f.Dir, ".git", "index")
	os.Remove(index) //nolint:errcheck // the first time there is none
	stage := func(label string) (string, map[string]Entry) {
		var in strings.Builder
		entries := map[string]Entry{}
		for _, p := range paths.Draw(t, label) {
			e := Entry{Mode: ModeFile, OID: name.OID(rapid.SampledFrom(blobs).Draw(t, "blob"))}
			entries[p] = e
			fmt.Fprintf(&in, "%o %s\t%s\x00", e.Mode, e.OID, p)
		}
		os.Remove(index) //nolint:errcheck // one left from before
		f.GitIn(in.String(), "update-index", "-z", "--index-info")
		tree := f.Git("write-tree")
		f.Git("read-tree", tree)
		return tree, entries
	}
	target, want := stage("second")
	_, had := stage("first")
	repo := f.open()
	defer repo.Close()
	ix, err := repo.Checkout.ReadIndex(index)
	if err != nil || !ix.Editable() {
		t.Fatalf("the index cannot be edited: %v", err)
	}
	edits := map[string]IndexEdit{}
	for p := range had {
		if want[p] != had[p] {
			edits[p] = IndexEdit{}
		}
	}
	for p, e := range want {
		if e != had[p] {
			edits[p] = IndexEdit{Entry: e}
		}
	}
	data, err := repo.Checkout.EditIndex(f.Context(), ix, edits, name.OID(target))
	if err != nil {
		t.Fatal(err)
	}
	ours := index + "-ours"
	if err := os.WriteFile(ours, data, 0o666); err != nil {
		t.Fatal(err)
	}
	f.Git("read-tree", "--reset", target)
	see := func(path string) string {
		back, err := repo.Checkout.ReadIndex(path)
		if err != nil {
			t.Fatal(err)
		}
		env := f.Env
		defer func() { f.Env = env }()
		f.Env = append(f.Env[:len(f.Env):len(f.Env)], "GIT_INDEX_FILE="+path, "GIT_TEST_CHECK_CACHE_TREE=1")
		return fmt.Sprintf("%d %s %s\n%s\n%s\n%q", back.Version, back.Tree, f.Git("write-tree"), f.Git("ls-files", "--stage", "-v"),
			f.Git("diff-index", "--cached", "--name-status", target), back.trees)
	}
	if got, git := see(ours), see(index); got != git {
		t.Fatalf("wrote\n%s\ngit has\n%s", got, git)
	}
}
