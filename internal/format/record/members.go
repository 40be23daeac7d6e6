package record

// The tables in this file define the members of each object and their order, as documented in
// docs/format.md. They are used for writing and for reading. A new member is one field of a type in
// record.go and one line here.

import (
	"errors"
	"fmt"
	"strings"

	"git-checkpoint/internal/format/name"
)

// maxStep is the highest step: an id has room for nine digits.
const maxStep = 999999999

func (r *Record) object() object {
	return object{members: []member{
		{"format", integer[int]{at: &r.Format}},
		{"id", word[name.ID]{at: &r.ID, accept: name.ParseID}},
		{"label", word[string]{at: &r.Label, accept: parseLabel}},
		{"session", word[name.Session]{at: &r.Session, accept: name.ParseSession}},
		{"step", integer[int]{at: &r.Step, limit: maxStep}},
		{"step_name", word[string]{at: &r.StepName}},
		{"iteration", word[string]{at: &r.Iteration, accept: name.ParseIteration}},
		{"milestone", flag{&r.Milestone}},
		{"trigger", word[string]{at: &r.Trigger}},
		{"status", word[string]{at: &r.Status}},
		{"message", word[string]{at: &r.Message}},
		{"topic", word[string]{at: &r.Topic, empty: asNothing}},
		{"created_at", instant{&r.CreatedAt}},
		{"workflow", r.Workflow.object()},
		{"previous", word[name.ID]{at: &r.Previous, accept: name.ParseID, empty: asNull}},
		{"rebuilt_from", word[name.ID]{at: &r.RebuiltFrom, accept: name.ParseID, empty: asNothing}},
		{"state", anything{&r.State, "{}"}},
		{"outputs", dict[Output]{&r.Outputs, (*Output).codec, name.ParseOutput}},
		{"error", anything{&r.Error, "null"}},
		{"git", r.Git.object()},
		{"files", r.Files.object()},
		{"snapshot", r.Snapshot.object()},
	}, extra: &r.Extra, behind: []member{
		{"checksum", word[string]{at: &r.Checksum, accept: parseChecksum, empty: asNothing}},
	}}
}

func (w *Workflow) object() object {
	return object{members: []member{
		{"name", word[string]{at: &w.Name}},
		{"version", word[string]{at: &w.Version}},
	}, extra: &w.Extra}
}

func (o *Output) codec() codec {
	return object{members: []member{
		{"path", pathValue{at: &o.Path}},
		{"source", pathValue{at: &o.Source}},
		{"oid", oid(&o.OID)},
		{"size", integer[int64]{at: &o.Size}},
		{"lines", integer[int]{at: &o.Lines}},
		{"entries", optional{&o.Entries}},
	}, extra: &o.Extra}
}

func (g *Git) object() object {
	return object{members: []member{
		{"branch", pathValue{at: &g.Branch, empty: asNull}},
		{"head", oid(&g.Head)},
		{"detached", flag{&g.Detached}},
		{"operation", word[string]{at: &g.Operation, empty: asNull}},
		{"worktree", pathValue{at: &g.Worktree}},
		{"worktrees", list[Worktree]{at: &g.Worktrees, bind: (*Worktree).codec}},
		{"index", oid(&g.Index)},
		{"staged", paths(&g.Staged, asEmpty)},
		{"unmerged", paths(&g.Unmerged, asEmpty)},
		{"intent_to_add", paths(&g.IntentToAdd, asEmpty)},
		{"assume_unchanged", paths(&g.AssumeUnchanged, asEmpty)},
		{"sparse_present", paths(&g.SparsePresent, asEmpty)},
	}, extra: &g.Extra}
}

func (w *Worktree) codec() codec {
	return object{members: []member{
		{"name", pathValue{at: &w.Name}},
		{"branch", pathValue{at: &w.Branch, empty: asNull}},
		{"head", oid(&w.Head)},
	}, extra: &w.Extra}
}

