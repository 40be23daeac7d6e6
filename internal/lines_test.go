package internal_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// lines.txt has, for each package and for the sum, the most lines that the product may have there: every line of a
// Go file that is neither a test nor below internal/test, comments and blank lines included. A repair deletes at
// least what it adds. A commit of its own that says why may raise a package's row; the row of a package that shrank
// goes down with it.
func TestLines(t *testing.T) {
	ceilings := readCeilings(t)
	lines := map[string]int{}
	for _, top := range []string{"../cmd", "."} {
		err := filepath.WalkDir(top, func(file string, _ os.DirEntry, err error) error {
			name := filepath.ToSlash(filepath.Join("internal", file))
			if err != nil || filepath.Ext(file) != ".go" || strings.HasSuffix(file, "_test.go") || strings.HasPrefix(name, "internal/test/") {
				return err
			}
			content, err := os.ReadFile(file)
			n := strings.Count(string(content), "\n")
			lines[path.Dir(name)] += n
			lines["sum"] += n
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, pkg := range slices.Sorted(maps.Keys(lines)) {
		ceiling, listed := ceilings[pkg]
		if !listed {
			t.Errorf("internal/lines.txt has no row for %s, which has %d lines", pkg, lines[pkg])
		} else if lines[pkg] > ceiling {
			t.Errorf("%s has %d lines; internal/lines.txt allows %d", pkg, lines[pkg], ceiling)
		}
	}
	for pkg := range ceilings {
		if lines[pkg] == 0 {
			t.Errorf("internal/lines.txt has a row for %s, where there is no code", pkg)
		}
	}
}

// What is written for people is as short as the code: the documents together have 55,000 words at most.
func TestWordsOfDocuments(t *testing.T) {
	const most = 55_000
	words := 0
	err := filepath.WalkDir("../docs", func(file string, _ os.DirEntry, err error) error {
		if err != nil || filepath.Ext(file) != ".md" {
			return err
		}
		content, err := os.ReadFile(file)
		words += len(strings.Fields(string(content)))
		return err
	})
	if err != nil || words > most || words == 0 {
		t.Errorf("docs has %d words; at most %d are allowed (%v)", words, most, err)
	}
}

func readCeilings(t *testing.T) map[string]int {
	t.Helper()
	content, err := os.ReadFile("lines.txt")
	if err != nil {
		t.Fatal(err)
	}
	ceilings := map[string]int{}
	for row := range strings.Lines(string(content)) {
		var n int
		var pkg string
		if _, err := fmt.Sscan(row, &n, &pkg); err != nil {
			t.Fatalf("lines.txt: %q is no number and a package: %v", row, err)
		}
		ceilings[pkg] = n
	}
	return ceilings
}

// A struct that embeds another one of its package gets all its methods: what looks like a small type in its file is
// a large one. It has the other in a field with a name. The command line is exempt: embedding is how its parser
// shares groups of flags.
func TestEmbedding(t *testing.T) {
	type embedding struct{ file, in, typ string }
	var found []string
	declared, embeddings := map[string]string{}, []embedding{}
	eachSource(t, func(file string, content []byte) {
		room := path.Dir(file)
		if layer, _ := layerOf("internal/" + room); layer == 0 || room == "ui/cli" {
			return
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), file, content, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(parsed, func(n ast.Node) bool {
			spec, is := n.(*ast.TypeSpec)
			if !is {
				return true
			}
			if fields, is := spec.Type.(*ast.StructType); is {
				declared[path.Join(room, spec.Name.Name)] = file
				for _, field := range fields.Fields.List {
					typ := field.Type
					if to, is := typ.(*ast.StarExpr); is {
						typ = to.X
					}
					if id, is := typ.(*ast.Ident); is && len(field.Names) == 0 {
						embeddings = append(embeddings, embedding{file, path.Join(room, spec.Name.Name), path.Join(room, id.Name)})
					}
				}
			}
			return true
		})
	})
	for _, e := range embeddings {
		if other, is := declared[e.typ]; is && other != e.file {
			found = append(found, e.in+" "+path.Base(e.typ))
		}
	}
	compareLists(t, "embeds a struct of another file", found, embedded())
}

// embedded lists what is left. It only gets shorter.
func embedded() []string {
	return []string{
		"agents/hook/handler memory",
		"core/author/evidence Work",
		"core/workflow/evaluation evaluator",
		"core/workflow/verifier Definition",
		"format/journal/doubting fold",
		"git/internal/refs/refList Files",
		"git/internal/refs/transaction Files",
		"storage/proof/Verdict Subject",
		"storage/proof/judging Session",
		"storage/proof/subjectFacts Subject",
		"storage/snapshot/Worktree capturer",
		"storage/snapshot/Worktree planner",
		"storage/snapshot/Worktree preserver",
		"storage/snapshot/Worktree restorer",
		"storage/snapshot/capturer converter",
		"storage/snapshot/checkout disk",
		"storage/snapshot/chooser indexes",
		"storage/snapshot/converter indexes",
		"storage/snapshot/filtered candidate",
		"storage/snapshot/gitScanner indexes",
		"storage/snapshot/hasher converter",
		"storage/snapshot/ignoreRules indexes",
		"storage/snapshot/indexCarrier indexes",
		"storage/snapshot/indexLock checkout",
		"storage/snapshot/indexWriter indexes",
		"storage/snapshot/indexes checkout",
		"storage/snapshot/leftOut Skip",
		"storage/snapshot/planner converter",
		"storage/snapshot/preserver converter",
		"storage/snapshot/restorer converter",
		"storage/store/Store composer",
		"storage/store/Store contents",
		"storage/store/Store inventory",
		"storage/store/Store journals",
		"storage/store/Store localFiles",
		"storage/store/Store records",
		"storage/store/derivation attempt",
		"storage/store/inventory contents",
		"storage/store/records contents",
		"ui/web/filePage timelinePage",
		"verb/expunge/made old",
		"verb/inspect/TimelineStep Item",
		"verb/interop/goTeamSession reading",
		"verb/interop/output rendering",
		"verb/interop/reading tree",
		"verb/repair/beside repairs",
		"verb/repair/repairs rebuilding",
		"verb/transfer/ExportRequest Destination",
		"verb/travel/pushRound transfer",
	}
}
