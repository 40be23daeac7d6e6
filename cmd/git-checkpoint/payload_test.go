package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/tidwall/gjson"
	"github.com/tidwall/sjson"

	"git-checkpoint/internal/core/agent"
)

// payloads makes hostile variations of what real agents sent.
type payloads struct {
	*rand.Rand
	real map[string][]string // by agent
	repo string
}

func newPayloads(t *testing.T, seed uint64, repo string) *payloads {
	p := &payloads{Rand: rand.New(rand.NewPCG(seed, 0)), real: map[string][]string{}, repo: repo}
	files, err := filepath.Glob("../../internal/core/agent/testdata/payloads/*/*.json")
	if err != nil || len(files) == 0 {
		t.Fatal("there are no payloads", err)
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		name := filepath.Base(filepath.Dir(file))
		p.real[name] = append(p.real[name], string(data))
	}
	return p
}

// next draws an agent, one of its events or any word, and what the hook is given.
func (p *payloads) next() (of *agent.Definition, event, payload string) {
	names := agent.Names()
	of, _ = agent.Find(names[p.IntN(len(names))])
	var events []string
	for e := range of.Events {
		events = append(events, e)
	}
	slices.Sort(events)
	event = events[p.IntN(len(events))]
	if p.IntN(20) == 0 {
		event = p.text()
	}
	payload = p.invented(of)
	if from := p.real[of.Name]; len(from) > 0 && p.IntN(5) > 0 {
		payload = from[p.IntN(len(from))]
	}
	payload = p.set(payload, "user_email", "u@example.com")
	for _, at := range of.Members.Directory {
		if gjson.Get(payload, at).Exists() && p.IntN(30) > 0 {
			payload = p.set(payload, at, p.repo)
		}
	}
	for _, at := range of.Members.Session { // few conversations, so that they go on
		if !strings.Contains(at, "#") && p.IntN(10) > 0 {
			payload = p.set(payload, at, fmt.Sprint("conversation ", p.IntN(3)))
			break
		}
	}
	for range p.IntN(4) {
		payload = p.change(of, payload)
	}
	return of, strings.ReplaceAll(event, "\x00", ""), payload
}

// invented is a payload with every member that the definition names.
func (p *payloads) invented(of *agent.Definition) string {
	m, payload := of.Members, "{}"
	for _, member := range []struct {
		at    []string
		value string
	}{{m.Prompt, canary}, {m.Reply, canary}, {m.Tool, "Write"}, {m.Directory, p.repo}} {
		if len(member.at) > 0 {
			payload = p.set(payload, member.at[0], member.value)
		}
	}
	return payload
}

func (p *payloads) set(payload, at string, value any) string {
	changed, err := sjson.Set(payload, at, value)
	if err != nil {
		return payload
	}
	return changed
}

// change makes one change to a payload.
func (p *payloads) change(of *agent.Definition, payload string) string {
	m := of.Members
	places := slices.Concat(m.Session, m.Prompt, m.Reply, m.Model, m.Version, m.Turn, m.Tool, m.Source, m.Subagent, m.Parent, m.Directory)
	at := places[p.IntN(len(places))]
	switch p.IntN(10) {
	case 0, 1, 2:
		return p.set(payload, at, p.text())
	case 3:
		return p.set(payload, at, []any{nil, 12, true, []any{}, map[string]any{"a": "b"}, -1e300}[p.IntN(6)])
	case 4, 5:
		if len(m.Prompt) > 0 {
			return p.set(payload, m.Prompt[0], []string{"*rollback:1", "y", "*undo", "*yes", "/checkpoint list", p.text()}[p.IntN(6)])
		}
	case 6:
		if short, err := sjson.Delete(payload, at); err == nil {
			return short
		}
	case 7:
		return payload[:p.IntN(len(payload)+1)]
	case 8:
		b := []byte(payload)
		for range p.IntN(5) {
			if len(b) > 0 {
				b[p.IntN(len(b))] = byte(p.IntN(256))
			}
		}
		return string(b)
	case 9:
		return strings.Repeat([]string{"[", "{\"a\":", " ", "\x00"}[p.IntN(4)], p.IntN(3000)) + payload
	}
	return payload
}

// canary stands in texts: it may be kept in messages, and nowhere else.
const canary = "canary-d41d8c"

func (p *payloads) text() string {
	return []string{
		"", canary, canary + "\nsecond line", "\x1b[31m" + canary, canary + " $(touch pwned) `touch pwned`; touch pwned", "--help", "../../" + canary,
		strings.Repeat(canary+" ", 4000), "\u202e\u0000\ufeff" + canary, "refs/heads/main", "-", "*help " + canary, "<hook_context>" + canary,
	}[p.IntN(13)]
}

