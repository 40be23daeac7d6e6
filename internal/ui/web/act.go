package web

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/core/threeway"
	"git-checkpoint/internal/verb/rollback"
)

// planPage shows what an action would do.
//
// An action takes two requests. POST /plan runs the command with --dry-run and shows its plan, with
// the plan's digest hidden in a form. POST /do runs it with --plan=<digest>, which refuses if the
// plan has become another one in between. So what is done is what the person saw. save, pin and
// unpin have no plan and need only the second request.
type planPage struct {
	// Verb is the command, Ref and Session are what it is about. Answer has the plan of its JSON.
	Verb, Ref, Session string
	Answer             rollback.Answer
	Nothing            bool     // set if the plan changes nothing
	Refused            *trouble // says why the plan cannot be carried out; nil: it can
}

// revertedGroup is a group of files in the plan of a revert.
type revertedGroup struct {
	Title string
	Bad   bool
	Files []rollback.RevertedFile
}

// Groups returns the files of a revert as the command groups them, without empty groups.
func (p *planPage) Groups() (all []revertedGroup) {
	groups := []revertedGroup{
		{Title: "Conflicts", Bad: true}, {Title: "Changed during a command, by it or by a program beside it"},
		{Title: "Merged with later work"}, {Title: "Taken back"},
	}
	for _, f := range p.Answer.Files {
		at := 0
		switch {
		case f.How == threeway.Conflict:
		case f.How == threeway.Same:
			continue
		case f.During:
			at = 1
		case f.How == threeway.Merged:
			at = 2
		default:
			at = 3
		}
		groups[at].Files = append(groups[at].Files, f)
	}
	return slices.DeleteFunc(groups, func(g revertedGroup) bool { return len(g.Files) == 0 })
}

// donePage confirms an action. Undo offers to undo it.
type donePage struct {
	Said string
	Undo bool
}

// verbs are the actions of the page, and whether each has a plan that must be shown first.
func verbs() map[string]bool {
	return map[string]bool{"rollback": true, "undo": true, "redo": true, "promote": true, "revert": true, "save": false, "pin": false, "unpin": false}
}

// plan runs the command of an action with --dry-run and shows the plan.
func (s *Server) plan(ctx context.Context, _ *checkpoint.Service, r *http.Request) (view, error) {
	p := &planPage{Verb: r.PostFormValue("verb"), Ref: r.PostFormValue("ref"), Session: r.PostFormValue("session")}
	p.Answer.Reverted = &rollback.Reverted{} // the template reads it whatever the command
	if planned := verbs()[p.Verb]; !planned {
		return view{}, checkpoint.Usage("", "%q has no plan", p.Verb)
	}
	args := target([]string{p.Verb, "--dry-run", "--json"}, p.Session, p.Ref)
	result := s.Read(ctx, args...)
	if result.Problem != nil {
		if result.Problem.Kind != checkpoint.KindRefused || len(result.Out) == 0 {
			return view{}, result.Problem
		}
		// A plan with conflicts is shown anyway.
		p.Refused = troubleOf(result.Problem)
	}
	if err := json.Unmarshal(result.Out, &p.Answer); err != nil {
		return view{}, fmt.Errorf("plan of %s: %w", p.Verb, err)
	}
	plan := p.Answer.Plan
	p.Nothing = len(plan.Write)+len(plan.Delete)+len(plan.Mode)+len(plan.Discard) == 0 && p.Verb != "revert"
	return view{Name: "plan", Title: p.Verb, Data: p}, nil
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
	case "rollback", "revert", "pin", "unpin":
		return append(args, in+":"+ref)
	case "promote":
		return append(args, in)
	}
	return args
}
