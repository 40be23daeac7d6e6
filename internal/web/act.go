package web

import (
	"context"
	"net/http"
	"strings"

	"github.com/tidwall/gjson"

	"git-checkpoint/internal/checkpoint"
)

// planPage is what an action would do, and asks for a yes.
type planPage struct {
	Verb, Ref, Session string
	Digest             string
	To                 string
	Write, Delete      []string
	Mode, Skipped      []string
	Discard            []string
	Risk               []string
	Meanwhile          []string
	Nothing            bool
}

// donePage is what an action did.
type donePage struct {
	Said string
	Undo bool
}

// verbs are the actions, and whether each has a plan to be shown first.
func verbs() map[string]bool {
	return map[string]bool{"rollback": true, "undo": true, "redo": true, "promote": true, "save": false, "pin": false, "unpin": false}
}

// plan shows the plan of the command line. Its digest goes into the form, so that what is done is what
// was seen.
func (s *Server) plan(ctx context.Context, _ *checkpoint.Service, r *http.Request) (view, error) {
	p := &planPage{Verb: r.PostFormValue("verb"), Ref: r.PostFormValue("ref"), Session: r.PostFormValue("session")}
	if planned := verbs()[p.Verb]; !planned {
		return view{}, checkpoint.Usage("", "%q is nothing that has a plan", p.Verb)
	}
	args := target([]string{p.Verb, "--dry-run", "--json"}, p.Session, p.Ref)
	result := s.Read(ctx, args...)
	if result.Code != 0 {
		return view{}, told(result)
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

// pathText is a path of an answer, which is an object where it is not UTF-8.
func pathText(v gjson.Result) string {
	if v.IsObject() {
		return plain(v.Get("path").String())
	}
	return plain(v.String())
}

// do runs an action by the plan that was seen.
func (s *Server) do(ctx context.Context, _ *checkpoint.Service, r *http.Request) (view, error) {
	verb, in, ref := r.PostFormValue("verb"), r.PostFormValue("session"), r.PostFormValue("ref")
	planned, known := verbs()[verb]
	if !known {
		return view{}, checkpoint.Usage("", "%q is nothing that this page does", verb)
	}
	args := []string{verb, "--json"}
	if planned {
		digest := r.PostFormValue("digest")
		if digest == "" {
			return view{}, checkpoint.Usage("", "%s takes the digest of its plan", verb)
		}
		args = append(args, "--yes", "--plan="+digest)
	}
	if verb == "save" {
		args = append(args, "--message="+r.PostFormValue("message"))
	}
	args = target(args, in, ref)
	// A reader who closes the page has still said yes.
	result := s.Write(context.WithoutCancel(ctx), args...)
	if result.Code != 0 {
		return view{}, told(result)
	}
	return view{Name: "done", Title: "Done", Data: &donePage{Said: verb + ": done", Undo: planned}}, nil
}

// target adds what a verb is about: a checkpoint by its session and id, or an attempt by its session. Both
// are data of a form: they cannot be taken for a flag.
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

// told is the error that a command told.
func told(result Result) error {
	_, text, _ := strings.Cut(string(result.Err), `{"error"`)
	said := gjson.Parse(`{"error"` + text).Get("error")
	e := &checkpoint.Error{Kind: checkpoint.Kind(said.Get("kind").String()), Message: said.Get("message").String()}
	if e.Message == "" {
		e.Kind, e.Message = checkpoint.KindFailed, strings.TrimSpace(string(result.Err))
	}
	for _, hint := range said.Get("hints").Array() {
		e.Hints = append(e.Hints, hint.String())
	}
	return e
}
