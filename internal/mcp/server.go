// Package mcp serves the commands of this program to agents and desktop clients over the Model Context
// Protocol. A tool is a command line and its --json answer, so that a client sees what a person would
// see. Tools that change files exist only where the person started the server with --write, and take
// the digest of a plan. There is no tool that pushes, prunes or deletes.
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

	"git-checkpoint/internal/name"
)

// Command runs this program in a directory, off a terminal.
type Command func(ctx context.Context, dir string, args []string, stdin []byte) Result

// Result is what a command wrote and its exit code.
type Result struct {
	Out, Err []byte
	Code     int
}

// Server serves one directory.
type Server struct {
	Version string
	Dir     string // where it was started
	Write   bool   // whether tools may change files
	Run     Command

	one sync.Mutex // commands run one after the other
}

// Serve answers requests on in until it ends.
func (s *Server) Serve(ctx context.Context, in io.ReadCloser, out io.WriteCloser) error {
	err := s.server().Run(ctx, &mcp.IOTransport{Reader: in, Writer: out})
	if errors.Is(err, io.EOF) || ctx.Err() != nil {
		return nil //nolint:nilerr // that is how a server ends
	}
	return err
}

func (s *Server) server() *mcp.Server {
	server := mcp.NewServer(&mcp.Implementation{Name: "git-checkpoint", Version: s.Version}, &mcp.ServerOptions{
		Instructions: "Checkpoints of a multi-step job in a git repository. Read `resume` first when you continue a job. " +
			"Save before risky changes. Never roll back unless the person asked for it, and only with the plan that they saw.",
	})
	s.addReaders(server)
	s.addWriters(server)
	s.addResources(server)
	s.addPrompts(server)
	return server
}

// line is a command line of this program. Values are data of the client and stand behind the flags.
type line struct {
	args, values []string
	stdin        []byte
}

// run runs a command for a request, in the directory that it may use.
func (s *Server) run(ctx context.Context, session *mcp.ServerSession, root string, l line) (Result, error) {
	dir, err := s.directory(ctx, session, root)
	if err != nil {
		return Result{}, err
	}
	args := slices.Clone(l.args)
	for _, v := range l.values {
		if strings.HasPrefix(v, "-") {
			return Result{}, fmt.Errorf("%q names no checkpoint: it begins with a dash", name.Clip(v, name.Said))
		}
		if v != "" {
			args = append(args, v)
		}
	}
	s.one.Lock()
	defer s.one.Unlock()
	return s.Run(ctx, dir, args, l.stdin), nil
}

// directory is where the server was started, or a root that the client names; no other.
func (s *Server) directory(ctx context.Context, session *mcp.ServerSession, root string) (string, error) {
	if root == "" || root == s.Dir {
		return s.Dir, nil
	}
	listed, err := session.ListRoots(ctx, nil) //nolint:staticcheck // clients in use name roots; the protocol keeps them for a year
	if err != nil {
		return "", fmt.Errorf("%q is not the directory of this server, and the client names no roots", name.Clip(root, name.Said))
	}
	allowed := slices.ContainsFunc(listed.Roots, func(r *mcp.Root) bool { //nolint:staticcheck // as above
		u, err := url.Parse(r.URI)
		return err == nil && u.Scheme == "file" && filepath.Clean(u.Path) == filepath.Clean(root)
	})
	if !allowed {
		return "", fmt.Errorf("%q is neither the directory of this server nor a root of the client", name.Clip(root, name.Said))
	}
	return root, nil
}

// structured is the answer of a command as a JSON object: an object as it is, lines as items.
func structured(r Result, lines bool) (map[string]any, error) {
	if len(bytes.TrimSpace(r.Out)) == 0 && r.Code != 0 {
		return nil, problem(r)
	}
	decoder := json.NewDecoder(bytes.NewReader(r.Out))
	decoder.UseNumber()
	var items []any
	for {
		var item any
		if err := decoder.Decode(&item); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, fmt.Errorf("the answer is no JSON: %w", err)
		}
		items = append(items, item)
	}
	if object, is := first(items).(map[string]any); is && !lines {
		if r.Code != 0 {
			object["exit_code"] = r.Code
		}
		return object, nil
	}
	if items == nil {
		items = []any{}
	}
	answer := map[string]any{"items": items}
	if r.Code != 0 {
		answer["exit_code"] = r.Code
	}
	return answer, nil
}

func first(items []any) any {
	if len(items) != 1 {
		return nil
	}
	return items[0]
}

// problem is the error that a command told, with what to do about it.
func problem(r Result) error {
	var told struct {
		Error struct {
			Kind    string   `json:"kind"`
			Message string   `json:"message"`
			Hints   []string `json:"hints"`
		} `json:"error"`
	}
	at := bytes.Index(r.Err, []byte(`{"error"`))
	if at < 0 || json.Unmarshal(bytes.TrimSpace(r.Err[at:]), &told) != nil || told.Error.Message == "" {
		return fmt.Errorf("exit code %d: %s", r.Code, strings.TrimSpace(string(r.Err)))
	}
	lines := []string{told.Error.Message}
	for _, hint := range told.Error.Hints {
		lines = append(lines, "hint: "+hint)
	}
	return errors.New(strings.Join(lines, "\n"))
}
