package main

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"text/template"
)

//go:embed recipes
var recipes embed.FS

// files lists what is in the release so far, relative to its directory, sorted.
func (r *release) files() ([]string, error) {
	var found []string
	err := filepath.WalkDir(r.out, func(file string, e fs.DirEntry, err error) error {
		if err == nil && !e.IsDir() {
			name, _ := filepath.Rel(r.out, file) // it is below r.out
			found = append(found, filepath.ToSlash(name))
		}
		return err
	})
	return found, err
}

func (r *release) sum(name string) (string, error) {
	data, err := os.ReadFile(filepath.Join(r.out, filepath.FromSlash(name)))
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:]), err
}

// writeChecksums writes SHA256SUMS, which "sha256sum -c" reads.
func (r *release) writeChecksums() error {
	names, err := r.files()
	if err != nil {
		return err
	}
	var text strings.Builder
	for _, name := range names {
		sum, err := r.sum(name)
		if err != nil {
			return err
		}
		fmt.Fprintf(&text, "%s  %s\n", sum, name)
	}
	return r.write("SHA256SUMS", []byte(text.String()))
}

// writeRecipes writes what other package managers read: where the archives are, and their checksums. A
// recipe is left out when an archive that it names was not built.
func (r *release) writeRecipes() error {
	have := map[string]string{}
	for _, t := range r.targets {
		sum, err := r.sum(r.archiveFile(t))
		if err != nil {
			return err
		}
		have[t.String()] = sum
	}
	missing := ""
	functions := template.FuncMap{
		"url": func(target string) string { return r.url(target) },
		"sum": func(target string) string {
			if have[target] == "" {
				missing = target
			}
			return have[target]
		},
	}
	parsed, err := template.New("").Delims("<<", ">>").Funcs(functions).ParseFS(recipes, "recipes/*")
	if err != nil {
		return err
	}
	for _, t := range parsed.Templates() {
		if t.Name() == "" {
			continue
		}
		var text strings.Builder
		missing = ""
		if err := t.Execute(&text, map[string]string{"Name": r.Name, "Summary": r.Summary, "Homepage": r.Homepage, "License": r.License, "Version": r.version}); err != nil {
			return err
		}
		if missing != "" {
			fmt.Printf("not written: %s, which needs %s\n", t.Name(), missing)
			continue
		}
		if err := r.write("recipes/"+t.Name(), []byte(text.String())); err != nil {
			return err
		}
	}
	return nil
}

func (r *release) url(name string) string {
	for _, t := range targets() {
		if t.String() == name {
			return fmt.Sprintf("%s/v%s/%s", strings.TrimSuffix(r.BaseURL, "/"), r.version, r.archiveFile(t))
		}
	}
	return ""
}

// writeSBOM lists the modules that are linked in, as CycloneDX 1.5 has them.
func (r *release) writeSBOM() error {
	modules, err := r.modules()
	if err != nil {
		return err
	}
	component := func(kind, name, version string) map[string]any {
		c := map[string]any{"type": kind, "name": name, "version": version}
		if kind == "library" {
			purl := fmt.Sprintf("pkg:golang/%s@%s", name, version)
			c["purl"], c["bom-ref"] = purl, purl
		}
		return c
	}
	goVersion, err := output("go", "env", "GOVERSION")
	if err != nil {
		return err
	}
	components := []map[string]any{component("library", "std", strings.TrimPrefix(goVersion, "go"))}
	for _, m := range modules {
		components = append(components, component("library", m[0], m[1]))
	}
	data, err := json.MarshalIndent(map[string]any{
		"bomFormat": "CycloneDX", "specVersion": "1.5", "version": 1,
		"metadata":   map[string]any{"timestamp": r.time.Format("2006-01-02T15:04:05Z"), "component": component("application", r.Name, r.version)},
		"components": components,
	}, "", "  ")
	if err != nil {
		return err
	}
	return r.write(fmt.Sprintf("%s-%s.cdx.json", r.Name, r.version), append(data, '\n'))
}
