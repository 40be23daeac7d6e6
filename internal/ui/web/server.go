// Package web shows a job in a browser: its timeline, each step with its files and state, and what
// differs between two steps. It serves one worktree on the loopback interface, or writes the same
// pages into a single HTML file that needs no server.
//
// A request passes guarded (who may ask), Server.page (which opens the repository and draws the
// answer) and one function per page: timeline, step, compare, attempts, metrics, sessions, find, lines,
// plan, do. Each reads with the verb packages, fills a struct such as stepPage, and names the
// template in templates/ that draws it. Pages work without JavaScript; events tells the script
// when something has changed.
//
// The package changes nothing itself. The pages plan and do (act.go) run command lines of this
// program, and exist only if the server was given a Command for that. Everything that comes from
// the repository is untrusted: html/template escapes it, and plain shows invisible characters.
package web

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"html/template"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"time"

	"git-checkpoint/internal/core/checkpoint"
)

// Command runs a command line of this program with buffers in place of the terminal.
type Command func(ctx context.Context, args ...string) Result

// Result is what a command wrote to stdout, its error (nil: none), and its exit code. A command such as
// validate may have a code other than 0 without an error.
type Result struct {
	Out     []byte
	Problem *checkpoint.Error
	Code    int
}

// Server serves the pages of one worktree. Set the exported fields, then call Listen and Serve, or
// WriteFile alone. A Server either serves pages or writes one file.
type Server struct {
	// Open opens the repository, calls do, and closes it. It is called for each request, so that
	// pages show what is there now.
	Open    func(ctx context.Context, do func(*checkpoint.Service) error) error
	Read    Command          // runs commands that change nothing, such as validate and rollback --dry-run
	Write   Command          // runs commands that change files. If it is nil, there are no pages for that
	Session string           // the session to show first; empty means the one that commands would choose
	Refs    []string         // the directories in which git keeps the refs of this repository; open pages follow them
	Now     func() time.Time // the clock: for tickets, and for relative times on the pages

	host    string  // the listener's address, 127.0.0.1:port. Requests must use it as their Host
	secret  string  // begins the path of every page
	form    string  // a token that each form sends along
	tickets tickets // the addresses that were printed and may still be opened
	idle    idle    // ends the server when nobody uses it
	// one lets a single request at a time use the repository and the templates: a Service is not
	// for concurrent use, and a command must not run while a page reads.
	one       sync.Mutex
	templates *template.Template // parsed when the first page is drawn
}

// ticketLife is how long a printed address can be opened. idleLife is how long the server runs
// without any request.
const (
	ticketLife = time.Minute
	idleLife   = time.Hour
)

// Listen opens a port on the loopback interface; port 0 means any free one. It also generates the
// secrets of this run, so it must be called before Address and Serve.
func (s *Server) Listen(ctx context.Context, port int) (net.Listener, error) {
	var config net.ListenConfig
	l, err := config.Listen(ctx, "tcp4", fmt.Sprintf("127.0.0.1:%d", port))
	if err != nil {
		return nil, fmt.Errorf("listen on 127.0.0.1: %w", err)
	}
	s.host, s.secret, s.form = l.Addr().String(), rand.Text(), rand.Text()
	return l, nil
}

// Address returns an address that lets a browser in once, and within ticketLife. Each call issues a
// new one.
func (s *Server) Address() string { return "http://" + s.host + "/?t=" + s.tickets.issue(s.Now()) }

// Serve answers requests until ctx ends or nobody has used the server for idleLife. It then waits,
// for up to a minute, for requests that are being answered.
func (s *Server) Serve(ctx context.Context, l net.Listener) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	s.idle.start(idleLife, stop)
	server := &http.Server{
		Handler: s.Handler(), ReadHeaderTimeout: 10 * time.Second, MaxHeaderBytes: 64 << 10,
		BaseContext: func(net.Listener) context.Context { return ctx },
	}
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(l) }()
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
	}
	// A rollback that a request began must be finished, not cut off in the middle.
	patient, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Minute)
	defer cancel()
	if err := server.Shutdown(patient); err != nil {
		return fmt.Errorf("end the server: %w", err)
	}
	if err := <-ended; !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// Handler returns the handler for all requests, behind the checks of guarded.
