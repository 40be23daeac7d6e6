// Command dist makes the files of a release: an archive for each system, packages for Debian, RPM, npm and PyPI,
// recipes for Homebrew, Scoop and Nix, a list of what is linked in, and checksums.
//
// The same source gives the same bytes, on every path: see docs/release.md. It runs at the top of the
// clone, and needs Go and git; the modules have to be in the module cache or in reach.
package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"
)

// owner holds what the owner of the project decides; owner.json has it.
type owner struct {
	Name       string `json:"name"`
	Summary    string `json:"summary"`
	License    string `json:"license"` // an SPDX expression; UNLICENSED as npm means it: no licence is given
	Homepage   string `json:"homepage"`
	BaseURL    string `json:"base_url"` // where the files of a version are, in a directory called v<version>
	Maintainer string `json:"maintainer"`
	NPM        string `json:"npm"`  // the name of the package that people install
	PyPI       string `json:"pypi"` // the same
}

// release is what one run makes.
type release struct {
	owner
	version string    // as in the file VERSION
	built   string    // as "git checkpoint version" prints it: with the commit
	time    time.Time // of each member of each archive
	out     string    // the directory that it writes to
	scratch string
	targets []target
	docs    []member // what every archive has beside the program
}

// target is a system that the program is built for.
type target struct{ os, arch string }

func (t target) String() string { return t.os + "-" + t.arch }

func (t target) program() string {
	if t.os == "windows" {
		return "git-checkpoint.exe"
	}
	return "git-checkpoint"
}

// targets are all systems that have packages.
func targets() []target {
	var all []target
	for _, system := range []string{"darwin", "freebsd", "linux", "windows"} {
		for _, arch := range []string{"amd64", "arm64"} {
			all = append(all, target{system, arch})
		}
	}
	return all
}

func main() {
	out := flag.String("out", "dist", "the directory to write to; what was in it is removed")
	base := flag.String("base-url", os.Getenv("BASE_URL"), "where people will download the files")
	only := flag.String("targets", "", "build for these alone, as in linux-amd64,windows-arm64")
	plan := flag.Bool("plan", false, "build nothing, say what publishing the files would take")
	flag.Parse()
	if err := run(*out, *base, *only, *plan); err != nil {
		fmt.Fprintln(os.Stderr, "dist:", err)
		os.Exit(1)
	}
}

func run(out, base, only string, plan bool) error {
	r, err := newRelease(out, base, only)
	if err != nil {
		return err
	}
	defer os.RemoveAll(r.scratch)
	if plan {
		return r.writePlan(os.Stdout)
	}
	for _, step := range []func() error{r.clear, r.buildAll, r.collectDocs, r.writeArchives, r.writeLinuxPackages, r.writeNPM, r.writeWheels, r.writePlugins, r.writeSBOM, r.writeChecksums, r.writeRecipes} {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

func newRelease(out, base, only string) (*release, error) {
	r := &release{}
	settings, err := os.ReadFile(filepath.Join(".ci", "dist", "owner.json"))
	if err == nil {
		err = json.Unmarshal(settings, &r.owner)
	}
	if err != nil {
		return nil, err
	}
	if base != "" {
		r.BaseURL = base
	}
	version, err := os.ReadFile("VERSION")
	if err != nil {
		return nil, err
	}
	r.version = strings.TrimSpace(string(version))
	commit, err := output("git", "rev-parse", "--short=12", "HEAD")
	if err != nil {
		return nil, err
	}
	changed, err := output("git", "status", "--porcelain")
	if err != nil {
		return nil, err
	}
	r.built = fmt.Sprintf("%s (%s)", r.version, commit)
	if changed != "" {
		r.built = fmt.Sprintf("%s (%s, modified)", r.version, commit)
		fmt.Fprintln(os.Stderr, "dist: the clone has changes that are not committed; the version says so")
	}
	if r.time, err = sourceDate(); err != nil {
		return nil, err
	}
	if r.out, err = filepath.Abs(out); err != nil {
		return nil, err
	}
	if r.targets, err = chosen(only); err != nil {
		return nil, err
	}
	r.scratch, err = os.MkdirTemp("", "git-checkpoint-dist-")
	return r, err
}

// chosen are the targets that a list names, or all. The program itself is always built for the system that
// runs this, because it writes the man page and the completions.
func chosen(only string) ([]target, error) {
	if only == "" {
		return targets(), nil
	}
	var found []target
	for name := range strings.SplitSeq(only, ",") {
		at := -1
		for i, t := range targets() {
			if t.String() == name {
				at = i
			}
		}
		if at < 0 {
			return nil, fmt.Errorf("no target is called %q", name)
		}
		found = append(found, targets()[at])
	}
	return found, nil
}

// sourceDate is the time that all files in the packages have: SOURCE_DATE_EPOCH
// (reproducible-builds.org), by default the time of the commit.
func sourceDate() (time.Time, error) {
	text := os.Getenv("SOURCE_DATE_EPOCH")
	if text == "" {
		var err error
		if text, err = output("git", "log", "-1", "--format=%ct"); err != nil {
			return time.Time{}, err
		}
	}
	seconds, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return time.Time{}, errors.New("SOURCE_DATE_EPOCH is no number of seconds")
	}
	return time.Unix(seconds, 0).UTC(), nil
}

// clear empties the directory to write to. It removes only directories that an earlier run made, or empty ones.
func (r *release) clear() error {
	entries, err := os.ReadDir(r.out)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	if _, err := os.Stat(filepath.Join(r.out, "SHA256SUMS")); err != nil && len(entries) > 0 {
		return fmt.Errorf("%s is not empty, and has no SHA256SUMS of an earlier release; empty it yourself", r.out)
	}
	if err := os.RemoveAll(r.out); err != nil {
		return err
	}
	return os.MkdirAll(r.out, 0o755)
}

func host() target { return target{runtime.GOOS, runtime.GOARCH} }
