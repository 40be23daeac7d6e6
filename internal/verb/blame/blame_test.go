package blame

import (
	"bytes"
	"context"
	"strings"
	"testing"

	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/test/verbtest"
	"git-checkpoint/internal/verb/inspect"
)

// world adds what this package does to a repository.
type world struct{ *verbtest.World }

func newWorld(t *testing.T) world { return world{verbtest.New(t)} }

// blame returns the label, or else the subject, for each line of a file.
func (w world) blame(req Request) (from []string) {
	w.Helper()
	err := w.Do(func(ctx context.Context, s *checkpoint.Service) error {
		lines, err := Blame(ctx, s, req)
		for i, l := range lines {
			if l.Line != i+1 {
				w.Errorf("line %d is called %d", i+1, l.Line)
			}
			if l.Label == "" {
				l.Label = l.Message
			}
			from = append(from, l.Label)
		}
		return err
	})
	if err != nil {
		w.Fatal(err)
	}
	return from
}

// Each line has the checkpoint that wrote it. One that is older has its commit, and so has one that
// came with a commit while the session ran.
func TestBlame(t *testing.T) {
	w := newWorld(t)
	w.Write("file", "one\ntwo\n")
	w.Save("two")
	w.Write("file", "one\ntwo\nthree\n")
	w.Git("commit", "-qam", "by hand")
	w.Write("file", "zero\none\ntwo\nthree\n")
	w.Save("zero")
	for range 2 { // made, and then remembered
		if got := strings.Join(w.blame(Request{Ref: "@", File: "file"}), ","); got != "cp-02,Begin,cp-01,by hand" {
			t.Errorf("lines are of %s", got)
		}
	}
	if got := strings.Join(w.blame(Request{Ref: "1", File: "file"}), ","); got != "Begin,cp-01" {
		t.Errorf("in step 1 lines are of %s", got)
	}
	// A chain that git threw away is made again.
	w.Git("gc", "-q", "--prune=now")
	if got := strings.Join(w.blame(Request{Ref: "@", File: "file"}), ","); got != "cp-02,Begin,cp-01,by hand" {
		t.Errorf("after a gc lines are of %s", got)
	}
}

// The first blame of a line that came with a commit makes the index of lines, and says how far it is.
func TestProgress(t *testing.T) {
	w := newWorld(t)
	w.Write("file", "one\ntwo\n")
	w.Save("two")
	for _, want := range []int{1, 0} {
		read := 0
		w.blame(Request{Ref: "@", File: "file", Progress: func(n int) { read += n }})
		if read != want {
			t.Errorf("%d checkpoints were read, not %d", read, want)
		}
	}
}

// A file that the checkpoint has not, an option that git does not know and a checkpoint to ignore
// that is not there are mistakes of the user.
func TestBlameRefuses(t *testing.T) {
	w := newWorld(t)
	w.Save("one")
	for _, req := range []Request{{Ref: "@", File: "no-file"}, {Ref: "@", File: "file", Options: []string{"-L99,100"}}, {Ref: "@", File: "file", Ignore: []string{"nothing"}}} {
		err := w.Do(func(ctx context.Context, s *checkpoint.Service) error { _, err := Blame(ctx, s, req); return err })
		if kind := checkpoint.KindOf(err); kind != checkpoint.KindUsage && kind != checkpoint.KindNotFound {
			t.Errorf("%+v: %v", req, err)
		}
	}
}

// The log of a path has the checkpoints that changed it, newest first, and nothing from before.
func TestLog(t *testing.T) {
	w := newWorld(t)
	w.Write("file", "two\n")
	w.Save("first")
	w.Write("other", "x\n")
	w.Save("second")
	w.Write("file", "three\n")
	w.Save("third")
	var out bytes.Buffer
	if err := w.Do(func(ctx context.Context, s *checkpoint.Service) error {
		code, err := inspect.PrintLog(ctx, s.Sessions, "", []string{"--", "file"}, inspect.IO{Out: &out, Err: &out})
		if code != 0 {
			t.Errorf("exit code %d", code)
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	if len(lines) != 2 || !strings.Contains(lines[0], "third") || !strings.Contains(lines[1], "first") {
		t.Errorf("log: %q", lines)
	}
}

// The chain follows from the checkpoints: a second blame finds it as it is, and writes nothing.
func TestChainIsTheSame(t *testing.T) {
	w := newWorld(t)
	text := ""
	for _, line := range []string{"a", "b", "c"} {
		text += line + "\n"
		w.Write("file", text)
		w.Save(line)
	}
	objects := ""
	for range 2 {
		if got := strings.Join(w.blame(Request{Ref: "@", File: "file"}), ","); got != "cp-01,cp-02,cp-03" {
			t.Fatalf("lines are of %s", got)
		}
		now := w.Git("count-objects", "-v")
		if objects != "" && now != objects {
			t.Errorf("the second blame wrote objects: %s, and before %s", now, objects)
		}
		objects = now
	}
}
