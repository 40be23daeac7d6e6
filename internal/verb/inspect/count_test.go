package inspect

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"git-checkpoint/internal/test/gittest"
)

// What is counted here is what git counts: in random edits of texts with few and with many different lines, with and without
// a last line end, and of contents with a NUL. Of edits in one place, and in several with different lines between, nothing is
// left to git.
func TestCountLines(t *testing.T) {
	repo, random := gittest.New(t), rand.New(rand.NewPCG(7, 11)) //nolint:gosec // a test
	edited := func(lines []string, kinds int) (out []string) {
		for _, line := range lines {
			switch random.IntN(12) {
			case 0:
			case 1:
				out = append(out, fmt.Sprint(random.IntN(kinds), "\n"), line)
			case 2:
				out = append(out, fmt.Sprint(random.IntN(kinds), "\n"))
			default:
				out = append(out, line)
			}
		}
		return out
	}
	const files = 600
	var texts [2][files]string
	for i := range files {
		kinds := []int{2, 5, 20, 200, 1 << 30}[i%5]
		var lines []string
		for range random.IntN(120) {
			lines = append(lines, fmt.Sprint(random.IntN(kinds), "\n"))
		}
		texts[0][i], texts[1][i] = strings.Join(lines, ""), strings.Join(edited(lines, kinds), "")
		if side := &texts[i%2][i]; i%7 == 0 {
			*side = strings.TrimSuffix(*side, "\n")
		} else if i%31 == 0 {
			*side += "\x00"
		}
	}
	var trees [2]string
	for k := range trees {
		for i, text := range texts[k] {
			if err := os.WriteFile(filepath.Join(repo.Dir, fmt.Sprintf("%03d", i)), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		repo.Git("add", "-A")
		trees[k] = repo.Git("write-tree")
	}
	git := map[string]FileCount{}
	for _, f := range Counts(repo.Git("diff-tree", "-r", "-z", "--no-renames", "--numstat", trees[0], trees[1])) {
		git[f.Path] = f
	}
	here, many := 0, 0
	for i := range files {
		got, err := countLines(texts[0][i], texts[1][i])
		if got.Path = fmt.Sprintf("%03d", i); err == nil && texts[0][i] != texts[1][i] && got != git[got.Path] {
			t.Errorf("%q and %q: %+v, git says %+v", texts[0][i], texts[1][i], got, git[got.Path])
		}
		if i%5 == 4 {
			many++
			if err == nil {
				here++
			}
		}
	}
	if here < many {
		t.Errorf("only %d of %d edits of different lines were counted here", here, many)
	}
}