func (f *Files) object() object {
	return object{members: []member{
		{"created", paths(&f.Created, asEmpty)},
		{"modified", paths(&f.Modified, asEmpty)},
		{"deleted", paths(&f.Deleted, asEmpty)},
		{"counts", counts{&f.Counts}},
		{"truncated", flag{&f.Truncated}},
	}, extra: &f.Extra}
}

func (s *Snapshot) object() object {
	return object{members: []member{
		{"tree", oid(&s.Tree)},
		{"complete", flag{&s.Complete}},
		{"skipped", list[Skipped]{at: &s.Skipped, bind: (*Skipped).codec}},
		{"modes", modes{at: &s.Modes}},
		{"modes_percent", modes{at: &s.Modes, percent: true}},
		{"raw", paths(&s.Raw, asNothing)},
		{"at_risk", list[AtRisk]{at: &s.AtRisk, bind: (*AtRisk).codec, empty: asNothing}},
	}, extra: &s.Extra}
}

func (s *Skipped) codec() codec {
	return object{members: []member{
		{"path", plainPath{&s.Path}},
		{"encoding", encoding{&s.Path}},
		{"reason", word[string]{at: &s.Reason}},
		{"size", integer[int64]{at: &s.Size, empty: asNothing}},
	}, extra: &s.Extra}
}

func (a *AtRisk) codec() codec {
	return object{members: []member{
		{"path", plainPath{&a.Path}},
		{"encoding", encoding{&a.Path}},
		{"reason", word[string]{at: &a.Reason}},
	}, extra: &a.Extra}
}

// oid returns the codec of an object id, null when empty.
func oid(at *name.OID) codec {
	return word[name.OID]{at: at, accept: name.ParseOID, empty: asNull}
}

// paths returns the codec of a list of paths.
func paths(at *[]Path, empty absence) codec {
	return list[Path]{at: at, bind: func(p *Path) codec { return pathValue{at: p} }, empty: empty}
}

// counts is the array of three numbers [created, modified, deleted].
type counts struct{ at *[3]int }

func (c counts) list(numbers *[]int) codec {
	return list[int]{at: numbers, bind: func(n *int) codec { return integer[int]{at: n} }}
}

func (c counts) appendTo(dst []byte) ([]byte, error) {
	numbers := c.at[:]
	return c.list(&numbers).appendTo(dst)
}

func (c counts) parse(raw []byte) error {
	var numbers []int
	if err := c.list(&numbers).parse(raw); err != nil {
		return err
	}
	if len(numbers) != len(c.at) {
		return fmt.Errorf("expected %d numbers here, not %d", len(c.at), len(numbers))
	}
	copy(c.at[:], numbers)
	return nil
}

// optional is a number that is left out when nil.
type optional struct{ at **int }

func (o optional) omitted() bool { return *o.at == nil }

func (o optional) appendTo(dst []byte) ([]byte, error) { return integer[int]{at: *o.at}.appendTo(dst) }

func (o optional) parse(raw []byte) error {
	*o.at = new(int)
	return integer[int]{at: *o.at}.parse(raw)
}

// parseLabel accepts "cp-", two to nine digits, and up to 120 of A-Z a-z 0-9 . _ + -.
func parseLabel(s string) (string, error) {
	rest, ok := strings.CutPrefix(s, "cp-")
	digits := 0
	for digits < min(len(rest), 9) && rest[digits] >= '0' && rest[digits] <= '9' {
		digits++
	}
	ok = ok && digits >= 2 && len(rest) <= digits+120
	for _, c := range []byte(rest) {
		ok = ok && (c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c == '.' || c == '_' || c == '+' || c == '-')
	}
	if !ok {
		return "", fmt.Errorf("not a label: %q", clip(s, 100))
	}
	return s, nil
}

// parseChecksum accepts "sha256:" and 64 lower-case hexadecimal digits.
func parseChecksum(s string) (string, error) {
	digits, ok := strings.CutPrefix(s, "sha256:")
	if ok && len(digits) == 64 {
		if _, err := name.ParseOID(digits); err == nil { // an id of a SHA-256 repository has the same form
			return s, nil
		}
	}
	return "", errors.New("a checksum is sha256: followed by 64 of 0-9 a-f")
}
