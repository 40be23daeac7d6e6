package web

import (
	"bytes"
	"context"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"

	"git-checkpoint/internal/core/checkpoint"
)

const host = "127.0.0.1:4242"

// asked returns a server without a repository, in which every request that passes the checks fails
// with 500.
func asked(t *testing.T, write bool) (*Server, *time.Time) {
	t.Helper()
	now := time.Date(2026, 11, 20, 9, 0, 0, 0, time.UTC)
	s := &Server{
		Open: func(context.Context, func(*checkpoint.Service) error) error { return errReached },
		Now:  func() time.Time { return now }, host: host, secret: "secret", form: "form",
	}
	if write {
		s.Write = func(context.Context, ...string) Result { return Result{} }
	}
	return s, &now
}

var errReached = checkpoint.Usage("", "reached")

func request(method, target string, set func(*http.Request)) *http.Request {
	if !strings.HasPrefix(target, "/?t=") {
		target = "/secret" + strings.TrimPrefix(target, ".")
	}
	r := httptest.NewRequest(method, target, nil)
	r.Host = host
	if set != nil {
		set(r)
	}
	return r
}

func status(s *Server, r *http.Request) (int, http.Header) {
	w := httptest.NewRecorder()
	s.Handler().ServeHTTP(w, r)
	return w.Code, w.Header()
}

// TestKeepsOut violates each rule of guarded by itself.
func TestKeepsOut(t *testing.T) {
	s, _ := asked(t, true)
	if code, _ := status(s, request("GET", "/", nil)); code != http.StatusBadRequest {
		t.Fatalf("the one who may read gets %d", code)
	}
	for name, r := range map[string]*http.Request{
		"another name for this machine": request("GET", "/", func(r *http.Request) { r.Host = "evil.example:4242" }),
		"localhost":                     request("GET", "/", func(r *http.Request) { r.Host = "localhost:4242" }),
		"another port":                  request("GET", "/", func(r *http.Request) { r.Host = "127.0.0.1:4243" }),
		"no secret":                     request("GET", "/", func(r *http.Request) { r.URL.Path = "/" }),
		"no page":                       request("GET", "/", func(r *http.Request) { r.URL.Path = "/secret" }),
		"another secret":                request("GET", "/", func(r *http.Request) { r.URL.Path = "/wrong/" }),
		"the secret in a cookie":        request("GET", "/", func(r *http.Request) { r.URL.Path = "/step"; r.Header.Set("Cookie", "checkpoint-4242=secret") }),
		"a link of another site":        request("GET", "/", func(r *http.Request) { r.Header.Set("Sec-Fetch-Site", "cross-site") }),
		"another port of this machine":  request("GET", "/", func(r *http.Request) { r.Header.Set("Sec-Fetch-Site", "same-site") }),
		"a form without its token":      request("POST", "/do?verb=undo", nil),
		"a form of another origin": request("POST", "/do?form=form", func(r *http.Request) {
			r.Header.Set("Origin", "http://evil.example")
			r.Header.Set("Sec-Fetch-Site", "cross-site")
		}),
		"an address that was never printed": request("GET", "/?t=guess", nil),
	} {
		if code, _ := status(s, r); code != http.StatusForbidden && code != http.StatusMisdirectedRequest {
			t.Errorf("%s: %d", name, code)
		}
	}
}

// TestTicket checks that an address works once, and for a minute.
func TestTicket(t *testing.T) {
	s, now := asked(t, false)
	enter := func(address string) (int, http.Header) {
		u, err := url.Parse(address)
		if err != nil {
			t.Fatal(err)
		}
		return status(s, request("GET", u.RequestURI(), nil))
	}
	first, late := s.Address(), s.Address()
	code, header := enter(first)
	// Cookies know no ports: any would go to every server on 127.0.0.1.
	if code != http.StatusSeeOther || header.Get("Location") != "/secret/" || header.Get("Set-Cookie") != "" {
		t.Fatalf("%d %v", code, header)
	}
	if code, _ := enter(first); code != http.StatusForbidden {
		t.Errorf("a second use: %d", code)
	}
	*now = now.Add(ticketLife)
	if code, _ := enter(late); code != http.StatusForbidden {
		t.Errorf("after a minute: %d", code)
	}
}

// TestDoor checks the file for the browser: only its owner may read it, and its address works once.
func TestDoor(t *testing.T) {
	s, now := asked(t, false)
	door := func() string {
		file, err := s.Door(t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		if info, err := os.Stat(file); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
			t.Errorf("%v %v", info.Mode(), err)
		}
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		_, rest, _ := strings.Cut(string(text), "url=http://"+host)
		target, _, _ := strings.Cut(rest, `"`)
		return target
	}
	enter := func(target string) *httptest.ResponseRecorder {
		w := httptest.NewRecorder()
		s.Handler().ServeHTTP(w, request("GET", target, func(r *http.Request) {
			r.Header.Set("Sec-Fetch-Site", "cross-site") // as a browser does for a file
		}))
		return w
	}
	first, late := door(), door()
	// A redirect would still count as cross-site.
	if w := enter(first); w.Code != http.StatusOK || !strings.Contains(w.Body.String(), `content="0; url=/secret/"`) {
		t.Errorf("%d %v %s", w.Code, w.Header(), w.Body)
	}
	if w := enter(first); w.Code != http.StatusForbidden {
		t.Errorf("a second use: %d", w.Code)
	}
	if *now = now.Add(DoorLife); enter(late).Code != http.StatusForbidden {
		t.Error("after a minute it still works")
	}
}

