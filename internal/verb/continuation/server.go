package continuation

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"regexp"
	"strings"
	"syscall"
	"time"

	"git-checkpoint/internal/core/agent"
	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/git"
	"git-checkpoint/internal/sys/command"
)

// fork lets the agent's own program make the new conversation.
func (c *Conversation) fork(ctx context.Context, repo *git.Repo, p *Prepared) error {
	texts := map[string]string{"session": c.turn.Session, "place": c.turn.Position.ID, "directory": repo.WorkTree, "id": ""}
	err := serve(ctx, repo, c.def.Chat.Server, c.def.Chat.Server.Make, texts)
	if p.ID = texts["id"]; p.ID == "" && err == nil {
		err = errors.New("it gave no id")
	}
	return err
}

// Limits of the time that an agent's program may take, and of its output in bytes.
const (
	longestServe  = 2 * time.Minute
	longestAnswer = 64 << 20
)

// server is a program of the agent that runs.
type server struct {
	in     *io.PipeWriter // its standard input
	out    *bufio.Reader  // its standard output
	called int
	url    string // of its web server; empty: it has none
	user   string
	secret string
}

// serve starts a program of the agent, makes the calls and ends it. What they find is added to texts.
func serve(ctx context.Context, repo *git.Repo, m *agent.Maker, calls []agent.Call, texts map[string]string) error {
	ctx, cancel := context.WithTimeout(ctx, longestServe)
	defer cancel()
	// Hooks of ours have nothing to do there.
	env := append(os.Environ(), checkpoint.EnvVariable("checkpoint.enabled")+"=false")
	running := &server{user: m.User}
	if m.Password != "" {
		running.secret = newID()
		env = append(env, m.Password+"="+running.secret)
	}
	input, in := io.Pipe()
	output, out := io.Pipe()
	running.in, running.out = in, bufio.NewReader(output)
	signals, ended := make(chan os.Signal, 1), make(chan error, 1)
	go func() {
		_, err := command.Command{Args: m.Command, Dir: repo.WorkTree, Env: env, In: input, Out: out, Err: io.Discard, Grace: time.Second}.Run(signals)
		ended <- errors.Join(err, out.CloseWithError(io.ErrUnexpectedEOF), input.Close())
	}()
	stop := context.AfterFunc(ctx, func() { output.CloseWithError(context.Cause(ctx)) }) //nolint:errcheck // never fails
	defer stop()
	err := running.all(ctx, calls, texts)
	in.Close()                     //nolint:errcheck // never fails
	go io.Copy(io.Discard, output) //nolint:errcheck // what it still says is of no interest
	signals <- syscall.SIGTERM
	if failed := <-ended; err == nil || errors.Is(err, io.ErrUnexpectedEOF) {
		err = errors.Join(err, failed)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", strings.Join(m.Command, " "), err)
	}
	return nil
}

// all makes the calls, one after the other.
func (r *server) all(ctx context.Context, calls []agent.Call, texts map[string]string) error {
	if r.secret != "" {
		if err := r.listens(); err != nil {
			return err
		}
	}
	for _, c := range calls {
		var answer []byte
		var err error
		if r.secret != "" {
			answer, err = r.request(ctx, c, texts)
		} else {
			answer, err = r.call(c, texts)
		}
		if err == nil {
			err = c.Read(answer, texts)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", c.Method, err)
		}
	}
	return nil
}

// listens waits until the web server says where it is.
func (r *server) listens() error {
	address := regexp.MustCompile(`http://127\.0\.0\.1:\d+`)
	for {
		line, err := r.line()
		if err != nil {
			return err
		}
		if r.url = string(address.Find(line)); r.url != "" {
			return nil
		}
	}
}

// line reads a line of the output.
func (r *server) line() (line []byte, err error) {
	for {
		part, err := r.out.ReadSlice('\n')
		if line = append(line, part...); !errors.Is(err, bufio.ErrBufferFull) {
			return line, err
		}
		if len(line) > longestAnswer {
			return nil, errors.New("its answer is too long")
		}
	}
}

// call makes a call of JSON-RPC, and returns its result.
func (r *server) call(c agent.Call, texts map[string]string) ([]byte, error) {
	message := map[string]any{"method": c.Text(texts), "params": c.Values(texts)}
	r.called++
	if !c.Notice {
		message["id"] = r.called
	}
	data, err := json.Marshal(message)
	if err == nil {
		_, err = r.in.Write(append(data, '\n'))
	}
	if err != nil || c.Notice {
		return nil, err
	}
	for {
		line, err := r.line()
		if err != nil {
			return nil, err
		}
		var answer struct {
			ID     any             `json:"id"`
			Method string          `json:"method"`
			Result json.RawMessage `json:"result"`
			Error  *struct {
				Message string `json:"message"`
			} `json:"error"`
		}
		if json.Unmarshal(line, &answer) != nil || answer.Method != "" || fmt.Sprint(answer.ID) != fmt.Sprint(r.called) {
			continue // a note about something else
		}
		if answer.Error != nil {
			return nil, errors.New(errorLine([]byte(answer.Error.Message)))
		}
		return answer.Result, nil
	}
}

// request sends a request to the web server, and returns the body of the answer.
func (r *server) request(ctx context.Context, c agent.Call, texts map[string]string) ([]byte, error) {
	method, path, _ := strings.Cut(c.Text(texts), " ")
	body, err := json.Marshal(c.Values(texts))
	if err != nil {
		return nil, err
	}
	if method == http.MethodGet {
		body = nil
	}
	req, err := http.NewRequestWithContext(ctx, method, r.url+path, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.SetBasicAuth(r.user, r.secret)
	req.Header.Set("Content-Type", "application/json")
	// A server on this machine is not reached through a proxy.
	client := http.Client{Transport: &http.Transport{}}
	defer client.CloseIdleConnections()
	answer, err := client.Do(req)
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close() //nolint:errcheck // it was only read
	data, err := io.ReadAll(io.LimitReader(answer.Body, longestAnswer))
	if err == nil && answer.StatusCode/100 != 2 {
		err = fmt.Errorf("%s: %s", answer.Status, errorLine(data))
	}
	return data, err
}

// errorLine returns what a program said, for one line of an error.
func errorLine(text []byte) string {
	return name.Short(strings.Join(strings.Fields(string(text)), " "), 200)
}
