package bench

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/cgi"
	"os"
	"path/filepath"
	"time"
)

// travelRounds is how often each row about travel runs, because a round takes many seconds.
const travelRounds = 3

// travel measures the longest session over smart HTTP, served on this machine by git's own backend.
func (b *bench) travel() []job {
	n := b.Effort.longest()
	row := func(name, work string, first float64) Row {
		return Row{Name: fmt.Sprintf("travel/%s/%d", name, n), Work: fmt.Sprintf(work, n), Files: b.Effort.small(), First: first}
	}
	var t *traveller
	measured := func(row Row, work func(*traveller) step) job {
		return job{row, func(ctx context.Context) (found samples, err error) {
			if t == nil {
				if t, err = b.traveller(ctx, n); err != nil {
					return found, err
				}
			}
			return alone(ctx, min(travelRounds, b.Effort.Rounds), work(t))
		}}
	}
	return []job{
		measured(row("push", "milliseconds of the first `push` of %d over HTTP", 60_000), func(t *traveller) step {
			return step{t.unpushed, t.from.checkpoint("push", "--yes", "--quiet").run}
		}),
		measured(row("fetch", "milliseconds of the first `fetch` of %d over HTTP", 60_000), func(t *traveller) step {
			return step{t.unfetched, func(ctx context.Context) error { return t.to.checkpoint("fetch", "--quiet").run(ctx) }}
		}),
		measured(row("sync", "milliseconds of a `sync` of one over HTTP after %d", 1000), func(t *traveller) step {
			return step{t.ahead, t.from.checkpoint("sync", "--yes", "--quiet").run}
		}),
	}
}

// traveller is a session, a bare repository that a server has, and a clone.
type traveller struct {
	from, to *repository
	session  string // the directory of the session before anything was pushed
	bare     string
	url      string // served until this process ends
}

func (b *bench) traveller(ctx context.Context, n int) (*traveller, error) {
	from, err := b.copyOf(ctx, n, fmt.Sprintf("travel-%d", n))
	if err != nil {
		return nil, err
	}
	t := &traveller{from: from, to: b.blank("travel-clone", 0), bare: filepath.Join(b.root, "travel.git")}
	if t.session, err = b.grown(ctx, n); err != nil {
		return nil, err
	}
	programs, err := b.start(ctx, b.root, nil, "git", "--exec-path")
	if err != nil {
		return nil, err
	}
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("serve over HTTP: %w", err)
	}
	t.url = "http://" + listener.Addr().String() + "/travel.git"
	server := &http.Server{ReadHeaderTimeout: time.Minute, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body) // package cgi takes no body without a length
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		r.Body, r.ContentLength, r.TransferEncoding = io.NopCloser(bytes.NewReader(body)), int64(len(body)), nil
		(&cgi.Handler{
			Path: filepath.Join(programs, "git-http-backend"), Stderr: os.Stderr,
			Env: []string{"GIT_PROJECT_ROOT=" + b.root, "GIT_HTTP_EXPORT_ALL=1", "GIT_CONFIG_NOSYSTEM=1", "REMOTE_USER=ann", "GIT_PROTOCOL=" + r.Header.Get("Git-Protocol")},
		}).ServeHTTP(w, r)
	})}
	go server.Serve(listener) //nolint:errcheck // a request that fails says so
	return t, nil
}

// unpushed makes the bare repository anew, with the branch in it, and the session as it was before its first push.
func (t *traveller) unpushed(ctx context.Context) error {
	for _, dir := range []string{t.bare, t.from.dir} {
		if err := os.RemoveAll(dir); err != nil {
			return err
		}
	}
	if err := copyTree(t.session, t.from.dir); err != nil {
		return err
	}
	if _, err := t.from.start(ctx, t.from.root, nil, "git", "init", "-q", "--bare", "-b", "main", t.bare); err != nil {
		return err
	}
	for _, args := range [][]string{{"remote", "add", "origin", t.url}, {"push", "-q", t.bare, "main"}} {
		if _, err := t.from.git(ctx, nil, args...); err != nil {
			return err
		}
	}
	return t.from.settle(ctx)
}

// pushed is unpushed with a push, unless the bare repository has the session already.
func (t *traveller) pushed(ctx context.Context) error {
	there, err := t.from.start(ctx, t.from.root, nil, "sh", "-c", `git -C "$1" for-each-ref --count=1 refs/checkpoints 2>/dev/null; :`, "sh", t.bare)
	if err != nil || there != "" {
		return err
	}
	if err := t.unpushed(ctx); err != nil {
		return err
	}
	return t.from.checkpoint("push", "--yes", "--quiet").run(ctx)
}

// unfetched makes a fresh clone of the bare repository.
func (t *traveller) unfetched(ctx context.Context) error {
	if err := t.pushed(ctx); err != nil {
		return err
	}
	if err := os.RemoveAll(t.to.dir); err != nil {
		return err
	}
	_, err := t.from.start(ctx, t.from.root, nil, "git", "clone", "-q", t.url, t.to.dir)
	return err
}

// ahead makes one checkpoint that nobody has yet.
func (t *traveller) ahead(ctx context.Context) error {
	if err := t.pushed(ctx); err != nil {
		return err
	}
	if err := t.from.change(ctx); err != nil {
		return err
	}
	return t.from.create(ctx)
}
