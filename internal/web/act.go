package web

import (
	"context"
	"net/http"
	"strings"

	"github.com/tidwall/gjson"

	"git-checkpoint/internal/checkpoint"
)

// planPage shows what an action would do, in the terms of the command's JSON.
//
// An action takes two requests. POST /plan runs the command with --dry-run and shows its plan, with
// the plan's digest hidden in a form. POST /do runs it with --plan=<digest>, which refuses if the
// plan has become another one in between. So what is done is what the person saw. save, pin and
// unpin have no plan and need only the second request.
type planPage struct {
	// Verb is the command, Ref and Session are what it is about.
	Verb, Ref, Session string
	// Digest identifies the plan. It is passed on in the form.
	Digest string
	// To is the label of the checkpoint that becomes the current one.
	To string
	// Lists of paths: to write, to delete, with another mode, left alone, and the checkpoints that
	// become discarded.
	Write, Delete []string
	Mode, Skipped []string
	Discard       []string
	// Risk are files that might not be restored exactly, with the reason.
	Risk []string
	// Meanwhile is what happened in other worktrees since.
	Meanwhile []string
	// Nothing is set if the plan changes nothing.
	Nothing bool
}

// donePage confirms an action. Undo offers to undo it.
type donePage struct {
	Said string
	Undo bool
}

// verbs are the actions of the page, and whether each has a plan that must be shown first.
func verbs() map[string]bool {
	return map[string]bool{"rollback": true, "undo": true, "redo": true, "promote": true, "save": false, "pin": false, "unpin": false}
}

// plan runs the command of an action with --dry-run and shows the plan.
func (s *Server) plan(ctx context.Context, _ *checkpoint.Service, r *http.Request) (view, error) {
	p := &planPage{Verb: r.PostFormValue("verb"), Ref: r.PostFormValue("ref"), Session: r.PostFormValue("session")}
	if planned := verbs()[p.Verb]; !planned {
		return view{}, checkpoint.Usage("", "%q has no plan", p.Verb)
	}
	args := target([]string{p.Verb, "--dry-run", "--json"}, p.Session, p.Ref)
	result := s.Read(ctx, args...)
	if result.Problem != nil {
		return view{}, result.Problem
	}
	answer := gjson.ParseBytes(result.Out)
	p.Digest, p.To = answer.Get("digest").String(), plain(answer.Get("to_label").String())
	for path, list := range map[string]*[]string{
		"plan.write": &p.Write, "plan.delete": &p.Delete, "plan.mode": &p.Mode, "plan.skipped": &p.Skipped, "plan.discard": &p.Discard,
	} {
		answer.Get(path).ForEach(func(_, v gjson.Result) bool {
			*list = append(*list, pathText(v))
			return true
		})
	}
	answer.Get("plan.risk").ForEach(func(_, v gjson.Result) bool {
		p.Risk = append(p.Risk, pathText(v.Get("path"))+": "+plain(v.Get("reason").String()))
		return true
	})
	answer.Get("meanwhile").ForEach(func(_, v gjson.Result) bool {
		p.Meanwhile = append(p.Meanwhile, plain(v.Get("worktree").String()+" "+v.Get("what").String()))
		return true
	})
	p.Nothing = len(p.Write)+len(p.Delete)+len(p.Mode)+len(p.Discard) == 0
	return view{Name: "plan", Title: p.Verb, Data: p}, nil
}

// pathText is a path in a JSON answer: a string, or an object if the path is not valid UTF-8.
func pathText(v gjson.Result) string {
	if v.IsObject() {
		return plain(v.Get("path").String())
	}
	return plain(v.String())
}

// do runs the command of an action. If the action has a plan, it needs the digest of the one that
// was shown.
func (s *Server) do(ctx context.Context, _ *checkpoint.Service, r *http.Request) (view, error) {
	verb, in, ref := r.PostFormValue("verb"), r.PostFormValue("session"), r.PostFormValue("ref")
	planned, known := verbs()[verb]
	if !known {
		return view{}, checkpoint.Usage("", "%q is not an action of this page", verb)
	}
	args := []string{verb, "--json"}
	if planned {
		digest := r.PostFormValue("digest")
		if digest == "" {
			return view{}, checkpoint.Usage("", "%s needs the digest of its plan", verb)
		}
		args = append(args, "--yes", "--plan="+digest)
	}
	if verb == "save" {
		args = append(args, "--message="+r.PostFormValue("message"))
	}
	args = target(args, in, ref)
	// The person has said yes. Closing the page must not stop the command halfway.
	result := s.Write(context.WithoutCancel(ctx), args...)
	if result.Problem != nil {
		return view{}, result.Problem
	}
	return view{Name: "done", Title: "Done", Data: &donePage{Said: verb + ": done", Undo: planned}}, nil
}

// target appends what the command is about: a checkpoint as <session>:<id>, or an attempt by its
// session. Both come from a form, so leading dashes are removed: the value must not be read as a
// flag.
func target(args []string, in, ref string) []string {
	in = strings.TrimLeft(in, "-")
	switch args[0] {
	case "rollback", "pin", "unpin":
		return append(args, in+":"+ref)
	case "promote":
		return append(args, in)
	}
	return args
}
