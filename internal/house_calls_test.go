package internal_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// declared is a function of the program.
type declared struct {
	room  string
	takes []param // without those of a variadic parameter
}

type param struct{ name, typ string }

// bools are the places of the boolean parameters. A parameter byDefault is none: its call reads as
// the question for a setting, such as Bool("checkpoint.tag", true).
func (d declared) bools() (at []int) {
	for i, p := range d.takes {
		if p.typ == "bool" && p.name != "byDefault" {
			at = append(at, i)
		}
	}
	return at
}

// parsedSource returns the files of the program by their room, without those of the tests.
func parsedSource(t *testing.T) map[string][]*ast.File {
	t.Helper()
	files := map[string][]*ast.File{}
	eachSource(t, func(file string, content []byte) {
		room := path.Dir(file)
		if layer, _ := layerOf("internal/" + room); layer == 0 {
			return
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), file, content, 0)
		if err != nil {
			t.Fatal(err)
		}
		files[room] = append(files[room], parsed)
	})
	return files
}

func paramsOf(f *ast.FuncDecl) (all []param) {
	for _, field := range f.Type.Params.List {
		typ := ""
		switch is := field.Type.(type) {
		case *ast.Ident:
			typ = is.Name
		case *ast.StarExpr:
			if to, named := is.X.(*ast.Ident); named {
				typ = "*" + to.Name
			}
		}
		for _, name := range field.Names {
			all = append(all, param{name.Name, typ})
		}
		if len(field.Names) == 0 {
			all = append(all, param{"", typ})
		}
	}
	return all
}

// A call with a literal true or false does not say what it asks for: two functions with names, a type
// with constants, or a struct with fields do. The test knows functions by name alone: within a package
// by its own, from outside by any of that name that takes a bool in that place.
func TestLiteralBools(t *testing.T) {
	files := parsedSource(t)
	functions := map[string][]declared{}
	for room, in := range files {
		for _, file := range in {
			for _, d := range file.Decls {
				if f, is := d.(*ast.FuncDecl); is {
					functions[f.Name.Name] = append(functions[f.Name.Name], declared{room, paramsOf(f)})
				}
			}
		}
	}
	found := map[string]bool{}
	for room, in := range files {
		for _, file := range in {
			ast.Inspect(file, func(n ast.Node) bool {
				call, is := n.(*ast.CallExpr)
				if !is {
					return true
				}
				name, own := "", false
				switch f := call.Fun.(type) {
				case *ast.Ident:
					name, own = f.Name, true
				case *ast.SelectorExpr:
					name = f.Sel.Name
				}
				for _, f := range functions[name] {
					if own && f.room != room || len(call.Args) < len(f.takes) {
						continue
					}
					for _, at := range f.bools() {
						if arg, is := call.Args[at].(*ast.Ident); is && (arg.Name == "true" || arg.Name == "false") {
							found[f.room+"."+name] = true
						}
					}
				}
				return true
			})
		}
	}
	compareLists(t, "is called with a literal true or false", slices.Sorted(maps.Keys(found)), literalBools())
}

// literalBools lists what is left. It only gets shorter.
func literalBools() []string {
	return []string{
		"agents/mcp.add",
		"agents/mcp.answer",
		"core/agent.hookEdits",
		"core/guard.eachString",
		"core/workflow.among",
		"core/workflow.compile",
		"core/workflow.nodes",
		"core/workflow.parse",
		"storage/lfs.PointersBelow",
		"storage/remote.leave",
		"storage/remote.search",
		"git.RefusedName",
		"ui/cli.askElsewhere",
		"ui/cli/usage.split",
		"verb/connect.configure",
		"verb/repair.badSignature",
	}
}

// godMethods is the number of methods from which on a type has more than one job.
const godMethods = 30

// A function that takes a large type of its own package, in order not to be one more method of it, hides
// what it needs: it takes the part or the values that it reads instead, or is a method of that part.
func TestBorrowedReceivers(t *testing.T) {
	var found []string
	for room, in := range parsedSource(t) {
		methods, takers := map[string]int{}, map[string]int{}
		for _, file := range in {
			for _, d := range file.Decls {
				f, is := d.(*ast.FuncDecl)
				if !is {
					continue
				}
				if f.Recv != nil {
					methods["*"+receiver(f)]++
					continue
				}
				for _, p := range paramsOf(f) {
					takers[p.typ]++
				}
			}
		}
		for typ, n := range takers {
			if methods[typ] >= godMethods {
				found = append(found, room+"."+typ[1:]+" "+strconv.Itoa(n))
			}
		}
	}
	slices.Sort(found)
	compareLists(t, "functions take a large type in order not to be its methods", found, borrowed())
}

// borrowed lists the large types that are left, with the number of functions of their package that take
// them. Types and numbers only get smaller.
func borrowed() []string {
	return []string{"answer.page 1", "format/journal.Log 9", "ui/cli.App 15"}
}

// A function is called by a verb or by what it returns. A preposition or an adverb is neither, but where it reads
// as in package time or for an item of a list.
func TestFunctionNames(t *testing.T) {
	words := strings.Fields("about above after against again ahead along already apart around as aside at away back before behind below beside " +
		"between beyond by early else elsewhere for from here in into late later meanwhile near now of off on once only out over past per " +
		"since soon still then there through to together too under until up upon via with within without")
	var found []string
	for room, in := range parsedSource(t) {
		for _, file := range in {
			for _, d := range file.Decls {
				if f, is := d.(*ast.FuncDecl); is && slices.Contains(words, strings.ToLower(f.Name.Name)) {
					found = append(found, room+"."+f.Name.Name)
				}
			}
		}
	}
	listed := []string{"format/journal.At", "format/journal.at", "format/provenance.At", "format/record.Of", "format/record.Since", "storage/proof.At", "verb/why.at"}
	compareLists(t, "its name is a preposition or an adverb", found, listed)
}

// Most functions need a part of the Service: the Repo, the Settings, the Store, the Rules or the Sessions. One that
// takes it whole captures, starts programs or opens other worktrees, or hands it to one that does. The list of
// doctor hands it to each lookAt…, so these are not counted. Only a new verb raises the number.
func TestWholeService(t *testing.T) {
	const most = 233
	var takers int
	for room, in := range parsedSource(t) {
		whole := "*checkpoint.Service"
		if room == "core/checkpoint" {
			whole = "*Service"
		}
		for _, file := range in {
			for _, d := range file.Decls {
				f, is := d.(*ast.FuncDecl)
				if !is || strings.HasPrefix(f.Name.Name, "lookAt") {
					continue
				}
				fields := f.Type.Params.List
				if f.Recv != nil {
					fields = slices.Concat(f.Recv.List, fields)
				}
				if slices.ContainsFunc(fields, func(p *ast.Field) bool { return types.ExprString(p.Type) == whole }) {
					takers++
				}
			}
		}
	}
	if takers > most {
		t.Errorf("%d functions take a whole checkpoint.Service; %d did: let the new ones take the part that they need", takers, most)
	}
}

// compareLists reports what is found and not listed, and what is listed and not there any more.
func compareLists(t *testing.T, what string, found, listed []string) {
	t.Helper()
	for _, f := range found {
		if !slices.Contains(listed, f) {
			t.Errorf("%s: %s", f, what)
		}
	}
	for _, l := range listed {
		if !slices.Contains(found, l) {
			t.Errorf("%s is listed, and is not so any more: take it off the list", l)
		}
	}
}
