package internal_test

import (
	"encoding/json"
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const module = "git-checkpoint"

// layer is a folder of the house. Its rooms import rooms of the layers below it, and of their own
// layer only those that are open.
type layer struct {
	name string
	open string // the rooms that others of this layer may import; "*" for all
}

// layers are those of the house, from the top. Go's own rule about folders named internal guards
// git's rooms besides.
func layers() []layer {
	return []layer{
		{"test", "*"}, // tests the program from outside, or measures it
		{"cmd", ""},
		{"internal/ui", "cli/usage pick term web"},
		{"internal/agents", "chat"},
		{"internal/answer", ""},
		{"internal/verb", "continuation create inspect retain rollback run session travel transfer background connect expunge why witness"},
		{"internal/core", "agent checkpoint guard workflow"},
		{"internal/storage", "lfs store worktree"},
		{"internal/git", "gitconfig internal/discover internal/odb internal/refs"},
		{"internal/format", "name"},
		{"internal/sys", ""},
	}
}

// layerOf finds the layer of a package and its room in it. The tests' own packages are at the top:
// they may import everything and, but for their tests, nobody may import them.
func layerOf(pkg string) (int, string) {
	if room, is := strings.CutPrefix(pkg, "internal/test/"); is {
		return 0, room
	}
	for i, l := range layers() {
		if room, is := strings.CutPrefix(pkg+"/", l.name+"/"); is {
			return i, strings.TrimSuffix(room, "/")
		}
	}
	return -1, ""
}

// maySee says whether a package may import another one.
func maySee(from, to string) bool {
	above, _ := layerOf(from)
	below, room := layerOf(to)
	if above != below {
		return above < below
	}
	open := layers()[below].open
	return open == "*" || slices.Contains(strings.Fields(open), room)
}

// outside lists who may import what of the world: an import path or, with a final
// slash, all below it. Nobody else may.
func outside() map[string][]string {
	return map[string][]string{
		"github.com/go-git/": {"internal/git"},
		// git alone starts git (TestSource); term starts the pager, command a step's command.
		"os/exec":                          {"internal/git", "internal/ui/term", "internal/sys/command", "internal/test/scripttest", "internal/test/gittest", "internal/test/verbtest", "internal/test/torture", "internal/test/torture/stand-in", "internal/test/bench"},
		"golang.org/x/term":                {"internal/ui/term"},
		"github.com/alecthomas/kong":       {"internal/ui/cli", "internal/ui/cli/usage", "internal/test/bench/empty"},
		"github.com/expr-lang/":            {"internal/core/workflow"},
		"github.com/go-json-experiment/":   {"internal/format/record", "internal/format/render", "internal/core/workflow"},
		"github.com/google/jsonschema-go/": {"internal/core/workflow"},
		"go.yaml.in/yaml/":                 {"internal/verb/interop"},
		"github.com/tailscale/hujson":      {"internal/core/agent"},
		"github.com/modelcontextprotocol/": {"internal/agents/mcp"},
		"github.com/fsnotify/":             {"internal/agents/watch"},
		"modernc.org/sqlite":               {"internal/verb/interop"},
		"charm.land/":                      {"internal/ui/pick"},
		"github.com/charmbracelet/":        {"internal/ui/pick"},
		"net":                              {"internal/ui/web", "internal/test/bench"},
		"net/http":                         {"internal/ui/web", "internal/verb/continuation", "internal/test/bench"},
		"log":                              {},
		"unsafe":                           {},
		"github.com/rogpeppe/go-internal/": {"internal/test/scripttest"},
		"testing":                          {"internal/test/scripttest", "internal/test/gittest", "internal/test/verbtest"},
	}
}

type listed struct {
	ImportPath string
	Imports    []string
	Standard   bool
}

// packages are those of this module, as go list -deps finds them for one system.
func packages(t *testing.T, system string) []listed {
	t.Helper()
	command := exec.Command("go", "list", "-deps", "-json=ImportPath,Imports,Standard", "./...")
	command.Dir = ".."
	command.Env = append(os.Environ(), "GOOS="+system, "CGO_ENABLED=0")
	command.Stderr = os.Stderr
	out, err := command.Output()
	if err != nil {
		t.Fatalf("go list for %s: %v", system, err)
	}
	var found []listed
	for decoder := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p listed
		if err := decoder.Decode(&p); errors.Is(err, io.EOF) {
			return found
		} else if err != nil {
			t.Fatal(err)
		}
		if p.ImportPath == module || strings.HasPrefix(p.ImportPath, module+"/") {
			found = append(found, p)
		}
	}
}