// Whatever an agent sends, a hook ends with 0, prints nothing or what the agent takes, and keeps
// nothing but checkpoints, with a person's words in their messages only.
func TestRandomPayloads(t *testing.T) {
	n, seed := 10_000, uint64(1)
	if testing.Short() {
		n = 20
	}
	w := newWorld(t)
	w.write("file", "0\n")
	w.run("git", "add", ".")
	w.run("git", "commit", "-qm", "start")
	for _, name := range agent.Names() {
		w.run("git", "config", "checkpoint.agent."+name+".enabled", "true")
	}
	config := w.run("git", "config", "--local", "--list")
	p := newPayloads(t, seed, w.dir)
	for i := range n {
		if p.IntN(3) == 0 {
			w.write("file", fmt.Sprintln(i))
		}
		of, event, payload := p.next()
		if strings.HasPrefix(event, "Worktree") { // these make and remove worktrees and answer with a path: agent_worktrees.txtar
			continue
		}
		out, err := w.hook(of.Name, event, payload)
		if err == nil {
			err = taken(of, event, out)
		}
		if err != nil {
			t.Fatalf("seed %d, number %d: hook %s %q: %v\nit was given %q\nand printed %q", seed, i, of.Name, event, err, payload, out)
		}
	}
	if now := w.run("git", "config", "--local", "--list"); now != config {
		t.Errorf("the configuration is\n%s\nand was\n%s", now, config)
	}
	w.holdsOnly()
}

// hook runs a hook and gives what it prints.
func (w *world) hook(name, event, payload string) ([]byte, error) {
	cmd := exec.Command("git-checkpoint", "hook", name, event)
	cmd.Dir, cmd.Env, cmd.Stdin = w.dir, w.env, strings.NewReader(payload)
	return cmd.Output()
}

// taken reports what is wrong with an answer, by the definition of the agent.
func taken(of *agent.Definition, event string, out []byte) error {
	if len(out) == 0 {
		return nil
	}
	var answer map[string]json.RawMessage
	decoder := json.NewDecoder(bytes.NewReader(out))
	if err := decoder.Decode(&answer); err != nil {
		return err
	}
	if decoder.More() {
		return fmt.Errorf("there is more than one value")
	}
	known := map[string]json.RawMessage{}
	for _, template := range []agent.Template{of.Answers.Context, of.Answers.Block, of.Answers.Tell} {
		if slices.Contains(template.Events, event) {
			if err := json.Unmarshal(template.JSON, &known); err != nil {
				return err
			}
		}
	}
	for member := range answer {
		if _, ok := known[member]; !ok {
			return fmt.Errorf("the agent takes no member %q here", member)
		}
	}
	return nil
}

// holdsOnly demands that nothing is in the repository and the worktree that docs/agents.md does not name.
func (w *world) holdsOnly() {
	t := w.t
	t.Helper()
	entries, err := os.ReadDir(w.dir)
	if err != nil || len(entries) != 2 {
		t.Errorf("the worktree holds %v (%v)", entries, err)
	}
	sessions := `(` + strings.Join(agent.Names(), "|") + `)-[0-9a-f]{8}`
	session := regexp.MustCompile(`^` + sessions + `$`)
	refs := regexp.MustCompile(`^(refs/heads/main|refs/(checkpoints/.*|notes/checkpoint.*|tags/checkpoint/` + sessions + `/step-[0-9]+([.][0-9]+)?))$`)
	for line := range strings.Lines(w.run("git-checkpoint", "session", "list", "--json")) {
		l := gjson.Parse(line)
		if !session.MatchString(l.Get("session").String()) {
			t.Errorf("there is a session %s", line)
		}
	}
	for line := range strings.Lines(w.run("git", "for-each-ref", "--format=%(refname)")) {
		ref := strings.TrimSpace(line)
		if !refs.MatchString(ref) || strings.Contains(ref, canary) {
			t.Errorf("there is a ref %s", ref)
		}
	}
	history, made := w.run("git-checkpoint", "history", "--json"), 0
	if strings.Contains(history, canary) {
		t.Errorf("the journal holds words of a prompt:\n%s", history)
	}
	for line := range strings.Lines(w.run("git-checkpoint", "list", "--all", "--json")) {
		made++
		gjson.Parse(line).Get("agent").ForEach(func(member, value gjson.Result) bool {
			if len([]rune(value.String())) > 256 {
				t.Errorf("the member %s of the agent is %d characters long", member, len(value.String()))
			}
			return true
		})
	}
	if made == 0 {
		t.Error("no checkpoint was made: the payloads test nothing")
	}
	if found, _ := w.try("sh", "-c", "git cat-file --batch-all-objects --batch | grep -ac u@example.com"); strings.TrimSpace(found) != "0" {
		t.Errorf("%s lines of objects hold a mail address that an agent sent", found)
	}
	if out, code := w.try("git-checkpoint", "validate", "--all"); code != 0 {
		t.Errorf("validate: exit code %d\n%s", code, out)
	}
}
