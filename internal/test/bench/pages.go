package bench

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// pages measures the pages of `web`: the timeline of a session of medium length, and every
// view of the longest one.
func (b *bench) pages() []job {
	lengths := b.Effort.Lengths
	view := func(name, path string, n int, first float64) job {
		what, _, _ := strings.Cut(name, "/")
		return job{
			Row{Name: fmt.Sprintf("page/%s/%d", name, n), Work: fmt.Sprintf("the page's %s, of %d checkpoints", what, n), Files: b.Effort.small(), First: first},
			func(ctx context.Context) (samples, error) { return viewed(ctx, b, path, n) },
		}
	}
	longest := lengths[len(lengths)-1]
	return []job{
		view("timeline", "/", min(1000, longest), 100),
		view("timeline/all", "/", longest, 300),
		view("step", "/step?ref=3", longest, 300),
		view("compare", "/compare?a=3&b=4", longest, 300),
		view("metrics", "/metrics", longest, 300),
		view("find", "/find?q=step", longest, 300),
	}
}

// viewed starts a server and measures how long it takes to fetch a page.
func viewed(ctx context.Context, b *bench, path string, n int) (found samples, err error) {
	r, err := b.session(ctx, n)
	if err != nil {
		return found, err
	}
	// Cancelling the context ends the server.
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	server := exec.CommandContext(ctx, b.Program, "web", "--no-open")
	server.Dir, server.Env = r.dir, append(os.Environ(), "HOME="+filepath.Join(b.root, "home"), "GIT_CONFIG_NOSYSTEM=1")
	out, err := server.StdoutPipe()
	if err == nil {
		err = server.Start()
	}
	if err != nil {
		return found, fmt.Errorf("start the page: %w", err)
	}
	// Deferred calls run in reverse order: first end the server, then wait for it.
	defer server.Wait() //nolint:errcheck // it was ended
	defer cancel()
	// The server prints its address, with a key that the first request exchanges for the path of the
	// pages.
	line, err := bufio.NewReader(out).ReadString('\n')
	_, address, said := strings.Cut(line, "http://")
	if err != nil || !said {
		return found, fmt.Errorf("the page said %q: %w", line, err)
	}
	pages := ""
	get := func(address string) error {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+address, nil)
		if err != nil {
			return err
		}
		answer, err := http.DefaultClient.Do(request)
		if err != nil {
			return err
		}
		defer answer.Body.Close() //nolint:errcheck // it was read
		if pages == "" {
			pages = strings.TrimSuffix(strings.TrimPrefix(answer.Request.URL.String(), "http://"), "/")
		}
		if _, err = io.Copy(io.Discard, answer.Body); err == nil && answer.StatusCode != http.StatusOK {
			err = fmt.Errorf("%s: %s", address, answer.Status)
		}
		return err
	}
	if err := get(strings.TrimSpace(address)); err != nil {
		return found, err
	}
	return alone(ctx, b.Effort.Rounds, step{run: func(context.Context) error { return get(pages + path) }})
}
