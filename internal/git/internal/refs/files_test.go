package refs

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/test/gittest"
)

// Refs have the values that git reads: loose, packed, both or neither, annotated tags, and refs
// below the names of others.
func TestRefFiles(t *testing.T) {
	for _, format := range gittest.Formats() {
		f := newFixture(t, "--object-format="+format)
		f.Git("commit", "-q", "--allow-empty", "-m", "x")
		head := f.Git("rev-parse", "HEAD")
		files := f.files()
		rapid.Check(t, func(rt *rapid.T) {
			f.Git("pack-refs", "--all", "--prune")
			refs := map[string]bool{}
			for i := range rapid.IntRange(1, 60).Draw(rt, "count") {
				ref := fmt.Sprintf("refs/%s/%c%d", rapid.SampledFrom([]string{"heads/a", "tags", "x/y", "checkpoints/s"}).Draw(rt, "dir"), rune('a'+i%5), i)
				// Lines of packed-refs around the length that is tried first, and much longer ones.
				ref += strings.Repeat("n", rapid.SampledFrom([]int{0, 0, 0, 180, 200, 230}).Draw(rt, "longer"))
				if deeper := rapid.SampledFrom([]int{0, 0, 0, 1, 9}).Draw(rt, "deeper"); deeper > 0 {
					ref += fmt.Sprintf("+%d", deeper) + strings.Repeat("/"+strings.Repeat("n", 190), deeper)
				}
				refs[ref] = true
			}
			var in strings.Builder
			for ref := range refs {
				fmt.Fprintf(&in, "update %s %s\n", ref, head)
			}
			f.GitIn(in.String(), "update-ref", "--stdin")
			f.Git("tag", "-f", "-a", "-m", "x", "annotated", "HEAD")
			if rapid.Bool().Draw(rt, "pack") {
				f.Git("pack-refs", "--all")
			}
			f.Git("update-ref", "refs/x/y/loose", "HEAD")
			want := map[string]string{"refs/none": "", "refs/x": "", "refs/zz/z": "", "refs/tags/a": "", "refs/checkpoints/s/b": ""}
			for _, line := range strings.Split(f.Git("for-each-ref", "--format=%(refname) %(objectname)"), "\n") {
				ref, oid, _ := strings.Cut(line, " ")
				want[ref] = oid
			}
			prefixes := rapid.SampledFrom([][]string{
				{"refs/checkpoints/s/"}, {"refs/tags", "refs/x/"}, {"refs/x/y", "refs/x"}, {"refs/tags/annotated", "refs/x/y/loose"}, {"refs/heads/a", "refs/none/"},
			}).Draw(rt, "prefixes")
			listed, err := files.List(prefixes)
			got := ""
			for _, v := range listed {
				got += fmt.Sprintln(v.Ref, v.OID)
			}
			if want := f.Git(append([]string{"for-each-ref", "--format=%(refname) %(objectname)"}, prefixes...)...); err != nil || strings.TrimSuffix(got, "\n") != want {
				rt.Fatalf("%v: %v\n%s\nnot\n%s", prefixes, err, got, want)
			}
			for ref, oid := range want {
				if got, err := files.Resolve(name.Ref(ref)); err != nil || string(got) != oid {
					rt.Fatalf("%s: %q %v, not %q", ref, got, err, oid)
				}
			}
		})
	}
}

// Samples knows each directory in which git lists a ref, however the names sort, packed or not.
func TestSamples(t *testing.T) {
	f := newFixture(t)
	f.Git("commit", "-q", "--allow-empty", "-m", "x")
	rapid.Check(t, func(rt *rapid.T) {
		var in strings.Builder
		for ref := range strings.FieldsSeq(f.Git("for-each-ref", "--format=%(refname)", "refs/checkpoints/")) {
			if rapid.Bool().Draw(rt, "delete") {
				fmt.Fprintf(&in, "delete %s\n", ref)
			}
		}
		f.GitIn(in.String(), "update-ref", "--stdin")
		f.Git("pack-refs", "--all", "--prune")
		fresh := map[string]bool{"refs/checkpoints/stray": true, "refs/checkpointss/s/1": true}
		for range rapid.IntRange(1, 12).Draw(rt, "count") {
			dir := rapid.SampledFrom([]string{"s", "s-", "s.t", "s0", "s00", "S", "t", "t/u"}).Draw(rt, "dir")
			fresh[fmt.Sprintf("refs/checkpoints/%s/%d", dir, rapid.IntRange(0, 9).Draw(rt, "leaf"))] = true
		}
		for ref := range fresh {
			f.Git("update-ref", ref, "HEAD")
		}
		dirs := func(refs []string) []string {
			found := map[string]bool{}
			for _, ref := range refs {
				if dir, _, below := strings.Cut(strings.TrimPrefix(ref, "refs/checkpoints/"), "/"); below {
					found[dir] = true
				}
			}
			return slices.Sorted(maps.Keys(found))
		}
		var samples []string
		got, err := f.files().Samples("refs/checkpoints")
		for _, ref := range got {
			samples = append(samples, string(ref))
		}
		want := dirs(strings.Fields(f.Git("for-each-ref", "--format=%(refname)", "refs/checkpoints/")))
		if err != nil || !slices.Equal(dirs(samples), want) || !slices.IsSorted(samples) {
			rt.Fatalf("%q %v, want those of %q", samples, err, want)
		}
	})
}