// Imports run downwards, on every system.
func TestImports(t *testing.T) {
	for _, system := range []string{"linux", "darwin", "windows"} {
		for _, p := range packages(t, system) {
			pkg := strings.TrimPrefix(p.ImportPath, module+"/")
			if pkg == "internal" {
				continue // this test
			}
			if at, _ := layerOf(pkg); at < 0 {
				t.Errorf("%s is in no layer of the house: see layers", pkg)
				continue
			}
			for _, imported := range p.Imports {
				if other, own := strings.CutPrefix(imported, module+"/"); own {
					if !maySee(pkg, other) {
						t.Errorf("%s: %s may not import %s", system, pkg, other)
					}
				} else if !mayImport(pkg, imported) {
					t.Errorf("%s: %s may not import %s", system, pkg, imported)
				}
			}
		}
	}
}

// The tests that read what we wrote with go-git know docs/format.md and none of our code.
func TestIndependent(t *testing.T) {
	files, err := filepath.Glob("test/independent/*.go")
	if err != nil || len(files) == 0 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	for _, file := range files {
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ImportsOnly)
		if err != nil {
			t.Fatal(err)
		}
		for _, imported := range parsed.Imports {
			if strings.HasPrefix(imported.Path.Value, `"`+module) {
				t.Errorf("%s imports %s", file, imported.Path.Value)
			}
		}
	}
}

func mayImport(room, imported string) bool {
	for path, who := range outside() {
		if imported == path || strings.HasSuffix(path, "/") && strings.HasPrefix(imported, path) {
			return slices.Contains(who, room)
		}
	}
	return true
}

// A package stays small enough to be read in an hour.
func TestSizes(t *testing.T) {
	const mostLines = 4000
	lines := map[string]int{}
	eachSource(t, func(file string, content []byte) {
		lines[path.Dir(file)] += codeLines(string(content))
	})
	for room, n := range lines {
		if over := n > mostLines; over != slices.Contains(large(), room) {
			t.Errorf("%s has %d lines of code, and the limit is %d: large lists those over it", room, n, mostLines)
		}
	}
}

// large lists what is over the limit: packages that are to get smaller, and ui/cli and test/torture, which have a file for
// each command or kind of world and are not read as a whole.
func large() []string {
	return []string{"storage/snapshot", "core/workflow", "ui/cli", "test/torture"}
}

// codeLines counts the lines that are neither blank nor comments alone: a package must not save
// on comments to stay below a limit.
func codeLines(source string) int {
	count := 0
	for line := range strings.Lines(source) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "//") {
			count++
		}
	}
	return count
}

