package mcp

import (
	"context"
	"fmt"
	"net/url"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"git-checkpoint/internal/format/name"
)

// addResources adds checkpoints as documents that a client can attach to a conversation:
// checkpoint://<session>/<ref>/ followed by record, state or diff. A plain {ref} in the template would
// match no label such as cp-01+2, because + is a reserved character of an address.
func (s *Server) addResources(server *mcp.Server) {
	for _, part := range []struct{ name, mime, description, flag string }{
		{"record", "application/json", "the record of a checkpoint", "--json"},
		{"state", "application/json", "the state of the job at a checkpoint", "--get=state"},
		{"diff", "text/x-diff", "what a checkpoint changed, as git shows it", "-p"},
	} {
		server.AddResourceTemplate(&mcp.ResourceTemplate{
			Name: part.name, Description: part.description, MIMEType: part.mime, URITemplate: "checkpoint://{session}/{+ref}/" + part.name,
		}, func(ctx context.Context, req *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
			ref, err := refOf(req.Params.URI, part.name)
			if err != nil {
				return nil, err
			}
			r, err := s.run(ctx, req.Session, "", line{args: []string{"show", part.flag}, values: []string{ref}})
			if err == nil && r.Code != 0 {
				err = problem(r)
			}
			if err != nil {
				return nil, err
			}
			if len(r.Out) == 0 {
				r.Out = []byte("\n") // the SDK leaves out an empty text, but clients demand one
			}
			return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{{
				URI: req.Params.URI, MIMEType: part.mime, Text: strings.ToValidUTF8(string(r.Out), "\ufffd"),
			}}}, nil
		})
	}
}

// refOf turns the address of a resource into the way to type the checkpoint, <session>:<ref>. Both
// parts may be percent-encoded.
func refOf(address, part string) (string, error) {
	rest, is := strings.CutPrefix(address, "checkpoint://")
	session, path, found := strings.Cut(rest, "/")
	ref, ends := strings.CutSuffix(path, "/"+part)
	session, err1 := url.PathUnescape(session)
	ref, err2 := url.PathUnescape(ref)
	if !is || !found || !ends || session == "" || ref == "" || err1 != nil || err2 != nil {
		return "", fmt.Errorf("%q is not checkpoint://<session>/<ref>/%s", name.Clip(address, name.Said), part)
	}
	return session + ":" + ref, nil
}

// addPrompts adds the prompts that a person can pick in a client. A prompt is a sentence and the
// output of a command.
func (s *Server) addPrompts(server *mcp.Server) {
	for _, p := range []struct {
		name, description, before string
		args                      []string
	}{
		{"resume", "Continue the job of this repository", "Continue this job. Where it stands:", []string{"resume", "--context"}},
		{"review-last-step", "Review what the last step changed", "Review what the last step of this job changed. The change:", []string{"show", "-p"}},
	} {
		server.AddPrompt(&mcp.Prompt{Name: p.name, Description: p.description},
			func(ctx context.Context, req *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
				r, err := s.run(ctx, req.Session, "", line{args: p.args})
				if err == nil && len(r.Out) == 0 && r.Code != 0 {
					err = problem(r)
				}
				if err != nil {
					return nil, err
				}
				text := p.before + "\n\n" + strings.ToValidUTF8(string(r.Out), "\ufffd")
				return &mcp.GetPromptResult{Description: p.description, Messages: []*mcp.PromptMessage{
					{Role: "user", Content: &mcp.TextContent{Text: text}},
				}}, nil
			})
	}
}
