package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"os"
	"strings"
)

// wheelTags gives, for each target that PyPI has packages for, the platforms that the program runs on: it is
// linked to no C library. Go decides the oldest macOS.
func wheelTags() map[target]string {
	return map[target]string{
		{"darwin", "amd64"}:  "macosx_12_0_x86_64",
		{"darwin", "arm64"}:  "macosx_12_0_arm64",
		{"linux", "amd64"}:   "manylinux_2_17_x86_64.manylinux2014_x86_64.musllinux_1_1_x86_64",
		{"linux", "arm64"}:   "manylinux_2_17_aarch64.manylinux2014_aarch64.musllinux_1_1_aarch64",
		{"windows", "amd64"}: "win_amd64",
		{"windows", "arm64"}: "win_arm64",
	}
}

// writeWheels writes a package of Python for each system: it has the program, which pip puts where the
// scripts of packages go, and no Python.
func (r *release) writeWheels() error {
	dist := fmt.Sprintf("%s-%s", strings.ReplaceAll(r.PyPI, "-", "_"), r.version)
	for _, t := range r.targets {
		tags := wheelTags()[t]
		if tags == "" {
			continue
		}
		program, err := os.ReadFile(r.program(t))
		if err != nil {
			return err
		}
		members := []member{{dist + ".data/scripts/" + t.program(), program, 0o755}}
		for _, m := range r.docsFor("man/man1/git-checkpoint.1") {
			members = append(members, member{dist + ".data/data/share/" + m.name, m.data, m.mode})
		}
		for _, m := range r.docsFor("LICENSE", "THIRD-PARTY-LICENSES.txt") {
			members = append(members, member{dist + ".dist-info/licenses/" + m.name, m.data, m.mode})
		}
		members = append(members, member{dist + ".dist-info/METADATA", r.wheelMetadata(), 0o644}, member{dist + ".dist-info/WHEEL", wheelFacts(tags), 0o644})
		members = append(members, member{dist + ".dist-info/RECORD", wheelRecord(dist, members), 0o644})
		var packed bytes.Buffer
		if err := writeZip(&packed, "", members, r.time); err != nil {
			return err
		}
		if err := r.write(fmt.Sprintf("pypi/%s-py3-none-%s.whl", dist, tags), packed.Bytes()); err != nil {
			return err
		}
	}
	return nil
}

func (r *release) wheelMetadata() []byte {
	var text strings.Builder
	fmt.Fprintf(&text, "Metadata-Version: 2.1\nName: %s\nVersion: %s\nSummary: %s\n", r.PyPI, r.version, r.Summary)
	fmt.Fprintf(&text, "License: %s\nProject-URL: Homepage, %s\nRequires-Python: >=3.7\n", r.License, r.Homepage)
	text.WriteString("Description-Content-Type: text/markdown\n\n")
	for _, m := range r.docsFor("README.md") {
		text.Write(m.data)
	}
	return []byte(text.String())
}

func wheelFacts(tags string) []byte {
	text := "Wheel-Version: 1.0\nGenerator: git-checkpoint\nRoot-Is-Purelib: false\n"
	for tag := range strings.SplitSeq(tags, ".") {
		text += "Tag: py3-none-" + tag + "\n"
	}
	return []byte(text)
}

// wheelRecord lists the members with their checksums, itself without one.
func wheelRecord(dist string, members []member) []byte {
	var text strings.Builder
	for _, m := range members {
		sum := sha256.Sum256(m.data)
		fmt.Fprintf(&text, "%s,sha256=%s,%d\n", m.name, base64.RawURLEncoding.EncodeToString(sum[:]), len(m.data))
	}
	fmt.Fprintf(&text, "%s.dist-info/RECORD,,\n", dist)
	return []byte(text.String())
}
