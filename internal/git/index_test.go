package git

import (
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/test/gittest"
	"git-checkpoint/internal/test/scripttest"
)

// stagedRepository has an entry of every kind in its index.
func stagedRepository(t *testing.T, format, version string) *fixture {
	f := newFixture(t, "--object-format="+format)
	long := strings.Repeat("long/", 60) + "path"
	for _, p := range []string{"a", "b/one", "b/two", "b.x", "exec", "ä", "assumed", "skipped", "sp ace", "new\nline", long, strings.Repeat("d/", 40) + strings.Repeat("n", 200)} {
		f.Write(p, p)
	}
	if err := os.Chmod(filepath.Join(f.Dir, "exec"), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("a", filepath.Join(f.Dir, "link")); err != nil {
		t.Fatal(err)
	}
	f.Git("config", "index.version", version)
	f.Git("add", ".")
	f.Git("write-tree")
	if version != "2" {
		f.Git("update-index", "--index-version", version)
	}
	return f
}

func TestIndexAgainstGit(t *testing.T) {
	for _, format := range gittest.Formats() {
		for i, version := range []string{"2", "3", "4"} {
			t.Run(format+" "+version, func(t *testing.T) {
				if format == "sha256" {
					scripttest.OneIn(t, 3, i)
				}
				f := stagedRepository(t, format, version)
				r := f.open()
				plain, err := r.Checkout.ReadIndex(r.IndexPath)
				if err != nil {
					t.Fatal(err)
				}
				if plain.Flagged || plain.Split || plain.Sparse || string(plain.Tree) != f.Git("write-tree") {
					t.Errorf("%+v", plain)
				}
				f.Git("update-index", "--assume-unchanged", "assumed")
				if version != "2" { // git writes version 3 as soon as an entry needs it
					f.Git("update-index", "--skip-worktree", "skipped")
					f.Write("intended", "x")
					f.Git("add", "-N", "intended")
				}
				conflict := ""
				for stage := 1; stage <= 3; stage++ {
					conflict += fmt.Sprintf("100644 %s %d\tconflict\x00", f.Blob(fmt.Sprint(stage)), stage)
				}
				f.GitIn(conflict, "update-index", "-z", "--index-info")
				ix, err := r.Checkout.ReadIndex(r.IndexPath)
				if err != nil {
					t.Fatal(err)
				}
				if fmt.Sprint(ix.Version) != version || !ix.Flagged {
					t.Errorf("version %d, flagged %v", ix.Version, ix.Flagged)
				}
				if got, want := listed(t, ix), debugged(t, f); got != want || strings.Count(got, "intent: true") != strings.Count(version, "3")+strings.Count(version, "4") {
					t.Errorf("got\n%s\nwant\n%s", got, want)
				}
			})
		}
	}
}

// listed prints an index as `git ls-files --stage -v --debug -z` does.
func listed(t *testing.T, ix *Index) string {
	t.Helper()
	var b strings.Builder
	entries, err := ix.Entries()
	for _, e := range entries {
		tag := "H"
		switch {
		case e.Stage > 0:
			tag = "M"
		case e.SkipWorktree:
			tag = "S"
		}
		if e.AssumeUnchanged {
			tag = strings.ToLower(tag)
		}
		fmt.Fprintf(&b, "%s %06o %s %d %q ctime: %d:%d mtime: %d:%d ino: %d size: %d intent: %v\n", tag, e.Mode, ix.OIDOf(e), e.Stage, e.Path,
			e.CtimeSec, e.CtimeNsec, e.MtimeSec, e.MtimeNsec, e.Inode, e.Size, e.IntentToAdd)
	}
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// debugged turns git's own listing into the form of listed.
func debugged(t *testing.T, f *fixture) string {
	t.Helper()
	var b strings.Builder
	rest := f.Git("ls-files", "--stage", "-v", "--debug", "-z") + "\n"
	for rest != "" {
		head, tail, _ := strings.Cut(rest, "\x00")
		meta, path, _ := strings.Cut(head, "\t")
		lines := strings.SplitN(tail, "\n", 6)
		if len(lines) < 6 {
			t.Fatalf("unexpected listing %q", tail)
		}
		rest = lines[5]
		var dev, ino, uid, gid, size, flags string
		fmt.Sscanf(strings.TrimSpace(lines[2]), "dev: %s\tino: %s", &dev, &ino)
		fmt.Sscanf(strings.TrimSpace(lines[3]), "uid: %s\tgid: %s", &uid, &gid)
		fmt.Sscanf(strings.TrimSpace(lines[4]), "size: %s\tflags: %s", &size, &flags)
		var bits uint64
		fmt.Sscanf(flags, "%x", &bits)
		fmt.Fprintf(&b, "%s %q %s %s ino: %s size: %s intent: %v\n", strings.TrimSpace(meta), path,
			strings.TrimSpace(lines[0]), strings.TrimSpace(lines[1]), ino, size, bits&(1<<29) != 0)
	}
	return b.String()
}

func TestIndexExtensions(t *testing.T) {
	f := stagedRepository(t, "sha1", "2")
	f.Git("commit", "-qm", "x")
	r := f.open()
	f.Git("update-index", "--split-index")
	if ix, err := r.Checkout.ReadIndex(r.IndexPath); err != nil || !ix.Split {
		t.Errorf("split: %+v %v", ix, err)
	}
	f.Git("update-index", "--no-split-index")
	f.Git("sparse-checkout", "set", "--cone", "--sparse-index", "b")
	if ix, err := r.Checkout.ReadIndex(r.IndexPath); err != nil || !ix.Sparse || !ix.Flagged {
		t.Errorf("sparse: %+v %v", ix, err)
	}
	if ix, err := r.Checkout.ReadIndex(filepath.Join(f.Dir, "none")); err != nil || ix.Count != 0 || ix.each(nil) != nil {
		t.Errorf("missing: %+v %v", ix, err)
	}
	f.Write("bad", "DIRC but not really an index file")
	if _, err := r.Checkout.ReadIndex(filepath.Join(f.Dir, "bad")); err == nil {
		t.Error("a broken index was read")
	}
}

func TestIndexUnknownExtension(t *testing.T) {
	f := newFixture(t)
	f.Write("a", "a")
	f.Git("add", "a")
	data, err := os.ReadFile(filepath.Join(f.Dir, ".git/index"))
	if err != nil {
		t.Fatal(err)
	}
	with := func(sig string) []byte {
		ext := binary.BigEndian.AppendUint32([]byte(sig), 2)
		out := append([]byte(nil), data[:len(data)-20]...)
		return append(append(append(out, ext...), "xy"...), data[len(data)-20:]...)
	}
	if _, err := ParseIndex(with("ABCD"), 20); err != nil {
		t.Errorf("optional: %v", err)
	}
	if _, err := ParseIndex(with("abcd"), 20); err == nil {
		t.Error("a required extension that is not known was read past")
	}
}

func FuzzParseIndex(f *testing.F) {
	header := func(version, count uint32) []byte {
		return binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32([]byte("DIRC"), version), count)
	}
	entry := append(make([]byte, 60), 0, 1, 'a', 0, 0, 0, 0, 0, 0, 0, 0, 0)
	f.Add(append(append(header(2, 1), entry...), make([]byte, 20)...), false)
	f.Add(append(append(header(4, 2), entry...), make([]byte, 32)...), true)
	f.Add(append(header(3, 1<<31), make([]byte, 20)...), false)
	f.Fuzz(func(t *testing.T, data []byte, long bool) {
		hashLen := 20
		if long {
			hashLen = 32
		}
		ix, err := ParseIndex(data, hashLen)
		if err != nil {
			return
		}
		entries, err := ix.Entries()
		for _, e := range entries {
			if oid := ix.OIDOf(e); len(oid) != 2*hashLen {
				t.Errorf("%+v", e)
			}
		}
		if err == nil && len(entries) != ix.Count {
			t.Errorf("%d of %d entries", len(entries), ix.Count)
		}
		if ix.Tree != "" {
			if _, err := name.ParseOID(string(ix.Tree)); err != nil {
				t.Error(err)
			}
		}
	})
}
