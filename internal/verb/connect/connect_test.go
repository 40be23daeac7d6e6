package connect

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"git-checkpoint/internal/core/agent"
	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/test/verbtest"
)

// open makes a repository. Its path has characters that a pattern would take for its own.
func open(t *testing.T) (s *checkpoint.Service, home string) {
	t.Helper()
	w := verbtest.Unborn(t, "repo [1] *")
	if err := os.Mkdir(filepath.Join(w.Root, ".codex"), 0o777); err != nil {
		t.Fatal(err)
	}
	return w.Open(), w.Root
}

// add adds the hooks of an agent to the project's settings.
func add(t *testing.T, s *checkpoint.Service, name string) {
	t.Helper()
	p, err := Prepare(s, Request{Adds: true, Names: []string{name}, Scope: agent.ScopeProject})
	if err == nil {
		err = p.Apply(t.Context())
	}
	if err != nil {
		t.Fatal(err)
	}
}

func write(t *testing.T, file, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
}

// Codex trusts hooks that its configuration names, and none where it has no configuration. What
// cannot be read says nothing.
func TestTrusted(t *testing.T) {
	s, home := open(t)
	add(t, s, "codex")
	said := func() string {
		st, err := standing(s.Rules, definition(t, "codex"))
		if err != nil {
			t.Fatal(err)
		}
		text, err := json.Marshal(st.Trusted)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	if got := said(); got != "false" {
		t.Errorf("without a configuration: %s", got)
	}
	config := filepath.Join(home, ".codex", "config.toml")
	st, err := standing(s.Rules, definition(t, "codex"))
	if err != nil || len(st.Hooks) != 1 {
		t.Fatalf("%+v %v", st, err)
	}
	write(t, config, "[hooks.state.\""+st.Hooks[0].File+":stop:0:0\"]\n")
	if got := said(); got != "true" {
		t.Errorf("named: %s", got)
	}
	if err := os.Remove(config); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(config, 0o777); err != nil {
		t.Fatal(err)
	}
	if got := said(); got != "null" {
		t.Errorf("unreadable: %s", got)
	}
}

// The last event counts, in whichever conversation it was. What fails is known by the kind of hook, whatever
// others do, and one warning hides no other.
func TestLastEvent(t *testing.T) {
	s, _ := open(t)
	add(t, s, "codex")
	s = reopened(t, s)
	dir := filepath.Join(s.Repo.GitDir, "checkpoint", "agents")
	write(t, filepath.Join(dir, "codex-1.json"), `{"last":"2026-11-20T10:00:00Z"}`)
	write(t, filepath.Join(dir, "codex-2.json"), `{"last":"2026-11-20T11:00:00Z"}`)
	write(t, filepath.Join(dir, "codex-3.json"), `{"last":"2026-11-20T12:00`)
	write(t, filepath.Join(dir, "claude-1.json"), `{"last":"2026-11-20T13:00:00Z"}`)
	health := Health{agent.KindBeforeTool: {Problem: "slow", Failures: 2}, agent.KindPrompt: {Problem: "no space", Failures: 1}}
	if err := health.Save(s.Repo.GitDir, "codex"); err != nil {
		t.Fatal(err)
	}
	st, err := standing(s.Rules, definition(t, "codex"))
	if err != nil || st.LastEvent == nil || st.LastEvent.Hour() != 11 || st.Failures != 3 || st.Problem != "slow" || len(st.Warnings) != 3 {
		t.Fatalf("%+v %v", st, err)
	}

	// An event after the hooks were written shows that they are trusted, wherever that is written down.
	write(t, filepath.Join(dir, "codex-4.json"), `{"last":"2126-11-20T10:00:00Z"}`)
	for kind := range health {
		delete(health, kind)
	}
	if err := health.Save(s.Repo.GitDir, "codex"); err != nil {
		t.Fatal(err)
	}
	if st, err = standing(s.Rules, definition(t, "codex")); err != nil || len(st.Warnings) != 0 {
		t.Fatalf("%+v %v", st, err)
	}
}

func definition(t *testing.T, name string) *agent.Definition {
	t.Helper()
	d, err := agent.Find(name)
	if err != nil {
		t.Fatal(err)
	}
	return d
}
