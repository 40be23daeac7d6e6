package agent

import (
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tailscale/hujson"
)

const bom = "\ufeff"

// settingsFiles are files as people have them.
func settingsFiles() map[string]string {
	foreign := `{"matcher":"Bash","hooks":[{"type":"command","command":"./check.sh"}]}`
	return map[string]string{
		"empty object":         "{}",
		"empty object, line":   "{}\n",
		"empty object, open":   "{\n}\n",
		"empty object, spaces": "{ }",
		"one member":           "{\n  \"model\": \"opus\"\n}\n",
		"no final newline":     "{\n  \"model\": \"opus\"\n}",
		"tabs":                 "{\n\t\"model\": \"opus\",\n\t\"env\": {\n\t\t\"A\": \"1\"\n\t}\n}\n",
		"four spaces":          "{\n    \"model\": \"opus\"\n}\n",
		"crlf":                 "{\r\n  \"model\": \"opus\"\r\n}\r\n",
		"crlf, hooks":          "{\r\n  \"hooks\": {\r\n    \"Stop\": [\r\n    ]\r\n  }\r\n}\r\n",
		"byte order mark":      bom + "{\n  \"model\": \"opus\"\n}\n",
		"one line":             `{"model":"opus","hooks":{}}`,
		"one line, spaces":     `{ "model": "opus", "hooks": { "Stop": [ ] } }` + "\n",
		"minified hooks":       `{"hooks":{"Stop":[` + foreign + `]},"z":1}`,
		"foreign hooks":        "{\n  \"hooks\": {\n    \"Stop\": [\n      " + foreign + "\n    ],\n    \"Notification\": []\n  },\n  \"z\": [1, 2]\n}\n",
		"same events":          "{\n  \"hooks\": {\n    \"SessionStart\": [" + foreign + "],\n    \"BeforeAgent\": [\n      " + foreign + "\n    ],\n    \"UserPromptSubmit\": [" + foreign + "]\n  }\n}\n",
		"comments":             "// mine\n{\n  // the model\n  \"model\": \"opus\", /* good */\n  \"hooks\": {\n    // none yet\n  }\n}\n// end\n",
		"comment last":         "{\n  \"model\": \"opus\" // the best\n}\n",
		"trailing comma":       "{\n  \"model\": \"opus\",\n  \"hooks\": {\n    \"Stop\": [\n      " + foreign + ",\n    ],\n  },\n}\n",
		"odd indentation":      "{\n \"a\": 1,\n      \"b\": {\n   \"c\": 2}}\n",
		"blank lines":          "\n\n{\n\n  \"a\": 1\n\n}\n\n\n",
		"unicode":              "{\n  \"näme\": \"日本語 🙂\",\n  \"e\": \"\\u00e9\\/\"\n}\n",
		"duplicate values":     "{\n  \"hooks\": {\"PreToolUse\": [" + foreign + ", " + foreign + "]}\n}\n",
		"numbers":              "{\n  \"big\": 9007199254740993,\n  \"e\": 1e400\n}\n",
		"deep":                 "{\"a\":" + strings.Repeat("[", 50) + strings.Repeat("]", 50) + "}\n",
		"hooks first":          "{\n  \"hooks\": {\n    \"PreToolUse\": []\n  },\n  \"model\": \"opus\"\n}\n",
		"mcp there":            "{\n  \"mcpServers\": {\n    \"db\": {\"command\": \"db\"}\n  }\n}\n",
		"mcp empty":            "{\n  \"mcpServers\": {},\n  \"hooks\": {}\n}\n",
		"empty file":           "",
		"white space":          "\n  \n",
		"tab, one line":        "{\t\"a\":\t1\t}",
		"escaped name":         "{\n  \"ho\\u006fks\": {}\n}\n",
	}
}

// The members of a new file have an order, so that two people who add hooks get the same file.
func TestOrderOfRoot(t *testing.T) {
	d, err := Find("copilot")
	if err != nil {
		t.Fatal(err)
	}
	own := *d
	own.Hooks.Own, own.Hooks.Root = false, map[string]any{"version": 1, "b": 2, "a": 3, "d": 4, "c": 5}
	place := Place{Worktree: t.TempDir(), Home: t.TempDir(), Scope: ScopeProject}
	changes, err := own.Add(place, Wanted{})
	if err != nil || len(changes) != 1 {
		t.Fatalf("%+v %v", changes, err)
	}
	for range 20 {
		again, err := own.Add(place, Wanted{})
		if err != nil || !bytes.Equal(again[0].After, changes[0].After) {
			t.Fatalf("%v\n%s\n%s", err, again[0].After, changes[0].After)
		}
	}
}

