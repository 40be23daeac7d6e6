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

// rooms lists, for each room of the house, which others it may import. Imports run one
// way, cli → verbs → checkpoint → {snapshot, store, remote, workflow} → {record, journal},
// with git at the edge and name a leaf for all. A new room gets a line here.
func rooms() map[string][]string {
	return map[string][]string{
		"cmd/git-checkpoint":  {"internal/cli", "internal/term"},
		"internal/cli":        {"internal/workflow", "internal/cli/usage", "internal/mapped", "internal/wholefile", "internal/pick", "internal/command", "internal/land", "internal/blame", "internal/bisect", "internal/attempt", "internal/expunge", "internal/web", "internal/watch", "internal/agent", "internal/connect", "internal/hook", "internal/mcp", "internal/clearance", "internal/cli/answer", "internal/interop", "internal/render", "internal/term", "internal/name", "internal/chat", "internal/setup", "internal/run", "internal/resume", "internal/repair", "internal/transfer", "internal/session", "internal/rollback", "internal/create", "internal/inspect", "internal/travel", "internal/retain", "internal/background", "internal/checkpoint"},
		"internal/cli/answer": {"internal/record", "internal/land", "internal/blame", "internal/bisect", "internal/attempt", "internal/expunge", "internal/connect", "internal/clearance", "internal/interop", "internal/render", "internal/name", "internal/run", "internal/resume", "internal/repair", "internal/transfer", "internal/session", "internal/rollback", "internal/create", "internal/inspect", "internal/travel", "internal/retain", "internal/checkpoint"},
		"internal/cli/usage":  {"internal/render", "internal/name", "internal/checkpoint"},
		"internal/interop":    {"internal/clearance", "internal/workflow", "internal/name", "internal/transfer", "internal/session", "internal/create", "internal/checkpoint"},
		// The verbs, each above what it uses.
		"internal/chat":       {"internal/cli/answer", "internal/render", "internal/run", "internal/resume", "internal/repair", "internal/transfer", "internal/rollback", "internal/create", "internal/inspect", "internal/retain", "internal/checkpoint", "internal/journal"},
		"internal/run":        {"internal/clearance", "internal/rollback", "internal/create", "internal/inspect", "internal/checkpoint", "internal/command", "internal/store", "internal/workflow", "internal/journal", "internal/name"},
		"internal/setup":      {"internal/travel", "internal/retain", "internal/checkpoint", "internal/snapshot", "internal/workflow", "internal/journal", "internal/git", "internal/name"},
		"internal/resume":     {"internal/session", "internal/create", "internal/rollback", "internal/inspect", "internal/retain", "internal/checkpoint", "internal/workflow", "internal/record", "internal/journal", "internal/git", "internal/name"},
		"internal/repair":     {"internal/render", "internal/linked", "internal/connect", "internal/clearance", "internal/create", "internal/inspect", "internal/travel", "internal/retain", "internal/background", "internal/checkpoint", "internal/proof", "internal/remote", "internal/snapshot", "internal/store", "internal/workflow", "internal/record", "internal/journal", "internal/git", "internal/name"},
		"internal/attempt":    {"internal/linked", "internal/run", "internal/rollback", "internal/create", "internal/inspect", "internal/checkpoint", "internal/snapshot", "internal/store", "internal/workflow", "internal/record", "internal/journal", "internal/git", "internal/name"},
		"internal/bisect":     {"internal/linked", "internal/rollback", "internal/inspect", "internal/checkpoint", "internal/command", "internal/workflow", "internal/journal", "internal/git", "internal/name"},
		"internal/blame":      {"internal/inspect", "internal/checkpoint", "internal/journal", "internal/git", "internal/name"},
		"internal/land":       {"internal/clearance", "internal/rollback", "internal/create", "internal/inspect", "internal/checkpoint", "internal/snapshot", "internal/workflow", "internal/record", "internal/journal", "internal/git", "internal/name"},
		"internal/linked":     {"internal/lockfile", "internal/checkpoint", "internal/snapshot", "internal/git", "internal/name"},
		"internal/transfer":   {"internal/lfs", "internal/wholefile", "internal/clearance", "internal/session", "internal/rollback", "internal/create", "internal/inspect", "internal/travel", "internal/checkpoint", "internal/archive", "internal/remote", "internal/store", "internal/workflow", "internal/record", "internal/journal", "internal/git", "internal/name"},
		"internal/expunge":    {"internal/clearance", "internal/create", "internal/checkpoint", "internal/guard", "internal/store", "internal/record", "internal/journal", "internal/git", "internal/name"},
		"internal/session":    {"internal/clearance", "internal/rollback", "internal/inspect", "internal/retain", "internal/checkpoint", "internal/store", "internal/workflow", "internal/journal", "internal/git", "internal/name"},
		"internal/rollback":   {"internal/lfs", "internal/clearance", "internal/agent", "internal/create", "internal/inspect", "internal/checkpoint", "internal/snapshot", "internal/store", "internal/workflow", "internal/record", "internal/journal", "internal/git", "internal/name"},
		"internal/inspect":    {"internal/lockfile", "internal/render", "internal/create", "internal/travel", "internal/checkpoint", "internal/snapshot", "internal/store", "internal/workflow", "internal/record", "internal/journal", "internal/git", "internal/name"},
		"internal/create":     {"internal/clearance", "internal/retain", "internal/background", "internal/checkpoint", "internal/snapshot", "internal/store", "internal/workflow", "internal/record", "internal/journal", "internal/git", "internal/name"},
		"internal/travel":     {"internal/lfs", "internal/render", "internal/expunge", "internal/retain", "internal/clearance", "internal/background", "internal/checkpoint", "internal/archive", "internal/remote", "internal/snapshot", "internal/store", "internal/record", "internal/journal", "internal/git", "internal/name"},
		"internal/retain":     {"internal/checkpoint", "internal/store", "internal/workflow", "internal/journal", "internal/gitconfig", "internal/git", "internal/name"},
		"internal/background": {"internal/lockfile", "internal/checkpoint", "internal/command", "internal/name"},
		"internal/checkpoint": {"internal/lfs", "internal/render", "internal/proof", "internal/snapshot", "internal/store", "internal/workflow", "internal/record", "internal/journal", "internal/gitconfig", "internal/git", "internal/name"},
		"internal/snapshot":   {"internal/lfs", "internal/lockfile", "internal/gitconfig", "internal/git", "internal/name"},
		"internal/store":      {"internal/lockfile", "internal/record", "internal/journal", "internal/git", "internal/mapped", "internal/name"},
		"internal/proof":      {"internal/lfs", "internal/store", "internal/record", "internal/journal", "internal/git", "internal/name"},
		"internal/remote":     {"internal/record", "internal/journal", "internal/git", "internal/name"},
		"internal/workflow":   {"internal/record", "internal/journal", "internal/name"},
		"internal/archive":    {"internal/name"},
		"internal/lfs":        {"internal/git", "internal/name"},
		"internal/record":     {"internal/name"},
		"internal/journal":    {"internal/name"},
		"internal/git":        {"internal/refs", "internal/discover", "internal/gitconfig", "internal/odb", "internal/mapped", "internal/name"},
		"internal/refs":       {"internal/lockfile", "internal/gitconfig", "internal/mapped", "internal/name"},
		"internal/discover":   {"internal/gitconfig"},
		"internal/gitconfig":  {},
		"internal/odb":        {"internal/mapped", "internal/name"},
		"internal/mapped":     {},
		"internal/lockfile":   {},
		"internal/agent":      {"internal/wholefile", "internal/name"},
		"internal/hook":       {"internal/connect", "internal/snapshot", "internal/clearance", "internal/wholefile", "internal/lockfile", "internal/agent", "internal/chat", "internal/resume", "internal/session", "internal/create", "internal/inspect", "internal/checkpoint", "internal/store", "internal/record", "internal/journal", "internal/name"},
		"internal/connect":    {"internal/wholefile", "internal/agent", "internal/checkpoint", "internal/command", "internal/git"},
		"internal/mcp":        {"internal/checkpoint", "internal/name"},
		"internal/watch":      {},
		"internal/web":        {"internal/attempt", "internal/command", "internal/render", "internal/checkpoint", "internal/inspect", "internal/session", "internal/record", "internal/name"},
		"internal/render":     {"internal/name"},
		"internal/command":    {},
		"internal/guard":      {},
		"internal/clearance":  {"internal/lfs", "internal/render", "internal/store", "internal/record", "internal/checkpoint", "internal/command", "internal/guard", "internal/gitconfig", "internal/git", "internal/journal", "internal/name"},
		"internal/term":       {}, "internal/pick": {"internal/term", "internal/render"}, "internal/wholefile": {}, "internal/name": {},
		// These test the program from outside.
		"internal/scripttest":       {},
		"internal/gittest":          {"internal/name"},                                           // only tests import it: no other line may have it
		"internal/verbtest":         {"internal/create", "internal/checkpoint", "internal/name"}, // the same
		"internal/screentest":       {"internal/term"},                                           // the same
		"internal/independent":      {},                                                          // nor may its tests: see TestIndependent
		"internal/torture":          {},
		"internal/torture/cmd":      {"internal/torture"},
		"internal/torture/stand-in": {},
		// These measure it.
		"internal/bench":         {},
		"internal/bench/chart":   {"internal/bench"},
		"internal/bench/cmd":     {"internal/bench", "internal/bench/chart"},
		"internal/bench/empty":   {},
		"internal/bench/watched": {"internal/cli", "internal/term"},
	}
}

