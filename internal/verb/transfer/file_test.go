package transfer_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/test/verbtest"
	"git-checkpoint/internal/verb/create"
	"git-checkpoint/internal/verb/transfer"
	"git-checkpoint/internal/verb/travel"
)

type (
	exporting func(context.Context, *checkpoint.Service, transfer.ExportRequest) (*transfer.Exported, error)
	importing func(context.Context, *checkpoint.Service, string) (*travel.Answer, error)
)

// two makes a repository with two checkpoints in a session and one in another.
func two(t *testing.T) *verbtest.World {
	t.Helper()
	w := verbtest.New(t)
	for i, session := range []string{"shop", "shop", "other"} {
		w.Write("file", fmt.Sprintf("of %d\n", i))
		w.Create(create.Request{Session: session, State: fmt.Appendf(nil, `{"n":%d}`, i)})
	}
	return w
}

// export writes a session to a file and returns its path.
func export(w *verbtest.World, do exporting, file string) string {
	w.Helper()
	path := filepath.Join(w.Root, file)
	w.Must(func(ctx context.Context, s *checkpoint.Service) error {
		e, err := do(ctx, s, transfer.ExportRequest{Destination: transfer.Destination{Path: path}, Sessions: []string{"shop"}})
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
	for file, c := range map[string]struct {
		out exporting
		in  importing
	}{
		"x.tar": {transfer.ExportTar, transfer.ImportTar}, "x.tar.gz": {transfer.ExportTar, transfer.ImportTar},
		"x.jsonl": {transfer.ExportLines, transfer.ImportLines}, "x.jsonl.gz": {transfer.ExportLines, transfer.ImportLines},
	} {
		first, second := from.Read("../"+filepath.Base(export(from, c.out, file))), from.Read("../"+filepath.Base(export(from, c.out, "again-"+file)))
		if first != second {
			t.Errorf("%s: two exports differ", file)
		}
		to := verbtest.New(t)
		for range 2 {
			to.Must(func(ctx context.Context, s *checkpoint.Service) error {
				_, err := c.in(ctx, s, filepath.Join(from.Root, file))
				return err
			})
			if got := to.Git("for-each-ref", "--format=%(objectname) %(refname)", "refs/checkpoints"); got != want {
				t.Errorf("%s: refs are\n%s\nand were\n%s", file, got, want)
			}
		}
		to.Git("fsck", "--strict")
	}
}

// People read the lines and import the bundle among them, so both have to say the same. Each change of
// a line refuses the file as a whole. A line may be missing, but not the bundle.
func TestChangedLines(t *testing.T) {
	t.Parallel()
	from := two(t)
	data, err := os.ReadFile(export(from, transfer.ExportLines, "x.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	lines := slices.Collect(bytes.Lines(data))
	to := verbtest.New(t)
	before := to.Git("for-each-ref")
	bring := func(lines [][]byte) error {
		t.Helper()
		file := filepath.Join(from.Root, "changed.jsonl")
		if err := os.WriteFile(file, bytes.Join(lines, nil), 0o666); err != nil {
			t.Fatal(err)
		}
		return to.Do(func(ctx context.Context, s *checkpoint.Service) error {
			_, err := transfer.ImportLines(ctx, s, file)
			return err
		})
	}
	tried := 0
	for i, line := range lines[:len(lines)-1] {
		for old, changed := range map[string]string{`"shop"`: `"ship"`, `2026-11-20T`: `2026-11-21T`, `"cp-02"`: `"cp-03"`, `"n": 1`: `"n": 2`, `"n":1`: `"n":2`} {
			if !bytes.Contains(line, []byte(old)) {
				continue
			}
			tried++
			all := slices.Clone(lines)
			all[i] = bytes.ReplaceAll(line, []byte(old), []byte(changed))
			if err := bring(all); checkpoint.KindOf(err) != checkpoint.KindInvalid || to.Git("for-each-ref") != before {
				t.Errorf("line %d (%.60s) with %s: %v", i+1, line, changed, err)
			}
		}
	}
	if tried < 10 {
		t.Errorf("only %d changes were tried", tried)
	}
	if err := bring(lines[:len(lines)-1]); checkpoint.KindOf(err) != checkpoint.KindInvalid {
		t.Errorf("without the bundle: %v", err)
	}
	if err := bring(lines[len(lines)-2:]); err != nil {
		t.Errorf("without the lines before: %v", err)
	}
}
