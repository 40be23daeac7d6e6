package torture

import (
	"context"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"git-checkpoint/internal/test/scripttest"
)

// program is the path of the git-checkpoint that these tests have built. The stand-in is
// beside it.
var program string

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "torture-test-")
	if err == nil {
		program = filepath.Join(dir, "git-checkpoint")
		err = Build(context.Background(), dir)
	}
	code := 1
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
	} else {
		code = m.Run()
	}
	remove(dir)
	os.Exit(code)
}

// fixedSeed is the seed of the cases in the tests. `make torture` uses others.
const fixedSeed = 201

// One case of every kind passes.
func TestTorture(t *testing.T) {
	kinds := Kinds()
	if testing.Short() {
		kinds = []string{"staged", "ignored"} // and TestTortureOfTheOtherScanner has an ordinary one
	}
	for _, kind := range kinds {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			report, err := Run(t.Context(), Options{Program: program, Dir: t.TempDir(), Kinds: []string{kind}, Seed: fixedSeed, Cases: 1, Log: t.Output()})
			if err != nil {
				t.Fatal(err)
			}
			for _, f := range report.Findings {
				t.Errorf("%s, seed %d: %s", f.Case.Kind, f.Case.Seed, f.What)
			}
			if report.Ran[kind] != 1 {
				t.Error("the case did not run")
			}
		})
	}
}

// The same cases pass if git itself looks for differences from the index
// (checkpoint.scanner=git).
func TestTortureOfTheOtherScanner(t *testing.T) {
	kinds := []string{"ordinary", "ignored", "index-v4", "links", "modes", "nested", "packed", "special", "staged", "times", "unfinished"}
	if testing.Short() {
		kinds = kinds[:1]
	}
	for _, kind := range kinds {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			o := Options{
				Program: program, Dir: t.TempDir(), Kinds: []string{kind}, Seed: fixedSeed, Cases: 1, Log: t.Output(),
				Config: []string{"checkpoint.scanner=git"},
			}
			report, err := Run(t.Context(), o)
			if err != nil {
				t.Fatal(err)
			}
			for _, f := range report.Findings {
				t.Errorf("%s, seed %d: %s", f.Case.Kind, f.Case.Seed, f.What)
			}
		})
	}
}

// The same seed gives the same case, and another seed another one.
func TestDraw(t *testing.T) {
	text := func(kind string, seed uint64) string {
		cs, err := Draw(kind, seed)
		if err != nil {
			t.Fatal(err)
		}
		return (&Finding{Case: cs, Step: len(cs.Ops)}).Script()
	}
	for _, kind := range Kinds() {
		if once, again := text(kind, 7), text(kind, 7); once != again {
			t.Errorf("%s: the same seed draws two cases", kind)
		}
		if text(kind, 7) == text(kind, 8) {
			t.Errorf("%s: two seeds draw the same case", kind)
		}
	}
	if _, err := Draw("no such kind", 1); err == nil {
		t.Error("a kind that is not there was drawn")
	}
}

// mutant is git-checkpoint with a fault: a script that runs the real one and then, or
// before, does something that it must not.
func mutant(t *testing.T, script string) string {
	t.Helper()
	dir := t.TempDir()
	for _, name := range []string{"stand-in"} {
		if err := os.Symlink(filepath.Join(filepath.Dir(program), name), filepath.Join(dir, name)); err != nil {
			t.Skip(err)
		}
	}
	to := filepath.Join(dir, "git-checkpoint")
	text := "#!/bin/sh\nreal=" + quote(program) + "\ntop=$(git rev-parse --show-toplevel)\n" + script + "\n"
	if err := os.WriteFile(to, []byte(text), 0o700); err != nil {
		t.Fatal(err)
	}
	return to
}

// after is a mutant that runs the real program, and then the fault if one of these commands
// succeeded.
func after(verbs, fault string) string {
	return `"$real" "$@"; code=$?; case "$code $1 $*" in *" -n"*) ;; ` + verbs + `" "*) cd "$top"; { ` + fault + `; } >/dev/null 2>&1;; esac; exit $code`
}

