package setup

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/test/verbtest"
)

// An init adds its settings beside the user's, a second one nothing, and a deinit takes out what the
// first one added. Checkpoints stay.
func TestInitDeinit(t *testing.T) {
	t.Parallel()
	w := verbtest.New(t)
	w.Git("config", "notes.displayRef", "refs/notes/mine")
	w.Save("one")
	refs, before := w.Git("for-each-ref"), w.Git("config", "--local", "--list")
	req := InitRequest{ExcludeDecoration: true, Notes: true, Settings: []checkpoint.Setting{{Key: "checkpoint.tag", Value: "false"}}}
	for _, want := range [][]string{{"log.excludeDecoration = refs/checkpoints/*", "notes.displayRef = " + notesGlob, "checkpoint.tag = false"}, {}} {
		if set, err := Init(t.Context(), w.Open().Rules, req); err != nil || !slices.Equal(set, want) {
			t.Errorf("init: %q, %v, want %q", set, err, want)
		}
	}
	if got := w.Git("config", "--get-all", "notes.displayRef"); got != "refs/notes/mine\n"+notesGlob {
		t.Errorf("notes.displayRef is %q", got)
	}
	if _, err := Deinit(t.Context(), w.Open().Rules, false); err != nil {
		t.Fatal(err)
	}
	if got := w.Git("config", "--local", "--list"); got != before {
		t.Errorf("settings were\n%s\nand are\n%s", before, got)
	}
	if got := w.Git("for-each-ref"); got != refs {
		t.Errorf("refs were\n%s\nand are\n%s", refs, got)
	}
	if set, err := Init(t.Context(), w.Open().Rules, InitRequest{}); err != nil || len(set) != 0 {
		t.Errorf("without a wish for it: %q, %v", set, err)
	}
}

// With all, a deinit removes each ref and file of this program, which its plan names before, and none
// of the user's.
func TestDeinitAll(t *testing.T) {
	t.Parallel()
	w := verbtest.New(t)
	w.Git("tag", "mine")
	w.Git("update-ref", "refs/notes/mine", "HEAD")
	mine := w.Git("for-each-ref")
	w.Save("one")
	w.Git("update-ref", "refs/checkpoint-remotes/origin/main/journal", "HEAD")
	going, err := Leaving(t.Context(), w.Open().Rules, true)
	if err != nil || len(going) != 6 { // checkpoint, journal, note, tag, what the remote had, and files
		t.Fatalf("%q, %v", going, err)
	}
	if _, err := Deinit(t.Context(), w.Open().Rules, true); err != nil {
		t.Fatal(err)
	}
	if got := w.Git("for-each-ref"); got != mine || w.Exists(".git/checkpoint") {
		t.Errorf("left:\n%s", got)
	}
	w.Has("file", "one\n")
}

// Nothing is removed while the files of this program say how a rollback is finished.
func TestDeinitWaits(t *testing.T) {
	t.Parallel()
	w := verbtest.New(t)
	w.Save("one")
	w.Git("config", "checkpoint.tag", "false")
	w.Write(".git/checkpoint/rollback", "half of")
	before := w.Git("for-each-ref") + w.Git("config", "--local", "--list")
	if _, err := Leaving(t.Context(), w.Open().Rules, true); err == nil {
		t.Error("it is planned")
	}
	if _, err := Deinit(t.Context(), w.Open().Rules, true); err == nil || w.Git("for-each-ref")+w.Git("config", "--local", "--list") != before || !w.Exists(".git/checkpoint/rollback") {
		t.Errorf("%v", err)
	}
}

// Hooks in a directory that may be shared are the business of its owner.
func TestHooksElsewhere(t *testing.T) {
	t.Parallel()
	w := verbtest.New(t)
	w.Git("config", "core.hooksPath", "../shared")
	if _, err := Init(t.Context(), w.Open().Rules, InitRequest{Hooks: true}); checkpoint.KindOf(err) != checkpoint.KindRefused || w.Exists("../shared") || w.Exists(".git/hooks/pre-push") {
		t.Errorf("%v", err)
	}
}

// The hook gives the one from before the same input and arguments, and ends as it does. Then it gives
// them to this program, whose end does not count, and which may be gone.
func TestHookRuns(t *testing.T) {
	t.Parallel()
	w := verbtest.New(t)
	tell := func(file, who, end string) {
		t.Helper()
		w.Write(file, "#!/bin/sh\necho \""+who+" $*\" >>\"$HOME/said\"\ncat >>\"$HOME/said\"\nexit "+end+"\n")
		if err := os.Chmod(filepath.Join(w.Dir, file), 0o777); err != nil {
			t.Fatal(err)
		}
	}
	tell(".git/hooks/pre-push", "before", "0")
	if _, err := Init(t.Context(), w.Open().Rules, InitRequest{Hooks: true}); err != nil {
		t.Fatal(err)
	}
	run := func() (string, error) {
		cmd := exec.Command(filepath.Join(w.Dir, ".git/hooks/pre-push"), "origin", "a b")
		cmd.Dir, cmd.Stdin = w.Dir, strings.NewReader("one\n\ntwo\n\n")
		cmd.Env = append(slices.Clone(w.Env), "PATH="+filepath.Join(w.Root, "bin")+":"+os.Getenv("PATH"))
		err := cmd.Run()
		said := w.Read("../said")
		w.Remove("../said")
		return said, err
	}
	const before, after = "before origin a b\none\n\ntwo\n\n", "after __hook pre-push origin a b\none\n\ntwo\n\n"
	tell("../bin/git-checkpoint", "after", "1")
	if said, err := run(); err != nil || said != before+after {
		t.Errorf("%q, %v", said, err)
	}
	tell(".git/hooks/pre-push"+chainedEnding, "before", "3")
	if said, err := run(); err == nil || said != before {
		t.Errorf("with an older hook that refuses: %q, %v", said, err)
	}
	w.Remove(".git/hooks/pre-push" + chainedEnding)
	if said, err := run(); err != nil || said != after {
		t.Errorf("without an older hook: %q, %v", said, err)
	}
}

// What is pushed with a branch are the sessions that were started on it: none for another branch, a
// tag, or input that is no line of git.
func TestPrePush(t *testing.T) {
	t.Parallel()
	w := verbtest.New(t)
	w.Save("one")
	w.Git("init", "-q", "--bare", "../there")
	w.Git("remote", "add", "origin", "../there")
	const zeros, ones = "0000000000000000000000000000000000000000", "1111111111111111111111111111111111111111"
	for input, pushes := range map[string]bool{
		"": false, "refs/heads/main\n": false, "refs/heads/other " + ones + " refs/heads/main " + zeros + "\n": false, "refs/tags/main " + ones + " refs/tags/main " + zeros + "\n": false,
		"refs/heads/x " + ones + " refs/heads/x " + zeros + "\nrefs/heads/main " + ones + " refs/heads/other " + zeros + "\n": true,
	} {
		a, err := PrePush(t.Context(), w.Open(), "origin", input)
		if err != nil || (a != nil) != pushes {
			t.Errorf("%q: %+v, %v", input, a, err)
		}
	}
	if got := w.Git("-C", "../there", "for-each-ref", string(name.JournalRef("main"))); got == "" {
		t.Error("the journal is not there")
	}
}