// What is not certain is left to git: symbolic and broken refs, refs of one worktree, paths that
// are not ref names, unsorted packed refs, other ref backends.
func TestRefFilesAsk(t *testing.T) {
	f := newFixture(t)
	f.Git("commit", "-q", "--allow-empty", "-m", "x")
	f.Git("symbolic-ref", "refs/x/symbolic", "refs/heads/main")
	f.Write(".git/refs/x/broken", "abc\n")
	for _, ref := range []name.Ref{"refs/x/symbolic", "refs/x/broken", "refs/bisect/bad", "refs/worktree/a", "refs/../config", "refs/heads/./main", "HEAD", "refs"} {
		if got, err := f.files().Resolve(ref); err == nil {
			t.Errorf("%s: %q", ref, got)
		}
	}
	for _, prefix := range []string{"refs/x/", "refs/x/symbolic", "refs/x/broken", "refs/bisect/", "refs/../config", "refs/heads/*", "HEAD", ""} {
		if got, err := f.files().List([]string{prefix}); err == nil {
			t.Errorf("%s: %q", prefix, got)
		}
	}
	if got, err := f.files("GIT_CONFIG_PARAMETERS='extensions.refstorage=reftable'").Resolve("refs/heads/main"); err == nil {
		t.Errorf("%q", got)
	}
	f.Git("pack-refs", "--all")
	path := filepath.Join(f.Dir, ".git/packed-refs")
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(strings.Replace(string(data), " sorted", "", 1)), 0o666); err != nil {
		t.Fatal(err)
	}
	if got, err := f.files().Resolve("refs/heads/main"); err == nil {
		t.Errorf("%q", got)
	}
	if got, err := f.files().List([]string{"refs/heads"}); err == nil {
		t.Errorf("%q", got)
	}
}

// Whichever bit of packed-refs is flipped, either the listing is that of git, or git is asked.
func TestGarbledPackedRefs(t *testing.T) {
	f := newFixture(t)
	f.Git("commit", "-q", "--allow-empty", "-m", "x")
	for i := range 4 {
		f.Git("update-ref", fmt.Sprintf("refs/checkpoints/s/c%d", i), "HEAD")
	}
	f.Git("tag", "-a", "-m", "x", "annotated")
	f.Git("pack-refs", "--all", "--prune")
	path := filepath.Join(f.Dir, ".git/packed-refs")
	before, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	files, listed := f.files(), 0
	step := 3
	if testing.Short() {
		step = 29
	}
	for bit := 0; bit < 8*len(before); bit += step {
		after := slices.Clone(before)
		after[bit/8] ^= 1 << (bit % 8)
		if err := os.WriteFile(path, after, 0o666); err != nil {
			t.Fatal(err)
		}
		refs, err := files.List([]string{"refs/checkpoints/s/"})
		fault := files.Fault()
		if damaged := errors.As(err, new(*packedFault)); damaged && fault == "" || err == nil && fault != "" {
			t.Fatalf("bit %d: %v, and as a fault %q", bit, err, fault)
		}
		if err != nil {
			continue
		}
		listed++
		got := ""
		for _, v := range refs {
			got += fmt.Sprintln(v.Ref, v.OID)
		}
		if want, err := f.Try("", "for-each-ref", "--format=%(refname) %(objectname)", "refs/checkpoints/s/"); err != nil || got != want {
			t.Fatalf("bit %d: %v\n%s\nnot\n%s", bit, err, got, want)
		}
	}
	if listed == 0 {
		t.Error("nothing was listed: this cannot fail")
	}
}
