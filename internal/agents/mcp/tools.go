package mcp

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"git-checkpoint/internal/format/name"
)

// Where is embedded in the input of each tool. The tags jsonschema describe the members to the
// model; the SDK derives the schema of a tool's input from its type.
type Where struct {
	Root string `json:"root,omitempty" jsonschema:"a root of the client; the directory of the server when left out"`
}

// In is the input of tools without parameters of their own: status, validate, undo_plan and
// redo_plan.
type In struct{ Where }

// ListIn is the input of the tool list.
type ListIn struct {
	Where
	Session string `json:"session,omitempty" jsonschema:"a session; the active one when left out"`
	Expr    string `json:"where,omitempty" jsonschema:"an expression over the record, such as state.metrics.build_pass"`
	Limit   int    `json:"limit,omitempty" jsonschema:"only the newest so many; 50 when left out"`
}

// PromptsIn is the input of the tool steps.
type PromptsIn struct {
	Where
	Session string `json:"session,omitempty" jsonschema:"a session; the one of this conversation when left out"`
	Before  int    `json:"before,omitempty" jsonschema:"only steps with a smaller number"`
}

// RefIn is the input of the tools show and resume.
type RefIn struct {
	Where
	Ref string `json:"ref,omitempty" jsonschema:"a checkpoint: a step such as 3, a label, an id, @~1, session:3, last-prompt or before-last-prompt; the current one when left out"`
}

// DiffIn is the input of the tool diff.
type DiffIn struct {
	Where
	A string `json:"a" jsonschema:"the checkpoint to compare"`
	B string `json:"b,omitempty" jsonschema:"the checkpoint to compare it with; the worktree as it is now when left out"`
}

// SaveIn is the input of the tool save.
type SaveIn struct {
	Where
	Message string `json:"message" jsonschema:"what this checkpoint is for"`
	Name    string `json:"name,omitempty" jsonschema:"a name for the step"`
	State   string `json:"state,omitempty" jsonschema:"the state of the job as a JSON document"`
	Patch   string `json:"patch,omitempty" jsonschema:"instead of state: a JSON merge patch (RFC 7396) with what changed in it"`
}

// PlanIn is the input of the tool rollback_plan.
type PlanIn struct {
	Where
	Ref string `json:"ref" jsonschema:"the checkpoint to go back to: a step such as 3, an id, last-prompt or before-last-prompt"`
}

// ApplyIn is the input of the tool rollback.
type ApplyIn struct {
	Where
	Ref    string `json:"ref" jsonschema:"the checkpoint to go back to"`
	Plan   string `json:"plan" jsonschema:"the digest that rollback_plan gave for it"`
	Reason string `json:"reason,omitempty" jsonschema:"why, for the history"`
}

// StepsIn is the input of the tools revert_plan and revert: the steps to take back.
type StepsIn struct {
	Where
	Refs      []string `json:"refs,omitempty" jsonschema:"the steps to take back: checkpoints, or ranges such as 4..6"`
	Since     string   `json:"since,omitempty" jsonschema:"a checkpoint: take back all that the session did after it"`
	By        string   `json:"by,omitempty" jsonschema:"only what this session or agent did, or outside or unknown"`
	Paths     []string `json:"paths,omitempty" jsonschema:"only these files or directories"`
	Conflicts bool     `json:"conflicts,omitempty" jsonschema:"write conflicts into the files, with markers"`
	State     bool     `json:"state,omitempty" jsonschema:"take back what the steps changed in the state, too"`
}

// line returns the command line for the input.
func (in StepsIn) line(flags ...string) line {
	args := option(option(append([]string{"revert", "--json"}, flags...), "since", in.Since), "by", in.By)
	if in.Conflicts {
		args = append(args, "--conflicts")
	}
	if in.State {
		args = append(args, "--state")
	}
	l := line{args: args, values: in.Refs}
	if len(in.Paths) > 0 {
		l.after = append([]string{"--"}, in.Paths...)
	}
	return l
}

// RevertIn is the input of the tool revert.
type RevertIn struct {
	StepsIn
	Plan   string `json:"plan" jsonschema:"the digest that revert_plan gave for it"`
	Reason string `json:"reason,omitempty" jsonschema:"why, for the history"`
}

// WalkIn is the input of the tools undo and redo.
type WalkIn struct {
	Where
	Plan string `json:"plan,omitempty" jsonschema:"the digest that undo_plan or redo_plan gave; refused when something has changed since"`
}

// WhyIn is the input of the tool why.
type WhyIn struct {
	Where
	What string `json:"what" jsonschema:"a line or lines such as api.go:42 or api.go:40,60; a file; or a commit"`
}

// SearchIn is the input of the tool search.
type SearchIn struct {
	Where
	Words   []string `json:"words" jsonschema:"words that a text must have, all of them"`
	Session string   `json:"session,omitempty" jsonschema:"only this session; all when left out"`
}

// ReportIn is the input of the tool report.
type ReportIn struct {
	Where
	Range string `json:"range,omitempty" jsonschema:"commits as for git log, such as origin/main..; what the branch's upstream does not have when left out"`
}

