package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// screen is what an agent shows in a terminal.
type screen struct {
	*drive
	socket string
}

func (s *screen) tmux(args ...string) string {
	cmd := exec.Command("tmux", append([]string{"-f", "/dev/null", "-S", s.socket}, args...)...)
	cmd.Dir, cmd.Env = s.dir, s.env
	out, _ := cmd.CombinedOutput() // it is over once its last window is
	return string(out)
}

// ends closes the terminal, and waits for what the agent still writes.
func (s *screen) ends() {
	pid, err := strconv.Atoi(strings.TrimSpace(s.tmux("display-message", "-p", "#{pane_pid}")))
	s.tmux("kill-server")
	for range 100 {
		if err != nil || syscall.Kill(pid, 0) != nil {
			return
		}
		time.Sleep(time.Second / 10)
	}
}

// types puts words into the input line, and sends them.
func (s *screen) types(words string) {
	s.tmux("send-keys", "-l", words)
	time.Sleep(time.Second)
	s.tmux("send-keys", "Enter")
}

// until waits for something, and meanwhile presses what a question of the agent's needs.
func (s *screen) until(what string, there func(shown string) bool) {
	s.t.Helper()
	for end := time.Now().Add(2 * time.Minute); ; time.Sleep(time.Second / 4) {
		shown := s.tmux("capture-pane", "-p")
		if there(shown) {
			return
		}
		if time.Now().After(end) {
			s.t.Fatalf("%s: too late; the screen is\n%s", what, shown)
		}
		for text, keys := range s.agent.opens {
			if strings.Contains(shown, text) {
				s.tmux(append([]string{"send-keys"}, strings.Fields(keys)...)...)
				time.Sleep(2 * time.Second)
			}
		}
	}
}

func (s *screen) shows(words string) {
	s.t.Helper()
	s.until(words, func(shown string) bool { return strings.Contains(strings.Join(strings.Fields(shown), " "), words) })
}

// becomes waits for the content of a file.
func (s *screen) becomes(content string) {
	s.t.Helper()
	s.until("hello.txt becomes "+content, func(string) bool {
		data, _ := os.ReadFile(filepath.Join(s.dir, "hello.txt"))
		return string(data) == content
	})
}

// asks sends a prompt that makes a step.
func (s *screen) asks(words string) {
	s.t.Helper()
	s.types(words)
	s.until("a step of "+words, func(string) bool {
		said, _ := s.try("git-checkpoint", "list", "--trigger", "turn", "--json")
		return strings.Contains(said, words)
	})
	time.Sleep(2 * time.Second) // it shows that the turn is over
}

// commands sends a command in the place of what is in the input line.
func (s *screen) commands(words string) {
	s.tmux("send-keys", "C-u")
	s.types(words)
}

// plan sends a command, and waits until it can be answered: some agents put it into the input line again.
func (s *screen) plan(words, shown string) {
	s.t.Helper()
	s.commands(words)
	s.shows(shown)
	time.Sleep(2 * time.Second)
}

// Each agent's own screen has the plan of a command that is typed as a prompt, and takes its answer.
func TestAgentScreens(t *testing.T) {
	dir := os.Getenv("AGENTS")
	if dir == "" {
		t.Skip("AGENTS is not set: `make test-agents` runs it")
	}
	if _, err := exec.LookPath("tmux"); err != nil {
		t.Skip("NOT TESTED: the agents' screens, for lack of tmux")
	}
	for _, a := range drivenAgents() {
		if a.shows == "" {
			continue
		}
		t.Run(a.name, func(t *testing.T) {
			program := filepath.Join(dir, a.name, "node_modules", ".bin", a.program)
			if _, err := os.Stat(program); err != nil {
				t.Skipf("NOT TESTED: %s is not installed", a.name)
			}
			s := &screen{newDrive(t, a, dir, program), filepath.Join(t.TempDir(), "tmux")}
			t.Cleanup(s.failures)
			s.run("git-checkpoint", "agent", "add", a.name, "-y")
			s.tmux(append([]string{"new-session", "-d", "-x", "100", "-y", "60", program}, a.screen...)...)
			t.Cleanup(s.ends)
			s.shows(a.shows)
			time.Sleep(2 * time.Second)
			s.asks("make hello")
			s.asks("alter the greeting")
			s.plan("*rollback:1", `Rollback to 1 "make hello`)
			s.types("n")
			s.shows("withdrawn")
			s.becomes("changed\n")
			s.plan("*rollback:1", `Rollback to 1 "make hello`)
			s.types("y")
			s.becomes("hello\n")
			s.plan("*undo", "Undo")
			s.types("y")
			s.becomes("changed\n")
			if s.model.questions("*") != nil {
				t.Error("the model heard a command")
			}
		})
	}
}
