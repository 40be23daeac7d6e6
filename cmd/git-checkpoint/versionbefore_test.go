package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"git-checkpoint/internal/test/scripttest"
)

// before is the commit of the version before this one: the newest one whose checkpoints have subjects and events
// as they were before numbers and messages became what people see.
const before = "6782950a48791e663f9b0c7f757b1487e11d76ec"

// Two people work over one bare repository, one with the version before this one. Each fetches, lists, shows,
// validates and rolls back what the other wrote, byte for byte, adds to it and pushes that back.
func TestVersionBefore(t *testing.T) {
	scripttest.Long(t)
	older := filepath.Dir(buildBefore(t))
	for _, c := range []struct{ name, writer, reader string }{{"older writes", older, ""}, {"newer writes", "", older}} {
		t.Run(c.name, func(t *testing.T) {
			bare := filepath.Join(t.TempDir(), "bare.git")
			writer := clone(t, bare, c.writer)
			saved := writer.work()
			writer.run("git", "push", "-q", "origin", "main")
			writer.run("git", "checkpoint", "push", "-y")

			reader := clone(t, bare, c.reader)
			reader.run("git", "checkpoint", "fetch")
			reader.reads(writer, saved)
			reader.write("from the other", "added\n")
			next := reader.highest() + 1
			answer := reader.run("git", "checkpoint", "save", "from the other", "--json")
			if got := gjson.Get(answer, "step").Int(); got != next || gjson.Get(answer, "session").String() != "main" {
				t.Errorf("not step %d of main: %s", next, answer)
			}
			saved["from the other"] = reader.look()
			reader.run("git", "checkpoint", "push", "-y")

			writer.run("git", "checkpoint", "fetch")
			writer.reads(reader, saved)
		})
	}
}

