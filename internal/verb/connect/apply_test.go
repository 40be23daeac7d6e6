package connect

import (
	"os"
	"path/filepath"
	"testing"

	"git-checkpoint/internal/core/agent"
	"git-checkpoint/internal/core/checkpoint"
)

// files returns all files below a directory with their content, except for those of git.
func files(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(dir, func(file string, e os.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			if e != nil && e.Name() == ".git" {
				return filepath.SkipDir
			}
			return err
		}
		text, err := os.ReadFile(file)
		all[file] = string(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// reopened is the service as the next run of the program has it.
func reopened(t *testing.T, s *checkpoint.Service) *checkpoint.Service {
	t.Helper()
	again, err := checkpoint.Open(t.Context(), checkpoint.Options{Dir: s.Repo.WorkTree, Env: s.Env})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { again.Close() })
	return again
}

// For each agent with hooks: a plan writes nothing; what it adds makes a second one have nothing to
// do; consent is given in git's configuration, where no clone brings it along; and removing leaves
// neither files, consent nor a receipt.
func TestAddRemove(t *testing.T) {
	t.Parallel()
	for _, name := range agent.Names() {
		d, err := agent.Find(name)
		if err != nil {
			t.Fatal(err)
		}
		if d.Hooks.Shape == "none" {
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, home := open(t)
			before := files(t, home)
			planned := func(s *checkpoint.Service) *Plan {
				t.Helper()
				p, err := Prepare(s, Request{Adds: true, Names: []string{name}, Scope: agent.ScopeProject})
				if err != nil {
					t.Fatal(err)
				}
				return p
			}
			if p := planned(s); !p.Changes() || len(files(t, home)) != len(before) {
				t.Errorf("a plan: %+v, files %q", p, files(t, home))
			}
			add(t, s, name)
			s = reopened(t, s)
			if on, err := s.Settings.Bool(ConsentKey(name), false); err != nil || !on {
				t.Errorf("consent is %v, %v", on, err)
			}
			if len(files(t, home)) == len(before) {
				t.Error("no file was added")
			}
			receipt := filepath.Join(s.Repo.WorkTree, ".git", "checkpoint", checkpoint.ReceiptFile) // for all worktrees
			if _, err := os.Lstat(receipt); err != nil {
				t.Error(err)
			}
			if p := planned(s); p.Changes() {
				t.Errorf("a second time: %+v", p)
			}
			p, err := Prepare(s, Request{Names: []string{name}, Scope: agent.ScopeProject})
			if err == nil {
				err = p.Apply(t.Context())
			}
			if err != nil {
				t.Fatal(err)
			}
			s = reopened(t, s)
			if _, set := s.Settings.Get(ConsentKey(name)); set {
				t.Error("the consent is left")
			}
			if _, err := os.Lstat(receipt); !os.IsNotExist(err) {
				t.Errorf("the receipt is left: %v", err)
			}
			if left := files(t, home); len(left) != len(before) {
				t.Errorf("left: %q", left)
			}
		})
	}
}

// A deinit removes the hooks that were added here. Those that came with the repository are others',
// and those of the user serve other repositories.
func TestPlanDeinit(t *testing.T) {
	t.Parallel()
	came, _ := open(t)
	add(t, came, "claude")
	if err := os.RemoveAll(filepath.Dir(receiptFile(came.Rules, agent.ScopeProject))); err != nil { // as in a clone
		t.Fatal(err)
	}
	if p, err := PlanDeinit(came); err != nil || len(p.Agents) != 0 {
		t.Errorf("of hooks that came along: %+v, %v", p, err)
	}
	s, home := open(t)
	p, err := Prepare(s, Request{Adds: true, Names: []string{"claude"}, Scope: agent.ScopeUser})
	if err == nil {
		err = p.Apply(t.Context())
	}
	if err != nil {
		t.Fatal(err)
	}
	if p, err := PlanDeinit(s); err != nil || len(p.Agents) != 0 {
		t.Errorf("of the user's hooks: %+v, %v", p, err)
	}
	users := files(t, home)
	add(t, s, "claude")
	p, err = PlanDeinit(s)
	if err != nil || len(p.Agents) != 1 || p.Agents[0].Agent.Name != "claude" {
		t.Fatalf("of hooks that were added here: %+v, %v", p, err)
	}
	if err := p.Apply(t.Context()); err != nil {
		t.Fatal(err)
	}
	left := files(t, home)
	for file, text := range left {
		if users[file] != text {
			t.Errorf("left: %s with %q", file, text)
		}
	}
	if len(left) != len(users) {
		t.Errorf("%d files are left of %d", len(left), len(users))
	}
}

// Settings that cannot be read are not written, and no consent is given. An agent that nobody knows is
// a mistake.
func TestAddRefuses(t *testing.T) {
	t.Parallel()
	s, _ := open(t)
	file := filepath.Join(s.Repo.WorkTree, ".claude", "settings.json")
	write(t, file, "{ this is no JSON")
	if _, err := Prepare(s, Request{Adds: true, Names: []string{"claude"}, Scope: agent.ScopeProject}); checkpoint.KindOf(err) != checkpoint.KindRefused {
		t.Errorf("unreadable: %v", err)
	}
	if text, err := os.ReadFile(file); err != nil || string(text) != "{ this is no JSON" {
		t.Errorf("the file has %q, %v", text, err)
	}
	if _, err := Prepare(s, Request{Adds: true, Names: []string{"nobody"}, Scope: agent.ScopeProject}); checkpoint.KindOf(err) != checkpoint.KindUsage {
		t.Errorf("nobody's agent: %v", err)
	}
	if _, set := reopened(t, s).Settings.Get(ConsentKey("claude")); set {
		t.Error("consent was given")
	}
}
