package author

import (
	"container/heap"
	"crypto/sha256"
	"fmt"
	"maps"
	"math/rand/v2"
	"testing"
	"time"

	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/format/record"
)

// The simulation: agents that edit and run commands in one worktree, wait for permission, are denied,
// leave programs running and let formatters go over their files, and a person who saves files
// meanwhile. It knows who wrote what, and feeds Work with what the hooks would see.

// write is one change of a file, as it truly was.
type write struct {
	path string
	at   int    // order of all that happens
	by   string // the worker, "person", "left running" or "formatter"
	run  int    // for a command: its number
	// over says that nothing of what was there before is left: a tool wrote the whole file.
	over bool
}

// simAgent is an agent with its session.
type simAgent struct {
	id      string
	session name.Session
	current map[string]string // the files of the session's current checkpoint
	seen    int               // when they were the worktree's
	made    int
	calls   int
}

type simTask struct {
	when float64
	nr   int
	do   func()
}

type simTasks []simTask

func (t simTasks) Len() int { return len(t) }
func (t simTasks) Less(i, j int) bool {
	return t[i].when < t[j].when || t[i].when == t[j].when && t[i].nr < t[j].nr
}
func (t simTasks) Swap(i, j int) { t[i], t[j] = t[j], t[i] }
func (t *simTasks) Push(x any)   { *t = append(*t, x.(simTask)) }
func (t *simTasks) Pop() any {
	last := (*t)[len(*t)-1]
	*t = (*t)[:len(*t)-1]
	return last
}

type sim struct {
	*rand.Rand
	t      *testing.T
	work   Work
	tasks  simTasks
	nr     int
	now    float64 // seconds
	order  int
	files  map[string]string
	trees  map[name.OID]map[string]string // what was seen
	writes []write
	runs   map[int][2]int // of each command: when the hooks before and after it ran; 0: not yet
	worker map[int]string // of each command

	edits, named, claimed, captured int
	wrong                           []string
}

func (s *sim) after(seconds float64, do func()) {
	s.nr++
	heap.Push(&s.tasks, simTask{s.now + seconds, s.nr, do})
}

func (s *sim) tick() int { s.order++; return s.order }

// anyPath prefers few files, so that people and agents meet.
func (s *sim) anyPath() string { return fmt.Sprintf("f%d", int(s.ExpFloat64()*4)) }

func (s *sim) write(path, by string, run int) string {
	at := s.tick()
	s.files[path] = fmt.Sprintf("%d", at)
	s.writes = append(s.writes, write{path: path, at: at, by: by, run: run})
	return s.files[path]
}

// look captures the worktree for an agent and checks what is claimed.
func (s *sim) look(a *simAgent, cause Cause, call string) {
	s.work.Begin(a.id, Worker{Session: a.session, Agent: "agent", At: time.Unix(int64(s.now), 0)})
	var changes []Change
	for path, content := range s.files {
		if a.current[path] != content {
			changes = append(changes, Change{Path: path, From: a.current[path], To: content})
		}
	}
	capture := CaptureContext{Cause: cause, Worker: a.id, Session: a.session, Call: call, In: func(tree name.OID, path string) (string, bool) {
		return s.trees[tree][path], true
	}}
	claims := s.work.Claims(capture, changes)
	for _, c := range changes {
		s.check(a, c.Path, claims[c.Path])
		a.current[c.Path] = c.To
	}
	if len(changes) > 0 {
		a.made++
		s.work.Made(capture, name.ID(fmt.Sprint(a.made-1)), name.ID(fmt.Sprint(a.made)), changes, claims)
	}
	tree := name.OID(fmt.Sprint(a.id, a.made))
	s.trees[tree] = maps.Clone(a.current)
	s.work.Saw(a.session, tree)
	a.seen = s.tick()
}

// check compares a claim with who truly wrote the file since the agent's last capture.
func (s *sim) check(a *simAgent, path, claim string) {
	right := true
	mine := false
	for _, w := range s.writes {
		if w.path != path || w.at <= a.seen {
			continue
		}
		if w.over {
			right, mine = true, false
		}
		mine = mine || w.by == a.id && w.run == 0
		switch claim {
		case record.Named:
			right = right && w.by == a.id && w.run == 0
		case record.During:
			right = right && s.during(a.id, w)
		case record.OutsideAgents:
			right = right && (w.by == "person" || w.by == "left running")
		case record.Unknown:
		default: // a session
			right = right && (w.by == claim || s.during(claim, w))
		}
	}
	if mine {
		s.edits++
		if claim == record.Named {
			s.named++
		}
	}
	s.captured++
	if claim != record.Unknown {
		s.claimed++
	}
	if !right {
		s.wrong = append(s.wrong, fmt.Sprintf("%s at %d: %q", path, s.order, claim))
	}
}

// during reports whether a write was made while a command of the agent ran, or may have run, and not by
// the tool of another agent.
func (s *sim) during(agent string, w write) bool {
	if w.by != agent && w.by != "person" && w.by != "left running" && w.by != "formatter" {
		return false
	}
	for nr, run := range s.runs {
		if s.worker[nr] == agent && run[0] < w.at && (run[1] == 0 || w.at < run[1]) {
			return true
		}
	}
	return false
}

func (s *sim) save(every float64) {
	s.after(s.ExpFloat64()*every, func() {
		s.write(s.anyPath(), "person", 0)
		s.save(every)
	})
}