func (s *Server) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", s.page(s.timeline))
	mux.HandleFunc("GET /step", s.page(s.step))
	mux.HandleFunc("GET /compare", s.page(s.compare))
	mux.HandleFunc("GET /attempts", s.page(s.attempts))
	mux.HandleFunc("GET /metrics", s.page(s.metrics))
	mux.HandleFunc("GET /sessions", s.page(s.sessions))
	mux.HandleFunc("GET /find", s.page(s.find))
	mux.HandleFunc("GET /lines", s.page(s.lines))
	mux.HandleFunc("GET /blob", s.blob)
	mux.HandleFunc("GET /events", s.events)
	mux.HandleFunc("GET /static/{name}", static)
	if s.Write != nil {
		mux.HandleFunc("POST /plan", s.page(s.plan))
		mux.HandleFunc("POST /do", s.page(s.do))
	}
	return s.guarded(mux)
}

// tickets are the one-time tokens in printed addresses, with the time at which each expires. The
// secret itself is in none of these, because they end up in terminals and process lists.
type tickets struct{ until sync.Map }

// issue returns a new ticket.
func (t *tickets) issue(now time.Time) string {
	ticket := rand.Text()
	t.until.Store(ticket, now.Add(ticketLife))
	return ticket
}

// take uses up a ticket and reports whether it was valid.
func (t *tickets) take(ticket string, now time.Time) bool {
	until, issued := t.until.LoadAndDelete(ticket)
	return issued && now.Before(until.(time.Time))
}

// idle calls a function when there has been no reader for some time. A reader is a request that is
// being answered; an open page counts, because its event stream is one.
type idle struct {
	mu      sync.Mutex
	life    time.Duration
	readers int
	timer   *time.Timer
}

// start starts the timer, unless there are readers already.
func (i *idle) start(life time.Duration, end func()) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.life, i.timer = life, time.AfterFunc(life, end)
	if i.readers > 0 {
		i.timer.Stop()
	}
}

// enter counts a reader and stops the timer. leave starts it again after the last reader.
func (i *idle) enter() (leave func()) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.readers++
	if i.timer != nil {
		i.timer.Stop()
	}
	return func() {
		i.mu.Lock()
		defer i.mu.Unlock()
		if i.readers--; i.readers == 0 && i.timer != nil {
			i.timer.Reset(i.life)
		}
	}
}

// events is the stream of server-sent events that an open page listens to. It sends "changed" when
// refs have changed; the script of the page then asks for what is new. Every checkpoint, rollback
// or pin changes a ref, so there is nothing else to look at. One create changes several refs, so
// the page is told when a second look finds no further change.
func (s *Server) events(w http.ResponseWriter, r *http.Request) {
	const polled = 500 * time.Millisecond // how often an open page looks for changes
	// How often it is written to without one: if that fails, the reader is gone and no longer keeps the server alive.
	const aliveEvery = time.Minute
	w.Header().Set("Content-Type", "text/event-stream")
	send := func(text string) bool {
		_, err := fmt.Fprint(w, text)
		return err == nil && http.NewResponseController(w).Flush() == nil
	}
	told := timesOf(s.Refs)
	before := told
	look, alive := time.NewTicker(polled), time.NewTicker(aliveEvery)
	defer look.Stop()
	defer alive.Stop()
	for open := send("retry: 2000\n\n"); open; {
		select {
		case <-r.Context().Done():
			return
		case <-look.C:
			now := timesOf(s.Refs)
			if now == before && now != told {
				told = now
				open = send("data: changed\n\n")
			}
			before = now
		case <-alive.C:
			open = send(": still here\n\n")
		}
	}
}

// timesOf lists all directories below dirs with their modification times. Creating, replacing or
// deleting a ref changes that of its directory.
func timesOf(dirs []string) string {
	var all []byte
	for _, dir := range dirs {
		_ = filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
			if err != nil || !d.IsDir() {
				return nil //nolint:nilerr // it is gone again
			}
			if info, err := d.Info(); err == nil {
				all = fmt.Appendf(all, "%s %d\n", path, info.ModTime().UnixNano())
			}
			return nil
		})
	}
	return string(all)
}
