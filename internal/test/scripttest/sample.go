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

// A sample runs each script up to the mostStarted-th process, since processes are most of a
// script's cost, and one in oneOf scripts of a family.
const (
	mostStarted = 6
	oneOf       = 12
)

// Sample runs the beginnings of some scripts in dir. Scripts with the same name up to the
// first "_" are a family, of which the first, the thirteenth and so on are run. That tries each
// command in short time.
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

// sampled selects the scripts of the sample.
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

// starts matches the lines of a script that start a process.
var starts = regexp.MustCompile(`(?m)^(?:\[[^\]]*\] )?(?:! )?(?:exec|exit) .*\n`)

// beginning returns a script up to the first process too many, with all of its files.
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

// Long skips a test in a sample (-short), because it takes long and a shorter test covers
// the same behaviour. `make test-all` runs it.
func Long(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("not in the sample: make test-all runs it")
	}
}

// OneIn skips, in a sample, all cases of a long table but every n-th. i is the index of the
// case.
func OneIn(t *testing.T, n, i int) {
	t.Helper()
	if testing.Short() && i%n != 0 {
		t.Skip("not in the sample")
	}
}
