package rollback_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/test/verbtest"
	"git-checkpoint/internal/verb/create"
	"git-checkpoint/internal/verb/rollback"
)

// A checkpoint of which any object is gone or spoilt stops neither the next create, typed or automatic,
// nor a rollback past it, its undo and its redo.
func TestDamagedCheckpointStopsNothing(t *testing.T) {
	for _, spoil := range []string{"missing", "garbled", "empty"} {
		for n := 0; ; n++ {
			w := newDamagedWorld(t)
			own := w.ownObjects()
			if n == len(own) {
				break
			}
			if testing.Short() && (spoil != "missing" || n%2 == 1) {
				continue
			}
			t.Run(spoil+" "+own[n], func(t *testing.T) {
				w.TB = t
				w.spoil(own[n], spoil)
				w.goOn()
			})
		}
	}
}

type damagedWorld struct{ *verbtest.World }

// newDamagedWorld makes two checkpoints, the second with all that one can have.
func newDamagedWorld(t *testing.T) damagedWorld {
	w := damagedWorld{verbtest.New(t)}
	w.Write("dir/deep/b", "b\n")
	w.Write("crlf", "a\nb\n")
	w.Write(".gitattributes", "crlf text\n")
	w.Write(".gitignore", "*.log\n")
	w.Git("add", ".")
	w.Git("commit", "-qm", "more")
	w.Write("x.log", "private")
	w.Save("one")
	w.Write("file", "two\n")
	w.Write("dir/deep/c", "c\n")
	w.Write("dir/.gitignore", "*.tmp\n")
	w.Write("crlf", "a\r\nb\r\n")
	w.Write("staged", "s\n")
	w.Git("add", "staged")
	w.Create(create.Request{Message: "two", Outputs: []create.Output{{Name: "out", Data: []byte("an output")}}, Edits: create.Edits{State: []byte(`{"a":1}`)}})
	w.Git("reset", "-q")
	w.Write("file", "three\n")
	w.Write("dir/deep/new", "new\n")
	return w
}

// ownObjects lists the objects that only the second checkpoint has.
func (w damagedWorld) ownObjects() []string {
	lines := w.Git("rev-list", "--objects", "--no-object-names", "refs/checkpoints/main/"+w.ids()[1], "--not", "refs/checkpoints/main/"+w.ids()[0], "HEAD")
	return strings.Fields(lines)
}

func (w damagedWorld) ids() []string {
	return strings.Fields(w.Git("for-each-ref", "--format=%(refname:lstrip=3)", "--sort=refname", "refs/checkpoints/main/"))
}

func (w damagedWorld) spoil(oid, how string) {
	file := filepath.Join(w.Dir, w.Object(name.OID(oid)))
	err := os.Remove(file)
	if how != "missing" && err == nil {
		err = os.WriteFile(file, []byte(map[string]string{"garbled": "no object"}[how]), 0o600)
	}
	if err != nil {
		w.Fatal(err)
	}
}

func (w damagedWorld) goOn() {
	w.Create(create.Request{Message: "three", Comparison: create.Comparison{SkipUnchanged: true}})
	w.Write("dir/deep/newer", "newer\n")
	w.Create(create.Request{Message: "four", Selection: create.Selection{Automatic: true}, Comparison: create.Comparison{SkipUnchanged: true}})
	w.Must(func(ctx context.Context, s *checkpoint.Service) error {
		r, err := rollback.Prepare(ctx, s, rollback.Request{Ref: "1"})
		if err == nil {
			_, err = r.Apply(ctx)
		}
		return err
	})
	w.Has("file", "one\n")
	for _, redo := range []bool{false, true, false} {
		w.Must(func(ctx context.Context, s *checkpoint.Service) error {
			r, err := rollback.PrepareUndo(ctx, s, rollback.UndoRequest{Redo: redo})
			if err == nil {
				_, err = r.Apply(ctx)
			}
			return err
		})
	}
	w.Has("file", "three\n")
	w.Has("crlf", "a\r\nb\r\n")
	w.Has("dir/deep/newer", "newer\n")
}
