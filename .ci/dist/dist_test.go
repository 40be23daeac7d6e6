package main

import (
	"archive/tar"
	"archive/zip"
	"compress/gzip"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

// DIST names the directory of a release; .ci/packages makes one and runs these tests.
func releaseDir(t *testing.T) string {
	t.Helper()
	dir := os.Getenv("DIST")
	if dir == "" {
		t.Fatal("DIST has to name the directory of a release")
	}
	return dir
}

func version(t *testing.T) string {
	t.Helper()
	data, err := os.ReadFile("../../VERSION")
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(data))
}

// In a package the README leads to the project: the files that it names are not there.
func TestReadmeLinks(t *testing.T) {
	page, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	links := regexp.MustCompile(`\]\(([^)]+)\)`)
	count := 0
	for _, m := range links.FindAllSubmatch(absolute(page, "https://host/project", "v1.0.0"), -1) {
		switch link := string(m[1]); {
		case strings.HasPrefix(link, "#"):
		case strings.HasPrefix(link, "https://host/project/"):
			_, file, _ := strings.Cut(link, "/v1.0.0/")
			if _, err := os.Stat("../../" + file); err != nil || strings.Contains(link, "/raw/") != (filepath.Ext(file) != ".md") {
				t.Errorf("%s: %v", link, err)
			}
			count++
		case !strings.HasPrefix(link, "https://"):
			t.Errorf("%s leads nowhere in a package", link)
		}
	}
	if count < 10 {
		t.Errorf("only %d links were changed", count)
	}
}

// Each archive has these files in one directory, owned by root, all of one time.
func TestArchives(t *testing.T) {
	dir, v := releaseDir(t), version(t)
	for _, target := range targets() {
		top := "git-checkpoint-" + v + "-" + target.String()
		want := []string{target.program(), "CHANGELOG.md", "README.md", "THIRD-PARTY-LICENSES.txt", "completions/_git-checkpoint", "completions/git-checkpoint", "completions/git-checkpoint.fish", "man/man1/git-checkpoint.1"}
		if _, err := os.Stat("../../LICENSE"); err == nil {
			want = append(want, "LICENSE")
		}
		for i := range want {
			want[i] = top + "/" + want[i]
		}
		got, times := listTar, filepath.Join(dir, top+".tar.gz")
		if target.os == "windows" {
			got, times = listZip, filepath.Join(dir, top+".zip")
		}
		names, stamps := got(t, times)
		slices.Sort(names)
		slices.Sort(want)
		if !slices.Equal(names, want) {
			t.Errorf("%s has %q, want %q", top, names, want)
		}
		if len(stamps) != 1 {
			t.Errorf("%s has %d times", top, len(stamps))
		}
	}
}

func listTar(t *testing.T, file string) ([]string, map[time.Time]bool) {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	unzipped, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	times := map[time.Time]bool{}
	for archive := tar.NewReader(unzipped); ; {
		header, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return names, times
		}
		if err != nil {
			t.Fatal(err)
		}
		if header.Uid != 0 || header.Gid != 0 {
			t.Errorf("%s: %s belongs to %d:%d", file, header.Name, header.Uid, header.Gid)
		}
		names = append(names, header.Name)
		times[header.ModTime] = true
	}
}

func listZip(t *testing.T, file string) ([]string, map[time.Time]bool) {
	t.Helper()
	archive, err := zip.OpenReader(file)
	if err != nil {
		t.Fatal(err)
	}
	defer archive.Close()
	var names []string
	times := map[time.Time]bool{}
	for _, f := range archive.File {
		names = append(names, f.Name)
		times[f.Modified] = true
	}
	return names, times
}

