package main

import (
	"fmt"
	"net"
	"net/http"
	"net/http/cgi"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"git-checkpoint/internal/test/scripttest"
)

// bare makes a bare repository that takes pushes over any transport.
func bare(t *testing.T, w *world, dir string) string {
	t.Helper()
	w.run("git", "init", "-q", "--bare", "-b", "main", dir)
	w.run("git", "-C", dir, "config", "http.receivepack", "true")
	return dir
}

// there and back: what one clone pushes over a transport, another has after a fetch.
func thereAndBack(t *testing.T, url string) {
	t.Helper()
	a := newWorld(t)
	a.travels(url)
	b := newWorld(t)
	b.env = append(b.env, "GIT_CONFIG_COUNT=0")
	b.arrives(url, a)
}

func (w *world) travels(url string) {
	w.t.Helper()
	w.write("f", "one\n")
	w.run("git", "add", ".")
	w.run("git", "commit", "-qm", "one")
	w.run("git", "remote", "add", "origin", url)
	w.write("u", "untracked\n")
	w.run("git-checkpoint", "create", "--session", "demo", "-m", "one")
	w.run("git-checkpoint", "push", "-y")
	w.run("git-checkpoint", "create", "--session", "demo", "-m", "two")
	w.run("git-checkpoint", "sync", "-y")
	if out := w.run("git-checkpoint", "fetch"); !strings.Contains(out, "up to date") {
		w.t.Fatalf("after a sync there is something to fetch:\n%s", out)
	}
}

func (w *world) arrives(url string, from *world) {
	w.t.Helper()
	w.run("git", "remote", "add", "origin", url)
	w.run("git-checkpoint", "fetch")
	refs := "git for-each-ref --format='%(refname) %(objectname)' refs/checkpoints refs/tags"
	if here, there := w.run("sh", "-c", refs), from.run("sh", "-c", refs); here != there {
		w.t.Fatalf("here is\n%s\nand there\n%s", here, there)
	}
	w.run("git-checkpoint", "rollback", "2", "-y", "--session", "demo")
	if got, err := os.ReadFile(filepath.Join(w.dir, "u")); err != nil || string(got) != "untracked\n" {
		w.t.Fatalf("the untracked file is %q, %v", got, err)
	}
	w.run("git", "fsck", "--strict")
}

// smart serves the repositories below a directory over HTTP, by git's own backend, to
// those who know the password.
type smart struct {
	*httptest.Server
	password atomic.Value // "" lets everybody in
	requests atomic.Int64
}

func serveHTTP(t *testing.T, root string) *smart {
	t.Helper()
	path, err := exec.Command("git", "--exec-path").Output()
	if err != nil {
		t.Fatal(err)
	}
	s := &smart{}
	s.password.Store("")
	backend := &cgi.Handler{
		Path: filepath.Join(strings.TrimSpace(string(path)), "git-http-backend"), Stderr: os.Stderr,
		Env: []string{"GIT_PROJECT_ROOT=" + root, "GIT_HTTP_EXPORT_ALL=1", "GIT_CONFIG_NOSYSTEM=1", "REMOTE_USER=ann"},
	}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.requests.Add(1)
		want, _ := s.password.Load().(string)
		if _, got, ok := r.BasicAuth(); want != "" && (!ok || got != want) {
			w.Header().Set("WWW-Authenticate", `Basic realm="git"`)
			http.Error(w, "who are you?", http.StatusUnauthorized)
			return
		}
		if protocol := r.Header.Get("Git-Protocol"); protocol != "" {
			b := *backend
			b.Env = append(append([]string(nil), backend.Env...), "GIT_PROTOCOL="+protocol)
			b.ServeHTTP(w, r)
			return
		}
		backend.ServeHTTP(w, r)
	}))
	t.Cleanup(s.Close)
	return s
}

func TestServerHTTP(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	root := t.TempDir()
	bare(t, w, filepath.Join(root, "r.git"))
	s := serveHTTP(t, root)
	thereAndBack(t, s.URL+"/r.git")
}

// Credentials come from git's helpers. Without one, or with an expired one, nothing is
// asked for and nothing is lost.
func TestServerHTTPCredentials(t *testing.T) {
	scripttest.Long(t)
	t.Parallel()
	w := newWorld(t)
	root := t.TempDir()
	bare(t, w, filepath.Join(root, "r.git"))
	s := serveHTTP(t, root)
	s.password.Store("sesame")
	w.write("f", "one\n")
	w.run("git-checkpoint", "create", "--session", "demo", "-m", "one")
	w.run("git", "remote", "add", "origin", s.URL+"/r.git")
	fails := func(hint string, args ...string) {
		t.Helper()
		began := time.Now()
		out, code := w.try(args...)
		if code != 1 || !strings.Contains(out, hint) || time.Since(began) > 30*time.Second {
			t.Fatalf("%v: exit code %d after %s\n%s", args, code, time.Since(began), out)
		}
	}
	for _, verb := range []string{"push", "fetch", "sync"} {
		fails("without a terminal, nothing is asked", "git-checkpoint", verb)
	}
	helper := "!f() { echo username=ann; echo password=$PASS; }; f"
	w.run("git", "config", "credential.helper", helper)
	w.env = append(w.env, "PASS=old")
	fails("expired", "git-checkpoint", "push", "-y")
	fails("", "git-checkpoint", "push", "-y", strings.Replace(s.URL, "://", "://ann:secret-word@", 1)+"/r.git")
	if out, _ := w.try("git-checkpoint", "push", "-y", strings.Replace(s.URL, "://", "://ann:secret-word@", 1)+"/r.git"); strings.Contains(out, "secret-word") {
		t.Errorf("the password is shown:\n%s", out)
	}
	w.env = append(w.env, "PASS=sesame")
	w.run("git-checkpoint", "push", "-y")
	w.run("git-checkpoint", "sync", "-y")
}

