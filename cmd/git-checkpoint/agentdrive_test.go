package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/tidwall/gjson"

	"git-checkpoint/internal/core/agent"
)

// drive is a repository that an agent works in.
type drive struct {
	*world
	agent   driven
	program string
	model   *model
	asked   int // prompts
}

func newDrive(t *testing.T, a driven, dir, program string) *drive {
	m := serveModel(t, []modelTurn{
		{"make hello", []modelStep{{path: "{repo}/hello.txt", content: "hello\n"}, {text: "Made hello."}}},
		{"alter the greeting", []modelStep{{command: "echo changed >hello.txt"}, {text: "Changed it."}}},
		{"run the last one", []modelStep{{command: "echo last >last.txt"}, {text: "Ran the last."}}},
	})
	w := newWorld(t)
	// Some programs refuse a home below the directory of temporary files.
	home, temporary := filepath.Join(filepath.Dir(w.dir), "home"), filepath.Join(filepath.Dir(w.dir), "tmp")
	fill := strings.NewReplacer("{url}", m.URL, "{repo}", w.dir, "{home}", home)
	m.script[0].steps[0].path = fill.Replace(m.script[0].steps[0].path)
	w.env = []string{
		"PATH=" + filepath.Dir(program) + ":" + os.Getenv("PATH"), "HOME=" + home, "TMPDIR=" + temporary, "XDG_CONFIG_HOME=" + home + "/.config", "XDG_DATA_HOME=" + home + "/.local/share",
		"XDG_CACHE_HOME=" + home + "/.cache", "XDG_STATE_HOME=" + home + "/.local/state", "GIT_CONFIG_NOSYSTEM=1", "NO_COLOR=1", "LANG=C.UTF-8",
	}
	for _, pair := range a.environ {
		w.env = append(w.env, fill.Replace(pair))
	}
	for _, d := range []string{home, temporary} {
		if err := os.MkdirAll(d, 0o777); err != nil {
			t.Fatal(err)
		}
	}
	for name, text := range a.home {
		put(t, filepath.Join(home, name), fill.Replace(text))
	}
	for name, text := range a.work {
		w.write(name, text)
	}
	if a.packages != "" {
		pluginPackages(t, filepath.Join(dir, a.packages), filepath.Join(home, ".config", a.name), filepath.Join(w.dir, "."+a.name))
	}
	w.run("git", "config", "--global", "user.name", "A")
	w.run("git", "config", "--global", "user.email", "a@example.com")
	w.write("shop.txt", "shop\n")
	w.run("git", "add", ".")
	w.run("git", "commit", "-qm", "first")
	return &drive{world: w, agent: a, program: program, model: m}
}

func put(t *testing.T, name, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
		t.Fatal(err)
	}
	writeFile(t, name, text)
}

// pluginPackages puts the package that an agent would install by npm, which it has not without a network,
// into its directories of configuration.
func pluginPackages(t *testing.T, from string, into ...string) {
	t.Helper()
	for _, d := range into {
		if err := os.MkdirAll(d, 0o777); err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"package.json", "package-lock.json"} {
			data, err := os.ReadFile(filepath.Join(from, name))
			if err != nil {
				t.Fatal(err)
			}
			put(t, filepath.Join(d, name), string(data))
		}
		put(t, filepath.Join(d, ".gitignore"), "node_modules\n")
		if err := os.Symlink(filepath.Join(from, "node_modules"), filepath.Join(d, "node_modules")); err != nil {
			t.Fatal(err)
		}
	}
}

// tools is what an agent without prompts gets: a checkpoint of what each tool did.
func (d *drive) tools() {
	d.prompt("make hello")
	d.holds("hello.txt", "hello\n")
	if listed := d.run("git-checkpoint", "list", "--json", "--where", `trigger == "tool"`); !strings.Contains(listed, `"message":"Write hello.txt"`) {
		d.t.Errorf("the tool has no checkpoint:\n%s", listed)
	}
}