// answer is the structured result of a tool.
type answer = map[string]any

// reads are the annotations of a tool that changes nothing. new(bool) is an explicit false: left
// out, the protocol's default for OpenWorldHint is true.
func reads(title string) *mcp.ToolAnnotations {
	return &mcp.ToolAnnotations{Title: title, ReadOnlyHint: true, IdempotentHint: true, OpenWorldHint: new(bool)}
}

// addReaders adds the tools that change no file of the worktree. save is one of them: it adds a
// checkpoint.
func (s *Server) addReaders(server *mcp.Server) {
	add(s, server, "status", "Where the job stands, and what changed since the last checkpoint", reads("Status"), false,
		func(In) line { return lineOf("status") })
	add(s, server, "list", "The checkpoints of a session, newest last", reads("List checkpoints"), true,
		func(in ListIn) line {
			if in.Limit <= 0 {
				in.Limit = 50
			}
			args := []string{"list", "--json", "--limit=" + strconv.Itoa(in.Limit)}
			return line{args: option(option(args, "session", in.Session), "where", in.Expr)}
		})
	mcp.AddTool(server, &mcp.Tool{Name: "steps", Description: "The steps of a session, usually its prompts, newest first: number, message, time, files", Annotations: reads("List steps")}, s.steps)
	add(s, server, "show", "One checkpoint with its state", reads("Show a checkpoint"), false,
		func(in RefIn) line { return lineOf("show", in.Ref) })
	add(s, server, "diff", "What differs between two checkpoints, or between one and the worktree: state, outputs, files", reads("Compare"), false,
		func(in DiffIn) line { return lineOf("diff", in.A, in.B) })
	add(s, server, "resume", "Where work stopped, what is done and what is pending", reads("Resume"), false,
		func(in RefIn) line { return lineOf("resume --view", in.Ref) })
	add(s, server, "validate", "Whether the checkpoints of a session are complete and unchanged", reads("Validate"), true,
		func(In) line { return lineOf("validate") })
	add(s, server, "why", "Which step, agent and prompt is behind lines of a file or behind a commit, or why nobody knows", reads("Who made it"), true,
		func(in WhyIn) line {
			return line{args: []string{"why", "--json"}, values: []string{in.What}, shape: joined, rest: "why of fewer lines"}
		})
	add(s, server, "search", "Find words in prompts, messages, transcripts and paths of checkpoints", reads("Search"), true,
		func(in SearchIn) line {
			return line{args: option([]string{"search", "--json"}, "session", in.Session), after: append([]string{"--"}, in.Words...), shape: theList, rest: "search with more words"}
		})
	add(s, server, "report", "What is behind the commits of a range: steps, prompts, agents, and how many lines nobody knows the maker of", reads("Report"), false,
		func(in ReportIn) line {
			return line{args: []string{"report", "--json"}, values: []string{in.Range}, rest: "report of fewer commits, or why of one"}
		})
	add(s, server, "rollback_plan", "Show what a rollback to a checkpoint would write, delete and discard, and the digest of that plan. Changes nothing", reads("Plan a rollback"), false,
		func(in PlanIn) line { return lineOf("rollback --dry-run", in.Ref) })
	add(s, server, "revert_plan", "Show what taking back only some steps would do to the files, and the digest of that plan; what others did since stays. Changes nothing", reads("Plan a revert"), false,
		func(in StepsIn) line { return in.line("--dry-run") })
	for _, verb := range []string{"undo", "redo"} {
		add(s, server, verb+"_plan", "Show what "+verb+" would write, delete and discard, and the digest of that plan. Changes nothing", reads("Plan a "+verb), false,
			func(In) line { return lineOf(verb + " --dry-run") })
	}
	save := &mcp.ToolAnnotations{Title: "Save a checkpoint", DestructiveHint: new(bool), OpenWorldHint: new(bool)}
	mcp.AddTool(server, &mcp.Tool{Name: "save", Description: "Make a checkpoint of all files and the state. Changes no files", Annotations: save},
		func(ctx context.Context, req *mcp.CallToolRequest, in SaveIn) (*mcp.CallToolResult, answer, error) {
			// Documents are passed on stdin: they may be longer than an argument can be.
			l := line{args: option(option([]string{"save", "--json"}, "message", in.Message), "name", in.Name)}
			switch {
			case in.State != "" && in.Patch != "":
				return nil, nil, errors.New("state and patch cannot be used together")
			case in.State != "":
				l.args, l.stdin = append(l.args, "--state=-"), []byte(in.State)
			case in.Patch != "":
				l.args, l.stdin = append(l.args, "--patch=-"), []byte(in.Patch)
			}
			return s.answer(ctx, req, in.Root, l, false)
		})
}

// located is an input with a Where, for the generic function add.
type located interface{ root() string }

func (w Where) root() string { return w.Root }

