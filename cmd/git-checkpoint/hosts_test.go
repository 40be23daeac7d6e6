package main

import (
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strings"
	"testing"
)

// These tests start servers that others wrote: SERVERS=1 runs them, as `make
// test-servers` does, and each names the program that it lacks.

// program finds one of a server; without it, it says so, or fails where all have to be.
func program(t *testing.T, names ...string) string {
	t.Helper()
	if os.Getenv("SERVERS") == "" {
		t.Skip("SERVERS is not set: `make test-servers` runs it")
	}
	for _, n := range names {
		if path, err := exec.LookPath(n); err == nil {
			return path
		}
	}
	if os.Getenv("SERVERS") == "all" {
		t.Fatalf("%s is not installed", names[0])
	}
	t.Skipf("NOT TESTED: %s is not installed", names[0])
	return ""
}

func writeFile(t *testing.T, path, content string) string {
	t.Helper()
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// A real web server before git's own backend: those with a password read, one writes.
func TestServersLighttpd(t *testing.T) {
	lighttpd := program(t, "lighttpd", "/usr/sbin/lighttpd")
	where, err := exec.Command("git", "--exec-path").Output()
	if err != nil {
		t.Fatal(err)
	}
	w := newWorld(t)
	root, port := t.TempDir(), freePort(t)
	bare(t, w, filepath.Join(root, "r.git"))
	passwords := writeFile(t, filepath.Join(t.TempDir(), "passwords"), "ann:sesame\nbob:only-reads\n")
	backend := filepath.Join(strings.TrimSpace(string(where)), "git-http-backend")
	conf := writeFile(t, filepath.Join(t.TempDir(), "lighttpd.conf"), fmt.Sprintf(`
server.modules = ("mod_cgi", "mod_alias", "mod_auth", "mod_authn_file", "mod_setenv")
server.document-root = %[1]q
server.bind = "127.0.0.1"
server.port = %[2]d
alias.url = ("/git/" => "%[3]s/", "/read/" => "%[3]s/")
cgi.assign = ("git-http-backend" => "")
auth.backend = "plain"
auth.backend.plain.userfile = %[4]q
auth.require = (
	"/git/" => ("method" => "basic", "realm" => "git", "require" => "user=ann"),
	"/read/" => ("method" => "basic", "realm" => "git", "require" => "valid-user"))
setenv.set-environment = ("GIT_PROJECT_ROOT" => %[1]q, "GIT_HTTP_EXPORT_ALL" => "1", "GIT_CONFIG_NOSYSTEM" => "1", "HOME" => %[1]q)
$HTTP["url"] =^ "/read/" {
	setenv.add-environment = ("GIT_CONFIG_COUNT" => "1", "GIT_CONFIG_KEY_0" => "http.receivepack", "GIT_CONFIG_VALUE_0" => "false")
	setenv.set-environment = ("GIT_PROJECT_ROOT" => %[1]q, "GIT_HTTP_EXPORT_ALL" => "1", "GIT_CONFIG_NOSYSTEM" => "1", "HOME" => %[1]q)
}
`, root, port, backend, passwords))
	start(t, exec.Command(lighttpd, "-D", "-f", conf), port)
	url, reading := fmt.Sprintf("http://127.0.0.1:%d/git/r.git", port), fmt.Sprintf("http://127.0.0.1:%d/read/r.git", port)
	as := func(w *world, login string) {
		name, password, _ := strings.Cut(login, ":")
		w.run("git", "config", "credential.helper", fmt.Sprintf("!f() { echo username=%s; echo password=%s; }; f", name, password))
	}
	a, b := newWorld(t), newWorld(t)
	as(a, "ann:sesame")
	a.travels(url)
	as(b, "bob:only-reads")
	b.arrives(reading, a)
	b.run("git-checkpoint", "create", "--session", "demo", "-m", "from b")
	held := b.run("git", "for-each-ref", "refs/checkpoints")
	if out, code := b.try("git-checkpoint", "push", "-y"); code != 1 || b.run("git", "for-each-ref", "refs/checkpoints") != held {
		t.Errorf("a push of one who may only read: exit code %d\n%s", code, out)
	}
	b.run("git", "remote", "set-url", "origin", url)
	as(b, "ann:wrong")
	if out, code := b.try("git-checkpoint", "push", "-y"); code != 1 || !strings.Contains(out, "credential") {
		t.Errorf("a wrong password: exit code %d\n%s", code, out)
	}
	as(b, "ann:sesame")
	b.run("git-checkpoint", "sync", "-y")
	a.run("git-checkpoint", "sync", "-y")
}

// secure is an sshd for one test; each key that it takes runs a command.
type secure struct {
	port int
	dir  string
	user string
	keys strings.Builder
}

func newSSH(t *testing.T) *secure {
	t.Helper()
	program(t, "sshd", "/usr/sbin/sshd")
	me, err := user.Current()
	if err != nil {
		t.Fatal(err)
	}
	return &secure{port: freePort(t), dir: t.TempDir(), user: me.Username}
}

// key makes a key; command is what it may run, all without one.
func (s *secure) key(t *testing.T, who, command string) {
	t.Helper()
	path := filepath.Join(s.dir, who)
	if out, err := exec.Command("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", who, "-f", path).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	public, err := os.ReadFile(path + ".pub")
	if err != nil {
		t.Fatal(err)
	}
	if command != "" {
		fmt.Fprintf(&s.keys, "command=%q ", command)
	}
	s.keys.Write(public)
}

func (s *secure) listen(t *testing.T) {
	t.Helper()
	sshd := program(t, "sshd", "/usr/sbin/sshd")
	s.key(t, "host", "")
	writeFile(t, filepath.Join(s.dir, "keys"), s.keys.String())
	conf := writeFile(t, filepath.Join(s.dir, "sshd_config"), fmt.Sprintf(`
ListenAddress 127.0.0.1
Port %d
HostKey %s/host
AuthorizedKeysFile %s/keys
PidFile none
StrictModes no
UsePAM no
PasswordAuthentication no
KbdInteractiveAuthentication no
PermitRootLogin prohibit-password
`, s.port, s.dir, s.dir))
	start(t, exec.Command(sshd, "-D", "-e", "-f", conf), s.port)
}

// as lets a world connect with a key.
func (s *secure) as(w *world, who string) {
	w.env = append(w.env, fmt.Sprintf("GIT_SSH_COMMAND=ssh -F none -i %s/%s -o IdentitiesOnly=yes -o BatchMode=yes -o UserKnownHostsFile=%s/known -o StrictHostKeyChecking=no -o LogLevel=ERROR", s.dir, who, s.dir))
}

func (s *secure) url(path string) string {
	return fmt.Sprintf("ssh://%s@127.0.0.1:%d/%s", s.user, s.port, strings.TrimPrefix(path, "/"))
}

func TestServersSSH(t *testing.T) {
	s := newSSH(t)
	s.key(t, "ann", "")
	s.listen(t)
	a, b := newWorld(t), newWorld(t)
	dir := bare(t, a, filepath.Join(t.TempDir(), "r.git"))
	s.as(a, "ann")
	a.travels(s.url(dir))
	s.as(b, "ann")
	b.arrives(s.url(dir), a)
	if out, err := exec.Command("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", filepath.Join(s.dir, "stranger")).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	s.as(b, "stranger")
	if out, code := b.try("git-checkpoint", "push", "-y"); code != 1 || !strings.Contains(out, "no key that the server accepts") {
		t.Errorf("a stranger's key: exit code %d\n%s", code, out)
	}
}

// A git server with rules on who may push which namespace.
func TestServersGitolite(t *testing.T) {
	gitolite := program(t, "gitolite", "gitolite3")
	s := newSSH(t)
	home := t.TempDir()
	run := func(args ...string) {
		t.Helper()
		cmd := exec.Command(gitolite, args...)
		cmd.Dir, cmd.Env = home, append(os.Environ(), "HOME="+home, "USER="+s.user, "LOGNAME="+s.user)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("gitolite %v: %v\n%s", args, err, out)
		}
	}
	run("setup", "-a", "admin")
	writeFile(t, filepath.Join(home, ".gitolite/conf/gitolite.conf"), `
repo gitolite-admin
    RW+ = admin
repo r
    RW+                        = ann
    -   refs/checkpoints/private- = bob
    RW  refs/checkpoints/      = bob
    RW  refs/notes/checkpoints = bob
    RW  refs/heads/            = bob carol
`)
	run("compile")
	run("trigger", "POST_COMPILE")
	for _, who := range []string{"ann", "bob", "carol"} {
		s.key(t, who, fmt.Sprintf("HOME=%s /usr/share/gitolite3/gitolite-shell %s", home, who))
	}
	s.listen(t)
	url := s.url("r")
	a, b, c := newWorld(t), newWorld(t), newWorld(t)
	s.as(a, "ann")
	a.travels(url)
	s.as(b, "bob")
	b.arrives(url, a)
	b.run("git-checkpoint", "create", "--session", "demo", "-m", "from b")
	b.run("git-checkpoint", "create", "--session", "private-b", "-m", "not for there")
	out, code := b.try("git-checkpoint", "push", "-y")
	if code != 1 || !strings.Contains(out, "private-b") || !strings.Contains(out, "DENIED") && !strings.Contains(out, "declined") {
		t.Errorf("a session that bob may not push: exit code %d\n%s", code, out)
	}
	a.run("git-checkpoint", "sync", "-y")
	if list := a.run("git-checkpoint", "list", "--session", "demo"); !strings.Contains(list, "from b") {
		t.Errorf("what bob may push did not arrive:\n%s", list)
	}
	if out, code := a.try("git-checkpoint", "list", "--session", "private-b"); code != 3 {
		t.Errorf("what bob may not push arrived: %d\n%s", code, out)
	}
	a.run("git-checkpoint", "delete", "1", "--session", "demo", "-y")
	a.run("git-checkpoint", "sync", "-y") // ann may delete
	b.run("git-checkpoint", "sync", "-y", "--session", "demo")

	// One who may push branches only keeps checkpoints below a branch's name.
	s.as(c, "carol")
	c.run("git", "remote", "add", "origin", url)
	c.run("git-checkpoint", "create", "--session", "carols", "-m", "one")
	if out, code := c.try("git-checkpoint", "push", "-y"); code != 1 {
		t.Errorf("exit code %d\n%s", code, out)
	}
	if out, code := c.try("git-checkpoint", "init", "--remote-check"); code != 1 || !strings.Contains(out, "checkpoint.refPrefix refs/heads/checkpoints/") {
		t.Errorf("exit code %d\n%s", code, out)
	}
	c.run("git", "config", "checkpoint.refPrefix", "refs/heads/checkpoints/")
	c.run("git-checkpoint", "push", "-y")
	d := newWorld(t)
	s.as(d, "carol")
	d.run("git", "config", "checkpoint.refPrefix", "refs/heads/checkpoints/")
	d.arrivesAt(url, "carols")
}

// arrivesAt fetches one session and finds it whole.
func (w *world) arrivesAt(url, session string) {
	w.t.Helper()
	w.run("git", "remote", "add", "origin", url)
	w.run("git-checkpoint", "fetch", "--session", session)
	w.run("git-checkpoint", "validate", "--session", session, "--deep", "-q")
}