// The checksums of the recipes are those of SHA256SUMS, and every archive's address is below the base.
func TestRecipes(t *testing.T) {
	dir := releaseDir(t)
	sums, err := os.ReadFile(filepath.Join(dir, "SHA256SUMS"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"git-checkpoint.rb", "git-checkpoint.scoop.json", "git-checkpoint.nix", "mise.toml"} {
		data, err := os.ReadFile(filepath.Join(dir, "recipes", name))
		if err != nil {
			t.Fatal(err)
		}
		found := regexp.MustCompile(`(https://\S+?/v[^/]+/)([^"/]+)"[\s\S]*?([0-9a-f]{64})`).FindAllStringSubmatch(string(data), -1)
		if len(found) < 2 {
			t.Errorf("%s names %d archives", name, len(found))
		}
		for _, m := range found {
			if !strings.Contains(string(sums), m[3]+"  "+m[2]+"\n") {
				t.Errorf("%s: the checksum of %s is not that of SHA256SUMS", name, m[2])
			}
		}
		if strings.HasSuffix(name, ".json") && !json.Valid(data) {
			t.Errorf("%s is not JSON", name)
		}
	}
}

// No npm package runs a script when it is installed.
func TestNPMRunsNothing(t *testing.T) {
	packages, err := filepath.Glob(filepath.Join(releaseDir(t), "npm", "*.tgz"))
	if err != nil || len(packages) != len(targets())+1 {
		t.Fatal(packages, err)
	}
	for _, file := range packages {
		var about map[string]any
		if err := json.Unmarshal(readMember(t, file, "package/package.json"), &about); err != nil {
			t.Fatal(file, err)
		}
		if about["scripts"] != nil || about["version"] != version(t) {
			t.Errorf("%s: scripts %v, version %v", file, about["scripts"], about["version"])
		}
	}
}

// A wheel's record lists all that is in it, and no wheel has Python code.
func TestWheels(t *testing.T) {
	wheels, err := filepath.Glob(filepath.Join(releaseDir(t), "pypi", "*.whl"))
	if err != nil || len(wheels) != len(wheelTags()) {
		t.Fatal(wheels, err)
	}
	for _, file := range wheels {
		archive, err := zip.OpenReader(file)
		if err != nil {
			t.Fatal(err)
		}
		defer archive.Close()
		last := archive.File[len(archive.File)-1]
		record, err := last.Open()
		if err != nil {
			t.Fatal(err)
		}
		list, err := io.ReadAll(record)
		if err != nil || !strings.HasSuffix(last.Name, ".dist-info/RECORD") {
			t.Fatal(last.Name, err)
		}
		for _, f := range archive.File {
			if !strings.Contains("\n"+string(list), "\n"+f.Name+",") || strings.HasSuffix(f.Name, ".py") {
				t.Errorf("%s: %s is Python or not in the record", file, f.Name)
			}
		}
		if strings.Count(string(list), "\n") != len(archive.File) {
			t.Errorf("%s: the record is\n%s", file, list)
		}
	}
}

// The plugins of agents have the version of the release.
func TestPlugins(t *testing.T) {
	for name, manifest := range map[string]string{
		"git-checkpoint-" + version(t) + "-claude.tar.gz":  "git-checkpoint/.claude-plugin/plugin.json",
		"git-checkpoint-" + version(t) + "-codex.tar.gz":   "git-checkpoint/plugins/git-checkpoint/.codex-plugin/plugin.json",
		"git-checkpoint-" + version(t) + "-copilot.tar.gz": "git-checkpoint/plugin.json",
		"git-checkpoint-" + version(t) + "-droid.tar.gz":   "git-checkpoint/.factory-plugin/plugin.json",
		"git-checkpoint-" + version(t) + "-gemini.tar.gz":  "git-checkpoint/gemini-extension.json",
		"git-checkpoint-" + version(t) + "-qwen.tar.gz":    "git-checkpoint/qwen-extension.json",
		"opencode-git-checkpoint-" + version(t) + ".tgz":   "package/package.json",
	} {
		var about map[string]any
		err := json.Unmarshal(readMember(t, filepath.Join(releaseDir(t), "plugins", name), manifest), &about)
		if err != nil || about["version"] != version(t) || about["scripts"] != nil {
			t.Errorf("%s: %v, %v", name, about, err)
		}
	}
}

func readMember(t *testing.T, file, name string) []byte {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	unzipped, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	for archive := tar.NewReader(unzipped); ; {
		header, err := archive.Next()
		if err != nil {
			t.Fatal(file, name, err)
		}
		if header.Name == name {
			data, err := io.ReadAll(archive)
			if err != nil {
				t.Fatal(err)
			}
			return data
		}
	}
}

// The list of what is linked in names everything that the licences name.
func TestSBOM(t *testing.T) {
	dir, v := releaseDir(t), version(t)
	data, err := os.ReadFile(filepath.Join(dir, "git-checkpoint-"+v+".cdx.json"))
	if err != nil {
		t.Fatal(err)
	}
	var list struct {
		BOMFormat  string `json:"bomFormat"`
		Components []struct{ Name, Version string }
	}
	if err := json.Unmarshal(data, &list); err != nil || list.BOMFormat != "CycloneDX" || len(list.Components) < 10 {
		t.Fatal(err, list)
	}
	licenses := string(readMember(t, filepath.Join(dir, "git-checkpoint-"+v+"-linux-amd64.tar.gz"), "git-checkpoint-"+v+"-linux-amd64/THIRD-PARTY-LICENSES.txt"))
	for _, c := range list.Components {
		if c.Name != "std" && !strings.Contains(licenses, "\n"+c.Name+" "+c.Version+"\n") {
			t.Errorf("no licence of %s %s", c.Name, c.Version)
		}
	}
}