// add adds a tool that runs a single command line. lines says that the command prints a series of
// JSON values rather than one object.
func add[I located](s *Server, server *mcp.Server, name, description string, hints *mcp.ToolAnnotations, lines bool, command func(I) line) {
	mcp.AddTool(server, &mcp.Tool{Name: name, Description: description, Annotations: hints},
		func(ctx context.Context, req *mcp.CallToolRequest, in I) (*mcp.CallToolResult, answer, error) {
			return s.answer(ctx, req, in.root(), command(in), lines)
		})
}

// answer runs a command line for a tool.
func (s *Server) answer(ctx context.Context, req *mcp.CallToolRequest, root string, l line, lines bool) (*mcp.CallToolResult, answer, error) {
	r, err := s.run(ctx, req.Session, root, l)
	if err != nil {
		return nil, nil, err
	}
	out, err := structured(r, lines)
	if err != nil {
		return nil, nil, err
	}
	rest := "the resources checkpoint://<session>/<ref>/record, state and diff have all of it"
	if lines {
		rest = "the newest are here; a limit and where choose others"
	}
	if l.shape != nil {
		l.shape(out)
	}
	return nil, bounded(out, cmp.Or(l.rest, rest)), nil
}

// lineOf returns a command line of words without blanks, and values.
func lineOf(words string, values ...string) line {
	return line{args: append(strings.Fields(words), "--json"), values: values}
}

// option appends --name=value if there is a value. With "=" the value cannot be read as a flag,
// even if it begins with a dash.
func option(args []string, name, value string) []string {
	if value == "" {
		return args
	}
	return append(args, "--"+name+"="+value)
}

// addWriters adds the tools that change files, if the server was started with --write. Their
// descriptions ask the model to wait for the person; change makes sure where the client supports
// it.
func (s *Server) addWriters(server *mcp.Server) {
	if !s.Write {
		return
	}
	yes := true
	hints := func(title string) *mcp.ToolAnnotations {
		return &mcp.ToolAnnotations{Title: title, DestructiveHint: &yes, OpenWorldHint: new(bool)}
	}
	mcp.AddTool(server, &mcp.Tool{
		Name: "rollback", Annotations: hints("Roll back"),
		Description: "Go back to a checkpoint by the plan with this digest. Only when the person asked for it. Can be undone",
	}, func(ctx context.Context, req *mcp.CallToolRequest, in ApplyIn) (*mcp.CallToolResult, answer, error) {
		l := line{args: option([]string{"rollback", "--yes", "--json"}, "reason", in.Reason), values: []string{in.Ref}}
		return s.change(ctx, req, in.Where, "Go back to "+name.Clip(in.Ref, name.Said)+"?", in.Plan, l)
	})
	mcp.AddTool(server, &mcp.Tool{
		Name: "revert", Annotations: hints("Revert"),
		Description: "Take back only what some steps did, by the plan with this digest. Only when the person asked for it. Can be undone",
	}, func(ctx context.Context, req *mcp.CallToolRequest, in RevertIn) (*mcp.CallToolResult, answer, error) {
		l := in.line("--yes")
		l.args = option(l.args, "reason", in.Reason)
		return s.change(ctx, req, in.Where, "Take back "+name.Clip(strings.Join(in.Refs, " ")+" "+in.Since, name.Said)+"?", in.Plan, l)
	})
	for verb, does := range map[string]string{"undo": "Take back the last rollback", "redo": "Redo what the last undo took back"} {
		mcp.AddTool(server, &mcp.Tool{
			Name: verb, Annotations: hints(verb), Description: does + "; with a digest, only by that plan. Only when the person asked for it",
		}, func(ctx context.Context, req *mcp.CallToolRequest, in WalkIn) (*mcp.CallToolResult, answer, error) {
			return s.change(ctx, req, in.Where, "Run git checkpoint "+verb+"?", in.Plan, lineOf(verb+" --yes"))
		})
	}
}

// change runs a command that changes files, by the plan of a digest. Only a rollback and a revert
// must have one: they name a target, while undo and redo go one level and can be taken back. If the client can ask
// its user (elicitation), the user must agree first. Otherwise the client's own permission prompt
// is all that stands between the model and the files.
func (s *Server) change(ctx context.Context, req *mcp.CallToolRequest, where Where, question, plan string, l line) (*mcp.CallToolResult, answer, error) {
	if verb := l.args[0]; plan == "" && (verb == "rollback" || verb == "revert") {
		return nil, nil, fmt.Errorf("%s needs the digest of its plan: call %s_plan, and show the plan to the person", verb, verb)
	}
	l.args = option(l.args, "plan", plan)
	if client := req.Session.InitializeParams(); client != nil && client.Capabilities != nil && client.Capabilities.Elicitation != nil {
		said, err := req.Session.Elicit(ctx, &mcp.ElicitParams{
			Message: question,
			// The answer is accept or decline; no further input is needed.
			RequestedSchema: map[string]any{"type": "object", "properties": map[string]any{}},
		})
		if err != nil {
			return nil, nil, fmt.Errorf("ask the person: %w", err)
		}
		if said.Action != "accept" {
			return nil, nil, fmt.Errorf("the person said no; nothing was changed")
		}
	}
	return s.answer(ctx, req, where.Root, l, false)
}
