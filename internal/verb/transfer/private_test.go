package transfer_test

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path"
	"path/filepath"
	"testing"

	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/core/clearance"
	"git-checkpoint/internal/test/verbtest"
	"git-checkpoint/internal/verb/create"
	"git-checkpoint/internal/verb/transfer"
)

// A member of a tar has the mode that the file had, where that gives fewer rights than the usual one; the
// file itself is readable by its owner only then.
func TestTarKeepsPrivateModes(t *testing.T) {
	w := verbtest.New(t)
	modes := map[string]os.FileMode{"key": 0o600, "tool": 0o700, "read": 0o400, "open": 0o644, "wide": 0o666}
	for file, mode := range modes {
		w.Write(file, file+"\n")
		if err := os.Chmod(filepath.Join(w.Dir, file), mode); err != nil {
			t.Fatal(err)
		}
	}
	w.Create(create.Request{Session: "shop"})
	file := filepath.Join(w.Root, "x.tar")
	w.Must(func(ctx context.Context, s *checkpoint.Service) error {
		if _, err := transfer.Export(ctx, s, transfer.ExportRequest{Destination: transfer.Destination{Path: file}}, "tar"); err == nil {
			t.Error("untracked files leave without a yes")
		}
		yes := func(context.Context, clearance.FirstTime) error { return nil }
		_, err := transfer.Export(ctx, s, transfer.ExportRequest{Destination: transfer.Destination{Path: file}, Agree: yes}, "tar")
		return err
	})
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v %v", info.Mode(), err)
	}
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	met := 0
	for r := tar.NewReader(bytes.NewReader(data)); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if mode, is := modes[path.Base(h.Name)]; is {
			met++
			if want := int64(mode &^ 0o022); h.Mode != want {
				t.Errorf("%s has mode %o, not %o", h.Name, h.Mode, want)
			}
		}
	}
	if met != len(modes) {
		t.Errorf("%d of the files are in the tar", met)
	}
}
