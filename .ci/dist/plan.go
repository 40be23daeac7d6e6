package main

import (
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
)

// channel is a place where people get the program.
type channel struct {
	name  string
	files string // a pattern below the directory of the release
	how   string // what publishes them, FILES standing for the files
	needs string // what nobody but the owner has
}

func channels() []channel {
	return []channel{
		{"downloads", "*", "upload FILES and SHA256SUMS to <base_url>/v<version>/", "a server, a key that signs SHA256SUMS"},
		{"npm", "npm/*.tgz", "npm publish FILES, each, those for one system first", "an account of npm"},
		{"npm (opencode)", "plugins/*.tgz", "npm publish FILES", "an account of npm"},
		{"PyPI", "pypi/*.whl", "twine upload FILES", "an account of PyPI"},
		{"Homebrew", "recipes/*.rb", "commit FILES as Formula/git-checkpoint.rb of a tap", "a repository called homebrew-<name>"},
		{"Scoop", "recipes/*.scoop.json", "commit FILES as bucket/git-checkpoint.json of a bucket", "a repository"},
		{"nixpkgs", "recipes/*.nix", "propose FILES to nixpkgs", "an account of GitHub"},
	}
}

// writePlan says what publishing the files of the release would take. It publishes nothing.
func (r *release) writePlan(w io.Writer) error {
	var undecided []string
	if r.License == "UNLICENSED" {
		undecided = append(undecided, "license")
	}
	for _, v := range [][2]string{{"homepage", r.Homepage}, {"base_url", r.BaseURL}, {"maintainer", r.Maintainer}} {
		if strings.Contains(v[1], "example.invalid") {
			undecided = append(undecided, v[0])
		}
	}
	fmt.Fprintf(w, "Nothing is published. To publish %s %s:\n", r.Name, r.built)
	if len(undecided) > 0 {
		fmt.Fprintf(w, "\nFirst decide in .ci/dist/owner.json: %s\n", strings.Join(undecided, ", "))
	}
	for _, c := range channels() {
		files, err := filepath.Glob(filepath.Join(r.out, filepath.FromSlash(c.files)))
		if err != nil {
			return err
		}
		files = slices.DeleteFunc(files, func(file string) bool { return filepath.Ext(file) == "" }) // directories, SHA256SUMS
		if len(files) == 0 {
			fmt.Fprintf(w, "\n%s: nothing was built; run make dist\n", c.name)
			continue
		}
		how := strings.NewReplacer("FILES", c.files, "<base_url>", strings.TrimSuffix(r.BaseURL, "/"), "<version>", r.version).Replace(c.how)
		fmt.Fprintf(w, "\n%s (needs %s)\n  %s\n  %d files\n", c.name, c.needs, how, len(files))
	}
	return nil
}