// buildBefore builds the version before this one out of this clone and returns the program.
func buildBefore(t *testing.T) string {
	t.Helper()
	missing := func(what string, err error, out []byte) {
		if err != nil {
			t.Skipf("*** NOT TESTED: the version before this one, because %s: %v\n%s***", what, err, out)
		}
	}
	dir := filepath.Join(t.TempDir(), "source")
	run := func(name string, args ...string) ([]byte, error) {
		cmd := exec.Command(name, args...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "GIT_INDEX_FILE="+dir+".index", "GOFLAGS=-trimpath -buildvcs=false", "CGO_ENABLED=0")
		return cmd.CombinedOutput()
	}
	if err := os.Mkdir(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	out, err := run("git", "-C", here, "read-tree", before)
	missing("its commit "+before+" is not in this clone", err, out)
	out, err = run("git", "-C", filepath.Join(here, "..", ".."), "checkout-index", "-a", "--prefix="+dir+"/")
	missing("its files are not in this clone", err, out)
	out, err = run("go", "list", "-deps", "./cmd/git-checkpoint")
	missing("its modules cannot be had", err, out)
	program := filepath.Join(dir, "bin", "git-checkpoint")
	if out, err := run("go", "build", "-o", program, "./cmd/git-checkpoint"); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return program
}

// clone makes a repository with a commit in it, or with what bare has. The first one makes bare, too. Commands run
// the program in the directory programs, or this one where that is empty.
func clone(t *testing.T, bare, programs string) *world {
	t.Helper()
	w := newWorld(t)
	if programs != "" {
		w.env = append(w.env, "PATH="+programs+string(filepath.ListSeparator)+os.Getenv("PATH"))
	}
	w.run("git", "remote", "add", "origin", bare)
	w.run("git", "config", "checkpoint.agent.claude.enabled", "true")
	if _, err := os.Stat(bare); err == nil {
		w.run("git", "fetch", "-q", "origin")
		w.run("git", "reset", "-q", "--hard", "origin/main")
		return w
	}
	w.run("git", "init", "-q", "--bare", bare)
	w.write("a", "a\n")
	w.write("dir/b c", "one\r\ntwo")
	w.write("bytes", "\x00\xff\x1b\n")
	w.run("git", "add", ".")
	w.run("git", "commit", "-qm", "start")
	return w
}

// work does what somebody does in a day and returns the files of each checkpoint, by the first line of its message.
func (w *world) work() map[string]string {
	w.t.Helper()
	saved := map[string]string{}
	save := func(message string) {
		w.t.Helper()
		w.run("git", "checkpoint", "save", message)
		first, _, _ := strings.Cut(message, "\n")
		saved[first] = w.look()
	}
	save("first")
	w.write("a", "a\nmore\n")
	w.write("un tracked", "here\n")
	save("more of it\n\nwhy: ünïcode, and a second paragraph\n\nStep: 9")
	w.write("bytes", "\x00\x01")
	w.run("git", "add", "bytes")
	save("staged")
	w.run("git", "checkpoint", "rollback", "-y", "1")
	w.write("dir/b c", "another way\n")
	save("second try")
	w.run("git", "checkpoint", "undo", "-y")
	w.run("git", "checkpoint", "redo", "-y")
	w.run("git", "checkpoint", "restore", "-y", w.ids("main")["more of it"], "--", "un tracked")
	w.write("a", "third\n")
	save("after a restore")

	w.run("git", "checkpoint", "fork", "--name", "attempt", "--", "sh", "-c", "echo tried >tried && git checkpoint save -q 'an attempt'")

	hook := func(event, payload string) {
		w.t.Helper()
		w.pipe(`{"session_id":"s1","hook_event_name":"`+event+`",`+payload+`}`, "git", "checkpoint", "hook", "claude", event)
	}
	hook("SessionStart", `"source":"startup"`)
	hook("UserPromptSubmit", `"prompt":"make hello"`)
	w.write("hello", "hello\n")
	hook("PostToolUse", `"tool_name":"Write","tool_input":{"file_path":"hello","content":"hello\n"}`)
	hook("Stop", `"last_assistant_message":"Done."`)
	saved["make hello"] = w.look()
	w.run("git", "checkpoint", "session", "switch", "main")
	return saved
}

// sessions are the names of all sessions.
func (w *world) sessions() (names []string) {
	w.t.Helper()
	for line := range strings.Lines(w.run("git", "checkpoint", "session", "list", "--all", "--json")) {
		names = append(names, gjson.Get(line, "session").String())
	}
	return names
}

// ids are those of the checkpoints of a session with a message, by message.
func (w *world) ids(session string) map[string]string {
	w.t.Helper()
	found := map[string]string{}
	for line := range strings.Lines(w.run("git", "checkpoint", "list", "--json", "--session", session)) {
		found[gjson.Get(line, "message").String()] = gjson.Get(line, "id").String()
	}
	return found
}

// highest is the highest number in the session main.
func (w *world) highest() (highest int64) {
	w.t.Helper()
	for line := range strings.Lines(w.run("git", "checkpoint", "list", "--json", "--session", "main")) {
		highest = max(highest, gjson.Get(line, "step").Int())
	}
	return highest
}

// facts are what commands that read say of all sessions, without what depends on the clone: each stands on what it made.
func (w *world) facts() string {
	w.t.Helper()
	var b bytes.Buffer
	for _, session := range w.sessions() {
		for line := range strings.Lines(w.run("git", "checkpoint", "list", "--json", "--session", session)) {
			for _, member := range []string{"id", "step", "label", "milestone", "trigger", "discarded", "message", "commit"} {
				fmt.Fprintf(&b, "%s ", gjson.Get(line, member).Raw)
			}
			shown := w.run("git", "checkpoint", "show", session+":"+gjson.Get(line, "id").String(), "--json")
			fmt.Fprintf(&b, "%s %s\n", gjson.Get(shown, "files").Raw, gjson.Get(shown, "state").Raw)
		}
	}
	return b.String()
}

// reads checks that all checkpoints are whole here and are what the other clone says they are, that a rollback to
// each brings back the files that were saved, and that an undo takes that back.
func (w *world) reads(other *world, saved map[string]string) {
	w.t.Helper()
	w.run("git", "checkpoint", "validate", "--all", "--deep")
	w.run("git", "checkpoint", "history")
	// Each version has its own rule for which steps get a tag; a tag that both have is the same.
	tags := func(w *world) map[string]string {
		of := map[string]string{}
		for line := range strings.Lines(w.run("git", "for-each-ref", "--format=%(refname) %(objectname)", "refs/tags")) {
			ref, oid, _ := strings.Cut(strings.TrimSpace(line), " ")
			of[ref] = oid
		}
		return of
	}
	theirs := tags(other)
	for ref, oid := range tags(w) {
		if was, both := theirs[ref]; both && was != oid {
			w.t.Errorf("%s is %s, and %s where it was made", ref, oid, was)
		}
	}
	if got, want := w.facts(), other.facts(); got != want {
		w.t.Errorf("read was:\n%s\nnot\n%s", got, want)
	}
	found := map[string]string{}
	for _, session := range w.sessions() {
		for message, id := range w.ids(session) {
			if found[message] == "" { // an attempt begins with a copy
				found[message] = session + ":" + id
			}
		}
	}
	here := w.look()
	for message, files := range saved {
		if found[message] == "" {
			w.t.Errorf("no checkpoint %q in %q", message, found)
			continue
		}
		done := w.run("git", "checkpoint", "rollback", "-y", "--json", found[message])
		if got := w.look(); got != files {
			w.t.Errorf("%q came back as\n%s\nnot\n%s", message, got, files)
		}
		if gjson.Get(done, "safety").String() == "" {
			continue // there was nothing to do, and so there is nothing to undo
		}
		w.run("git", "checkpoint", "undo", "-y")
		if got := w.look(); got != here {
			w.t.Errorf("an undo of a rollback to %q brought back\n%s\nnot\n%s", message, got, here)
		}
	}
}
