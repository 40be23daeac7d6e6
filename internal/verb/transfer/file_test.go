package transfer_test

import (
	"context"
	"fmt"
	"path/filepath"
	"testing"

	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/test/verbtest"
	"git-checkpoint/internal/verb/create"
	"git-checkpoint/internal/verb/transfer"
)

// two makes a repository with two checkpoints in a session and one in another.
func two(t *testing.T) *verbtest.World {
	t.Helper()
	w := verbtest.New(t)
	for i, session := range []string{"shop", "shop", "other"} {
		w.Write("file", fmt.Sprintf("of %d\n", i))
		w.Create(create.Request{Session: session, Edits: create.Edits{State: fmt.Appendf(nil, `{"n":%d}`, i)}})
	}
	return w
}

// export writes a session to a file and returns its path.
func export(w *verbtest.World, format, file string) string {
	w.Helper()
	path := filepath.Join(w.Root, file)
	w.Must(func(ctx context.Context, s *checkpoint.Service) error {
		e, err := transfer.Export(ctx, s, transfer.ExportRequest{Destination: transfer.Destination{Path: path}, Sessions: []string{"shop"}}, format)
		if err == nil && (e.Checkpoints != 2 || len(e.Sessions) != 1) {
			w.Errorf("%s: %+v", file, e)
		}
		return err
	})
	return path
}

// In each format a session comes out of the file as it went in, and nothing but that session. The
// same session makes the same bytes. Importing again changes nothing.
func TestFileAndBack(t *testing.T) {
	t.Parallel()
	from := two(t)
	want := from.Git("for-each-ref", "--format=%(objectname) %(refname)", "refs/checkpoints/shop")
	for file, out := range map[string]string{
		"x.bundle": "bundle", "x.tar": "tar", "x.tar.gz": "tar", "x.jsonl": "jsonl", "x.jsonl.gz": "jsonl",
	} {
		first, second := from.Read("../"+filepath.Base(export(from, out, file))), from.Read("../"+filepath.Base(export(from, out, "again-"+file)))
		if first != second {
			t.Errorf("%s: two exports differ", file)
		}
		to := verbtest.New(t)
		for range 2 {
			to.Must(func(ctx context.Context, s *checkpoint.Service) error {
				path := filepath.Join(from.Root, file)
				format, err := transfer.FormatOf(path)
				if err == nil {
					_, err = transfer.Load(ctx, s, path, format)
				}
				return err
			})
			if got := to.Git("for-each-ref", "--format=%(objectname) %(refname)", "refs/checkpoints"); got != want {
				t.Errorf("%s: refs are\n%s\nand were\n%s", file, got, want)
			}
		}
		to.Git("fsck", "--strict")
	}
}
