package store

import (
	"bytes"
	"encoding/json"
	"errors"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/format/record"
	"git-checkpoint/internal/git"
	"git-checkpoint/internal/test/gittest"
)

func (f *fixture) blob(content string) name.OID {
	f.Helper()
	oid, err := f.Repo.Objects.Write(f.Context(), "blob", []byte(content))
	if err != nil {
		f.Fatal(err)
	}
	return oid
}

const someID = name.ID("cp-03-20261120T094311123Z-4f2a")

// full returns a draft with every field set.
func (f *fixture) full() Draft {
	f.Helper()
	at := time.Date(2026, 11, 20, 9, 43, 11, 123e6, time.UTC)
	blob := f.blob("content")
	tree, err := f.Repo.Trees.Edit(f.Context(), "", map[string]git.Entry{"dir/file": {Mode: git.ModeFile, OID: blob}})
	if err != nil {
		f.Fatal(err)
	}
	author, committer := f.Repo.Commits.Identity(at)
	conflict := func(stage int, path, content string) git.Unmerged {
		return git.Unmerged{Stage: stage, Path: path, Entry: git.Entry{Mode: git.ModeExec, OID: f.blob(content)}}
	}
	return Draft{
		Record: &record.Record{
			Format: record.Format, ID: someID, Label: "cp-03-architecture", Session: "demo", Step: 3, StepName: "architecture", Milestone: true,
			Trigger: "manual", Status: "in_progress", Message: "API first\n\nCheckpoint-Id: forged", CreatedAt: at, Workflow: record.Workflow{Name: "go-team", Version: "1"},
			Outputs:  map[string]record.Output{"spec": {Path: "outputs/spec", OID: f.blob("the spec\n"), Size: 9, Lines: 1}},
			Git:      record.Git{Worktree: "main", Head: f.Repo.Head.OID, Index: tree},
			Snapshot: record.Snapshot{Tree: tree, Complete: true},
		},
		Metrics: json.RawMessage(`{"build_pass": true}`),
		Tree:    tree, Head: f.Repo.Head.OID, IndexTree: tree,
		Outputs:   map[string]name.OID{"spec": f.blob("the spec\n")},
		Conflicts: []git.Unmerged{conflict(1, "a/b", "base"), conflict(2, "a/b", "ours"), conflict(3, "c", "theirs")},
		Raw:       map[string]name.OID{"dir/crlf.txt": f.blob("a\r\n"), "new\nline": f.blob("b\r\n")},
		Flags:     f.blob("S a b\x00H other\x00S c\x00"), Author: author, Committer: committer,
	}
}

func TestWriteAndRead(t *testing.T) {
	for _, format := range gittest.Formats() {
		t.Run(format, func(t *testing.T) {
			f := newFixture(t, "--object-format="+format)
			d := f.full()
			w, err := f.WriteCheckpoint(t.Context(), d)
			if err != nil {
				t.Fatal(err)
			}
			f.Git("update-ref", "refs/checkpoints/demo/"+string(someID), string(w.Commit))
			f.Git("fsck", "--strict", "--no-dangling")
			if got := f.Git("rev-parse", string(w.Commit)+"^@"); got != string(d.Head)+"\n"+string(w.RecordCommit) {
				t.Errorf("parents of C: %q", got)
			}
			if got := f.Git("rev-list", "--count", string(w.RecordCommit)); got != "1" {
				t.Errorf("M has %s commits", got)
			}
			if got := f.Git("ls-tree", "-r", "-z", "--name-only", string(w.RecordCommit)); got != "checkpoint.json\x00conflicts/1/a/b\x00conflicts/2/a/b\x00conflicts/3/c\x00index-flags\x00index/dir/file\x00outputs/spec\x00raw/dir/crlf.txt\x00raw/new\nline\x00" {
				t.Errorf("M: %q", got)
			}
			if got := f.Git("show", string(w.Commit)+":dir/file"); got != "content" {
				t.Errorf("C: %q", got)
			}
			checkParts(t, f, d, w)
			checkNewObjects(t, f, d, w)
		})
	}
}

