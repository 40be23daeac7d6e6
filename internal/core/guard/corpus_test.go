package guard_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"git-checkpoint/internal/core/guard"
)

// TestCorpus counts findings in trees of real projects, for docs/guard.md:
//
// `make test-guard` names them in GUARD_CORPUS.
func TestCorpus(t *testing.T) {
	trees := os.Getenv("GUARD_CORPUS")
	if trees == "" {
		t.Skip("GUARD_CORPUS names no trees")
	}
	for _, tree := range filepath.SplitList(trees) {
		files, found := 0, 0
		err := filepath.WalkDir(tree, func(path string, entry fs.DirEntry, err error) error {
			if err != nil || !entry.Type().IsRegular() {
				return err
			}
			content, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			files++
			r := scanner().Bytes(content)
			r.Findings = guard.CountingAt(filepath.ToSlash(path), r.Findings)
			if len(r.Findings) > 0 || r.Gap != "" {
				found++
			}
			lines := strings.Split(string(content), "\n")
			for _, f := range r.Findings {
				line := ""
				if f.Line <= len(lines) {
					line = strings.TrimSpace(lines[f.Line-1])
				}
				t.Logf("%s:%d %s %.120q", strings.TrimPrefix(path, tree), f.Line, f.Rule, line)
			}
			return nil
		})
		if err != nil {
			t.Error(err)
		}
		t.Logf("%s: %d of %d files", filepath.Base(tree), found, files)
	}
}
