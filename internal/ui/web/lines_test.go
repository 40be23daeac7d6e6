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
	s := &Server{
		Open: func(_ context.Context, do func(*checkpoint.Service) error) error {
			return w.Do(func(_ context.Context, service *checkpoint.Service) error { return do(service) })
		},
		Now: func() time.Time { return time.Date(2026, 12, 2, 0, 0, 0, 0, time.UTC) }, host: host, secret: "secret", form: "form",
	}
	ask := func(what string) (int, string) {
		answer := httptest.NewRecorder()
		s.Handler().ServeHTTP(answer, request("GET", query("/lines", "what", what), nil))
		return answer.Code, answer.Body.String()
	}
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