func checkParts(t *testing.T, f *fixture, d Draft, w Written) {
	t.Helper()
	got, err := f.Stored(t.Context(), w.Commit)
	r, m := got.Record, got.Commit
	if err != nil || m != w.RecordCommit || !bytes.Equal(got.Raw, w.Raw) || r.Message != d.Record.Message || r.Checksum != d.Record.Checksum {
		t.Errorf("%+v %v", r, err)
	}
	if blob, err := f.RecordBlob(t.Context(), w.Commit); blob != w.RecordBlob || err != nil {
		t.Errorf("%s %v", blob, err)
	}
	if out, err := f.Store.Output(t.Context(), m, "spec"); string(out) != "the spec\n" || err != nil {
		t.Errorf("%q %v", out, err)
	}
	for _, n := range []string{"none", "", "../index-flags", "spec/x"} {
		if out, err := f.Store.Output(t.Context(), m, n); !errors.Is(err, ErrNoOutput) {
			t.Errorf("%q: %q %v", n, out, err)
		}
	}
	if tree, err := f.IndexTree(t.Context(), m); tree != d.IndexTree || err != nil {
		t.Errorf("%s %v", tree, err)
	}
	if paths, err := f.SkipWorktree(t.Context(), m); !slices.Equal(paths, []string{"a b", "c"}) || err != nil {
		t.Errorf("%q %v", paths, err)
	}
	conflicts, err := f.Conflicts(t.Context(), m)
	if err != nil || len(conflicts) != 3 {
		t.Fatalf("%+v %v", conflicts, err)
	}
	for i, c := range conflicts {
		want := d.Conflicts[i]
		if c.Stage != want.Stage || c.Path != want.Path || c.Entry.OID != want.Entry.OID || c.Entry.Mode != want.Entry.Mode {
			t.Errorf("%+v", c)
		}
	}
	kept, err := f.Raw(t.Context(), m)
	if err != nil || len(kept) != 2 || kept["new\nline"] != d.Raw["new\nline"] || kept["dir/crlf.txt"] != d.Raw["dir/crlf.txt"] {
		t.Errorf("%+v %v", kept, err)
	}
	sums, err := f.Summaries(t.Context(), "demo")
	if err != nil || len(sums) != 1 || sums[0].Err != nil || sums[0].Label != "cp-03-architecture" || sums[0].Message != "API first" || sums[0].Commit != w.Commit {
		t.Errorf("%+v %v", sums, err)
	}
}

// checkNewObjects checks that NewObjects lists every object that the new commit needs in addition
// to HEAD and the worktree's tree.
func checkNewObjects(t *testing.T, f *fixture, d Draft, w Written) {
	t.Helper()
	listed := map[string]bool{}
	for _, oid := range w.NewObjects {
		listed[string(oid)] = true
	}
	index := map[string]bool{}
	for _, line := range strings.Split(f.Git("rev-list", "--objects", "--no-object-names", string(d.Tree)), "\n") {
		index[line] = true
	}
	for _, oid := range strings.Split(f.Git("rev-list", "--objects", "--no-object-names", string(w.Commit), "^"+string(d.Head)), "\n") {
		if !listed[oid] && !index[oid] {
			t.Errorf("%s is not listed: %s", oid, f.Git("cat-file", "-p", oid))
		}
	}
}

func TestUnbornAndBare(t *testing.T) {
	f := newFixture(t)
	d := f.full()
	d.Head, d.IndexTree, d.Outputs, d.Conflicts, d.Raw, d.Flags = "", "", nil, nil, nil, ""
	d.Record.Outputs, d.Record.Git.Head, d.Record.Git.Index = nil, "", ""
	w, err := f.WriteCheckpoint(t.Context(), d)
	if err != nil {
		t.Fatal(err)
	}
	if got := f.Git("rev-parse", string(w.Commit)+"^@"); got != string(w.RecordCommit) {
		t.Errorf("%q", got)
	}
	if got, err := f.Stored(t.Context(), w.Commit); got.Commit != w.RecordCommit || err != nil {
		t.Errorf("%v", err)
	}
	tree, err := f.IndexTree(t.Context(), w.RecordCommit)
	skipped, err2 := f.SkipWorktree(t.Context(), w.RecordCommit)
	conflicts, err3 := f.Conflicts(t.Context(), w.RecordCommit)
	kept, err4 := f.Raw(t.Context(), w.RecordCommit)
	if tree != "" || skipped != nil || conflicts != nil || len(kept) != 0 || errors.Join(err, err2, err3, err4) != nil {
		t.Errorf("%q %q %v %v %v", tree, skipped, conflicts, kept, errors.Join(err, err2, err3, err4))
	}
}

func TestSigned(t *testing.T) {
	if _, err := exec.LookPath("ssh-keygen"); err != nil {
		t.Skip("no ssh-keygen")
	}
	f := newFixture(t)
	key := filepath.Join(t.TempDir(), "key")
	if out, err := exec.Command("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", key).CombinedOutput(); err != nil {
		t.Fatalf("%v %s", err, out)
	}
	f.Git("config", "gpg.format", "ssh")
	f.Git("config", "user.signingKey", key)
	f.Git("config", "commit.gpgSign", "true")
	f.Git("config", "i18n.commitEncoding", "ISO-8859-1")
	d := f.full()
	w, err := f.WriteCheckpoint(t.Context(), d)
	if err != nil {
		t.Fatal(err)
	}
	if got := f.Git("cat-file", "-p", string(w.Commit)); strings.Contains(got, "gpgsig") {
		t.Error("signed because of commit.gpgSign")
	}
	plain := f.Git("log", "-1", "--format=%an%ae%ad%cn%ce%cd%T%P%B", "--date=raw", string(w.Commit))
	f.Signer = &Signer{}
	if w, err = f.WriteCheckpoint(t.Context(), d); err != nil {
		t.Fatal(err)
	}
	if got := f.Git("cat-file", "-p", string(w.Commit)); !strings.Contains(got, "BEGIN SSH SIGNATURE") || strings.Contains(got, "\nencoding ") {
		t.Errorf("%s", got)
	}
	if got := f.Git("log", "-1", "--format=%an%ae%ad%cn%ce%cd%T%P%B", "--date=raw", string(w.Commit)); got != plain {
		t.Errorf("signed:\n%s\nplain:\n%s", got, plain)
	}
	f.Git("update-ref", "refs/checkpoints/demo/"+string(someID), string(w.Commit))
	if sums, err := f.Summaries(t.Context(), "demo"); err != nil || sums[0].Err != nil {
		t.Errorf("%+v %v", sums, err)
	}
}

