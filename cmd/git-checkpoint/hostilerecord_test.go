package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"git-checkpoint/internal/format/record"
)

// hostileRecords are changes of a record that leave it well-formed JSON, with a right checksum.
func hostileRecords() map[string]func(map[string]any) {
	output := func(name string) func(map[string]any) {
		return func(r map[string]any) {
			r["outputs"] = map[string]any{name: r["outputs"].(map[string]any)["spec"]}
		}
	}
	all := map[string]func(map[string]any){
		"iteration":       func(r map[string]any) { r["iteration"] = "../x" },
		"state is a list": func(r map[string]any) { r["state"] = []any{1, 2} },
		"state is a word": func(r map[string]any) { r["state"] = "x" },
		"output is nothing": func(r map[string]any) {
			r["outputs"] = map[string]any{"spec": map[string]any{"path": "outputs/spec", "oid": nil}}
		},
		"output is not here": func(r map[string]any) {
			r["outputs"] = map[string]any{"spec": map[string]any{"path": "outputs/spec", "oid": strings.Repeat("12", 20)}}
		},
		"output of the other format": func(r map[string]any) {
			r["outputs"] = map[string]any{"spec": map[string]any{"path": "outputs/spec", "oid": strings.Repeat("12", 32)}}
		},
		"output is a tree": func(r map[string]any) {
			r["outputs"] = map[string]any{"spec": map[string]any{"path": "outputs/spec", "oid": r["snapshot"].(map[string]any)["tree"]}}
		},
		"small, and large when indented": func(r map[string]any) { r["state"] = map[string]any{"x": make([]int, 7_000_000)} },
		"small, and large when escaped":  func(r map[string]any) { r["status"] = strings.Repeat("\u0085", 9_000_000) },
		"nearly as large as the limit":   func(r map[string]any) { r["state"] = map[string]any{"x": strings.Repeat("x", record.MaxSize-3000)} },
		"large as a status":              func(r map[string]any) { r["status"] = strings.Repeat("\r", 20_000_000) },
	}
	for _, name := range []string{"..", ".", "", "a/b", ".git", ".GIT", "git~1", "-x", "a\nb", "../../x"} {
		all["output "+name] = output(name)
	}
	return all
}

// Whatever the current checkpoint's record says: the user's own files can be saved, and a rollback
// from it can be undone and redone.
func TestHostileCurrentRecord(t *testing.T) {
	w := newWorld(t)
	for _, name := range []string{"one", "two"} {
		w.write("file", name)
		w.run("git", "checkpoint", "create", "-q", "--name", name, "--set", "phase="+name, "--output", "spec=file")
	}
	refs := w.run("git", "for-each-ref", "--format=update %(refname) %(objectname)")
	good := w.run("git", "cat-file", "blob", "refs/tags/checkpoint/main/step-2^1:checkpoint.json")
	for what, change := range hostileRecords() {
		if testing.Short() && !slices.Contains([]string{"output ..", "output is a tree", "state is a list"}, what) {
			continue
		}
		t.Run(what, func(t *testing.T) {
			w := &world{t: t, dir: w.dir, env: w.env}
			for _, ref := range strings.Fields(w.run("git", "for-each-ref", "--format=%(refname)", "refs/checkpoints", "refs/tags")) {
				w.run("git", "update-ref", "-d", ref)
			}
			w.pipe(refs, "git", "update-ref", "--stdin")
			w.forgeSealed(good, change)
			if _, code := w.try("git", "checkpoint", "validate"); code != 5 && !strings.HasPrefix(what, "state is") && what != "nearly as large as the limit" && what != "large as a status" && what != "output is a tree" {
				t.Errorf("validate: exit code %d, not 5", code)
			}
			step := func(want string, args ...string) {
				t.Helper()
				if out, code := w.try(append([]string{"git", "checkpoint"}, args...)...); code != 0 {
					t.Errorf("%s: exit code %d\n%s", args, code, out[:min(len(out), 2000)])
				}
				if got, err := os.ReadFile(filepath.Join(w.dir, "file")); err != nil || string(got) != want {
					t.Errorf("after %s, the file has %q: %v", args, got, err)
				}
			}
			w.write("file", "mine")
			step("one", "rollback", "1", "-y")
			step("mine", "undo", "-y")
			step("one", "redo", "-y")
			step("mine", "undo", "-y")
			if what != "nearly as large as the limit" && what != "large as a status" { // this is the user's own limit
				step("mine", "save", "kept")
				step("one", "rollback", "1", "-y")
				step("mine", "undo", "-y")
				step("mine", "resume", "--json")
			}
			step("one", "rollback", "1", "-y")
			step("one", "save", "again", "--always")
		})
	}
}

