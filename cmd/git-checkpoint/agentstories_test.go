package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// story is a worktree in which Claude Code, Codex and a person are at work, with a record of who wrote each line.
type story struct {
	*drive // of Claude Code
	codex  *drive
	*rand.Rand
	tells  bool // the person's editor tells what it saves
	mu     sync.Mutex
	nr     int
	taken  map[string]bool   // the places in files that somebody wrote to
	files  map[string]string // by line
	said   []string          // by status, after each prompt
	unsaid []string          // removals of the person's work that it did not tell
	counts map[string][3]int
}

var storyLine = regexp.MustCompile(`(?m)^(claude|codex|me) \d+$`)

// lines returns who wrote the lines that are there now.
func (s *story) lines() map[string]string {
	found := map[string]string{}
	for _, m := range storyLine.FindAllStringSubmatch(s.text(), -1) {
		found[m[0]] = m[1]
	}
	return found
}

func (s *story) text() string {
	said, _ := s.try("sh", "-c", "cat f[0-9] new-* 2>/dev/null; true")
	return said
}

// line returns a new line of somebody's, and a command that writes it: in place of a line of a file that nobody wrote to
// yet and that stands alone, or into a new file.
func (s *story) line(who string) (line, command string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.nr++
	line = fmt.Sprintf("%s %d", who, s.nr)
	at := fmt.Sprintf("f%d %d", s.IntN(3), 1+4*s.IntN(10))
	file, n, _ := strings.Cut(at, " ")
	command = fmt.Sprintf("sed -i '%ss/.*/%s/' %s", n, line, file)
	if s.taken[at] || s.IntN(4) == 0 {
		file = fmt.Sprintf("new-%d", s.nr)
		command = fmt.Sprintf("echo %s >%s", line, file)
	}
	s.taken[at], s.files[line] = true, file
	if who == "me" && s.tells {
		tell := func(event string) string {
			return fmt.Sprintf(`printf '{"cwd":"%s","path":"%s/%s"}' | git-checkpoint hook generic %s`, s.dir, s.dir, file, event)
		}
		command = tell("saving") + "; " + command + "; " + tell("saved")
	}
	return line, command
}

// person writes a line, and sometimes makes a checkpoint.
func (s *story) person() {
	s.tells = s.IntN(2) == 0
	_, command := s.line("me")
	s.run("sh", "-c", command)
	if s.IntN(6) == 0 {
		s.try("git-checkpoint", "save", "-m", "by hand")
	}
}

// work returns what an agent does for a prompt, with what others do meanwhile.
func (s *story) work(d *drive, other func()) (steps []modelStep) {
	name := d.agent.name
	for range 1 + s.IntN(3) {
		var step modelStep
		switch kind := s.IntN(6); kind {
		case 0, 1: // a tool that names the file
			s.mu.Lock()
			s.nr++
			step.path, step.content = fmt.Sprintf("%s/new-%d", s.dir, s.nr), fmt.Sprintf("%s %d\n", name, s.nr)
			s.mu.Unlock()
		case 2: // the person types into another file while the command runs
			line, command := s.line(name)
			flag := fmt.Sprintf("../typing-%d", s.nr)
			step.command = fmt.Sprintf("%s; touch %s; for i in $(seq 200); do test -e %s || break; sleep 0.05; done", command, flag, flag)
			s.tells = true
			mine, typed := s.line("me")
			for s.files[mine] == s.files[line] {
				mine, typed = s.line("me")
			}
			step.before = func() {
				s.try("sh", "-c", fmt.Sprintf("{ for i in $(seq 400); do test -e %s && break; sleep 0.05; done; %s; rm -f %s; } >/dev/null 2>&1 &", flag, typed, flag))
			}
		case 3:
			step.command = fmt.Sprintf("git checkout -q -- f%d", s.IntN(3))
		default:
			_, step.command = s.line(name)
		}
		if meanwhile := step.before; s.IntN(2) == 0 {
			step.before = func() {
				if s.IntN(3) > 0 {
					s.person()
				} else if other != nil {
					other()
				}
				if meanwhile != nil {
					meanwhile()
				}
			}
		}
		steps = append(steps, step)
	}
	return append(steps, modelStep{text: "Done."})
}

// prompts has an agent work, and looks whether the removal of the person's work is said.
func (s *story) prompts(d *drive, other func()) {
	words := fmt.Sprintf("prompt %s %d.", d.agent.name, d.asked)
	steps := s.work(d, other)
	var before map[string]string
	since := len(s.said)
	first := steps[0].before
	steps[0].before = func() {
		if first != nil {
			first()
		}
		before = s.lines()
	}
	d.model.mu.Lock()
	d.model.script = append(d.model.script, modelTurn{words, steps})
	d.model.mu.Unlock()
	d.prompt(words)
	said, _ := s.try("git-checkpoint", "status")
	s.said = append(s.said, regexp.MustCompile(`(?m)^.*removed work that was not its own.*$`).FindAllString(said, -1)...)
	now := s.lines()
	for line, who := range before {
		if now[line] == "" && who == "me" && !s.brings(line, s.said[since:]) {
			s.unsaid = append(s.unsaid, line+" in "+s.files[line])
		}
	}
}