// conversation is two prompts, and a rollback that is typed as a prompt.
func (d *drive) conversation() {
	t := d.t
	d.prompt("make hello")
	d.holds("hello.txt", "hello\n")
	if d.agent.brief {
		d.lists(d.run("git-checkpoint", "list", "--json"), "cp-01", "turn", "make hello")
		return
	}
	d.write("notes.txt", "by hand\n")
	d.prompt("alter the greeting")
	d.holds("hello.txt", "changed\n")
	listed := d.run("git-checkpoint", "list", "--json")
	d.lists(listed, "cp-01", "turn", "make hello")
	d.lists(listed, "cp-02", "turn", "alter the greeting")
	if !strings.Contains(d.run("git-checkpoint", "show", "1", "--get", "message"), "Made hello.") && d.agent.name != "copilot" && d.agent.packages == "" {
		t.Error("the message of the first step lacks the answer")
	}
	if !strings.Contains(d.run("git-checkpoint", "diff", "1", "2", "--stat"), "notes.txt") {
		t.Error("the step of the second prompt lacks the file that was edited by hand")
	}
	if own := d.run("git-checkpoint", "list", "--json", "--where", `trigger == "prompt"`); !strings.Contains(own, "before: alter the greeting") {
		t.Errorf("what was edited by hand has no checkpoint of its own:\n%s", listed)
	}

	// The scripted model reports 120 tokens with each of four requests. Those of the last turn may
	// not be written yet: they count with the next step. On a busy machine Copilot writes late even those of the first.
	listed = d.run("git-checkpoint", "list", "--columns", "tokens", "--json")
	requests, tokens := int64(0), int64(0)
	for line := range strings.Lines(listed) {
		u := gjson.Get(line, "usage")
		requests += u.Get("requests").Int()
		tokens += u.Get("input").Int() + u.Get("cached").Int() + u.Get("output").Int()
	}
	if requests < 1 || requests > 4 || tokens != 120*requests {
		t.Errorf("%d requests with %d tokens:\n%s", requests, tokens, listed)
	}

	if said, code := d.try("git-checkpoint", "transcript"); d.agent.packages != "" { // such plugins hear of none
		if code != 3 {
			t.Errorf("transcript: exit code %d\n%s", code, said)
		}
	} else if !strings.Contains(said, "make hello") { // the lines of the last turn may not be written yet
		t.Errorf("the transcript lacks the first prompt: %s", said)
	}

	d.prompt("*rollback:1")
	d.holds("hello.txt", "changed\n")
	d.prompt("y")
	d.holds("hello.txt", "hello\n")
	if _, err := os.Lstat(filepath.Join(d.dir, "notes.txt")); err == nil {
		t.Error("the rollback left a file of later")
	}
	if len(d.model.questions("*rollback:1")) > 0 {
		t.Error("the model was asked about a command of ours")
	}
	d.prompt("go on")
	heard := d.model.questions("go on")
	if len(heard) == 0 || !strings.Contains(heard[0].body, "The files of this worktree went back") {
		t.Errorf("the model does not hear of the rollback; it was asked %d times", len(heard))
	}
}

// unheard looks whether a conversation without hooks would be known, as if they had been added long ago and no event had come.
func (d *drive) unheard() {
	def, err := agent.Find(d.agent.name)
	if err != nil || def.Transcripts.Files == "" {
		return
	}
	long := time.Now().Add(-24 * time.Hour)
	settings := filepath.Join(d.dir, def.Hooks.Files[agent.ScopeProject])
	if err := errors.Join(os.Chtimes(settings, long, long), os.RemoveAll(filepath.Join(d.dir, ".git", "checkpoint", "agents"))); err != nil {
		d.t.Fatal(err)
	}
	for line := range strings.Lines(d.run("git-checkpoint", "agent", "list", "--json")) {
		if l := gjson.Parse(line); l.Get("name").String() == d.agent.name && l.Get("unheard").Type != gjson.String {
			d.t.Errorf("a conversation without events is not known: %s", line)
		}
	}
}

