package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/goreleaser/nfpm/v2"
	_ "github.com/goreleaser/nfpm/v2/deb" // registers the format
	"github.com/goreleaser/nfpm/v2/files"
	_ "github.com/goreleaser/nfpm/v2/rpm" // the same
)

// writeLinuxPackages writes a .deb and a .rpm for each processor.
func (r *release) writeLinuxPackages() error {
	for _, t := range r.targets {
		if t.os != "linux" {
			continue
		}
		for _, format := range []string{"deb", "rpm"} {
			if err := r.writeLinuxPackage(t, format); err != nil {
				return fmt.Errorf("%s for %s: %w", format, t, err)
			}
		}
	}
	return nil
}

func (r *release) writeLinuxPackage(t target, format string) error {
	contents, err := r.linuxFiles(t)
	if err != nil {
		return err
	}
	info := nfpm.WithDefaults(&nfpm.Info{
		Name: r.Name, Version: r.version, Release: "1", Arch: t.arch, Platform: "linux", Section: "vcs", Priority: "optional",
		Maintainer: r.Maintainer, Homepage: r.Homepage, Description: r.Summary, License: r.License, MTime: r.time,
		Overridables: nfpm.Overridables{Depends: []string{"git"}, Contents: contents, RPM: nfpm.RPM{BuildHost: "localhost"}},
	})
	if err := nfpm.PrepareForPackager(info, format); err != nil {
		return err
	}
	packager, err := nfpm.Get(format)
	if err != nil {
		return err
	}
	var data bytes.Buffer
	if err := packager.Package(info, &data); err != nil {
		return err
	}
	return r.write(packager.ConventionalFileName(info), data.Bytes())
}

// linuxFiles lays the files of an archive out as Linux has them.
func (r *release) linuxFiles(t target) (files.Contents, error) {
	contents := files.Contents{{
		Source: r.program(t), Destination: "/usr/bin/git-checkpoint",
		FileInfo: &files.ContentFileInfo{Mode: 0o755, MTime: r.time, Owner: "root", Group: "root"},
	}}
	places := map[string]string{
		"man/man1/git-checkpoint.1":       "/usr/share/man/man1/",
		"completions/git-checkpoint":      "/usr/share/bash-completion/completions/",
		"completions/_git-checkpoint":     "/usr/share/zsh/vendor-completions/",
		"completions/git-checkpoint.fish": "/usr/share/fish/vendor_conf.d/",
	}
	for _, m := range r.docs {
		source := filepath.Join(r.scratch, "docs", filepath.FromSlash(m.name))
		if err := os.MkdirAll(filepath.Dir(source), 0o755); err != nil {
			return nil, err
		}
		if err := os.WriteFile(source, m.data, 0o644); err != nil {
			return nil, err
		}
		to, known := places[m.name]
		if !known {
			to = "/usr/share/doc/git-checkpoint/"
		}
		contents = append(contents, &files.Content{
			Source: source, Destination: to + m.name[strings.LastIndexByte(m.name, '/')+1:],
			FileInfo: &files.ContentFileInfo{Mode: m.mode, MTime: r.time, Owner: "root", Group: "root"},
		})
	}
	return contents, nil
}
