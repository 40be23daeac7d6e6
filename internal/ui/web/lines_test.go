package web

import (
	"context"
	"html"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/format/record"
	"git-checkpoint/internal/test/verbtest"
	"git-checkpoint/internal/verb/create"
)

// The page of a file has a link to the step behind its lines, that of a commit the steps and their files.
// Texts and names are shown as text, and nothing of the .git directory is shown.
func TestLines(t *testing.T) {
	w := verbtest.New(t)
	w.Env = append(w.Env, "GIT_CHECKPOINT_AUTOPACK=false")
	const file = "a <b>.go"
	w.Write(file, "x := \"<script>\"\n}\n")
	id := w.Create(create.Request{Session: "agent", Trigger: "turn", Message: "make <it> work", Agent: &record.Agent{Name: "claude", Session: "s1", Paths: map[string]string{file: record.Named}}}).Record.ID
	w.Env = append(w.Env, "GIT_AUTHOR_DATE=2026-12-01T00:00:00Z", "GIT_COMMITTER_DATE=2026-12-01T00:00:00Z")
	w.Git("add", "--", file)
	w.Git("commit", "-qm", "Both")
	w.Write(file, "x := \"<script>\"\n}\nby hand\n")
	s := serverIn(w)
	ask := func(what string) (int, string) { return s.shown(query("/lines", "what", what)) }
	link := `<a href="` + html.EscapeString(query("/step", "session", "agent", "ref", id)) + `">make &lt;it&gt; work</a> claude`
	for what, wanted := range map[string][]string{
		file:   {link, "1\tx := &#34;&lt;script&gt;&#34;\n2\t}\n", "Unknown, not committed", "3\tby hand\n", ">Both</a>"},
		"HEAD": {"<h2>Both</h2>", link, ">a &lt;b&gt;.go</a>"},
		"":     {"<h1>Lines</h1>"},
	} {
		code, page := ask(what)
		for _, want := range wanted {
			if code != 200 || !strings.Contains(page, want) {
				t.Errorf("%q: status %d, no %q in\n%s", what, code, want, page)
			}
		}
	}
	for _, what := range []string{"nothing.go", ".git/config", "../outside", "a\x00b"} {
		if code, page := ask(what); code != 404 && code != 400 || strings.Contains(page, "repositoryformatversion") {
			t.Errorf("%q: status %d", what, code)
		}
	}
}

// serverIn returns a server for a repository.
func serverIn(w *verbtest.World) *Server {
	return &Server{
		Open: func(_ context.Context, do func(*checkpoint.Service) error) error {
			return w.Do(func(_ context.Context, service *checkpoint.Service) error { return do(service) })
		},
		Now: func() time.Time { return time.Date(2026, 12, 2, 0, 0, 0, 0, time.UTC) }, host: host, secret: "secret", form: "form",
	}
}

// shown returns the status and the text of a page.
func (s *Server) shown(address string) (int, string) {
	answer := httptest.NewRecorder()
	s.Handler().ServeHTTP(answer, request("GET", address, nil))
	return answer.Code, answer.Body.String()
}

// Find looks into prompts, answers and paths of all sessions if that is wanted, and else into the session.
func TestFindEverywhere(t *testing.T) {
	w := verbtest.New(t)
	w.Env = append(w.Env, "GIT_CHECKPOINT_AUTOPACK=false")
	for _, session := range []string{"one", "two"} {
		w.Write(session+".go", session+"\n")
		w.Create(create.Request{Session: session, Trigger: "turn", Message: "survive <" + session + ">\n\nDone with the retries.", Agent: &record.Agent{Name: "claude", Session: session}})
	}
	s := serverIn(w)
	for text, wanted := range map[string][]string{
		"SURVIVE": {"survive &lt;one&gt;", "survive &lt;two&gt;"}, "the retries": {"Done with the retries."}, "two.go": {"path: two.go"}, "nowhere": {"Nothing was found."}, "": {"<h1>Find</h1>"},
	} {
		code, page := s.shown(query("/find", "session", "one", "q", text, "everywhere", "on"))
		for _, want := range wanted {
			if code != 200 || !strings.Contains(page, want) {
				t.Errorf("%q: status %d, no %q in\n%s", text, code, want, page)
			}
		}
	}
	if _, page := s.shown(query("/find", "session", "one", "q", "survive")); strings.Contains(page, "two&gt;") {
		t.Errorf("another session was searched:\n%s", page)
	}
}
