package internal_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"slices"
	"strings"
	"testing"
)

// starts are the functions that start a program or open a network address, each with where the words of
// the command line, or the address, come from. None is a file of the worktree, and none came from a
// remote: whoever can push a commit must not decide what runs here. What git itself starts, such as
// filters and ssh, is named by git's own configuration.
func starts() map[string]string {
	return map[string]string{
		"sys/command/beginning.go:Beginning":   "its callers, below",
		"sys/command/command.go:Run":           "its callers, below",
		"sys/command/background.go:Background": "this program; its callers, below",
		"git/run.go:command":                   "git from PATH; constants, ids, names that were checked, and pathspecs after --",
		"ui/term/pager.go:shellCommand":        "GIT_PAGER, core.pager or PAGER",
		"ui/cli/pick.go:previews":              "this program; constants and ids of checkpoints, which are proven to be ids",
		"ui/cli/land.go:edited":                "git var GIT_EDITOR; a temporary file",
		"verb/bisect/scratch.go:test":          "the command line of bisect",
		"verb/run/run.go:execute":              "the command line of run",
		"verb/continuation/server.go:serve":    "the agent's built-in definition",
		"verb/continuation/server.go:request":  "127.0.0.1 and a port that this program chose; paths of the built-in definition",
		"verb/background/push.go:start":        "this program; constants and the name of a session",
		"verb/connect/trial.go:tryIn":          "constants and the hooks that this program writes; a settings file is compared with them, and never run",
		"core/clearance/external.go:run":       "checkpoint.guard.command, which a committed file may not set",
		"ui/web/server.go:Listen":              "127.0.0.1 and the port of the command line",
		"ui/web/server.go:Serve":               "the listener of Listen",
		"storage/remote/push.go:Push":          "the remote of the command line or of git's configuration",
		"storage/remote/list.go:List":          "the same",
		"storage/remote/fetch.go:FetchObjects": "the same",
		"storage/remote/fetch.go:fetch":        "the same",
		"storage/remote/outside.go:PushLFS":    "the same; git-lfs finds the server that belongs to it",
	}
}

// startsIn returns the functions of a file in which a program is started or an address opened.
func startsIn(file string, content []byte) (found []string, err error) {
	parsed, err := parser.ParseFile(token.NewFileSet(), file, content, 0)
	if err != nil {
		return nil, err
	}
	opens := map[string]string{
		"exec": "Command CommandContext Cmd", "os": "StartProcess", "syscall": "Exec ForkExec StartProcess", "command": "Beginning Background Command",
		"net":  "Dial DialTimeout DialTCP DialUnix Listen ListenTCP ListenUnix ListenPacket ListenConfig Dialer",
		"http": "Get Head Post PostForm NewRequest NewRequestWithContext Client Server ListenAndServe Serve",
	}
	remote := []string{`"push"`, `"fetch"`, `"ls-remote"`, `"clone"`, `"lfs"`, `"send-pack"`, `"fetch-pack"`, `"archive"`}
	for _, d := range parsed.Decls {
		f, is := d.(*ast.FuncDecl)
		if !is {
			continue
		}
		starts := false
		look := func(of ast.Expr) {
			if sel, is := of.(*ast.SelectorExpr); is {
				pkg, named := sel.X.(*ast.Ident)
				starts = starts || named && slices.Contains(strings.Fields(opens[pkg.Name]), sel.Sel.Name)
			}
		}
		ast.Inspect(f, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.CallExpr:
				look(n.Fun)
			case *ast.ValueSpec:
				look(n.Type)
			case *ast.CompositeLit:
				look(n.Type)
				if list, is := n.Type.(*ast.ArrayType); is && len(n.Elts) > 1 && strings.HasPrefix(file, "storage/") {
					_, strs := list.Elt.(*ast.Ident)
					word, literal := n.Elts[0].(*ast.BasicLit)
					starts = starts || strs && literal && slices.Contains(remote, word.Value)
				}
			}
			return true
		})
		if starts {
			found = append(found, file+":"+f.Name.Name)
		}
	}
	return found, nil
}

// Every place that starts a program or opens a network address is in the table, which says where each of
// its words comes from.
func TestStarts(t *testing.T) {
	known, seen := starts(), map[string]bool{}
	eachSource(t, func(file string, content []byte) {
		if strings.HasPrefix(file, "test/") {
			return
		}
		found, err := startsIn(file, content)
		if err != nil {
			t.Fatal(err)
		}
		for _, place := range found {
			if seen[place] = true; known[place] == "" {
				t.Errorf("%s starts a program or opens an address: say in the table where each word of it comes from", place)
			}
		}
	})
	for _, place := range slices.Sorted(maps.Keys(known)) {
		if !seen[place] {
			t.Errorf("%s starts nothing any more", place)
		}
	}
}
