package git

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/git/internal/odb"
	"git-checkpoint/internal/test/gittest"
)

// writePack writes n blobs in one pack and returns the path of its index.
func writePack(t *testing.T, r *Repo, seed string, n int) string {
	t.Helper()
	err := r.Objects.InPacks(ctx(t), func() error {
		return Each(n, func(i int) error {
			_, err := r.Objects.Write(ctx(t), "blob", []byte(strings.Repeat(fmt.Sprintln(seed, i), 1+i%50)))
			return err
		})
	})
	if err != nil {
		t.Fatal(err)
	}
	indexes, err := filepath.Glob(filepath.Join(r.CommonDir, "objects/pack/*.idx"))
	if err != nil || len(indexes) == 0 {
		t.Fatalf("indexes %v, %v", indexes, err)
	}
	return indexes[0]
}

// git index-pack gives a pack the same name, mode and index, byte for byte. Of few objects, none begins
// with some of the 256 first bytes; of many, several begin with each.
func TestPackIndexIsThatOfGit(t *testing.T) {
	for _, format := range gittest.Formats() {
		for _, n := range []int{unpackLimit, 5000} {
			f, theirs := newFixture(t, "--object-format="+format), newFixture(t, "--object-format="+format)
			ours := writePack(t, f.open(), "one", n)
			pack, err := os.ReadFile(strings.TrimSuffix(ours, "idx") + "pack")
			f.must(err)
			theirs.GitIn(string(pack), "-c", "pack.writeReverseIndex=false", "index-pack", "--stdin")
			for _, file := range []string{ours, strings.TrimSuffix(ours, "idx") + "pack"} {
				want := filepath.Join(theirs.Dir, ".git/objects/pack", filepath.Base(file))
				a, err := os.ReadFile(file)
				f.must(err)
				b, err := os.ReadFile(want)
				f.must(err)
				if !bytes.Equal(a, b) {
					t.Errorf("%s of %d objects is not what git writes", file, n)
				}
				ours, err := os.Stat(file)
				f.must(err)
				if info, err := os.Stat(want); err != nil || info.Mode() != ours.Mode() {
					t.Errorf("%s has the mode %v, with git %v, %v", file, ours.Mode(), info.Mode(), err)
				}
			}
			f.Git("verify-pack", ours)
			f.Git("fsck", "--strict")
		}
	}
}

// git reads the index of a pack that is larger than 2 GiB, with the lowest and the highest ids.
func TestPackIndexOfLargePack(t *testing.T) {
	for _, format := range gittest.Formats() {
		f := newFixture(t, "--object-format="+format)
		h := odb.NewHash(format == "sha256")
		var entries []packEntry
		var want []string
		for i, start := range []string{"00ff", "0000", "7f", "ff", "ffff"} {
			oid := name.OID(start + strings.Repeat("0", 2*h.Size()-len(start)-1) + "1")
			e := packEntry{oid, uint32(i) << 29, []int64{1 << 40, 12, 1<<31 - 1, 1 << 31, 1<<32 + 1}[i]}
			entries = append(entries, e)
			want = append(want, fmt.Sprintf("%d %s (%08x)", e.at, oid, e.crc))
		}
		want[0], want[1] = want[1], want[0] // by id
		index := packIndex(h, entries, make([]byte, h.Size()))
		if got := f.GitIn(string(index), "show-index", "--object-format="+format); got != strings.Join(want, "\n") {
			t.Errorf("git reads\n%s\nnot\n%s", got, strings.Join(want, "\n"))
		}
	}
}

// A process that is killed at any time leaves a pack that git can use, or one that git does not see.
func TestPackKilled(t *testing.T) {
	if dir := os.Getenv("TEST_PACK_DIR"); dir != "" {
		r, err := Open(ctx(t), Options{Dir: dir, Env: os.Environ()})
		if err != nil {
			t.Fatal(err)
		}
		for i := range 1000 {
			writePack(t, r, fmt.Sprint(i), 300)
		}
		return
	}
	for _, seen := range []string{"tmp_pack_*", "tmp_idx_*", "*.pack", "*.idx"} {
		f := newFixture(t)
		// A short-lived file may be missed while the machine is busy, so the process may have to start
		// again.
		for tries := 0; !killedAt(t, f, seen); tries++ {
			if tries == 20 {
				t.Fatalf("%s was never seen", seen)
			}
		}
		indexes, _ := filepath.Glob(filepath.Join(f.Dir, ".git/objects/pack/*.idx")) //nolint:errcheck // the pattern is right
		for _, index := range indexes {
			f.Git("verify-pack", index)
		}
		f.Git("fsck", "--strict")
		f.Git("gc", "--quiet", "--prune=now")
		if rest, _ := filepath.Glob(filepath.Join(f.Dir, ".git/objects/pack/tmp_*")); len(rest) > 0 { //nolint:errcheck // the pattern is right
			t.Errorf("git's gc left %v", rest)
		}
		writePack(t, f.open(), "after", 300)
		f.Git("fsck", "--strict")
	}
}

// killedAt starts a process that writes packs, and kills it as soon as there is a file of that
// pattern. It returns false if the process ended before.
func killedAt(t *testing.T, f *fixture, seen string) bool {
	t.Helper()
	cmd := exec.Command(os.Args[0], "-test.run=^TestPackKilled$")
	cmd.Env = append(f.Env, "TEST_PACK_DIR="+f.Dir)
	f.must(cmd.Start())
	ended := make(chan struct{})
	go func() {
		cmd.Wait() //nolint:errcheck // it is killed
		close(ended)
	}()
	for {
		files, _ := filepath.Glob(filepath.Join(f.Dir, ".git/objects/pack", seen)) //nolint:errcheck // the pattern is right
		select {
		case <-ended:
			return false
		default:
		}
		if len(files) > 0 {
			cmd.Process.Kill() //nolint:errcheck // it may have ended just now
			<-ended
			return true
		}
	}
}

// The pack gets its name before its index, without which git does not look at it: where the index
// cannot get its name, the pack has one.
func TestPackBeforeIndex(t *testing.T) {
	f := newFixture(t)
	w := newPackWriter(f.open().Objects)
	defer w.discard()
	_, err := w.WriteObject(ctx(t), "blob", []byte("one"))
	f.must(err)
	w.busy.Wait()
	sum, err := w.complete()
	f.must(err)
	pack := filepath.Join(f.Dir, ".git/objects/pack", fmt.Sprintf("pack-%x", sum))
	f.must(os.MkdirAll(filepath.Join(pack+".idx", "in the way"), 0o777))
	if err := w.install(sum); err == nil {
		t.Error("the index has no name, and nobody is told")
	}
	if _, err := os.Stat(pack + ".pack"); err != nil {
		t.Errorf("the index came first: %v", err)
	}
}