// Adding and then removing restores every byte, and a second add recognises what the first
// one added.
func TestAddRemove(t *testing.T) {
	for _, agent := range []string{"claude", "codex", "gemini", "cursor", "qwen", "droid"} {
		for name, content := range settingsFiles() {
			t.Run(agent+"/"+name, func(t *testing.T) {
				d, place := worktree(t, agent)
				file := filepath.Join(place.Worktree, d.Hooks.Files[ScopeProject])
				write(t, file, content, 0o600)
				receipt := addAll(t, d, place)
				added := readFile(t, file)
				if again := addAll(t, d, place); len(again) != 0 {
					t.Errorf("a second add wrote %v:\n%s", again, readFile(t, file))
				}
				checkKept(t, content, added, d)
				removeAll(t, d, place, receipt)
				if got := readFile(t, file); got != content {
					t.Errorf("after add and remove\n%q\nbefore\n%q\nadded\n%s", got, content, added)
				}
				if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
					t.Errorf("mode %v, %v", info.Mode(), err)
				}
			})
		}
	}
}

// checkKept compares the file with our hooks to the one before: it is valid, it has all
// members that were there, and it has ours.
func checkKept(t *testing.T, before, after string, d *Definition) {
	t.Helper()
	parse := func(s string) map[string]any {
		value := map[string]any{}
		if strings.TrimSpace(s) == "" {
			return value
		}
		standard, err := hujson.Standardize([]byte(strings.TrimPrefix(s, bom)))
		if err == nil {
			decoder := json.NewDecoder(bytes.NewReader(standard))
			decoder.UseNumber()
			err = decoder.Decode(&value)
		}
		if err != nil {
			t.Fatalf("%v in\n%s", err, s)
		}
		return value
	}
	was, is := parse(before), parse(after)
	for key := range was {
		if _, kept := is[key]; !kept {
			t.Errorf("%s is gone from\n%s", key, after)
		}
	}
	for _, h := range d.Hooks.Events {
		if strings.Count(after, " "+d.Name+" "+h.Event+"; ") != 1 {
			t.Errorf("%s is not there once:\n%s", h.Event, after)
		}
	}
}

// A missing file is created, and is removed again with its directory.
func TestAddMakesFiles(t *testing.T) {
	for _, name := range Names() {
		if name == "generic" {
			continue
		}
		t.Run(name, func(t *testing.T) {
			d, place := worktree(t, name)
			receipt := addAll(t, d, place)
			made := tree(t, place.Worktree)
			if len(made) == 0 {
				t.Fatal("nothing was made")
			}
			removeAll(t, d, place, receipt)
			if left := tree(t, place.Worktree); len(left) != 0 {
				t.Errorf("left behind: %v of %v", left, made)
			}
		})
	}
}

// Edits between add and remove stay, and our entries are removed all the same.
func TestRemoveAfterEdits(t *testing.T) {
	d, place := worktree(t, "claude")
	file := filepath.Join(place.Worktree, d.Hooks.Files[ScopeProject])
	write(t, file, "{\n  \"model\": \"opus\"\n}\n", 0o644)
	receipt := addAll(t, d, place)
	edited := strings.Replace(readFile(t, file), "opus", "sonnet", 1)
	edited = strings.Replace(edited, "\"Stop\": [", "\"Stop\": [\n      {\"hooks\": [{\"type\": \"command\", \"command\": \"mine\"}]},", 1)
	write(t, file, edited, 0o644)
	removeAll(t, d, place, receipt)
	got := readFile(t, file)
	if strings.Contains(got, "git-checkpoint") || !strings.Contains(got, "mine") || !strings.Contains(got, "sonnet") {
		t.Errorf("after the removal:\n%s", got)
	}
	if _, err := hujson.Parse([]byte(got)); err != nil {
		t.Error(err)
	}
}

// An entry of ours that somebody changed is reported and stays.
func TestRemoveLeavesChanged(t *testing.T) {
	d, place := worktree(t, "codex")
	file := filepath.Join(place.Worktree, d.Hooks.Files[ScopeProject])
	receipt := addAll(t, d, place)
	write(t, file, strings.Replace(readFile(t, file), "\"timeout\": 30", "\"timeout\": 99", 1), 0o644)
	left := removeAll(t, d, place, receipt)
	got := readFile(t, file)
	if strings.Count(got, " hook codex ") != 1 || !strings.Contains(got, "99") {
		t.Errorf("after the removal:\n%s", got)
	}
	if len(left) != 1 || !strings.Contains(left[0], "Stop") {
		t.Errorf("named: %q", left)
	}
}

