package workflow

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/tidwall/gjson"
	"github.com/tidwall/sjson"

	"git-checkpoint/internal/format/render"
)

// weigh compares the surroundings with those at the checkpoint: the branch, the files, and the
// issue. It adds warnings, questions and refusals to out, and updates the state in out with members
// that follow.
func (f Freshness) weigh(in ResumeInput, out *Resume) {
	if in.BranchGone {
		out.changed(cmp.Or(f.Branch, freshWarn), fmt.Sprintf("branch %s is gone", in.Branch),
			"cannot resume; start afresh", "Continue without it?")
	}
	if len(in.Changed) > 0 {
		out.changed(cmp.Or(f.Files, freshWarn), "files changed since the checkpoint: "+someOf(in.Changed),
			"cannot resume with these changes", "Continue with them as they are?")
	}
	current := f.issue(in.Current)
	if current == nil {
		return
	}
	for _, member := range f.Issue {
		path := join(f.Snapshot, member.Member)
		was, is := gjson.GetBytes(in.State, path), gjson.GetBytes(current, member.Member)
		if !is.Exists() || equal(was, is, member.Unordered) {
			continue
		}
		out.changed(member.Changed, told(member.Member, was, is), "cannot resume; start afresh", "Continue with the checkpoint?")
		if member.Follow {
			out.follow(path, json.RawMessage(is.Raw))
			out.followMark(member.Mark, was, is)
		}
	}
}

// issue returns the issue as it is now, or nil if the caller has none. The caller's document may be
// the issue itself or a whole state with the issue at the path of the snapshot.
func (f Freshness) issue(document json.RawMessage) json.RawMessage {
	root := gjson.ParseBytes(document)
	if value(document) == nil || !root.IsObject() {
		return nil
	}
	if inside := get(root, f.Snapshot); inside.IsObject() {
		return json.RawMessage(inside.Raw)
	}
	return document
}

// changed records one change. answer is the reaction that the workflow gives for it.
func (r *Resume) changed(answer, what, refusal, question string) {
	switch answer {
	case freshRefuse:
		r.refuse(what + ": " + refusal)
	case freshAsk:
		r.ask(what + ". " + question)
	case freshWarn:
		r.warn(what)
	}
}

// follow writes a new value into the state that work goes on with. The value is raw text, so that
// numbers keep their digits.
func (r *Resume) follow(path string, text json.RawMessage) {
	state := r.State
	if len(state) == 0 {
		state = json.RawMessage("{}")
	}
	moved, err := sjson.SetRawBytes(append([]byte{}, state...), path, text)
	if err != nil {
		r.warn(fmt.Sprintf("%s stays as it was: %v", path, err))
		return
	}
	r.State = moved
}

// followMark updates the member at path, which holds one item of a list that changed. It does so
// only if that item was removed and there is a single new one: otherwise its successor is
// ambiguous.
func (r *Resume) followMark(path string, was, is gjson.Result) {
	if path == "" {
		return
	}
	gone, come := difference(was, is)
	if len(come) == 1 && set(gone)[identity(value(rawAt(r.State, path)))] {
		r.follow(path, encode(come[0]))
	}
}

// equal compares two JSON values, lists as sets if unordered.
func equal(was, is gjson.Result, unordered bool) bool {
	if unordered && isList(was) && isList(is) {
		gone, come := difference(was, is)
		return len(gone)+len(come) == 0
	}
	return identity(value(json.RawMessage(was.Raw))) == identity(value(json.RawMessage(is.Raw)))
}

// told describes a change of one member: a list by the items that were added and removed, anything
// else only by its name.
func told(member string, was, is gjson.Result) string {
	if !was.IsArray() || !is.IsArray() {
		return fmt.Sprintf("issue %s changed", member)
	}
	gone, come := difference(was, is)
	var parts []string
	if len(come) > 0 {
		parts = append(parts, "added "+joined(come, ", "))
	}
	if len(gone) > 0 {
		parts = append(parts, "removed "+joined(gone, ", "))
	}
	return fmt.Sprintf("issue %s changed: %s", member, strings.Join(parts, "; "))
}

// isList reports whether a value is a list, or is absent or null, which counts as an empty one.
func isList(v gjson.Result) bool { return v.IsArray() || v.Type == gjson.Null }

// difference returns the items that are only in the first list and those that are only in the second.
func difference(was, is gjson.Result) (gone, come []any) {
	before, _ := value(json.RawMessage(was.Raw)).([]any)
	after, _ := value(json.RawMessage(is.Raw)).([]any)
	return missing(before, after), missing(after, before)
}

// someOf lists the first ten names and the number of the others.
func someOf(names []string) string {
	return strings.Join(render.First(names, 10, "and %d more", func(name string) string { return shorten(name, 200) }), ", ")
}
