package main

import (
	"bufio"
	"io"
	"net/http"
	"net/url"
	"os/exec"
	"regexp"
	"strings"
	"testing"
)

// reader is somebody with the page of a server in the browser.
type reader struct {
	t      *testing.T
	client *http.Client
	server string
	form   string // the token of the page's forms
}

// browse starts `git checkpoint web` and opens what it prints.
func (w *world) browse(flags ...string) *reader {
	w.t.Helper()
	cmd := exec.CommandContext(w.t.Context(), "git-checkpoint", append([]string{"web", "--no-open"}, flags...)...)
	cmd.Dir, cmd.Env = w.dir, w.env
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { _ = cmd.Wait() }) // the end of the test's context ends it
	lines := bufio.NewScanner(out)
	lines.Scan()
	address := regexp.MustCompile(`http://[^/]*/\?t=\w+`).FindString(lines.Text())
	if address == "" {
		w.t.Fatalf("it printed %q", lines.Text())
	}
	r := &reader{t: w.t, client: &http.Client{}}
	answer, err := r.client.Get(address)
	r.read(answer, err, http.StatusOK)
	r.server = strings.TrimSuffix(answer.Request.URL.String(), "/") // with the secret in its path
	return r
}

func (r *reader) get(path string) string {
	r.t.Helper()
	answer, err := r.client.Get(r.server + path)
	return r.read(answer, err, http.StatusOK)
}

// post sends a form and expects a status.
func (r *reader) post(path string, status int, fields ...string) string {
	r.t.Helper()
	form := url.Values{}
	for i := 0; i+1 < len(fields); i += 2 {
		form.Set(fields[i], fields[i+1])
	}
	answer, err := r.client.PostForm(r.server+path, form)
	return r.read(answer, err, status)
}

func (r *reader) read(answer *http.Response, err error, status int) string {
	r.t.Helper()
	if err != nil {
		r.t.Fatal(err)
	}
	defer answer.Body.Close()
	page, err := io.ReadAll(answer.Body)
	if err != nil || answer.StatusCode != status {
		r.t.Fatalf("%s: %d instead of %d, %v\n%s", answer.Request.URL.Path, answer.StatusCode, status, err, page)
	}
	return string(page)
}

// has fails unless the page has the texts, and none of those that begin with a !.
func (r *reader) has(page string, texts ...string) {
	r.t.Helper()
	for _, text := range texts {
		text, not := strings.CutPrefix(text, "!")
		if strings.Contains(page, text) == not {
			r.t.Errorf("%q: want it %v in\n%s", text, !not, page)
		}
	}
}

// The page takes back what a step did as it rolls back: only with --write, only with the form's token, and only
// the plan that was shown. A plan with conflicts is shown and cannot be carried out.
func TestPageReverts(t *testing.T) {
	w := newWorld(t)
	w.write("f <b>", "1\n2\n3\n4\n5\n")
	w.run("git-checkpoint", "save", "-q", "-m", "one")
	w.write("f <b>", "1\ntwo\n3\n4\n5\n")
	w.run("git-checkpoint", "save", "-q", "-m", "two")
	w.write("f <b>", "1\ntwo\n3\n4\nfive\n")
	w.run("git-checkpoint", "save", "-q", "-m", "three")
	id := strings.TrimSpace(w.run("git-checkpoint", "show", "2", "--get", "id"))
	step := "/step?" + url.Values{"session": {"main"}, "ref": {id}}.Encode()
	about := []string{"verb", "revert", "session", "main", "ref", id}

	reads := w.browse()
	reads.has(reads.get(step), "!Take back what it did", "/lines?as=file")
	reads.post("/plan", http.StatusForbidden, about...)

	r := w.browse("--write")
	page := r.get(step)
	r.has(page, "Take back what it did…")
	r.form = regexp.MustCompile(`name="form" value="(\w+)"`).FindStringSubmatch(page)[1]
	r.post("/plan", http.StatusForbidden, about...)
	about = append(about, "form", r.form)
	page = r.post("/plan", http.StatusOK, about...)
	r.has(page, "Take back what cp-02 did", "Merged with later work", "<li>f &lt;b&gt; with outside</li>", "Do it", "!Conflicts")
	digest := regexp.MustCompile(`name="digest" value="(\w+)"`).FindStringSubmatch(page)[1]
	r.post("/do", http.StatusBadRequest, about...)
	w.write("other", "made meanwhile\n")
	w.write("f <b>", "1\ntwo\nthree\n4\nfive\n")
	r.post("/do", http.StatusConflict, append(about, "digest", digest)...)
	if got := w.run("cat", "f <b>"); got != "1\ntwo\nthree\n4\nfive\n" {
		t.Fatalf("a plan that is out of date was carried out: %q", got)
	}
	w.write("f <b>", "1\nTWO\n3\n4\nfive\n")
	r.has(r.post("/plan", http.StatusOK, about...), "Conflicts", "f &lt;b&gt;: ", "!Do it", "!name=\"digest\"")
	w.write("f <b>", "1\ntwo\n3\n4\nfive\n")
	digest = regexp.MustCompile(`name="digest" value="(\w+)"`).FindStringSubmatch(r.post("/plan", http.StatusOK, about...))[1]
	r.has(r.post("/do", http.StatusOK, append(about, "digest", digest)...), "revert: done", "Undo…")
	if got := w.run("cat", "f <b>"); got != "1\n2\n3\n4\nfive\n" {
		t.Fatalf("the step was not taken back: %q", got)
	}
	r.has(r.post("/plan", http.StatusConflict, about...), "!Do it") // nothing is left to take back
	w.run("git-checkpoint", "undo", "-y", "-q")
	if got := w.run("cat", "f <b>"); got != "1\ntwo\n3\n4\nfive\n" {
		t.Fatalf("undo did not bring it back: %q", got)
	}
}
