package main

import (
	"bufio"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
)

// Other accounts can read the arguments of every process, so none has an address that lets a browser in:
// the browser gets a file that only its owner can read. Standard output has an address, as ever.
func TestNoProcessHasTheAddress(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("it reads /proc")
	}
	w := newWorld(t)
	w.write("file", "one")
	w.run("git", "checkpoint", "save", "-q")
	seen := filepath.Join(filepath.Dir(w.dir), "seen")
	w.write("browser", `file=${1#file://}
cat /proc/[0-9]*/cmdline >"$0.arguments" 2>/dev/null
ls -l "$file" >"$0.mode"; cp "$file" "$0.door"; printf %s "$1" >"$0.url"
`)
	if err := os.Rename(filepath.Join(w.dir, "browser"), seen); err != nil {
		t.Fatal(err)
	}
	w.run("git", "config", "browser.mine.cmd", "sh '"+seen+"'")
	w.run("git", "config", "web.browser", "mine")
	cmd := exec.CommandContext(t.Context(), "git-checkpoint", "web")
	cmd.Dir, cmd.Env = w.dir, w.env
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	lines.Scan()
	address := regexp.MustCompile(`http://\S+\?t=(\w+)`)
	printed := address.FindStringSubmatch(lines.Text())
	if printed == nil {
		t.Fatalf("it printed %q", lines.Text())
	}
	enter := func(address string) (int, string) {
		answer, err := http.Get(address)
		if err != nil {
			t.Fatal(err)
		}
		defer answer.Body.Close()
		page, _ := io.ReadAll(answer.Body)
		return answer.StatusCode, string(page)
	}
	// The server answers when the browser was started.
	if code, page := enter(printed[0]); code != http.StatusOK || !strings.Contains(page, "cp-01") {
		t.Errorf("the printed address: %d %s", code, page)
	}
	read := func(end string) string {
		text, err := os.ReadFile(seen + end)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	if !strings.HasPrefix(read(".mode"), "-rw-------") {
		t.Errorf("the file is %s", read(".mode"))
	}
	inside := address.FindStringSubmatch(read(".door"))
	if inside == nil || inside[1] == printed[1] {
		t.Fatalf("the file leads to %q", inside)
	}
	if all := read(".arguments"); !strings.Contains(all, "tmp-web-") || strings.Contains(all, "?t=") || strings.Contains(all, inside[1]) || strings.Contains(all, printed[1]) {
		t.Error("a process has an address among its arguments")
	}
	for n, want := range []int{http.StatusOK, http.StatusForbidden} {
		if code, _ := enter(inside[0]); code != want {
			t.Errorf("use %d of the file's address: %d", n+1, code)
		}
	}
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // the code of an interrupt
	if left, _ := filepath.Glob(filepath.Join(w.dir, ".git/checkpoint/tmp-web-*")); len(left) > 0 {
		t.Errorf("left behind: %q", left)
	}
}
