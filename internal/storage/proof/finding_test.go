package proof

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// Each kind of finding has a hint, and an item in docs/format.md.
func TestEveryKindIsExplained(t *testing.T) {
	source, err := os.ReadFile("finding.go")
	if err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile("../../../docs/format.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(page), "\nThese are the kinds of findings.")
	table, _, _ = strings.Cut(table, "\n## ")
	kinds := regexp.MustCompile(`(?m)^\t[A-Z]\w+ +Kind = "(\w+)"$`).FindAllStringSubmatch(string(source), -1)
	if len(kinds) < 50 {
		t.Errorf("finding.go has only %d kinds", len(kinds))
	}
	for _, k := range kinds {
		if hintOf(Kind(k[1]), "") == "" {
			t.Errorf("%s has no hint", k[1])
		}
		if !strings.Contains(table, "`"+k[1]+"`") {
			t.Errorf("%s is not in docs/format.md", k[1])
		}
	}
}
