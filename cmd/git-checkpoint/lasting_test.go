package main

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"time"
)

// A process that serves requests for days frees what it reads: none of it may stay mapped into
// its memory, because a process may have only some 65,000 mappings.
func TestLasting(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("it reads /proc")
	}
	for _, c := range []struct {
		args []string
		ask  func(w *world, in io.Writer, out *bufio.Scanner)
	}{
		{[]string{"mcp"}, func(w *world, in io.Writer, out *bufio.Scanner) {
			for _, line := range []string{
				`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}`,
				`{"jsonrpc":"2.0","method":"notifications/initialized"}`,
				`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"save","arguments":{"message":"two"}}}`,
			} {
				fmt.Fprintln(in, line)
			}
			for out.Scan() && !strings.Contains(out.Text(), `"id":2`) {
			}
			if !strings.Contains(out.Text(), "cp-02") {
				w.t.Errorf("mcp answered %q", out.Text())
			}
		}},
		{[]string{"web", "--no-open"}, func(w *world, _ io.Writer, out *bufio.Scanner) {
			var address string
			for address == "" && out.Scan() {
				address = regexp.MustCompile(`http://\S+`).FindString(out.Text())
			}
			answer, err := http.Get(address)
			if err != nil {
				w.t.Fatal(err)
			}
			defer answer.Body.Close()
			if page, err := io.ReadAll(answer.Body); err != nil || !strings.Contains(string(page), "cp-01") {
				w.t.Errorf("web answered %v: %s", err, page)
			}
		}},
		{[]string{"watch", "--settle", "50ms", "--every", "300ms"}, func(w *world, _ io.Writer, _ *bufio.Scanner) {
			for end := time.Now().Add(30 * time.Second); !strings.Contains(w.run("git-checkpoint", "list"), "watch"); {
				if time.Now().After(end) {
					w.t.Fatal("watch made no checkpoint")
				}
				time.Sleep(20 * time.Millisecond)
			}
		}},
	} {
		t.Run(c.args[0], func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.write("file", "one\n")
			w.run("git-checkpoint", "create")
			w.run("git", "repack", "-q", "-a", "-d")
			w.write("file", "two\n")
			cmd := exec.CommandContext(t.Context(), "git-checkpoint", c.args...)
			cmd.Dir, cmd.Env = w.dir, w.env
			in, err := cmd.StdinPipe()
			if err != nil {
				t.Fatal(err)
			}
			out, err := cmd.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			c.ask(w, in, bufio.NewScanner(out))
			maps, err := os.ReadFile(fmt.Sprintf("/proc/%d/maps", cmd.Process.Pid))
			if err != nil {
				t.Fatal(err)
			}
			if strings.Contains(string(maps), w.dir) {
				t.Errorf("files are mapped:\n%s", maps)
			}
			cmd.Process.Signal(os.Interrupt) //nolint:errcheck // or it has ended already
			in.Close()                       //nolint:errcheck // as above
			cmd.Wait()                       //nolint:errcheck // how it ends is not asked here
		})
	}
}
