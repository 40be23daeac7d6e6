package interop

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/test/verbtest"
)

// world is a repository, into which documents come and out of which they go.
type world struct{ *verbtest.World }

func newWorld(t *testing.T) *world { return &world{verbtest.Unborn(t, "repo")} }

func (w *world) bringIn(from string, more ...func(*ImportRequest)) *ImportAnswer {
	w.Helper()
	a, err := w.tryImport(from, more...)
	if err != nil {
		w.Fatalf("import %s: %v%s", from, err, hints(err))
	}
	return a
}

func (w *world) tryImport(from string, more ...func(*ImportRequest)) (a *ImportAnswer, err error) {
	req := ImportRequest{From: from}
	for _, m := range more {
		m(&req)
	}
	err = w.Do(func(ctx context.Context, s *checkpoint.Service) (err error) {
		a, err = Import(ctx, s.Rules, req)
		return err
	})
	return a, err
}

func (w *world) takeOut(to, format string) *ExportAnswer {
	w.Helper()
	a, err := w.tryExport(ExportRequest{To: to, Format: format})
	if err != nil {
		w.Fatalf("export %s: %v%s", format, err, hints(err))
	}
	return a
}

func (w *world) tryExport(req ExportRequest) (a *ExportAnswer, err error) {
	err = w.Do(func(ctx context.Context, s *checkpoint.Service) (err error) { a, err = Export(ctx, s, req); return err })
	return a, err
}

func hints(err error) string {
	var known *checkpoint.Error
	if errors.As(err, &known) {
		return "\n" + strings.Join(known.Hints, "\n")
	}
	return ""
}

// documents reads all files below a directory: JSON, YAML and rows as what they say,
// links as where they lead. It uses nothing of what is tested but the YAML reader.
func documents(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(dir, func(file string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		rel, err := filepath.Rel(dir, file)
		if err != nil {
			return err
		}
		rel = filepath.ToSlash(rel)
		if filepath.Base(rel) == latestFile {
			to, err := os.Readlink(file)
			if err != nil {
				var data []byte
				data, err = os.ReadFile(file)
				to = string(data)
			}
			out[rel] = strings.TrimSpace(to)
			return err
		}
		data, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		switch filepath.Ext(file) {
		case ".db":
			rows, err := readDatabase(file)
			if err != nil {
				return err
			}
			for _, row := range rows {
				out[rel+"#"+row.ID] = normal(t, encode(row))
				out[rel+"#"+row.ID+"/state"] = normal(t, []byte(columnText(row.State)))
			}
		case ".yaml", ".yml":
			doc, err := yamlToJSON(data)
			if err != nil {
				return err
			}
			out[rel] = normal(t, doc)
		default:
			out[rel] = normal(t, data)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// normal is JSON with sorted members and the digits that stand there; the order of
// members is compared apart.
func normal(t *testing.T, data []byte) string {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		t.Fatalf("%v in %s", err, data)
	}
	return string(encode(v))
}