// A remote that only reads: what is here stays, and a fetch works.
func TestServerHTTPReadOnly(t *testing.T) {
	scripttest.Long(t)
	t.Parallel()
	w := newWorld(t)
	root := t.TempDir()
	dir := bare(t, w, filepath.Join(root, "r.git"))
	s := serveHTTP(t, root)
	w.run("git-checkpoint", "create", "--session", "demo", "-m", "one")
	w.run("git", "remote", "add", "origin", s.URL+"/r.git")
	w.run("git-checkpoint", "push", "-y")
	w.run("git", "-C", dir, "config", "http.receivepack", "false")
	w.run("git-checkpoint", "create", "--session", "demo", "-m", "two")
	refs := w.run("git", "for-each-ref", "refs/checkpoints")
	if out, code := w.try("git-checkpoint", "push", "-y"); code != 1 {
		t.Fatalf("exit code %d\n%s", code, out)
	}
	w.run("git-checkpoint", "fetch")
	if w.run("git", "for-each-ref", "refs/checkpoints") != refs {
		t.Error("refs are not as they were")
	}
}

// A push, and a fetch of nothing, are as few requests as they can be.
func TestServerConnections(t *testing.T) {
	scripttest.Long(t)
	t.Parallel()
	w := newWorld(t)
	root := t.TempDir()
	bare(t, w, filepath.Join(root, "r.git"))
	s := serveHTTP(t, root)
	w.run("git", "remote", "add", "origin", s.URL+"/r.git")
	w.run("git-checkpoint", "create", "--session", "demo", "-m", "one")
	w.run("git-checkpoint", "push", "-y")
	count := func(args ...string) int64 {
		t.Helper()
		before := s.requests.Load()
		w.run(args...)
		return s.requests.Load() - before
	}
	// A listing is two requests (capabilities, refs), a push two more.
	w.run("git-checkpoint", "create", "--session", "demo", "-m", "two")
	if n := count("git-checkpoint", "push", "-y"); n > 5 {
		t.Errorf("a push took %d requests", n)
	}
	w.run("git-checkpoint", "create", "--session", "demo", "-m", "three")
	if n := count("git-checkpoint", "sync", "-y"); n > 5 {
		t.Errorf("a sync took %d requests", n)
	}
	if n := count("git-checkpoint", "fetch"); n > 2 {
		t.Errorf("a fetch of nothing took %d requests", n)
	}
}

func TestServerDaemon(t *testing.T) {
	scripttest.Long(t)
	t.Parallel()
	w := newWorld(t)
	root := t.TempDir()
	bare(t, w, filepath.Join(root, "r.git"))
	port := freePort(t)
	daemon := exec.Command("git", "daemon", "--listen=127.0.0.1", fmt.Sprintf("--port=%d", port), "--reuseaddr", "--export-all",
		"--enable=receive-pack", "--base-path="+root, root)
	daemon.Env = append(os.Environ(), "GIT_CONFIG_NOSYSTEM=1")
	start(t, daemon, port)
	thereAndBack(t, fmt.Sprintf("git://127.0.0.1:%d/r.git", port))
}

// freePort finds a port that nobody listens on.
func freePort(t *testing.T) int {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()                     //nolint:errcheck // it only had to be free
	return l.Addr().(*net.TCPAddr).Port //nolint:errcheck,forcetypeassert // it is one of TCP
}

// start runs a server until the test ends, and waits until it listens.
func start(t *testing.T, server *exec.Cmd, port int) {
	t.Helper()
	var said strings.Builder
	server.Stdout, server.Stderr = &said, &said
	server.WaitDelay = time.Second
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		server.Process.Signal(syscall.SIGTERM)                                       //nolint:errcheck // it may have ended; asked so, git ends its daemon too
		patience := time.AfterFunc(10*time.Second, func() { server.Process.Kill() }) //nolint:errcheck // likewise
		server.Wait()                                                                //nolint:errcheck // it was ended
		patience.Stop()
		if t.Failed() {
			t.Logf("the server said:\n%s", said.String())
		}
	})
	for range 100 {
		if c, err := net.DialTimeout("tcp", fmt.Sprintf("127.0.0.1:%d", port), time.Second); err == nil {
			c.Close() //nolint:errcheck // it listens
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
	t.Fatalf("%s does not listen", server.Path)
}
