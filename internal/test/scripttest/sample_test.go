package scripttest

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
)

// A sample has a script of each family, and the files of each script.
func TestSampled(t *testing.T) {
	all := []string{"a_1", "a_2"}
	for i := range oneOf + 1 {
		all = append(all, fmt.Sprint("b_", i))
	}
	if got := strings.Join(sampled(all), " "); got != fmt.Sprint("a_1 b_0 b_", oneOf) {
		t.Error(got)
	}
	real, err := filepath.Glob(filepath.Join("..", "..", "..", "testdata", "scripts", "*.txtar"))
	if err != nil {
		t.Fatal(err)
	}
	families := map[string]bool{}
	for _, file := range sampled(real) {
		family, _, _ := strings.Cut(filepath.Base(file), "_")
		families[family] = true
	}
	for _, file := range real {
		if family, _, _ := strings.Cut(filepath.Base(file), "_"); !families[family] {
			t.Errorf("no script of %s is in the sample", family)
		}
	}
}

// A script ends before the first process too many, and checks of the last one's output
// stay.
func TestBeginning(t *testing.T) {
	run := "exec git init\nstdout x\n[unix] exit 1 git y\n! exec git z\ncp a b\n"
	const files = "-- a --\nexec is no command here\n"
	if got := beginning(run + files); got != run+files {
		t.Errorf("%s", got)
	}
	whole := strings.Repeat("exec git init\nstdout x\n", mostStarted)
	if got := beginning(whole + "exec git z\nstdout z\n" + files); got != whole+files {
		t.Errorf("%s", got)
	}
}
