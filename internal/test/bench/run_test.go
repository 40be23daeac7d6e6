package bench

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
)

// standIn is a program that answers `version` as git-checkpoint does and fails otherwise.
func standIn(t *testing.T) string {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("the program that stands in is a shell script")
	}
	return scripted(t, filepath.Join(t.TempDir(), "git-checkpoint"), "#!/bin/sh\ntest \"$1\" = version && echo stand-in\n")
}

// scripted writes a program.
func scripted(t *testing.T, path, script string) string {
	t.Helper()
	if err := os.WriteFile(path, []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	return path
}

// A row that cannot be measured is reported, does not stop the others, and is not in the
// report.
func TestRunGoesOn(t *testing.T) {
	if testing.Short() {
		t.Skip("it builds a program with the flags of a release, and so all that Go's library has for it again")
	}
	var table bytes.Buffer
	o := Options{
		Program: standIn(t), Dir: t.TempDir(), Out: &table, Log: io.Discard, Only: regexp.MustCompile("^(files/create/100|start/version)$"),
		Effort: Effort{Name: "test", Sizes: []int{100}, Rounds: 1, Starts: 2, Lengths: []int{1, 2}, Counted: 1, Day: 20},
	}
	report, err := Run(t.Context(), o)
	if err == nil || !strings.Contains(err.Error(), "row files/create/100: git checkpoint create") {
		t.Errorf("%v", err)
	}
	if report == nil || len(report.Rows) != 1 || report.Rows[0].Name != "start/version" {
		t.Fatalf("%+v", report)
	}
	if _, rows, found := strings.Cut(table.String(), header); !found || !strings.HasPrefix(rows, report.Rows[0].String()+"\n") || report.Rows[0].Ratio == nil {
		t.Errorf("the table is\n%s", table.String())
	}
	if left, err := os.ReadDir(o.Dir); err != nil || len(left) > 0 {
		t.Errorf("%v is left, %v", left, err)
	}
}

// A run that is interrupted ends, and leaves nothing behind.
func TestRunInterrupted(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	o := Options{
		Program: standIn(t), Dir: t.TempDir(), Out: io.Discard, Only: regexp.MustCompile("^files/"), Log: writerFunc(func(text string) {
			if strings.HasPrefix(text, "files/") {
				stop()
			}
		}), Effort: Effort{Sizes: []int{100}, Rounds: 1, Starts: 1, Lengths: []int{1, 2}},
	}
	if report, err := Run(ctx, o); report != nil || !errors.Is(err, context.Canceled) {
		t.Errorf("%+v, %v", report, err)
	}
	if left, err := os.ReadDir(o.Dir); err != nil || len(left) > 0 {
		t.Errorf("%v is left, %v", left, err)
	}
}

type writerFunc func(string)

func (f writerFunc) Write(p []byte) (int, error) {
	f(string(p))
	return len(p), nil
}