// eachSource calls do with every file of the program that is no test, named from internal/.
func eachSource(t *testing.T, do func(file string, content []byte)) {
	t.Helper()
	err := filepath.WalkDir(".", func(file string, _ fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(file) != ".go" || strings.HasSuffix(file, "_test.go") {
			return err
		}
		content, err := os.ReadFile(file)
		if err == nil {
			do(filepath.ToSlash(file), content)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// receiver is the name of the type that a method belongs to.
func receiver(f *ast.FuncDecl) string {
	typ := f.Recv.List[0].Type
	if pointer, is := typ.(*ast.StarExpr); is {
		typ = pointer.X
	}
	if generic, is := typ.(*ast.IndexExpr); is {
		typ = generic.X
	}
	if id, is := typ.(*ast.Ident); is {
		return id.Name
	}
	return ""
}

// Only main ends the program or sees the process's own streams and arguments, main is
// under 40 lines, no file is over 500, and only package git starts git.
func TestSource(t *testing.T) {
	err := filepath.WalkDir("..", func(file string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() && (strings.HasPrefix(entry.Name(), ".") && entry.Name() != ".." || entry.Name() == "testdata") {
			return filepath.SkipDir
		}
		if filepath.Ext(file) != ".go" {
			return nil
		}
		return checkFile(t, file)
	})
	if err != nil {
		t.Fatal(err)
	}
}

func checkFile(t *testing.T, file string) error {
	content, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	if lines := strings.Count(string(content), "\n"); lines > 500 {
		t.Errorf("%s has %d lines; none has over 500", file, lines)
	}
	if strings.HasSuffix(file, "_test.go") || strings.Contains(filepath.ToSlash(file), "internal/test/") {
		return nil
	}
	if strings.Contains(string(content), "FAILPOINT") {
		t.Errorf("%s knows the variable that ends the program at a step; only test files may", file)
	}
	parsed, err := parser.ParseFile(token.NewFileSet(), file, content, 0)
	if err != nil {
		return err
	}
	file = filepath.ToSlash(file)
	main := path.Base(file) == "main.go"
	ast.Inspect(parsed, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.SelectorExpr:
			if from, is := n.X.(*ast.Ident); is && !main && from.Name == "os" && slices.Contains(mainsOwn(), n.Sel.Name) {
				t.Errorf("%s: os.%s is for main alone", file, n.Sel.Name)
			}
		case *ast.CallExpr:
			if startsGit(n) && !strings.Contains(file, "internal/git/") {
				t.Errorf("%s starts git; only package git does", file)
			}
		}
		return true
	})
	if main && strings.Count(string(content), "\n") >= 40 {
		t.Errorf("%s has 40 lines or more", file)
	}
	return nil
}

func mainsOwn() []string { return []string{"Exit", "Args", "Stdin", "Stdout", "Stderr"} }

// startsGit finds exec.Command("git", …) in its forms.
func startsGit(call *ast.CallExpr) bool {
	function, is := call.Fun.(*ast.SelectorExpr)
	if !is {
		return false
	}
	from, is := function.X.(*ast.Ident)
	if !is || from.Name != "exec" {
		return false
	}
	return slices.ContainsFunc(call.Args, func(arg ast.Expr) bool {
		literal, is := arg.(*ast.BasicLit)
		return is && literal.Value == `"git"`
	})
}

// What leaves the repository passes the guard: each function that sends or writes for
// others is listed with the one that it asks, and nobody else has the means.
func TestGuarded(t *testing.T) {
	gates := map[string]string{ // the function: what it has to call
		"verb/travel/transfer.pushOnce": "mayBeSent", "verb/travel/pushRound.mayBeSent": "MayLeave", // push, sync and the push in the background
		"verb/transfer/packOnce": "mayLeave", "verb/transfer/exportBundle.mayLeave": "ToFile", // bundle, tar, JSON lines
		"verb/transfer/ArchiveToWrite": "MayLeave", "verb/interop/mirror": "ArchiveToWrite", "verb/interop/archives": "ArchiveToWrite", "verb/interop/Export": "ToFile", // layouts, mirrors
		"verb/land/Plan.Apply": "MayLeave", "ui/cli/WebCmd.write": "ToFile", // land, web --output
		"verb/witness/writing.cleaned": "Clean", "verb/witness/Write": "cleaned", // why --notes
	}
	means := map[string][]string{ // the means: who may use it
		"remote.Push":                {"verb/travel/pushRound.sendTogether", "verb/travel/pushRound.sendEach"},
		"remote.PushLFS":             {"verb/travel/pushRound.sendOutside"},
		"ReadArchive":                {"verb/transfer/ArchiveToWrite", "verb/interop/know"},
		`"pack-objects"`:             {"verb/transfer/exportBundle.write"},
		"server.WriteFile":           {"ui/cli/WebCmd.write"},
		"http.NewRequestWithContext": {"verb/continuation/server.request"}, // an agent's own server on 127.0.0.1
	}
	calls := sourceCalls(t)
	for function, gate := range gates {
		if !slices.Contains(calls[function], gate) {
			t.Errorf("%s does not call %s", function, gate)
		}
	}
	for function, called := range calls {
		for mean, who := range means {
			if slices.Contains(called, mean) && !slices.Contains(who, function) {
				t.Errorf("%s uses %s, past the guard", function, mean)
			}
		}
	}
}

// The places of our refs are spelled in package name alone, so no list of them can forget
// one. Package cli names them in texts for people.
func TestPlacesOfRefs(t *testing.T) {
	exempt := []string{"format/name", "ui/cli"}
	err := filepath.WalkDir(".", func(file string, _ fs.DirEntry, err error) error {
		room := filepath.ToSlash(filepath.Dir(file))
		if err != nil || slices.Contains(exempt, room) || strings.HasPrefix(room, "test/") || filepath.Ext(file) != ".go" || strings.HasSuffix(file, "_test.go") {
			return err
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
		if err != nil {
			return err
		}
		ast.Inspect(parsed, func(n ast.Node) bool {
			if literal, is := n.(*ast.BasicLit); is {
				for _, place := range []string{"refs/checkpoint", "refs/tags/checkpoint", "refs/notes/checkpoints"} {
					if strings.HasPrefix(literal.Value, `"`+place) {
						t.Errorf("%s spells the place %s; package name has it", file, literal.Value)
					}
				}
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// sourceCalls lists what each function of the program calls: the name, with the field that
// it is called on, and each word that it hands to git. Functions are named as
// room/function and room/type.method.
func sourceCalls(t *testing.T) map[string][]string {
	t.Helper()
	calls := map[string][]string{}
	err := filepath.WalkDir(".", func(file string, _ fs.DirEntry, err error) error {
		file = filepath.ToSlash(file)
		outside := strings.HasPrefix(file, "git/") || strings.HasPrefix(file, "storage/remote/") || strings.HasPrefix(file, "test/")
		if err != nil || outside || filepath.Ext(file) != ".go" || strings.HasSuffix(file, "_test.go") {
			return err
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
		if err != nil {
			return err
		}
		for _, declared := range parsed.Decls {
			if function, is := declared.(*ast.FuncDecl); is {
				name := function.Name.Name
				if function.Recv != nil {
					name = receiver(function) + "." + name
				}
				name = path.Join(path.Dir(file), name)
				ast.Inspect(function.Body, func(n ast.Node) bool {
					calls[name] = append(calls[name], words(n)...)
					return true
				})
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return calls
}

func words(n ast.Node) []string {
	switch n := n.(type) {
	case *ast.BasicLit:
		if n.Value == `"pack-objects"` {
			return []string{n.Value}
		}
	case *ast.SelectorExpr:
		if on, is := n.X.(*ast.SelectorExpr); is && on.Sel.Name == "remote" {
			return []string{n.Sel.Name, "remote." + n.Sel.Name}
		}
		if on, is := n.X.(*ast.Ident); is {
			return []string{n.Sel.Name, on.Name + "." + n.Sel.Name}
		}
		return []string{n.Sel.Name}
	case *ast.Ident:
		return []string{n.Name}
	}
	return nil
}

// Every file that docs/architecture.md names with its directory exists, and its drawing has every package.
func TestArchitecturePage(t *testing.T) {
	page, err := os.ReadFile("../docs/architecture.md")
	if err != nil {
		t.Fatal(err)
	}
	found := regexp.MustCompile("`([a-z0-9_/-]+/[a-z0-9_*]+\\.(?:go|txt))`").FindAllStringSubmatch(string(page), -1)
	if len(found) < 40 {
		t.Errorf("only %d files are named", len(found))
	}
	for _, m := range found {
		top, _ := filepath.Glob("../" + m[1])
		if below, _ := filepath.Glob(m[1]); len(top)+len(below) == 0 {
			t.Errorf("there is no %s", m[1])
		}
	}
	_, drawing, _ := strings.Cut(string(page), "```\n")
	drawing, _, _ = strings.Cut(drawing, "\n```")
	for pkg := range readCeilings(t) {
		if _, below, is := strings.Cut(pkg, "internal/"); is && !regexp.MustCompile(`\b`+path.Base(below)+`\b`).MatchString(drawing) {
			t.Errorf("the drawing does not have %s", pkg)
		}
	}
}
