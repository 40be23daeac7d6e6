package main

import (
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"git-checkpoint/internal/test/scripttest"
)

// TestMain puts this program into the PATH of the scripts.
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"git-checkpoint": killable})
}

// Each script of testdata/scripts holds. They are the manual that cannot be wrong:
// <command>_<scenario>.txtar, its promise in its first comment.
func TestScripts(t *testing.T) {
	runOrSample(t, filepath.Join("..", "..", "testdata", "scripts"))
}

func runOrSample(t *testing.T, dir string) {
	t.Helper()
	if testing.Short() {
		scripttest.Sample(t, dir)
		return
	}
	scripttest.Run(t, dir)
}
