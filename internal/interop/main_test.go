package interop

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"git-checkpoint/internal/checkpoint"
)

// world is a repository of its own, and the service in it.
type world struct {
	*testing.T
	dir  string
	warn []string
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{T: t, dir: t.TempDir()}
	w.git("init", "-q", "-b", "main")
	return w
}

func (w *world) env() []string {
	return []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + w.dir, "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=/dev/null", "TZ=UTC",
		"GIT_AUTHOR_NAME=Kim", "GIT_AUTHOR_EMAIL=kim@example.com", "GIT_COMMITTER_NAME=Kim", "GIT_COMMITTER_EMAIL=kim@example.com",
		"GIT_AUTHOR_DATE=2026-01-01T00:00:00Z", "GIT_COMMITTER_DATE=2026-01-01T00:00:00Z",
	}
}

func (w *world) git(args ...string) string {
	w.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir, cmd.Env = w.dir, w.env()
	out, err := cmd.CombinedOutput()
	if err != nil {
		w.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

// serve opens the repository as the program would.
func (w *world) serve(do func(context.Context, *checkpoint.Service)) {
	w.Helper()
	ctx, cancel := context.WithTimeout(w.Context(), 2*time.Minute)
	defer cancel()
	s, err := checkpoint.Open(ctx, checkpoint.Options{
		Dir: w.dir, Env: w.env(), Now: func() time.Time { return time.Date(2026, 11, 20, 9, 0, 0, 0, time.UTC) },
		Warn: func(line string) { w.warn = append(w.warn, line) },
	})
	if err != nil {
		w.Fatal(err)
	}
	defer s.Close() //nolint:errcheck // a test
	do(ctx, s)
}

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
	w.serve(func(ctx context.Context, s *checkpoint.Service) { a, err = Import(ctx, s, req) })
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
	w.serve(func(ctx context.Context, s *checkpoint.Service) { a, err = Export(ctx, s, req) })
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
				out[rel+"#"+row.ID] = normal(t, row.json())
				out[rel+"#"+row.ID+"/state"] = normal(t, []byte(row.State.String))
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