// world is a case that goes through every command once, in a repository of each sort
// of file.
func world(kind string, setup ...string) *Case {
	sh := func(line string) Op { return Op{Verb: "sh", Tree: "repo", Line: line} }
	do := func(verb string, slot int, args ...string) Op {
		return Op{Verb: verb, Tree: "repo", Slot: slot, Args: args}
	}
	return &Case{
		Kind: kind, Seed: 1,
		Setup: append(append([]string{"git init -q repo", "cd repo"}, setup...),
			put(".gitignore", `*.ig\n`), put("a", `one\n`), put("dir/b", `mixed\r\nends\n`), put("x", `x\n`), "git add -A", "git commit -qm one"),
		Ops: []Op{
			sh(put("a", `staged\n`)), sh("git add a"), sh(put("a", `two\n`)), sh("chmod 600 a"), sh("nest nested 1"), sh(put("keep.ig", `kept\n`)),
			do("create", 1), sh(put("a", `three\n`)), sh("rm -r dir"), sh(put("x/y", `y\n`)), sh("git add -A x"), sh("git update-index --assume-unchanged .gitignore"),
			do("create", 2), do("rollback", 1, "-n"), do("rollback", 1), do("undo", 0), do("pin", 2), do("unpin", 2), do("delete", 1),
			sh("rm -r x"), sh(put(".gitignore", `*.ig\nx\n`)), sh("git add -A"), do("create", 3), sh(put("x", `ignored\n`)), do("rollback", 2),
		},
	}
}

