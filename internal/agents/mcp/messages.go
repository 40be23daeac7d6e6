package mcp

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"io"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// messages passes the lines of a client on to the SDK. It answers a line that is no JSON-RPC message
// itself, with the error of that protocol, because the SDK would end the server.
type messages struct {
	lines *bufio.Scanner
	out   io.Writer // each message is one call of Write, here and in the SDK
	rest  []byte    // of the line that is being read
}

// newMessages returns the lines of in that are messages. It writes what it says of others to out.
func newMessages(in io.Reader, out io.Writer) *messages {
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, mcp.DefaultMaxLineLength)
	return &messages{lines: lines, out: out}
}

func (m *messages) Read(p []byte) (int, error) {
	for len(m.rest) == 0 {
		if !m.lines.Scan() {
			return 0, cmp.Or(m.lines.Err(), io.EOF)
		}
		line := bytes.TrimSpace(m.lines.Bytes())
		if len(line) == 0 {
			continue
		}
		if code, problem := check(line); problem != "" {
			answer, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": nil, "error": map[string]any{"code": code, "message": problem}})
			if err == nil {
				_, err = m.out.Write(append(answer, '\n'))
			}
			if err != nil {
				return 0, err
			}
			continue
		}
		m.rest = append(bytes.Clone(line), '\n')
	}
	n := copy(p, m.rest)
	m.rest = m.rest[n:]
	return n, nil
}

// check returns what is wrong with a line, or "". A batch, which old versions of the protocol have,
// is left to the SDK.
func check(line []byte) (code int, problem string) {
	if !json.Valid(line) {
		return jsonrpc.CodeParseError, "this line is not JSON"
	}
	if _, err := jsonrpc.DecodeMessage(line); err != nil && line[0] != '[' {
		return jsonrpc.CodeInvalidRequest, "this line is not a message of JSON-RPC: " + err.Error()
	}
	return 0, ""
}