var storyBack = regexp.MustCompile(`git checkpoint restore (\S+) -- ([^;]+)`)

// brings reports whether a command that was said has a line in the file that it brings back.
func (s *story) brings(line string, said []string) bool {
	for _, m := range storyBack.FindAllStringSubmatch(strings.Join(said, "\n"), -1) {
		commit := strings.TrimSpace(s.run("git-checkpoint", "show", m[1], "--get", "commit"))
		for _, path := range strings.Fields(m[2]) {
			if path == s.files[line] && strings.Contains("\n"+s.run("git", "cat-file", "blob", commit+":"+path), "\n"+line+"\n") {
				return true
			}
		}
	}
	return false
}

// takes reverts what somebody did, and compares it with the record.
func (s *story) takes(by, who string) {
	before := s.lines()
	said, code := s.try("git-checkpoint", "revert", "--by", by, "-y")
	now := s.lines()
	count := s.counts[who]
	for line, of := range before {
		switch gone := now[line] == ""; {
		case of == who && gone:
			count[0]++
		case of == who:
			count[1]++
		case gone:
			count[2]++
			s.t.Errorf("--by %s took %q:\n%s", by, line, said)
		}
	}
	left := count[1] - s.counts[who][1]
	s.counts[who] = count
	s.t.Logf("revert --by %s: exit code %d, %d left\n%s", by, code, left, said)
	if code == 0 && left > 0 && !strings.Contains(said, "left") && !strings.Contains(said, "Left") {
		s.t.Errorf("--by %s does not say what is left:\n%s", by, said)
	}
	if code == 0 {
		s.run("git-checkpoint", "undo", "-y")
	}
	if len(s.lines()) != len(before) {
		s.t.Errorf("after undo there are %d lines of %d", len(s.lines()), len(before))
	}
}

// Two agents and a person are at work in one worktree: what one of them did is taken back, and nothing of the others. STORIES
// is how many there are, from SEED on.
func TestAgentStories(t *testing.T) {
	dir := os.Getenv("AGENTS")
	if dir == "" {
		t.Skip("AGENTS is not set: `make test-agents` runs it")
	}
	number := func(name string, otherwise int) int {
		if n, err := strconv.Atoi(os.Getenv(name)); err == nil {
			return n
		}
		return otherwise
	}
	for seed := number("SEED", 1); seed < number("SEED", 1)+number("STORIES", 1); seed++ {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			var drives []*drive
			for _, a := range drivenAgents()[:2] {
				program := filepath.Join(dir, a.name, "node_modules", ".bin", a.program)
				if _, err := os.Stat(program); err != nil {
					t.Skipf("NOT TESTED: %s is not installed", a.name)
				}
				drives = append(drives, newDrive(t, a, dir, program))
			}
			s := &story{drive: drives[0], codex: drives[1], Rand: rand.New(rand.NewPCG(uint64(seed), 0)), taken: map[string]bool{}, files: map[string]string{}, counts: map[string][3]int{}}
			config := filepath.Join(filepath.Dir(s.codex.dir), "home", ".codex", "config.toml")
			text, err := os.ReadFile(config)
			if err != nil {
				t.Fatal(err)
			}
			writeFile(t, config, strings.ReplaceAll(string(text), s.codex.dir, s.dir))
			s.codex.world.dir = s.dir
			s.run("sh", "-ec", "for f in f0 f1 f2; do seq -f 'base %g' 40 >$f; done; git add -A; git commit -qm base")
			s.run("git-checkpoint", "agent", "add", "claude", "-y")
			s.codex.run("git-checkpoint", "agent", "add", "codex", "-y")
			s.run("git-checkpoint", "agent", "add", "generic", "-y")
			t.Cleanup(s.failures)
			for range 3 {
				s.prompts(s.drive, func() { s.prompts(s.codex, nil) })
				s.person()
				if s.IntN(2) == 0 {
					s.prompts(s.codex, func() { s.person() })
				}
			}
			time.Sleep(time.Second) // what was typed while a command ran is there
			s.takes("claude", "claude")
			s.takes("codex", "codex")
			s.takes("me", "me")
			if len(s.unsaid) > 0 {
				t.Errorf("nobody said that these lines of the person were removed: %q", s.unsaid)
			}
			for who, c := range s.counts {
				t.Logf("COUNT %s: %d taken rightly, %d left, %d taken wrongly", who, c[0], c[1], c[2])
			}
		})
	}
}