// forgeSealed puts a changed record into checkpoint 2, with the right checksum everywhere. shell may
// change $M, the record's tree.
func (w *world) forgeSealed(good string, change func(map[string]any), shell ...string) {
	w.t.Helper()
	var tree map[string]any
	if err := json.Unmarshal([]byte(good), &tree); err != nil {
		w.t.Fatal(err)
	}
	was, _ := tree["checksum"].(string)
	change(tree)
	encode := func() []byte {
		data, err := json.Marshal(tree)
		if err != nil {
			w.t.Fatal(err)
		}
		return data
	}
	sum, err := record.Checksum(encode())
	if err != nil {
		w.t.Fatal(err)
	}
	tree["checksum"] = sum
	w.env = append(w.env[:len(w.env):len(w.env)], "FORGING="+strings.Join(shell, "\n"))
	w.forge(string(encode()), "-e", "s/"+was+"/"+sum+"/")
}

// Neither a fetch nor a bundle takes a record that this program would not write, and what was taken
// besides is no trap: save, rollback and undo work there.
func TestHostileRecordIsNotTaken(t *testing.T) {
	w := newWorld(t)
	for _, name := range []string{"one", "two"} {
		w.write("file", name)
		w.run("git", "checkpoint", "create", "-q", "--name", name, "--output", "spec=file")
	}
	good := w.run("git", "cat-file", "blob", "refs/tags/checkpoint/main/step-2^1:checkpoint.json")
	w.forgeSealed(good, hostileRecords()["output .."])
	forged := strings.TrimSpace(w.run("git", "rev-parse", "refs/tags/checkpoint/main/step-2"))
	w.run("git", "bundle", "create", "-q", "../forged.bundle", "--glob=refs/checkpoints/*")
	for what, args := range map[string][]string{"fetch": {"fetch", w.dir}, "bundle": {"import", "../forged.bundle"}} {
		t.Run(what, func(t *testing.T) {
			w := &world{t: t, dir: filepath.Join(filepath.Dir(w.dir), what), env: w.env}
			if err := os.Mkdir(w.dir, 0o777); err != nil {
				t.Fatal(err)
			}
			w.run("git", "init", "-q", "-b", "main")
			w.write("file", "mine")
			out, code := w.try(append([]string{"git", "checkpoint"}, args...)...)
			if code == 0 || !strings.Contains(out, "invalid output name") {
				t.Errorf("exit code %d: %s", code, out)
			}
			if refs := w.run("git", "for-each-ref"); strings.Contains(refs, forged) {
				t.Errorf("it was taken: %s", refs)
			}
			w.run("git", "checkpoint", "save", "--session", "main", "kept")
			w.write("more", "to take back")
			w.run("git", "checkpoint", "rollback", "1", "-y")
			w.run("git", "checkpoint", "undo", "-y")
			if got, err := os.ReadFile(filepath.Join(w.dir, "file")); err != nil || string(got) != "mine" {
				t.Errorf("the file has %q: %v", got, err)
			}
		})
	}
}

// A checkpoint that an earlier version made with an inherited output of a name that is refused now is listed, no trap for an
// undo, and comes back by a rebuild.
func TestRebuildRefusedOutput(t *testing.T) {
	for name, outputs := range map[string]string{
		"-x":  `$(git ls-tree "$M:outputs" | sed s/spec/-x/ | git mktree)`,
		"a/b": `$(printf '040000 tree %s\ta\n' $(git ls-tree "$M:outputs" | sed s/spec/b/ | git mktree) | git mktree)`,
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			for _, name := range []string{"one", "two"} {
				w.write("file", name)
				w.run("git", "checkpoint", "create", "-q", "--name", name, "--output", "spec=file")
			}
			good := w.run("git", "cat-file", "blob", "refs/tags/checkpoint/main/step-2^1:checkpoint.json")
			w.forgeSealed(good, func(r map[string]any) {
				hostileRecords()["output "+name](r)
				r["outputs"].(map[string]any)[name].(map[string]any)["path"] = "outputs/" + name
			}, `M=$(git ls-tree "$M" | sed "s/ [0-9a-f]*	outputs$/ `+outputs+`	outputs/" | git mktree)`)
			w.write("file", "mine")
			for _, args := range [][]string{{"list"}, {"rollback", "1", "-y"}, {"undo", "-y"}, {"redo", "-y"}, {"undo", "-y"}} {
				if out, code := w.try(append([]string{"git", "checkpoint"}, args...)...); code != 0 {
					t.Errorf("%s: exit code %d: %s", args, code, out)
				}
			}
			for _, args := range [][]string{{"show", "2"}, {"rollback", "2", "-y"}} {
				if out, code := w.try(append([]string{"git", "checkpoint"}, args...)...); code != 5 || !strings.Contains(out, "rebuild") {
					t.Fatalf("%s: exit code %d: %s", args, code, out)
				}
			}
			if out, _ := w.try("git", "checkpoint", "rebuild", "2"); !strings.Contains(out, "rebuilt as") {
				t.Fatalf("rebuild: %s", out)
			}
			w.write("file", "three")
			w.run("git", "checkpoint", "rollback", "2", "-y")
			if got, err := os.ReadFile(filepath.Join(w.dir, "file")); err != nil || string(got) != "two" {
				t.Errorf("the file has %q: %v", got, err)
			}
		})
	}
}