// goesOn is what TestAgentChats promises.
func (d *drive) goesOn() {
	t := d.t
	t.Cleanup(d.failures)
	d.run("git-checkpoint", "agent", "add", d.agent.name, "-y")
	d.prompt("make hello")
	d.prompt("alter the greeting")
	d.prompt("run the last one")
	before := d.run("git-checkpoint", "rollback", "2", "-n")
	if d.agent.consents {
		if said, code := d.try("git-checkpoint", "rollback", "2", "--chat", "-y"); code != 4 || !strings.Contains(said, "checkpoint.agent."+d.agent.name+".chat true") {
			t.Fatalf("without consent: exit code %d\n%s", code, said)
		}
		d.run("git", "config", "checkpoint.agent."+d.agent.name+".chat", "true")
		before = d.run("git-checkpoint", "rollback", "2", "-n")
	}
	if strings.Count(before, "--chat") != 1 {
		t.Errorf("the plan does not offer it once:\n%s", before)
	}
	forked, code := d.try("git-checkpoint", "fork", "2", d.dir+"-fork", "--chat", "--json")
	if d.agent.stays != (code != 0) {
		t.Fatalf("fork: exit code %d\n%s", code, forked)
	}
	said := d.run("git-checkpoint", "rollback", "2", "--chat", "-y")
	line := regexp.MustCompile(`(?m)^Go on there: (.*)$`).FindStringSubmatch(said)
	if line == nil {
		t.Fatalf("no command is printed:\n%s", said)
	}
	d.holds("hello.txt", "changed\n")
	d.remembers(d.dir, line[1], "what was it here")
	if code == 0 {
		chat := gjson.Get(forked, "chat")
		d.remembers(chat.Get("directory").String(), chat.Get("command").String(), "what was it there")
	}
}

// remembers goes on with the command that was printed, and looks at what the model is asked.
func (d *drive) remembers(dir, command, words string) {
	d.t.Helper()
	args := strings.Fields(command)
	if args[0] != d.agent.program {
		d.t.Fatalf("the command is %q", command)
	}
	d.ask(dir, d.agent.on(args[1:]), words)
	questions := d.model.questions(words)
	if len(questions) == 0 {
		d.t.Fatal("the model was not asked")
	}
	for _, q := range questions {
		if len(q.tools) == 0 { // for a title
			continue
		}
		for text, there := range map[string]bool{
			"make hello": true, "Made hello.": true, "alter the greeting": true, "Changed it.": true, "run the last one": false, "Ran the last.": false,
		} {
			if strings.Contains(q.body, text) != there {
				d.t.Errorf("in %s: that the model is told %q is %v:\n%s", dir, text, !there, q.body)
			}
		}
	}
}

// failures tells what hooks could not do: an agent does not.
func (d *drive) failures() {
	if log, err := os.ReadFile(filepath.Join(d.dir, ".git", "checkpoint", "agent.log")); err == nil {
		d.t.Errorf("hooks failed:\n%s", log)
	}
}

// prompt asks the agent, and goes on with the conversation if there is one.
func (d *drive) prompt(words string) {
	d.t.Helper()
	args := d.agent.first
	if d.asked > 0 {
		args = d.agent.next
	}
	d.asked++
	d.ask(d.dir, args, words)
}

// ask runs the agent with a prompt.
func (d *drive) ask(dir string, args []string, words string) {
	d.t.Helper()
	cmd := exec.Command(d.program, append(args[:len(args):len(args)], words)...)
	cmd.Dir, cmd.Env = dir, d.env
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	// A group of its own: an agent's launcher may end before what it started.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		d.t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- cmd.Wait() }()
	select {
	case err := <-done:
		d.t.Logf("%s: %v\n%s", words, err, out.String())
	case <-time.After(8 * time.Minute):
		syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
		d.t.Fatalf("%s does not end after the prompt %q; it said\n%s", d.agent.name, words, out.String())
	}
}

func (d *drive) holds(name, want string) {
	d.t.Helper()
	if got, err := os.ReadFile(filepath.Join(d.dir, name)); err != nil || string(got) != want {
		d.t.Fatalf("%s holds %q, want %q (%v)", name, got, want, err)
	}
}

// lists finds a checkpoint in the lines of a list.
func (d *drive) lists(listed, label, trigger, message string) {
	d.t.Helper()
	for _, line := range strings.Split(listed, "\n") {
		l := gjson.Parse(line)
		if l.Get("label").String() == label {
			if l.Get("trigger").String() != trigger || !strings.HasPrefix(l.Get("message").String(), message) {
				d.t.Errorf("%s is %s", label, line)
			}
			return
		}
	}
	d.t.Errorf("there is no %s in\n%s", label, listed)
}

// files describes what a person sees of the worktree.
func (d *drive) files() string {
	var all strings.Builder
	err := filepath.WalkDir(d.dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() && e.Name() == ".git" {
			return fs.SkipDir
		}
		if e.Type().IsRegular() {
			data, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			fmt.Fprintf(&all, "%s %q\n", path[len(d.dir):], data)
		}
		return nil
	})
	if err != nil {
		d.t.Fatal(err)
	}
	return all.String()
}
