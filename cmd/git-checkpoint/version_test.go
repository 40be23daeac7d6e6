package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// VERSION and the changelog name the same version. The Makefile and the packages take it from VERSION;
// .ci/packages checks what they print.
func TestVersion(t *testing.T) {
	read := func(file string) string {
		data, err := os.ReadFile(filepath.Join("..", "..", file))
		if err != nil {
			t.Fatal(err)
		}
		return string(data)
	}
	version := strings.TrimSpace(read("VERSION"))
	heading := regexp.MustCompile(`(?m)^## (\d+\.\d+\.\d+)(?: |$)`).FindStringSubmatch(read("CHANGELOG.md"))
	if heading == nil || heading[1] != version {
		t.Errorf("VERSION is %q, the first heading of the changelog %q", version, heading)
	}
	if !strings.Contains(read("Makefile"), "$(shell cat VERSION)") {
		t.Error("the Makefile does not take the version from VERSION")
	}
}