// A removal in a clone, which has no receipt, takes the entries out as well.
func TestRemoveWithoutReceipt(t *testing.T) {
	for name, content := range settingsFiles() {
		d, place := worktree(t, "claude")
		file := filepath.Join(place.Worktree, d.Hooks.Files[ScopeProject])
		write(t, file, content, 0o644)
		addAll(t, d, place)
		removeAll(t, d, place, nil)
		got := readFile(t, file)
		if strings.Contains(got, "git-checkpoint") {
			t.Errorf("%s: still there:\n%s", name, got)
		}
		if _, err := ParseSettings([]byte(got)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A file that cannot be edited is refused with what to paste, and stays.
func TestAddRefuses(t *testing.T) {
	for _, content := range []string{"{", "[]", "null", "{\"hooks\": []}", "{\"hooks\": {\"Stop\": {}}}", "{\"a\": 1} {}", "\x00", "{\"hooks\": 5}"} {
		d, place := worktree(t, "claude")
		file := filepath.Join(place.Worktree, d.Hooks.Files[ScopeProject])
		write(t, file, content, 0o644)
		_, err := d.Add(place, Wanted{})
		var unreadable *UnreadableError
		if !errors.As(err, &unreadable) || !strings.Contains(unreadable.Snippet, " hook claude Stop; ") {
			t.Errorf("%q: %v", content, err)
		}
		if got := readFile(t, file); got != content {
			t.Errorf("%q became %q", content, got)
		}
	}
}

// In the user's own settings a link stays a link, and its target is edited.
func TestAddFollowsLinks(t *testing.T) {
	d, place := worktree(t, "claude")
	place.Home, place.Scope = t.TempDir(), ScopeUser
	target := filepath.Join(t.TempDir(), "shared.json")
	write(t, target, "{}\n", 0o644)
	file := filepath.Join(place.Home, strings.TrimPrefix(d.Hooks.Files[ScopeUser], "~/"))
	if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(target, file); err != nil {
		t.Fatal(err)
	}
	receipt := addAll(t, d, place)
	if info, err := os.Lstat(file); err != nil || info.Mode()&fs.ModeSymlink == 0 {
		t.Errorf("%v, %v", info, err)
	}
	if !strings.Contains(readFile(t, target), "hook claude Stop") {
		t.Error("the target was not edited")
	}
	removeAll(t, d, place, receipt)
	if got := readFile(t, target); got != "{}\n" {
		t.Errorf("%q", got)
	}
}

// A file that was edited between plan and apply is not overwritten.
func TestApplyRefusesEdited(t *testing.T) {
	d, place := worktree(t, "claude")
	file := filepath.Join(place.Worktree, d.Hooks.Files[ScopeProject])
	write(t, file, "{}\n", 0o644)
	changes, err := d.Add(place, Wanted{})
	if err != nil {
		t.Fatal(err)
	}
	write(t, file, "{\"a\":1}\n", 0o644)
	if err := changes[0].Apply(Receipt{}); !errors.Is(err, ErrEdited) {
		t.Errorf("%v", err)
	}
	if got := readFile(t, file); got != "{\"a\":1}\n" {
		t.Errorf("%q", got)
	}
}

// The MCP server of Codex is added to a TOML file and removed from it.
func TestServerBlock(t *testing.T) {
	for _, content := range []string{"", "model = \"x\"\n", "model = \"x\"", "[mcp_servers.db]\ncommand = \"db\"\n"} {
		d, place := worktree(t, "codex")
		file := filepath.Join(place.Worktree, d.Server.Files[ScopeProject])
		write(t, file, content, 0o644)
		receipt := addAll(t, d, place)
		if !strings.Contains(readFile(t, file), "[mcp_servers.checkpoint]") {
			t.Errorf("%q: not added", content)
		}
		removeAll(t, d, place, receipt)
		if got := readFile(t, file); got != content {
			t.Errorf("%q became %q", content, got)
		}
	}
}

func worktree(t *testing.T, agent string) (*Definition, Place) {
	t.Helper()
	d, err := Find(agent)
	if err != nil {
		t.Fatal(err)
	}
	return d, Place{Worktree: t.TempDir(), Home: t.TempDir(), Scope: ScopeProject}
}

func addAll(t *testing.T, d *Definition, place Place) Receipt {
	t.Helper()
	receipt := Receipt{}
	changes, err := d.Add(place, Wanted{Server: true, Pages: true})
	if left := apply(t, changes, err, receipt); len(left) > 0 {
		t.Errorf("%s, in which nobody changed a hook, has %q", d.Name, left)
	}
	data, err := json.Marshal(receipt) // as it is kept
	if err == nil {
		receipt = Receipt{}
		err = json.Unmarshal(data, &receipt)
	}
	if err != nil {
		t.Fatal(err)
	}
	return receipt
}

func removeAll(t *testing.T, d *Definition, place Place, receipt Receipt) []string {
	t.Helper()
	changes, err := d.Remove(place, receipt, false)
	if receipt == nil {
		receipt = Receipt{}
	}
	return apply(t, changes, err, receipt)
}

func apply(t *testing.T, changes []Change, err error, receipt Receipt) (left []string) {
	t.Helper()
	for _, c := range changes {
		if err == nil {
			err = c.Apply(receipt)
		}
		left = append(left, c.Left...)
	}
	if err != nil {
		t.Fatal(err)
	}
	return left
}

func write(t *testing.T, name, content string, mode fs.FileMode) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(content), mode); err != nil {
		t.Fatal(err)
	}
}

func readFile(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func tree(t *testing.T, dir string) (names []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(name string, _ fs.DirEntry, err error) error {
		if name != dir {
			names = append(names, name)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return names
}