// Every promise is broken once by a mutant, and the machine has to notice.
func TestMutants(t *testing.T) {
	mutants := map[string]struct{ script, says string }{
		"none":                          {`exec "$real" "$@"`, ""},
		"create writes a file":          {after(`"0 create"`, "echo x >made"), "create changed the worktree"},
		"create touches a time":         {after(`"0 create"`, "touch a"), "create changed the worktree"},
		"create stages":                 {after(`"0 create"`, "echo x >>.git/index"), "create changed the git directory"},
		"create stashes":                {after(`"0 create"`, "git update-ref refs/stash HEAD"), "create changed the git directory"},
		"create leaves a file out":      {`case $1 in create) set -- "$@" --exclude a;; esac; exec "$real" "$@"`, "the tree of the checkpoint is not the worktree"},
		"create lies about its success": {`case $1 in create) echo '{"id":"cp-01","session":"main"}'; exit 0;; esac; exec "$real" "$@"`, "create: "},
		"create fails":                  {`case $1 in create) exit 1;; esac; exec "$real" "$@"`, "create: exit 1"},
		"rollback loses a file":         {after(`"0 rollback"`, "rm a"), "after rollback"},
		"rollback changes a time":       {after(`"0 rollback"`, "touch .gitignore"), "after rollback"},
		"rollback forgets the index":    {`case $1 in rollback) set -- "$@" --worktree-only;; esac; exec "$real" "$@"`, "after rollback"},
		"rollback changes a branch":     {after(`"0 rollback"`, "git commit -q --allow-empty -m x"), "rollback changed the git directory"},
		"undo forgets permissions":      {after(`"0 undo"`, "chmod 640 a"), "after undo"},
		"undo does nothing":             {`case $1 in undo) exec "$real" "$@" -n;; esac; exec "$real" "$@"`, "after undo"},
		"undo forgets a flag":           {after(`"0 undo"`, "git update-index --no-assume-unchanged .gitignore"), "after undo ls-files"},
		"undo forgets what is staged":   {after(`"0 undo"`, "git read-tree HEAD"), "after undo"},
		"a refusal writes":              {after(`"4 rollback"`, "echo x >made"), "refused rollback changed the worktree"},
		"nothing is refused":            {`case $1 in rollback) set -- "$@" --overwrite-ignored;; esac; exec "$real" "$@"`, "rollback went ahead"},
		"a dry run writes a ref":        {`case "$*" in *" -n"*) git update-ref refs/checkpoints/x/y HEAD;; esac; exec "$real" "$@"`, "dry run changed refs"},
		"delete keeps the ref":          {`case $1 in delete) exit 0;; esac; exec "$real" "$@"`, "delete"},
		"pin writes a file":             {after(`"0 pin"`, "echo x >made"), "pin changed the worktree"},
		"ignored files go":              {after(`"0 rollback"`, "git clean -fdXq"), "after rollback"},
		"nested repositories go":        {after(`"0 rollback"`, "rm -rf nested"), "after rollback"},
		"exact bytes are forgotten":     {after(`"0 rollback"`, `printf 'mixed\nends\n' >dir/b`), "after rollback"},
		"the repository is damaged":     {after(`"0 delete"`, "rm -r .git/objects/??"), ""},
	}
	for i, name := range slices.Sorted(maps.Keys(mutants)) {
		m := mutants[name]
		t.Run(name, func(t *testing.T) {
			if name != "none" {
				scripttest.OneIn(t, 12, i)
			}
			t.Parallel()
			o := Options{Program: mutant(t, m.script), Dir: t.TempDir(), Log: io.Discard}
			found, err := o.try(t.Context(), world("ordinary"), map[string]int{})
			if name == "the repository is damaged" {
				if err == nil && found == nil {
					t.Error("it is not seen")
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			switch {
			case m.says == "" && found != nil:
				t.Errorf("nothing is wrong, and it says %q", found.What)
			case m.says != "" && found == nil:
				t.Error("it is not seen")
			case m.says != "" && !strings.HasPrefix(found.What, m.says):
				t.Errorf("it says %q, not %q", found.What, m.says)
			}
		})
	}
}

// In long walks an undo is noticed that does not bring back the files, and one that touches
// ignored files.
func TestWalksAreWatched(t *testing.T) {
	for fault, says := range map[string]string{"echo x >>a": "after undo 2", "echo x >>keep.ig": "undo changed ignored files"} {
		o := Options{Program: mutant(t, after(`"0 undo"`, fault)), Dir: t.TempDir(), Log: io.Discard}
		cs := world("walks")
		cs.Setup = append(cs.Setup, "git worktree add -q ../linked -b other")
		cs.Ops = []Op{
			{Verb: "create", Tree: "repo", Slot: 1}, {Verb: "sh", Tree: "repo", Line: put("a", `two\n`)},
			{Verb: "rollback", Tree: "repo", Slot: 1}, {Verb: "sh", Tree: "repo", Line: put("a", `three\n`)}, {Verb: "rollback", Tree: "repo", Slot: 1}, {Verb: "undo", Tree: "repo", Args: []string{"2"}},
		}
		found, err := o.try(t.Context(), cs, map[string]int{})
		if err != nil || found == nil || !strings.HasPrefix(found.What, says) {
			t.Errorf("%s: %v, %v", fault, found, err)
		}
	}
}

// A finding is reduced to the operations that it needs: here a put of b after a create.
func TestShrink(t *testing.T) {
	cs := &Case{Kind: "ordinary", Setup: []string{"git init -q repo", "put a x", "put b x", "git commit -qm one"}}
	for i := range 40 {
		cs.Ops = append(cs.Ops, Op{Verb: "sh", Line: fmt.Sprint("noise ", i)})
	}
	cs.Ops[11], cs.Ops[23] = Op{Verb: "create"}, Op{Verb: "sh", Line: "put b y"}
	try := func(c *Case) *Finding {
		created := false
		for i, op := range c.Ops {
			created = created || op.Verb == "create"
			if created && op.Line == "put b y" && slices.Contains(c.Setup, "put b x") {
				return &Finding{Case: c, Step: i, What: "b is wrong"}
			}
		}
		return nil
	}
	got := shrink(try(cs), try)
	if len(got.Case.Ops) != 2 || len(got.Case.Setup) != 3 {
		t.Errorf("left are %q and %v", got.Case.Setup, got.Case.Ops)
	}
}

// The script of a finding does what the case did: here a rollback that brings a file
// back.
func TestScript(t *testing.T) {
	t.Parallel()
	f := &Finding{What: "one\ntwo", Step: 3, Case: &Case{
		Kind: "ordinary", Seed: 3, Setup: []string{"git init -q repo", "cd repo", put("a", `first\n`), "git add -A", "git commit -qm one"},
		Ops: []Op{
			{Verb: "create", Slot: 1, Tree: "repo"},
			{Verb: "sh", Line: put("it's", `%%\n`), Tree: "repo"},
			{Verb: "sh", Line: "rm a", Tree: "repo"},
			{Verb: "rollback", Slot: 1, Tree: "repo"},
			{Verb: "sh", Line: "rm -rf .", Tree: "repo"}, // after the finding
		},
	}}
	text := f.Script()
	if !strings.HasSuffix(text, "# one\n# two\n") {
		t.Errorf("the finding is not its last comment:\n%s", text)
	}
	cmd := exec.CommandContext(t.Context(), "sh", "-c", text+"cat a; ls -A")
	cmd.Env = append(os.Environ(), "PATH="+filepath.Dir(program)+string(os.PathListSeparator)+os.Getenv("PATH"), "TMPDIR="+t.TempDir())
	out, err := cmd.Output()
	if err != nil || !strings.HasSuffix(string(out), "first\n.git\na\n") {
		t.Errorf("%v\n%s", err, out)
	}
}
