package interop

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

func (g *gen) goTeam(n int) {
	steps := []string{"init", "requirements", "architecture", "implementation", "testing", "review-1", "review-2", "review-final", "optimization", "release", "synthesis"}
	home := pick(g, goTeamBare, goTeamHome)
	for session := 0; n > 0; session++ {
		dir := pick(g, fmt.Sprintf("7b0c1c9e-1d2f-4f55-9a52-0e6f3f3f8a%02d", session), fmt.Sprint("team-", session), fmt.Sprint("Team_", session, ".x"), fmt.Sprint("équipe_", session), fmt.Sprint("team ", session))
		root := path.Join(home, dir)
		var entries, back []json.RawMessage
		var labels []string
		for i := range min(n, 1+g.IntN(len(steps))) {
			label, at := g.goTeamDocument(root, dir, steps[i], i)
			if i > 0 && g.chance(15) {
				o := &object{}
				o.set(pick(g, "from_checkpoint", "from"), pick(g, label, labels[i-1]))
				o.set(pick(g, "to_checkpoint", "to"), labels[g.IntN(i)])
				o.set(pick(g, "timestamp", "time"), at)
				o.set("reason", g.text())
				back = append(back, g.strew(o, o.names[:3]...).json())
			}
			e := &object{}
			e.set("id", label)
			e.set("step", i+1)
			e.set("timestamp", at)
			e.set("valid", g.chance(80))
			entries, labels = append(entries, e.json()), append(labels, label)
			n--
		}
		if g.chance(80) {
			m := &object{}
			m.set("session_id", dir)
			m.set("topic", g.text())
			m.set("created_at", "2026-02-03T10:00:00Z")
			m.set("checkpoints", entries)
			m.set("current_checkpoint", labels[len(labels)-1])
			m.set("rollback_history", back)
			if m = g.strew(m, "checkpoints"); g.chance(50) {
				whole := &object{}
				whole.set("manifest", m)
				m = whole
			}
			g.file(path.Join(root, manifestFile), m.json())
		}
		if g.chance(60) {
			g.file(path.Join(root, historyFile), encode(back))
		}
	}
}

func (g *gen) goTeamDocument(root, dir, step string, i int) (label, at string) {
	number := []int{1, 2, 3, 4, 5, 6, 6, 6, 7, 8, 9}[i]
	label = fmt.Sprintf("cp-%02d-%s", number, step)
	when, at := g.at(i)
	o := &object{}
	o.set("id", fmt.Sprintf("cp-%d-%s", number, when.Format("20060102T150405Z")))
	o.set("session_id", dir)
	o.set("step_number", number)
	o.set("step_name", strings.SplitN(step, "-", 2)[0])
	o.set("created_at", at)
	s := &object{}
	s.set("topic", g.text())
	s.set("phase", strings.SplitN(step, "-", 2)[0])
	s.set("current_step", number)
	s.set("iteration_count", g.IntN(3))
	m := &object{}
	m.set("build_pass", g.chance(50))
	m.raw("test_coverage", g.number())
	s.set("metrics", g.strew(m))
	s = g.strew(s)
	o.set("state", s)
	out := &object{}
	for _, name := range []string{"spec", "architecture"} {
		out.raw(name, pick(g, json.RawMessage("null"), encode(g.text())))
	}
	for _, name := range []string{"code_files", "test_files", "review_comments"} {
		out.set(name, g.texts())
	}
	o.set("outputs", g.strew(out))
	for name, parts := range map[string][]string{"files": {"created", "modified", "deleted"}} {
		f := &object{}
		for _, part := range parts {
			f.set(part, g.texts())
		}
		o.set(name, g.strew(f))
	}
	place := &object{}
	place.set("branch", g.text())
	place.set("commit_hash", pick(g, "0123456789abcdef0123456789abcdef01234567", g.text()))
	o.set("git", place)
	o.set("valid", g.chance(80))
	o = g.strew(o, "state", "step_number", "created_at", "step_name")
	p := path.Join(root, label+".json")
	g.said[p] = s.json()
	whole := &object{}
	if whole.set("checkpoint", o); g.chance(20) {
		whole = o
	}
	g.file(p, whole.json())
	return label, at
}

func (g *gen) tasks(n int) []json.RawMessage {
	out := []json.RawMessage{}
	for i := range g.IntN(4) {
		o := &object{}
		o.set("id", fmt.Sprintf("task_%d_%d", n, i))
		o.set("agent", g.text())
		out = append(out, g.strew(o, "id").json())
	}
	return out
}