// forge makes a checkpoint's ref point to the same commit with another record.
func (f *fixture) forge(ref string, edit func(record []byte) []byte) {
	f.Helper()
	m := f.Git("rev-parse", ref+"^2")
	oid := f.blob(string(edit([]byte(f.Git("cat-file", "blob", m+":checkpoint.json") + "\n"))))
	tree, err := f.Repo.Trees.Edit(f.Context(), name.OID(f.Git("rev-parse", m+"^{tree}")), map[string]git.Entry{"checkpoint.json": {Mode: git.ModeFile, OID: oid}})
	if err != nil {
		f.Fatal(err)
	}
	forged := f.Git("commit-tree", "-m", "x", string(tree))
	f.Git("update-ref", ref, f.Git("commit-tree", "-p", "HEAD", "-p", forged, "-m", f.Git("log", "-1", "--format=%B", ref), ref+"^{tree}"))
}

// Each kind of damage is an error of its own and does not affect anything else.
func TestDamagedCheckpoints(t *testing.T) {
	f := newFixture(t)
	var ids []name.ID
	for range 8 {
		ids = append(ids, f.create("demo", milestone{}))
	}
	ref := func(i int) string { return "refs/checkpoints/demo/" + string(ids[i]) }
	m := func(i int) string { return f.Git("rev-parse", ref(i)+"^2") }
	f.drop(name.OID(f.Git("rev-parse", ref(1))))
	f.drop(name.OID(m(2)))
	f.drop(name.OID(f.Git("rev-parse", m(3)+":checkpoint.json")))
	f.forge(ref(4), func(r []byte) []byte { return bytes.Replace(r, []byte("in_progress"), []byte("complete"), 1) })
	f.forge(ref(5), func([]byte) []byte { return []byte("{") })
	f.Git("update-ref", ref(6), f.Git("rev-parse", "HEAD^{tree}"))
	f.Git("update-ref", ref(7), f.Git("rev-parse", ref(0)))
	f.Write(f.path("refs/checkpoints/demo/cp-99-garbage"), "no id\n")
	f.Write(f.path("refs/checkpoints/demo/journal.bak"), "also none\n")

	for i, id := range ids {
		commit, err := f.Checkpoint(t.Context(), "demo", id)
		if err != nil {
			t.Fatalf("%d: %v", i, err)
		}
		r, err := f.Record(t.Context(), commit)
		var damaged *DamagedError
		if fine := i == 0 || i == 7; fine != (err == nil) || !fine && !errors.As(err, &damaged) {
			t.Errorf("%d: %v", i, err)
		}
		if i == 4 && (err == nil || !strings.Contains(err.Error(), "but its content has") || r == nil || r.Status != "complete") {
			t.Errorf("a forged record: %+v %v", r, err)
		}
	}
	sums, err := f.Summaries(t.Context(), "demo")
	if err != nil || len(sums) != len(ids) {
		t.Fatalf("%d %v", len(sums), err)
	}
	for i, s := range sums {
		if s.ID != ids[i] || s.Commit == "" || (s.Err != nil) != (i == 1 || i == 6 || i == 7) {
			t.Errorf("%d: %+v", i, s)
		}
	}
	sessions, err := f.Sessions(t.Context())
	if err != nil || len(sessions) != 1 {
		t.Errorf("%+v %v", sessions, err)
	}
	if _, err := f.Checkpoint(t.Context(), "demo", "cp-03-20261120T094311123Z-ffff"); !errors.Is(err, errNoCheckpoint) {
		t.Errorf("%v", err)
	}
	f.create("demo", milestone{})
}

func TestSessions(t *testing.T) {
	f := newFixture(t)
	f.create("one", milestone{})
	f.create("two", milestone{})
	f.create("two", milestone{})
	head := string(f.Repo.Head.OID)
	strays := []string{"refs/checkpoints/x", "refs/checkpoints/two/odd", "refs/checkpoints/two/a/b", "refs/checkpoints/-bad/journal"}
	for _, ref := range strays {
		f.Git("update-ref", ref, head)
	}
	f.Git("update-ref", "refs/checkpoints/three/"+string(someID), head)
	f.Git("update-ref", "refs/checkpoints/one/archive", head)
	for range 2 {
		if got, err := f.Sessions(t.Context()); err != nil || !slices.Equal(got, []name.Session{"one", "three", "two"}) {
			t.Fatalf("%+v %v", got, err)
		}
		f.Git("pack-refs", "--all", "--prune")
	}
	if _, err := f.State(t.Context(), "three"); !errors.Is(err, ErrNoSession) {
		t.Errorf("%v", err)
	}
}