// outside lists who may import what of the world: an import path or, with a final
// slash, all below it. Nobody else may.
func outside() map[string][]string {
	return map[string][]string{
		"github.com/go-git/": {"internal/git"},
		// git alone starts git (TestSource); term starts the pager, command a step's command.
		"os/exec":                          {"internal/git", "internal/term", "internal/command", "internal/scripttest", "internal/gittest", "internal/verbtest", "internal/torture", "internal/torture/stand-in", "internal/bench"},
		"golang.org/x/term":                {"internal/term"},
		"github.com/alecthomas/kong":       {"internal/cli", "internal/cli/usage", "internal/bench/empty"},
		"github.com/expr-lang/":            {"internal/workflow"},
		"github.com/go-json-experiment/":   {"internal/record"},
		"github.com/google/jsonschema-go/": {"internal/workflow"},
		"github.com/goccy/go-yaml/":        {"internal/interop"},
		"github.com/tailscale/hujson":      {"internal/agent"},
		"github.com/modelcontextprotocol/": {"internal/mcp"},
		"github.com/fsnotify/":             {"internal/watch"},
		"modernc.org/sqlite":               {"internal/interop"},
		"charm.land/":                      {"internal/pick"},
		"github.com/charmbracelet/":        {"internal/pick"},
		"net":                              {"internal/web"},
		"net/http":                         {"internal/web", "internal/bench"},
		"log":                              {},
		"unsafe":                           {},
		"github.com/rogpeppe/go-internal/": {"internal/scripttest"},
		"testing":                          {"internal/scripttest", "internal/gittest", "internal/verbtest"},
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

// Imports run the way that the table says, on every system.
func TestImports(t *testing.T) {
	for _, system := range []string{"linux", "darwin", "windows"} {
		for _, p := range packages(t, system) {
			room := strings.TrimPrefix(p.ImportPath, module+"/")
			if room == "internal" {
				continue // this test
			}
			allowed, known := rooms()[room]
			if !known {
				t.Errorf("%s is no room of the house: give it a line in rooms", room)
				continue
			}
			for _, imported := range p.Imports {
				if other, own := strings.CutPrefix(imported, module+"/"); own {
					if !slices.Contains(allowed, other) {
						t.Errorf("%s: %s may not import %s", system, room, other)
					}
				} else if !mayImport(room, imported) {
					t.Errorf("%s: %s may not import %s", system, room, imported)
				}
			}
		}
	}
}

// The tests that read what we wrote with go-git know docs/format.md and none of our code.
func TestIndependent(t *testing.T) {
	files, err := filepath.Glob("independent/*.go")
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

// A package stays small enough to be read in an hour, and a type to be kept in mind.
func TestSizes(t *testing.T) {
	const mostLines, mostMethods = 4000, 40
	lines, methods := map[string]int{}, map[string]int{}
	files, err := filepath.Glob("*/*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		room := filepath.Dir(file)
		lines[room] += codeLines(string(content))
		parsed, err := parser.ParseFile(token.NewFileSet(), file, content, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range parsed.Decls {
			if f, is := d.(*ast.FuncDecl); is && f.Recv != nil {
				methods[room+"."+receiver(f)]++
			}
		}
	}
	over := map[string]bool{}
	for room, n := range lines {
		if over[room] = n > mostLines; over[room] && !slices.Contains(large(), room) {
			t.Errorf("internal/%s has %d lines of code; no package has over %d", room, n, mostLines)
		}
	}
	for typ, n := range methods {
		if over[typ] = n > mostMethods; over[typ] && !slices.Contains(large(), typ) {
			t.Errorf("%s has %d methods; no type has over %d", typ, n, mostMethods)
		}
	}
	for _, name := range large() {
		if !over[name] {
			t.Errorf("%s is within the limits now; take it out of large", name)
		}
	}
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

// large lists what is still over the limits. It only gets shorter.
func large() []string {
	return []string{"interop", "snapshot", "workflow", "git.Repo", "snapshot.Shot", "snapshot.Restore", "store.Store", "torture.run"}
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
	if strings.HasSuffix(file, "_test.go") || strings.Contains(file, "scripttest") || strings.Contains(file, "gittest") || strings.Contains(file, "verbtest") || strings.Contains(file, "torture") {
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
		"travel/trip.pushOnce": "mayBeSent", "travel/consignment.mayBeSent": "MayLeave", // push, sync and the push in the background
		"transfer/packOnce": "mayLeave", "transfer/parcel.mayLeave": "MayLeave", // bundle, tar, JSON lines
		"transfer/ArchiveToWrite": "MayLeave", "interop/mirror": "ArchiveToWrite", "interop/archives": "ArchiveToWrite", // layouts, mirrors
		"land/Plan.Apply": "MayLeave", "cli/WebCmd.write": "MayLeave", // land, web --output
	}
	means := map[string][]string{ // the means: who may use it
		"remote.Push":      {"travel/consignment.sendTogether", "travel/consignment.sendEach"},
		"ReadArchive":      {"transfer/ArchiveToWrite", "interop/know"},
		`"pack-objects"`:   {"transfer/parcel.write"},
		"server.WriteFile": {"cli/WebCmd.write"},
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
	exempt := []string{"name", "cli", "bench", "torture", "scripttest", "gittest", "independent"}
	err := filepath.WalkDir(".", func(file string, _ fs.DirEntry, err error) error {
		top, _, _ := strings.Cut(filepath.ToSlash(file), "/")
		if err != nil || slices.Contains(exempt, top) || filepath.Ext(file) != ".go" || strings.HasSuffix(file, "_test.go") {
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
		top, _, _ := strings.Cut(filepath.ToSlash(file), "/")
		outside := slices.Contains([]string{"git", "remote", "bench", "torture", "scripttest", "independent"}, top)
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
				name = path.Join(filepath.ToSlash(filepath.Dir(file)), name)
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

// Every file that docs/architecture.md names with its directory exists.
func TestArchitecturePage(t *testing.T) {
	page, err := os.ReadFile("../docs/architecture.md")
	if err != nil {
		t.Fatal(err)
	}
	found := regexp.MustCompile("`([a-z0-9_/-]+/[a-z0-9_]+\\.go)`").FindAllStringSubmatch(string(page), -1)
	if len(found) < 40 {
		t.Errorf("only %d files are named", len(found))
	}
	for _, m := range found {
		_, err := os.Stat(filepath.Join("..", m[1]))
		if _, below := os.Stat(m[1]); err != nil && below != nil {
			t.Errorf("there is no %s", m[1])
		}
	}
}
