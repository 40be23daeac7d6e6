package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"git-checkpoint/internal/format/journal"
)

// Step is a step of a session, usually a prompt that changed files.
type Step struct {
	Number  int    `json:"number"`
	Message string `json:"message"`
	Time    string `json:"time"`
	Files   int    `json:"files" jsonschema:"how many files changed"`
	ID      string `json:"id"`
}

// Steps is the answer of the tool steps.
type Steps struct {
	Steps []Step `json:"steps" jsonschema:"newest first"`
	Older int    `json:"older" jsonschema:"how many are older than these"`
	Rest  string `json:"rest,omitempty" jsonschema:"how to get those"`
}

// row is what of a row of list counts here.
type row struct {
	ID        string `json:"id"`
	Step      int    `json:"step"`
	Milestone bool   `json:"milestone"`
	Trigger   string `json:"trigger"`
	Message   string `json:"message"`
	CreatedAt string `json:"created_at"`
	Files     int    `json:"files"`
	Discarded bool   `json:"discarded"`
}

// rows returns the live checkpoints of a session, newest first.
func (s *Server) rows(ctx context.Context, dir, session string) (all []row, err error) {
	r := s.Run(ctx, dir, option([]string{"list", "--json", "--limit=0"}, "session", session), nil)
	if r.Code != 0 {
		return nil, problem(r)
	}
	for decoder := json.NewDecoder(bytes.NewReader(r.Out)); decoder.More(); {
		var one row
		if err := decoder.Decode(&one); err != nil {
			return nil, err
		}
		if !one.Discarded {
			all = append(all, one)
		}
	}
	slices.Reverse(all)
	return all, nil
}

// steps answers the tool steps.
func (s *Server) steps(ctx context.Context, req *mcp.CallToolRequest, in PromptsIn) (*mcp.CallToolResult, *Steps, error) {
	const mostSteps = 20 // how many steps one answer has
	dir, err := s.directory(ctx, req.Session, in.Root)
	if err != nil {
		return nil, nil, err
	}
	s.one.Lock()
	defer s.one.Unlock()
	rows, err := s.rows(ctx, dir, in.Session)
	if err != nil {
		return nil, nil, err
	}
	out := &Steps{Steps: []Step{}}
	for _, r := range rows {
		switch {
		case !r.Milestone || in.Before > 0 && r.Step >= in.Before:
		case len(out.Steps) == mostSteps:
			out.Older++
			out.Rest = fmt.Sprintf("steps with before: %d", out.Steps[mostSteps-1].Number)
		default:
			message, _, _ := strings.Cut(r.Message, "\n")
			out.Steps = append(out.Steps, Step{r.Step, message, r.CreatedAt, r.Files, r.ID})
		}
	}
	return nil, out, nil
}

// meant returns the id of the checkpoint that such a word means. The last prompt is the newest that changed
// files; it may not have ended.
func (s *Server) meant(ctx context.Context, dir, word string) (string, error) {
	const lastPrompt, beforeLastPrompt = "last-prompt", "before-last-prompt" // words for a checkpoint that only MCP has
	if word != lastPrompt && word != beforeLastPrompt {
		return word, nil
	}
	rows, err := s.rows(ctx, dir, "")
	if err != nil {
		return "", err
	}
	var last *row
	for _, r := range rows {
		switch {
		case last == nil && (r.Milestone || r.Trigger == journal.TriggerTool):
			if last = &r; word == lastPrompt {
				return r.ID, nil
			}
		case last != nil && (r.Milestone && (r.Step != last.Step || !last.Milestone) || r.Trigger == journal.TriggerPrompt):
			return r.ID, nil
		}
	}
	return "", fmt.Errorf("there is no %s: the tool list has what there is", word)
}

// inTools rewrites an error in the words of the tools: a command line is the tool that does it, and a flag the member of
// its input. What no tool takes is for the person, and what is quoted stays.
func inTools(text string) string {
	tools := map[string]string{
		"list": "list", "show": "show", "diff": "diff", "status": "status", "resume": "resume", "validate": "validate", "create": "save", "save": "save",
		"rollback": "rollback_plan", "revert": "revert_plan", "undo": "undo_plan", "redo": "redo_plan",
	}
	members := []string{"--session", "--where", "--limit", "--name", "--message", "--state", "--patch", "--since", "--by", "--conflicts", "--reason", "--plan"}
	linePattern := regexp.MustCompile("`git checkpoint ([a-z]+) ?([^`\n]*)`|`git [^`\n]*`|\"(?:\\\\.|[^\"\\\\\n])*\"|\\B--[a-z][a-z-]*")
	return linePattern.ReplaceAllStringFunc(strings.ReplaceAll(text, " with --dry-run --json", ""), func(found string) string {
		m := linePattern.FindStringSubmatch(found)
		if tool, known := tools[m[1]]; known && !strings.Contains(m[2], "--") {
			return strings.TrimSuffix("the tool "+tool+" ("+m[2]+")", " ()")
		}
		if found[0] == '"' || slices.Contains(members, found) {
			return strings.TrimPrefix(found, "--")
		}
		return found + " (for the person to type)"
	})
}
