package main

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/tidwall/gjson"

	"git-checkpoint/internal/format/record"
)

var writeFormat1 = flag.Bool("write-format1", false, "write the answers of format 1 anew")

// What testdata/format1/make.sh made once is read for ever: every checkpoint is whole,
// every answer has the members and values that it had then, and files come back.
func TestFormat1IsRead(t *testing.T) {
	fixture, err := filepath.Abs(filepath.Join("..", "..", "testdata", "format1"))
	if err != nil {
		t.Fatal(err)
	}
	w := newWorld(t)
	w.run("git", "fetch", "-q", filepath.Join(fixture, "format1.bundle"), "+refs/*:refs/*", "--update-head-ok")
	w.run("git", "reset", "-q", "--hard")
	w.run("git", "checkpoint", "validate", "--all", "--deep")
	w.run("git", "checkpoint", "rebuild", "--all", "--upgrade")
	w.run("git", "fsck", "--strict")

	got := w.answers()
	file := filepath.Join(fixture, "answers.jsonl")
	if *writeFormat1 {
		if err := os.WriteFile(file, []byte(strings.Join(got, "\n")+"\n"), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	want := strings.Split(strings.TrimSpace(string(data)), "\n")
	if len(got) != len(want) {
		t.Fatalf("%d answers, not %d", len(got), len(want))
	}
	for i, line := range want {
		if where := lacks(parsed(t, got[i]), parsed(t, line), ""); where != "" {
			t.Errorf("answer %d is another at %s:\n%s\nnot\n%s", i+1, where, got[i], line)
		}
	}

	w.run("git", "checkpoint", "rollback", "-q", "-y", "demo:2")
	for path, content := range map[string]string{
		"src/a.go": "package src\n\nfunc A() {}\n", "mixed.txt": "mixed\r\nends\n", "dos.txt": "one\r\n", "bad\xffname": "x\n", "spec.md": "spec\nof it\n",
	} {
		data, err := os.ReadFile(filepath.Join(w.dir, path))
		if err != nil || string(data) != content {
			t.Errorf("%q comes back as %q, %v", path, data, err)
		}
	}
	if info, err := os.Stat(filepath.Join(w.dir, "spec.md")); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("spec.md comes back as %v, %v", info, err)
	}
	if to, err := os.Readlink(filepath.Join(w.dir, "link")); err != nil || to != "spec.md" {
		t.Errorf("link comes back as %q, %v", to, err)
	}
	if status := w.run("git", "status", "--short", "src/a.go", "link"); status != " A link\nM  src/a.go\n" {
		t.Errorf("the index comes back as %q", status)
	}
}

// What an older version compares of a commit's message is written as the older version wrote it: everything but
// the subject, which no reader reads.
func TestFormat1MessagesStay(t *testing.T) {
	fixture, err := filepath.Abs(filepath.Join("..", "..", "testdata", "format1"))
	if err != nil {
		t.Fatal(err)
	}
	w := newWorld(t)
	w.run("git", "fetch", "-q", filepath.Join(fixture, "format1.bundle"), "+refs/*:refs/*", "--update-head-ok")
	unnamed := 0
	for ref := range strings.Lines(w.run("git", "for-each-ref", "--format=%(refname)", "refs/checkpoints/*/cp-*")) {
		ref = strings.TrimSpace(ref)
		message := w.run("git", "log", "-1", "--format=%B", ref)
		parents := strings.Fields(w.run("git", "log", "-1", "--format=%P", ref))
		raw := w.run("git", "cat-file", "blob", parents[len(parents)-1]+":checkpoint.json")
		rec, err := record.Parse([]byte(raw))
		if err != nil {
			t.Fatal(err)
		}
		_, old, _ := strings.Cut(message, "\n")
		subject, now, _ := strings.Cut(record.Message(rec, json.RawMessage(gjson.GetBytes(rec.State, "metrics").Raw)), "\n")
		if strings.TrimSpace(old) != strings.TrimSpace(now) {
			t.Errorf("%s:\n%s\nnow:\n%s", ref, old, now)
		}
		if rec.StepName == "" {
			unnamed++
			if !strings.HasPrefix(subject, strconv.Itoa(rec.Step)) {
				t.Errorf("%s: %q", ref, subject)
			}
		}
	}
	if unnamed == 0 {
		t.Error("each step has a name")
	}
}

// answers are what the commands that read say of the repository.
func (w *world) answers() (lines []string) {
	w.t.Helper()
	ask := func(args ...string) string {
		w.t.Helper()
		out := strings.TrimSpace(w.run(append([]string{"git", "checkpoint"}, append(args, "--json")...)...))
		lines = append(lines, strings.Split(out, "\n")...)
		return out
	}
	for _, session := range []string{"demo", "other"} {
		ask("session", "show", session)
		ask("history", "--session", session)
		for line := range strings.Lines(ask("list", "--session", session)) {
			id, _ := parsed(w.t, line).(map[string]any)["id"].(string)
			ask("show", session+":"+id)
		}
	}
	ask("diff", "demo:1", "demo:latest")
	return lines
}

func parsed(t *testing.T, line string) (v any) {
	t.Helper()
	decoder := json.NewDecoder(strings.NewReader(line))
	decoder.UseNumber() // numbers keep their digits
	if err := decoder.Decode(&v); err != nil {
		t.Fatalf("%q: %v", line, err)
	}
	return v
}

// sameTime reports whether two texts are one moment: how many digits it is given is a
// matter of taste.
func sameTime(a, b any) bool {
	var at [2]time.Time
	for i, v := range []any{a, b} {
		text, _ := v.(string)
		var err error
		if at[i], err = time.Parse(time.RFC3339Nano, text); err != nil {
			return false
		}
	}
	return at[0].Equal(at[1])
}

// lacks names the first place where got has not what want has; more members are allowed.
func lacks(got, want any, at string) string {
	object, ok := want.(map[string]any)
	if !ok {
		if list, ok := want.([]any); ok {
			others, ok := got.([]any)
			if !ok || len(others) != len(list) {
				return at
			}
			for i := range list {
				if where := lacks(others[i], list[i], at+"[]"); where != "" {
					return where
				}
			}
			return ""
		}
		if reflect.DeepEqual(got, want) || sameTime(got, want) {
			return ""
		}
		return at
	}
	other, ok := got.(map[string]any)
	if !ok {
		return at
	}
	for member, value := range object {
		if where := lacks(other[member], value, at+"."+member); where != "" {
			return where
		}
	}
	return ""
}
