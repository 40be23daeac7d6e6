// Package web shows a job in a browser: its timeline, each step with its files and state, and what
// differs between two. It serves one worktree on the loopback interface, to the browser that opened
// the address it printed, and can write the same pages into one file. It reads through the verbs and
// changes something only by command lines of this program, and only where it was given a Command.
package web

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"html/template"
	"net"
	"net/http"
	"sync"
	"time"

	"git-checkpoint/internal/checkpoint"
)

// Command runs a command line of this program off a terminal, as --json answers it.
type Command func(ctx context.Context, args ...string) Result

// Result is what a command wrote and its exit code.
type Result struct {
	Out, Err []byte
	Code     int
}

// Server serves the jobs of one repository.
type Server struct {
	// Open opens the repository for as long as do runs.
	Open func(ctx context.Context, do func(*checkpoint.Service) error) error
	// Read runs commands that change nothing.
	Read Command
	// Write runs commands that change files; nil: the pages cannot change anything.
	Write Command
	// Session is shown first; empty: the one that commands would choose.
	Session string
	// Refs are the directories in which git keeps the refs of this repository.
	Refs []string
	Now  func() time.Time

	host    string // of the listener, 127.0.0.1:port: the only name that requests may use
	secret  string // of the cookie
	form    string // that forms carry beside the cookie
	tickets tickets
	live    live
	idle    idle
	one     sync.Mutex // requests open the repository one after the other
	// templates are parsed for the first page. A server draws pages, or writes one file.
	templates *template.Template
}

// How long things live.
const (
	ticketLife = time.Minute // an address that was printed and not opened
	idleLife   = time.Hour   // a server that nobody reads
)

// Listen opens a port on the loopback interface, 0 for one that is free.
func (s *Server) Listen(ctx context.Context, port int) (net.Listener, error) {
	var config net.ListenConfig
	l, err := config.Listen(ctx, "tcp4", fmt.Sprintf("127.0.0.1:%d", port))
	if err != nil {
		return nil, fmt.Errorf("listen on 127.0.0.1: %w", err)
	}
	s.host, s.secret, s.form = l.Addr().String(), rand.Text(), rand.Text()
	return l, nil
}

// Address is where the page is to be opened: once, and within a minute.
func (s *Server) Address() string {
	return "http://" + s.host + "/?t=" + s.tickets.issue(s.Now())
}

// Serve answers requests until the context ends, or for an hour that nobody reads in.
func (s *Server) Serve(ctx context.Context, l net.Listener) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	s.live.watch(ctx, s.Refs)
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
	// A rollback that a request began is carried to its end.
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

// Handler answers all requests, behind the rules of guarded.
func (s *Server) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", s.page(s.timeline))
	mux.HandleFunc("GET /step", s.page(s.step))
	mux.HandleFunc("GET /compare", s.page(s.compare))
	mux.HandleFunc("GET /attempts", s.page(s.attempts))
	mux.HandleFunc("GET /metrics", s.page(s.metrics))
	mux.HandleFunc("GET /sessions", s.page(s.sessions))
	mux.HandleFunc("GET /find", s.page(s.find))
	mux.HandleFunc("GET /blob", s.blob)
	mux.HandleFunc("GET /events", s.events)
	mux.HandleFunc("GET /static/{name}", static)
	if s.Write != nil {
		mux.HandleFunc("POST /plan", s.page(s.plan))
		mux.HandleFunc("POST /do", s.page(s.do))
	}
	return s.guarded(mux)
}

// tickets are addresses that were printed and not opened yet.
type tickets struct {
	mu    sync.Mutex
	until map[string]time.Time
}

func (t *tickets) issue(now time.Time) string {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.until == nil {
		t.until = map[string]time.Time{}
	}
	ticket := rand.Text()
	t.until[ticket] = now.Add(ticketLife)
	return ticket
}

// take reports whether a ticket is good. No ticket is good twice.
func (t *tickets) take(ticket string, now time.Time) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	until, issued := t.until[ticket]
	delete(t.until, ticket)
	return issued && now.Before(until)
}

// idle ends a server that nobody has read for some time.
type idle struct {
	mu      sync.Mutex
	life    time.Duration
	readers int
	timer   *time.Timer
}

func (i *idle) start(life time.Duration, end func()) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.life, i.timer = life, time.AfterFunc(life, end)
	if i.readers > 0 {
		i.timer.Stop()
	}
}

// enter counts a reader until leave is called.
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
