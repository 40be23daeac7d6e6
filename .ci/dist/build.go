package main

import (
	"debug/buildinfo"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// output runs a program and returns what it printed, without the final newline.
func output(program string, args ...string) (string, error) {
	c := exec.Command(program, args...)
	c.Stderr = os.Stderr
	out, err := c.Output()
	if err != nil {
		return "", fmt.Errorf("%s %s: %w", program, strings.Join(args, " "), err)
	}
	return strings.TrimSpace(string(out)), nil
}

// program is where the program for a target is.
func (r *release) program(t target) string { return filepath.Join(r.scratch, t.String(), t.program()) }

func (r *release) buildAll() error {
	list := r.targets
	if !slices.Contains(list, host()) {
		list = append(slices.Clone(list), host())
	}
	for _, t := range list {
		fmt.Println("building for", t)
		c := exec.Command("go", "build", "-trimpath", "-buildvcs=false", "-ldflags", "-s -w -X 'main.version="+r.built+"'",
			"-o", r.program(t), "./cmd/git-checkpoint")
		c.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS="+t.os, "GOARCH="+t.arch, "GOFLAGS=-mod=readonly", "GOAMD64=v1", "GOARM64=v8.0")
		c.Stderr = os.Stderr
		if err := c.Run(); err != nil {
			return fmt.Errorf("build for %s: %w", t, err)
		}
	}
	return nil
}

// collectDocs gathers what every archive has beside the program.
func (r *release) collectDocs() error {
	add := func(name string, data []byte) { r.docs = append(r.docs, member{name: name, data: data, mode: 0o644}) }
	for _, file := range []string{"README.md", "CHANGELOG.md", "docs/man/git-checkpoint.1"} {
		data, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		if strings.HasPrefix(file, "docs/") {
			file = "man/man1/git-checkpoint.1"
		} else {
			data = absolute(data, r.Homepage, "v"+r.version)
		}
		add(file, data)
	}
	if data, err := os.ReadFile("LICENSE"); err == nil { // the owner has yet to choose one
		add("LICENSE", data)
	}
	for shell, name := range completions() {
		script, err := exec.Command(r.program(host()), "completion", shell).Output()
		if err != nil {
			return fmt.Errorf("completion %s: %w", shell, err)
		}
		add("completions/"+name, script)
	}
	licenses, err := r.licenses()
	if err != nil {
		return err
	}
	add("THIRD-PARTY-LICENSES.txt", licenses)
	slices.SortFunc(r.docs, func(a, b member) int { return strings.Compare(a.name, b.name) })
	return nil
}

var relative = regexp.MustCompile(`(!?\[[^\]]*\]\()([^)#:]+(?:#[^)]*)?\))`)

// absolute makes links to other files of the repository, which a package does not have, lead to them at the
// address of the project.
func absolute(page []byte, homepage, tag string) []byte {
	return relative.ReplaceAllFunc(page, func(link []byte) []byte {
		m, kind := relative.FindSubmatch(link), "/blob/"
		if m[1][0] == '!' {
			kind = "/raw/"
		}
		return slices.Concat(m[1], []byte(homepage+kind+tag+"/"), m[2])
	})
}

// completions gives, for each shell, the name under which it finds its completion.
func completions() map[string]string {
	return map[string]string{"bash": "git-checkpoint", "zsh": "_git-checkpoint", "fish": "git-checkpoint.fish"}
}

// modules are those linked into any of the programs: path and version.
func (r *release) modules() ([][2]string, error) {
	found := map[[2]string]bool{}
	for _, t := range r.targets {
		info, err := buildinfo.ReadFile(r.program(t))
		if err != nil {
			return nil, err
		}
		for _, m := range info.Deps {
			if m.Replace != nil {
				m = m.Replace
			}
			found[[2]string{m.Path, m.Version}] = true
		}
	}
	return slices.SortedFunc(maps.Keys(found), func(a, b [2]string) int { return strings.Compare(a[0]+a[1], b[0]+b[1]) }), nil
}

// licenses is the text of the licences of everything that is linked in, Go's own library included. A module
// without a licence is an error: nobody may pass it on.
func (r *release) licenses() ([]byte, error) {
	modules, err := r.modules()
	if err != nil {
		return nil, err
	}
	root, err := output("go", "env", "GOROOT")
	if err != nil {
		return nil, err
	}
	var text strings.Builder
	text.WriteString("The program contains the following software.\n")
	write := func(title, dir string) error {
		texts, err := licenseFiles(dir)
		if err == nil && len(texts) == 0 {
			err = fmt.Errorf("%s has no licence file", title)
		}
		if err != nil {
			return err
		}
		fmt.Fprintf(&text, "\n%s\n%s\n\n%s", title, strings.Repeat("=", len(title)), strings.Join(texts, "\n"))
		return nil
	}
	if err := write("The Go standard library", root); err != nil {
		return nil, err
	}
	for _, m := range modules {
		dir, err := output("go", "list", "-m", "-f", "{{.Dir}}", m[0])
		if err != nil {
			return nil, err
		}
		if err := write(m[0]+" "+m[1], dir); err != nil {
			return nil, err
		}
	}
	return []byte(text.String()), nil
}

// licenseFiles reads the licences and notices at the top of a directory.
func licenseFiles(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var texts []string
	for _, e := range entries {
		name := strings.ToUpper(e.Name())
		if e.IsDir() || !(strings.HasPrefix(name, "LICENSE") || strings.HasPrefix(name, "LICENCE") || strings.HasPrefix(name, "COPYING") || strings.HasPrefix(name, "NOTICE") || strings.HasPrefix(name, "PATENTS")) {
			continue
		}
		data, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			return nil, err
		}
		texts = append(texts, strings.TrimRight(strings.ReplaceAll(string(data), "\r\n", "\n"), "\n")+"\n")
	}
	return texts, nil
}