func (g *gen) ultraCreate(n int) {
	var rows []*ultraRow
	for i := range n {
		when, _ := g.at(i)
		phase := 1 + g.IntN(4)
		id := fmt.Sprintf("cp_%s_%s%d", when.Format("20060102_150405"), pick(g, "phase", "фаза"), phase)
		project := fmt.Sprint("proj_", g.IntN(3))
		s := &object{}
		for k, name := range []string{"completed_tasks", "pending_tasks", "failed_tasks"} {
			s.set(name, g.tasks(10*i+k))
		}
		file := &object{}
		file.set("path", g.text())
		file.set("hash", g.word())
		s.set("files_created", []json.RawMessage{file.json()})
		s.set("decisions", []json.RawMessage{})
		place := &object{}
		place.set("branch", g.text())
		place.set("worktrees", g.texts())
		s.set("git_state", place)
		s = g.strew(s, "completed_tasks")
		row := &ultraRow{ID: id, Project: new(project), Phase: new(fmt.Sprint("phase_", phase)), State: new(string(s.json())), Timestamp: new(when.Format("2006-01-02T15:04:05.000Z"))}
		kind := g.IntN(3)
		p := path.Join(ultraHome, id+".json")
		if kind != 0 {
			rows = append(rows, row)
		}
		if kind == 1 {
			p = ultraDatabase + "#" + id
		} else {
			o := &object{}
			o.set("checkpoint_id", id)
			o.set("project_id", project)
			o.set("phase", columnText(row.Phase))
			o.set("timestamp", columnText(row.Timestamp))
			o.set("state", s)
			m := &object{}
			m.set("tasks_total", g.IntN(9))
			m.set("elapsed_time", "45s")
			if o.set("metrics", m); g.chance(30) {
				o.set("description", g.text())
			}
			g.file(p, g.strew(o, "project_id", "phase", "timestamp", "state").json())
		}
		g.said[p] = s.json()
	}
	if len(rows) == 0 {
		return
	}
	file := filepath.Join(g.dir, filepath.FromSlash(ultraDatabase))
	if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
		panic(err)
	}
	err := inDatabase(context.Background(), file, func(tx querier) error {
		_, err := writeRows(tx, rows, nil, nil)
		return err
	})
	if err != nil {
		panic(err)
	}
}

func (g *gen) orchestrate(n int) {
	for i := range n {
		when, at := g.at(i)
		kind := pick(g, "orchestrate", "implement", "test-all")
		project := fmt.Sprintf("%s_%d", pick(g, "search_box", "dark_theme", "x", "検索"), i)
		id := kind + "_" + project + "_" + when.Format("20060102_150405")
		o := &object{}
		o.set("checkpoint_id", id)
		o.set("workflow_type", kind)
		o.set("workflow_description", g.text())
		o.set("created_at", when.Format("2006-01-02T15:04:05Z"))
		o.set("updated_at", at)
		o.set("status", pick(g, "in_progress", "in_progress", "completed", "failed", "abandoned"))
		total := 1 + g.IntN(6)
		o.set("current_phase", g.IntN(total+1))
		o.set("total_phases", total)
		phases := []int{}
		for p := range g.IntN(total + 1) {
			phases = append(phases, p+1)
		}
		o.set("completed_phases", phases)
		s := &object{}
		s.set("project_name", project)
		s.raw("research_results", g.value(3))
		o.set("workflow_state", g.strew(s))
		o.raw("last_error", pick(g, json.RawMessage("null"), encode(g.text()), json.RawMessage(`{"message": "broke", "phase": 2}`)))
		o = g.strew(o, "workflow_type", "workflow_state", "updated_at", "status")
		p := path.Join(orchestrateHome, pick(g, "", "", orchestrateFailed), id+".json")
		g.said[p] = o.json()
		g.file(p, o.json())
	}
}