// TestReadsOnly checks that without --write there are no actions.
func TestReadsOnly(t *testing.T) {
	s, _ := asked(t, false)
	form := func(path string) *http.Request {
		r := httptest.NewRequest(http.MethodPost, "/secret"+path, strings.NewReader("form=form&verb=undo&digest=x"))
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.Host = host
		return r
	}
	for _, path := range []string{"/plan", "/do"} {
		if code, _ := status(s, form(path)); code != http.StatusNotFound && code != http.StatusMethodNotAllowed {
			t.Errorf("POST %s: %d", path, code)
		}
	}
	s, _ = asked(t, true)
	if code, _ := status(s, form("/do")); code != http.StatusBadRequest { // it reaches the repository
		t.Errorf("with --write: %d", code)
	}
}

// TestHeaders checks the headers of every answer.
func TestHeaders(t *testing.T) {
	s, _ := asked(t, false)
	for _, target := range []string{"/", "/static/page.css", "/nowhere"} {
		_, header := status(s, request("GET", target, nil))
		for name, want := range map[string]string{
			"Content-Security-Policy": "default-src 'none'", "Referrer-Policy": "no-referrer", "X-Frame-Options": "DENY",
			"X-Content-Type-Options": "nosniff", "Cache-Control": "", "Cross-Origin-Resource-Policy": "same-origin",
		} {
			if got := header.Get(name); !strings.Contains(got, want) || got == "" {
				t.Errorf("%s: %s is %q", target, name, got)
			}
		}
		if strings.Contains(header.Get("Content-Security-Policy"), "unsafe") {
			t.Errorf("%s: %s", target, header.Get("Content-Security-Policy"))
		}
	}
}

// TestStatic checks that only embedded styles and scripts are served.
func TestStatic(t *testing.T) {
	s, _ := asked(t, false)
	for target, want := range map[string]int{
		"/static/page.css": 200, "/static/highlight.js": 200, "/static/highlight.LICENSE": 404, "/static/..%2f..%2fserver.go": 404, "/static/nothing.js": 404,
	} {
		if code, _ := status(s, request("GET", target, nil)); code != want {
			t.Errorf("%s: %d", target, code)
		}
	}
}

// TestIdle checks that a server without readers ends, and that a reader keeps it running.
func TestIdle(t *testing.T) {
	var i idle
	ended := make(chan struct{})
	i.start(time.Hour, func() { close(ended) })
	leave := i.enter()
	i.life = 0
	select {
	case <-ended:
		t.Fatal("it ended while somebody reads")
	default:
	}
	leave()
	<-ended
}

// TestPictureKind checks that only raster images are served as pictures.
func TestPictureKind(t *testing.T) {
	for content, want := range map[string]string{
		"\x89PNG\r\n\x1a\n": "image/png", "GIF89a": "image/gif", "<svg xmlns='http://www.w3.org/2000/svg'><script>": "",
		"<html>": "", "": "", "%PDF-": "",
	} {
		if got := pictureKind([]byte(content)); got != want {
			t.Errorf("%q: %q", content, got)
		}
	}
}

// TestPlan checks that the page of a plan shows what the command answered, and invisible characters.
func TestPlan(t *testing.T) {
	s, _ := asked(t, true)
	s.Read = func(context.Context, ...string) Result {
		return Result{Out: []byte(`{"session":"other","digest":"d1","to_label":"cp-01","plan":{"write":["a\u202eb"],"delete":[{"path":"caf%E9","encoding":"percent"}],` +
			`"mode":[],"skipped":["sub"],"discard":["cp-02"],"risk":[{"path":"x","reason":"too large"}]},"meanwhile":[{"worktree":"w","what":"went back"}]}`)}
	}
	r := httptest.NewRequest(http.MethodPost, "/plan", strings.NewReader("verb=rollback&session=main&ref=1"))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	v, err := s.plan(t.Context(), nil, r)
	if err != nil {
		t.Fatal(err)
	}
	var page bytes.Buffer
	if err := s.draw(&page, frame{view: v}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"Roll back to cp-01", "a⟨U&#43;202E⟩b", "caf\ufffd", "<li>sub</li>", "<li>cp-02</li>", "x: too large", "w went back", `name="session" value="main"`, `value="d1"`} {
		if !strings.Contains(page.String(), want) {
			t.Errorf("%q is not in\n%s", want, page.String())
		}
	}
}
