package bench

import (
	"bytes"
	"io"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
)

// The stand-ins for Entire make a checkpoint at the stop as Entire does, with a script's $tree, if
// the condition holds.
const entireStandIn = `#!/bin/sh
test "$1" = version && printf 'Entire CLI 1.2\nGo version: go1\n'
test "$3" = stop && CONDITION || exit 0
ref=refs/heads/entire/0123456-abcdef
parent=$(git rev-parse -q --verify $ref)
export GIT_INDEX_FILE=.git/entire-index
git read-tree HEAD
TAKE
git update-ref $ref $(git commit-tree -m checkpoint ${parent:+-p $parent} $(git write-tree))
`

// A row beside Entire fails unless each turn has a checkpoint of Entire's with the files as they
// are. The line above the table says which version was measured.
func TestEntire(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the program that stands in is a shell script")
	}
	const first = "! git rev-parse -q --verify refs/heads/entire/0123456-abcdef >&2"
	for _, c := range []struct{ name, condition, take, want string }{
		{"checkpoints", "true", "git add part*", ""},
		{"none", "false", "", "there are 0 checkpoints"},
		{"only the first", first, "git add part*", "there are 1 checkpoints of Entire's after 3 turns"},
		{"without the files", "true", "", "has other contents"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			script := strings.NewReplacer("CONDITION", c.condition, "TAKE", c.take).Replace(entireStandIn)
			o := Options{
				Program: scripted(t, filepath.Join(dir, "git-checkpoint"), "#!/bin/sh\necho stand-in\n"),
				Entire:  scripted(t, filepath.Join(dir, "entire"), script),
				Dir:     dir, Log: io.Discard, Only: regexp.MustCompile("^beside/entire/100$"),
				Effort: Effort{Name: "test", Sizes: []int{100}, Rounds: 1, Starts: 1, Lengths: []int{1, 2}},
			}
			var table bytes.Buffer
			o.Out = &table
			report, err := Run(t.Context(), o)
			if c.want == "" {
				if err != nil || len(report.Rows) != 1 {
					t.Errorf("%+v, %v", report, err)
				}
			} else if err == nil || !strings.Contains(err.Error(), "row beside/entire/100") || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, not %q", err, c.want)
			}
			if !strings.Contains(table.String(), ", Entire CLI 1.2, ") {
				t.Errorf("no version of Entire:\n%s", table.String())
			}
		})
	}
}
