package web

import (
	"html"
	"strings"
	"testing"

	"git-checkpoint/internal/format/record"
	"git-checkpoint/internal/test/verbtest"
	"git-checkpoint/internal/verb/create"
)

// The page of an agent's step names the files that the agent is not known to have made, and who made them, also of
// the whole turn that it ends; it links to the steps behind the lines of each file that is there.
func TestNotByThisAgent(t *testing.T) {
	w := verbtest.New(t)
	w.Env = append(w.Env, "GIT_CHECKPOINT_AUTOPACK=false")
	w.Write("a<b>", "1\n")
	w.Write("gone", "1\n")
	w.Create(create.Request{Session: "s"})
	w.Write("a<b>", "2\n")
	w.Remove("gone")
	by := func(paths map[string]string) *record.Agent {
		return &record.Agent{Name: "claude", Session: "c", Paths: paths, Whole: &record.Whole{Paths: paths}}
	}
	made := w.Create(create.Request{Session: "s", Trigger: "turn", Agent: by(map[string]string{
		"a<b>": record.Named, "gone": record.During, "mine<i>": record.OutsideAgents, "who": record.Unknown, "theirs": "other",
	})}).Record.ID
	s := serverIn(w)
	code, page := s.shown(query("/step", "session", "s", "ref", made))
	for _, want := range []string{
		"Not by this agent <small>3</small>", "<li>mine&lt;i&gt;: outside</li>", "<li>who: unknown</li>", `<li>theirs: <a href="./?session=other">other</a></li>`,
		html.EscapeString(query("/lines", "session", "s", "what", "a<b>", "as", "file")),
	} {
		if code != 200 || !strings.Contains(page, want) {
			t.Errorf("status %d, no %q in\n%s", code, want, page)
		}
	}
	if strings.Contains(page, "what=gone") {
		t.Error("it links to the lines of a file that is gone")
	}
	w.Write("a<b>", "3\n")
	if _, page = s.shown(query("/step", "session", "s", "ref", w.Create(create.Request{Session: "s"}).Record.ID)); strings.Contains(page, "Not by this agent") {
		t.Error("a step without an agent names others")
	}
}
