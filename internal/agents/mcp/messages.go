package mcp

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"io"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// messages passes the lines of a client on to the SDK, and the messages of a batch one by one. It answers what is no
// JSON-RPC message itself, with the error of that protocol, because the SDK would end the server.
type messages struct {
	lines *bufio.Scanner
	out   io.Writer // each message is one call of Write, here and in the SDK
	rest  []byte    // of the line that is being read

	// The SDK drops what it has not answered when the input ends. So the end waits for the answers,
	// unless the server itself waits for one, which cannot come any more.
	waits bool // set by Serve
	mu    sync.Mutex
	moved *sync.Cond
	open  map[string]bool // requests of the client without an answer
	asked map[string]bool // requests of the server without an answer
}

// newMessages returns the lines of in that are messages. It writes what it says of others to out.
func newMessages(in io.Reader, out io.Writer) *messages {
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, mcp.DefaultMaxLineLength)
	lines.Split(func(data []byte, end bool) (int, []byte, error) {
		if n, line, err := bufio.ScanLines(data, end); n > 0 || len(data) < mcp.DefaultMaxLineLength {
			return n, line, err
		}
		return len(data), data, nil // a line that is too long comes in parts, none of which is JSON
	})
	m := &messages{lines: lines, out: out, open: map[string]bool{}, asked: map[string]bool{}}
	m.moved = sync.NewCond(&m.mu)
	return m
}

// envelope is what of a message says whether it asks or answers.
type envelope struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params struct {
		RequestID json.RawMessage `json:"requestId"`
	} `json:"params"`
}

// note keeps track of requests: a message of one side opens a request of its own or closes one of
// the other.
func (m *messages) note(line []byte, own, other map[string]bool) {
	var e envelope
	json.Unmarshal(line, &e) //nolint:errcheck // it was read before
	m.mu.Lock()
	defer m.mu.Unlock()
	switch {
	case e.Method == "notifications/cancelled":
		delete(own, string(e.Params.RequestID))
	case len(e.ID) == 0:
	case e.Method != "":
		own[string(e.ID)] = true
	default:
		delete(other, string(e.ID))
	}
	m.moved.Broadcast()
}

// Write passes a message of the server on to the client.
func (m *messages) Write(p []byte) (int, error) {
	n, err := m.out.Write(p)
	m.note(p, m.asked, m.open)
	return n, err
}

// awaitAnswers waits until every request of the client has its answer.
func (m *messages) awaitAnswers() {
	m.mu.Lock()
	defer m.mu.Unlock()
	for m.waits && len(m.open) > 0 && len(m.asked) == 0 {
		m.moved.Wait()
	}
}

func (m *messages) Read(p []byte) (int, error) {
	for len(m.rest) == 0 {
		if !m.lines.Scan() {
			m.awaitAnswers()
			return 0, cmp.Or(m.lines.Err(), io.EOF)
		}
		line := bytes.TrimSpace(m.lines.Bytes())
		if len(line) == 0 {
			continue
		}
		var batch []json.RawMessage // which old versions of the protocol have
		if json.Unmarshal(line, &batch) != nil || len(batch) == 0 {
			batch = []json.RawMessage{line}
		}
		for _, message := range batch {
			if code, problem := check(message); problem != "" {
				answer, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": nil, "error": map[string]any{"code": code, "message": problem}})
				if err == nil {
					_, err = m.out.Write(append(answer, '\n'))
				}
				if err != nil {
					return 0, err
				}
				continue
			}
			m.note(message, m.open, m.asked)
			m.rest = append(append(m.rest, message...), '\n')
		}
	}
	n := copy(p, m.rest)
	m.rest = m.rest[n:]
	return n, nil
}

// check returns what is wrong with a line, or "".
func check(line []byte) (code int, problem string) {
	if !json.Valid(line) {
		return jsonrpc.CodeParseError, "this line is not JSON"
	}
	if _, err := jsonrpc.DecodeMessage(line); err != nil {
		return jsonrpc.CodeInvalidRequest, "this line is not a message of JSON-RPC: " + err.Error()
	}
	return 0, ""
}