// prompt begins a turn of some tools.
func (s *sim) prompt(a *simAgent) {
	s.after(1+s.ExpFloat64()*20, func() {
		s.look(a, BeforeTurn, "")
		s.work.EndTurn(a.id)
		s.work.Workers[a.id].Busy = true
		s.tool(a, 1+s.IntN(12))
	})
}

func (s *sim) tool(a *simAgent, left int) {
	s.after(0.5+s.ExpFloat64()*4, func() {
		if left == 0 {
			s.look(a, Otherwise, "")
			s.work.EndTurn(a.id)
			s.work.Workers[a.id].Busy = false
			s.prompt(a)
			return
		}
		a.calls++
		call := fmt.Sprint(a.calls)
		next := func() { s.tool(a, left-1) }
		if s.Float64() < 0.65 {
			s.edit(a, call, next)
		} else {
			s.command(a, call, next)
		}
	})
}

// permission waits for a person, now and then for long, and may be denied.
func (s *sim) permission(granted, denied func()) {
	wait := 0.01
	if s.Float64() < 0.1 {
		wait = s.ExpFloat64() * 30
		if s.Float64() < 0.3 {
			granted = denied
		}
	}
	s.after(wait, granted)
}

// made is the content that a tool makes of another one; an edit depends on what was there.
func made(what, call string) string {
	sum := sha256.Sum256([]byte(what + "/" + call))
	return fmt.Sprintf("%x", sum[:6])
}

func (s *sim) edit(a *simAgent, call string, next func()) {
	path, whole := s.anyPath(), s.Float64() < 0.3
	result := func() string {
		if whole {
			return made(a.id, call)
		}
		return made(s.files[path], a.id+call)
	}
	s.look(a, BeforeTool, "")
	s.work.Open(Window{Worker: a.id, Call: call, Known: true, Edits: map[string]Edit{path: {From: s.files[path], To: result()}}})
	s.permission(func() {
		content := result()
		s.write(path, a.id, 0)
		s.files[path], s.writes[len(s.writes)-1].over = content, whole
		after := func() { s.look(a, AfterTool, call); s.work.Close(a.id, call); next() }
		if s.Float64() < 0.02 {
			s.after(0.1, func() { s.write(path, "formatter", 0); after() })
			return
		}
		s.after(0.05, after)
	}, next)
}

func (s *sim) command(a *simAgent, call string, next func()) {
	s.look(a, BeforeTool, "")
	s.work.Open(Window{Worker: a.id, Call: call, Known: true})
	nr := len(s.runs) + 1
	s.runs[nr], s.worker[nr] = [2]int{s.tick(), 0}, a.id
	s.permission(func() {
		takes := s.ExpFloat64() * 8
		for range s.IntN(5) {
			s.after(s.Float64()*takes, func() { s.write(s.anyPath(), a.id, nr) })
		}
		if s.Float64() < 0.1 { // it leaves a program running
			for range 3 {
				s.after(takes+0.1+s.ExpFloat64()*60, func() { s.write(s.anyPath(), "left running", 0) })
			}
		}
		s.after(takes+0.05, func() {
			s.runs[nr] = [2]int{s.runs[nr][0], s.tick()}
			s.look(a, AfterTool, call)
			s.work.Close(a.id, call)
			next()
		})
	}, func() {
		s.runs[nr] = [2]int{s.runs[nr][0], s.tick()}
		next()
	})
}

// simulate lets agents work for a while, with a person who saves every so many seconds.
func simulate(t *testing.T, seed uint64, agents int, every float64) *sim {
	s := &sim{Rand: rand.New(rand.NewPCG(seed, 1)), t: t, files: map[string]string{}, trees: map[name.OID]map[string]string{}, runs: map[int][2]int{}, worker: map[int]string{}}
	for i := range agents {
		id := fmt.Sprintf("agent-%d", i)
		s.prompt(&simAgent{id: id, session: name.Session(id), current: map[string]string{}})
	}
	s.save(every)
	for s.now < 1800 && len(s.tasks) > 0 {
		next := heap.Pop(&s.tasks).(simTask)
		s.now = next.when
		next.do()
		s.work.forget()
	}
	return s
}

// No claim names the wrong one, whatever agents and a person do in one worktree, and nearly all edits of
// an agent that works alone with a person are named.
func TestNoWrongNames(t *testing.T) {
	seeds := 200
	if testing.Short() {
		seeds = 20
	}
	for _, c := range []struct {
		agents int
		every  float64 // seconds between what the person saves
		named  int     // percent of an agent's own edits that are named, at least
	}{{1, 12, 95}, {1, 90, 95}, {2, 12, 50}, {2, 90, 50}, {3, 30, 30}} {
		edits, named, claimed, captured := 0, 0, 0, 0
		for seed := range seeds {
			s := simulate(t, uint64(seed), c.agents, c.every)
			for _, wrong := range s.wrong[:min(3, len(s.wrong))] {
				t.Errorf("%d agents, a person every %v s, seed %d: wrong name: %s", c.agents, c.every, seed, wrong)
			}
			edits, named, claimed, captured = edits+s.edits, named+s.named, claimed+s.claimed, captured+s.captured
		}
		t.Logf("%d agents, a person every %v s: %d of %d edits named, %d of %d differences told", c.agents, c.every, named, edits, claimed, captured)
		if named*100 < edits*c.named {
			t.Errorf("%d agents, a person every %v s: only %d of %d edits are named", c.agents, c.every, named, edits)
		}
	}
}
