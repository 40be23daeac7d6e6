package scripttest

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// A sample runs the first mostStarted processes of a script, which are most of what a
// script costs, and one script in every oneOf of a family.
const (
	mostStarted = 6
	oneOf       = 5
)

// Sample runs the beginnings of the scripts in dir, up to the commands that make them
// long, and of a family (what stands before the first _ of the name) the first, the sixth
// and so on. So each command is tried in the time that somebody waits.
func Sample(t *testing.T, dir string) {
	t.Helper()
	all, err := filepath.Glob(filepath.Join(dir, "*.txtar"))
	if err != nil || len(all) == 0 {
		t.Fatalf("%d scripts in %s: %v", len(all), dir, err)
	}
	p := Params("")
	for _, file := range sampled(all) {
		script, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		p.Files = append(p.Files, filepath.Join(t.TempDir(), filepath.Base(file)))
		if err := os.WriteFile(p.Files[len(p.Files)-1], []byte(beginning(string(script))), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	testscript.Run(t, p)
}

func sampled(all []string) (some []string) {
	families := map[string][]string{}
	for _, file := range all {
		family, _, _ := strings.Cut(filepath.Base(file), "_")
		families[family] = append(families[family], file)
	}
	for _, family := range families {
		for i, file := range family {
			if i%oneOf == 0 {
				some = append(some, file)
			}
		}
	}
	slices.Sort(some)
	return some
}

// starts finds the lines of a script that start a process.
var starts = regexp.MustCompile(`(?m)^(?:\[[^\]]*\] )?(?:! )?(?:exec|exit) .*\n`)

// beginning is a script up to the first command too many, with all of its files.
func beginning(script string) string {
	commands, files := script, ""
	if at := strings.Index(script, "\n-- "); at >= 0 {
		commands, files = script[:at+1], script[at+1:]
	}
	if found := starts.FindAllStringIndex(commands, mostStarted+1); len(found) > mostStarted {
		commands = commands[:found[mostStarted][0]]
	}
	return commands + files
}

// Long leaves a test out of a sample: it takes longer than somebody waits, and a shorter
// one holds the same kind of promise. `make test-all` runs it.
func Long(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("not in the sample: make test-all runs it")
	}
}

// OneIn leaves out what is not in a sample: in short mode it skips each case of a long
// table but the i-th, the i+n-th and so on.
func OneIn(t *testing.T, n, i int) {
	t.Helper()
	if testing.Short() && i%n != 0 {
		t.Skip("not in the sample")
	}
}