func (g *gen) pipeline(n int) {
	for i, number := range g.Perm(1000)[:n] {
		prd := fmt.Sprintf("PRD-%03d", number)
		_, at := g.at(i)
		streams := []string{}
		for w := range 1 + g.IntN(5) {
			streams = append(streams, fmt.Sprint("WS", w+1))
		}
		done := g.IntN(len(streams) + 1)
		status := pick(g, "initialized", "paused", "failed", "in_progress")
		under, pending := []string{}, slices.Clone(streams[done:])
		switch {
		case len(pending) == 0:
			status = "complete"
		case status == "in_progress":
			under, pending = pending[:1], pending[1:]
		}
		o := &object{}
		o.set("prd", prd)
		o.set("prd_title", g.text())
		o.set("current_phase", g.IntN(5))
		o.set("status", status)
		o.set("completed_workstreams", streams[:done])
		o.set("in_progress_workstreams", under)
		o.set("pending_workstreams", pending)
		a := &object{}
		for _, w := range streams[:done] {
			a.set(w, g.texts())
		}
		o.set("artifacts", a)
		o.set("gates_passed", []string{"type-check (WS1)"})
		o.set("gates_pending", []string{})
		o.set("timestamp", at)
		if status == "failed" {
			e := &object{}
			e.set("workstream", pending[0])
			e.set("message", g.text())
			o.set("error", e)
		}
		o = g.strew(o, "prd", "status", "timestamp", "error", "completed_workstreams", "in_progress_workstreams", "pending_workstreams")
		p := path.Join(pipelineHome, prd+".json")
		g.said[p] = o.json()
		g.file(p, o.json())
	}
}

func (g *gen) crunch(n int) {
	phases := crunchPhases[:]
	for issue := 1; n > 0; issue++ {
		number := strconv.Itoa(issue*17 + g.IntN(9))
		root := path.Join(crunchHome, number, crunchDir)
		var entries []json.RawMessage
		newest := ""
		for i := range min(n, 1+g.IntN(6)) {
			n--
			_, at := g.at(i)
			phase := phases[min(i, len(phases)-1)]
			id := fmt.Sprintf("CP-%s-20260203-%04x", phase, i*7919%65536)
			trigger := pick(g, "phase_transition", "batch_complete", "agent_complete", "manual", "user_interrupt")
			o := g.crunchDocument(id, number, phase, at, trigger)
			p := path.Join(root, id+".yaml")
			g.said[p] = o.json()
			g.write(p, g.yaml(o.json()))
			e := &object{}
			e.set("checkpoint_id", id)
			e.set("created_at", at)
			e.set("trigger", trigger)
			e.set("phase", phase)
			e.set("can_resume", true)
			entries, newest = append(entries, e.json()), id
		}
		if g.chance(80) {
			o := &object{}
			o.raw("issue_number", json.RawMessage(number))
			o.set("checkpoints", entries)
			o.set("latest", newest)
			o.set("total_checkpoints", len(entries))
			g.write(path.Join(root, indexFile), g.yaml(o.json()))
		}
		if err := os.Symlink(newest+".yaml", filepath.Join(g.dir, filepath.FromSlash(path.Join(root, latestFile)))); err != nil {
			panic(err)
		}
	}
}

func (g *gen) crunchDocument(id, number, phase, at, trigger string) *object {
	o := &object{}
	o.set("checkpoint_id", id)
	o.set("version", "1.0")
	o.set("created_at", at)
	o.raw("issue_number", json.RawMessage(number))
	o.set("session_id", g.text())
	o.set("trigger", trigger)
	part := func(name string, set func(*object)) {
		p := &object{}
		set(p)
		o.set(name, g.strew(p, "current_phase"))
	}
	part("workflow_state", func(p *object) {
		p.set("current_phase", phase)
		p.set("current_state_label", g.text())
		p.set("phase_attempt", g.IntN(4))
	})
	part("issue_snapshot", func(p *object) {
		p.set("title", g.text())
		p.set("body", g.text())
		p.set("labels", g.texts())
		p.set("branch", g.text())
	})
	part("execution_graph", func(p *object) {
		p.set("completed_batches", []int{1, 2})
		nodes := &object{}
		for i := range g.IntN(4) {
			node := &object{}
			node.set("status", pick(g, "complete", "pending", "in_progress", "failed"))
			node.raw("result", g.value(2))
			nodes.set(fmt.Sprint("node_", i), node)
		}
		p.set("node_states", nodes)
	})
	part("acp_state", func(p *object) { p.set("pending_messages", g.texts()) })
	part("recovery_info", func(p *object) {
		p.set("can_resume", g.chance(80))
		p.set("resume_from", g.text())
		p.set("warnings", g.texts())
	})
	var files []json.RawMessage
	for range g.IntN(3) {
		f := &object{}
		f.set("path", g.text())
		f.set("status", pick(g, "added", "modified", "deleted"))
		f.set("staged", g.chance(50))
		files = append(files, f.json())
	}
	o.set("files_modified", files)
	return g.strew(o, "checkpoint_id", "created_at", "workflow_state")
}
