package main

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"os"
)

// chooser starts the program of the package for this system.
//
//go:embed npm/git-checkpoint.js
var chooser []byte

// writeNPM writes the package that people install, and one for each system, which npm chooses by its os and
// cpu. No package runs a script when it is installed, and none downloads anything.
func (r *release) writeNPM() error {
	systems := map[string]string{}
	for _, t := range r.targets {
		npmOS := map[string]string{"windows": "win32"}[t.os]
		if npmOS == "" {
			npmOS = t.os
		}
		npmCPU := map[string]string{"amd64": "x64", "arm64": "arm64"}[t.arch]
		name := fmt.Sprintf("%s-%s-%s", r.NPM, npmOS, npmCPU)
		systems[name] = r.version
		program, err := os.ReadFile(r.program(t))
		if err != nil {
			return err
		}
		about := r.packageJSON(name)
		about["os"], about["cpu"] = []string{npmOS}, []string{npmCPU}
		members := append([]member{{"bin/" + t.program(), program, 0o755}}, r.docsFor("THIRD-PARTY-LICENSES.txt", "LICENSE", "README.md")...)
		if err := r.writeNPMPackage(name, about, members); err != nil {
			return err
		}
	}
	about := r.packageJSON(r.NPM)
	about["bin"] = map[string]string{"git-checkpoint": "bin/git-checkpoint.js"}
	about["optionalDependencies"] = systems
	about["engines"] = map[string]string{"node": ">=16"}
	members := append([]member{{"bin/git-checkpoint.js", chooser, 0o755}}, r.docsFor("CHANGELOG.md", "LICENSE", "README.md", "man/man1/git-checkpoint.1")...)
	about["man"] = []string{"man/man1/git-checkpoint.1"}
	return r.writeNPMPackage(r.NPM, about, members)
}

func (r *release) packageJSON(name string) map[string]any {
	return map[string]any{
		"name": name, "version": r.version, "description": r.Summary, "license": r.License, "homepage": r.Homepage,
		"repository":    map[string]string{"type": "git", "url": "git+" + r.Homepage + ".git"}, // npm compares it with the provenance
		"publishConfig": map[string]any{"provenance": true, "access": "public"},
	}
}

func (r *release) docsFor(names ...string) []member {
	var found []member
	for _, m := range r.docs {
		for _, name := range names {
			if m.name == name {
				found = append(found, m)
			}
		}
	}
	return found
}

func (r *release) writeNPMPackage(name string, about map[string]any, members []member) error {
	data, err := json.MarshalIndent(about, "", "  ") // sorts the members
	if err != nil {
		return err
	}
	members = append([]member{{"package.json", append(data, '\n'), 0o644}}, members...)
	var packed bytes.Buffer
	if err := writeTar(&packed, "package/", members, r.time); err != nil {
		return err
	}
	return r.write(fmt.Sprintf("npm/%s-%s.tgz", name, r.version), packed.Bytes())
}
