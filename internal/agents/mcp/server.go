// Package mcp serves this program to coding agents and desktop clients over the Model Context
// Protocol (MCP): JSON-RPC on standard input and output.
//
// A tool is a command line of this program, run with --json; its answer is what the command prints.
// So a client sees exactly what a person would see, and nothing is implemented twice. Server.run
// runs the command lines. tools.go defines the tools, resources.go the resources and prompts, and
// messages.go answers what is not a message.
//
// Tools that change files (rollback, undo, redo) exist only if the person started the server with
// --write. Each takes the digest of a plan that the client has shown. There is no tool that pushes,
// prunes or deletes.
package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/format/name"
)

// Command runs a command line of this program in dir, with buffers in place of the terminal and
// stdin as its input.
type Command func(ctx context.Context, dir string, args []string, stdin []byte) Result

// Result is what a command wrote to stdout, its error (nil: none), and its exit code. A command such as
// validate may have a code other than 0 without an error.
type Result struct {
	Out     []byte
	Problem *checkpoint.Error
	Code    int
}

// Server serves one client. Set the exported fields, then call Serve.
type Server struct {
	Version string
	Dir     string // the directory in which commands run unless a request names a root
	// Write adds the tools that change files.
	Write bool
	Run   Command

	one sync.Mutex // lets a single command run at a time: the client may send requests in parallel
}

// Serve answers requests on in until it ends or ctx is cancelled; both are a normal end. It closes
// neither in nor out, whose Write may be called concurrently.
func (s *Server) Serve(ctx context.Context, in io.Reader, out io.Writer) error {
	m := newMessages(in, out)
	m.waits = true
	err := s.server().Run(ctx, &mcp.IOTransport{Reader: io.NopCloser(m), Writer: open{m}})
	if errors.Is(err, io.EOF) || ctx.Err() != nil {
		return nil //nolint:nilerr // that is how a server ends
	}
	return err
}

// open is a writer with the Close method that the SDK demands. The process still needs its stdout.
type open struct{ io.Writer }

func (open) Close() error { return nil }

// server registers tools, resources and prompts. The instructions are for the model of the client.
func (s *Server) server() *mcp.Server {
	how := "Roll back only by a plan that the person has seen."
	if !s.Write {
		how = "This server changes no files: the person types *rollback:3 to the agent, or `git checkpoint rollback 3` in a terminal."
	}
	server := mcp.NewServer(&mcp.Implementation{Name: "git-checkpoint", Version: s.Version}, &mcp.ServerOptions{
		Instructions: "Checkpoints of a multi-step job in a git repository. Read `resume` first when you continue a job; `steps` has the prompts that " +
			"changed files. Save before risky changes. Never roll back unless the person asked for it. " + how +
			" An answer that is too long says in left_out what it lacks, and in rest where that is.",
	})
	s.addReaders(server)
	s.addWriters(server)
	s.addResources(server)
	s.addPrompts(server)
	return server
}

// line is a command line of this program. args are ours. values come from the client and are
// appended to args as positional arguments, and after follows them as it is; stdin is the command's input.
type line struct {
	args, values, after []string
	stdin               []byte
	shape               func(answer) // what becomes of the answer before it is bounded; nil: nothing
	rest                string       // how to get what was left out; empty: as for most tools
}

// run runs a command line for a request. root is the directory that the client asks for; empty
// means the server's. A value that begins with a dash is refused, because it would be read as a
// flag. The command's exit code is in the result, not in the error.
func (s *Server) run(ctx context.Context, session *mcp.ServerSession, root string, l line) (Result, error) {
	dir, err := s.directory(ctx, session, root)
	if err != nil {
		return Result{}, err
	}
	args := slices.Clone(l.args)
	s.one.Lock()
	defer s.one.Unlock()
	for _, v := range l.values {
		if strings.HasPrefix(v, "-") {
			return Result{}, fmt.Errorf("%q does not name a checkpoint: it begins with a dash", name.Clip(v, name.Said))
		}
		if v, err = s.meant(ctx, dir, v); err != nil {
			return Result{}, err
		}
		if v != "" {
			args = append(args, v)
		}
	}
	args = append(args, l.after...)
	return s.Run(ctx, dir, args, l.stdin), nil
}

// directory returns the directory to run in: the server's own, or a root that the client has
// declared to the server. The model chooses the parameter, so any other directory is refused.
func (s *Server) directory(ctx context.Context, session *mcp.ServerSession, root string) (string, error) {
	if root == "" || root == s.Dir {
		return s.Dir, nil
	}
	var roots []*mcp.Root //nolint:staticcheck // clients in use name roots; the protocol keeps them for a year
	// Clients without roots may never answer.
	if c := session.InitializeParams(); c != nil && c.Capabilities != nil && c.Capabilities.RootsV2 != nil { //nolint:staticcheck // as above
		if listed, err := session.ListRoots(ctx, nil); err == nil { //nolint:staticcheck // as above
			roots = listed.Roots
		}
	}
	if !slices.ContainsFunc(roots, func(r *mcp.Root) bool { //nolint:staticcheck // as above
		u, err := url.Parse(r.URI)
		return err == nil && u.Scheme == "file" && filepath.Clean(u.Path) == filepath.Clean(root)
	}) {
		return "", fmt.Errorf("%q is neither the directory of this server nor a root of the client", name.Clip(root, name.Said))
	}
	return root, nil
}

// structured turns the output of a command into the JSON object that MCP demands. A single object
// stays as it is. Several values, or any number with lines set, become {"items": [...]}. The exit
// code is added if it is not 0: a command such as validate prints an answer and reports with its
// code what is wrong. With no output, a failed command is an error.
func structured(r Result, lines bool) (map[string]any, error) {
	if len(bytes.TrimSpace(r.Out)) == 0 && r.Code != 0 {
		return nil, problem(r)
	}
	decoder := json.NewDecoder(bytes.NewReader(r.Out))
	// Numbers in a state may have more digits than a float64 holds.
	decoder.UseNumber()
	var items []any
	for {
		var item any
		if err := decoder.Decode(&item); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, fmt.Errorf("the answer is not JSON: %w", err)
		}
		items = append(items, item)
	}
	answer := map[string]any{"items": items}
	if len(items) == 0 {
		answer["items"] = []any{}
	} else if object, is := items[0].(map[string]any); is && len(items) == 1 && !lines {
		answer = object
	}
	if r.Code != 0 {
		answer["exit_code"] = r.Code
	}
	return answer, nil
}

// problem returns the error of a command as the model reads it, with the hints.
func problem(r Result) error {
	if r.Problem == nil {
		return fmt.Errorf("exit code %d", r.Code)
	}
	return errors.New(inTools(strings.Join(checkpoint.Lines(r.Problem), "\n")))
}
