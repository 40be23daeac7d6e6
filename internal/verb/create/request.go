package create

import (
	"encoding/json"
	"strings"
	"unicode"

	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/core/workflow"
	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/format/record"
	"git-checkpoint/internal/git"
)

// checkRequest refuses values that no record or label may have, before anything is read or written.
func checkRequest(req Request) error {
	if req.Step != nil && (*req.Step < 0 || *req.Step > 999_999_999) {
		return checkpoint.Usage("a step is a whole number of 0 or more", "step %d is out of range", *req.Step)
	}
	if req.Name != "" && !strings.ContainsFunc(req.Name, nameable) {
		return checkpoint.Usage("use letters or digits", "step name %q has no letters or digits", name.Clip(req.Name, name.Said))
	}
	if _, err := name.ParseIteration(req.Iteration); err != nil {
		return checkpoint.Usage("a number, or a word of a-z, 0-9, _ and -", "%v", err)
	}
	if len(req.Message) > 1<<20 {
		return checkpoint.Usage("put long text into an output", "the message is %d bytes long; the limit is 1 MiB", len(req.Message))
	}
	for _, o := range req.Outputs {
		if !IsOutputName(o.Name) {
			return checkpoint.Usage("a name is "+name.OutputRule, "invalid output name %q", name.Clip(o.Name, name.Said))
		}
	}
	return nil
}

// nameable reports whether r counts as readable in a step's name, which must have at least one such
// character. A label has fewer characters than the name: if none of the name fits into it, the
// label is that of a step without a name.
func nameable(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) || r == '_' }

// Assign is one PATH=VALUE or NAME=VALUE of the command line.
type Assign struct{ Path, Value string }

// Output is one --output NAME=FILE. An empty File without Data drops the output that is carried
// over.
type Output struct {
	Name, File string
	Data       []byte // the content, instead of a file
}

// Request is the input of Checkpoint. A zero value means that the option was not given.
type Request struct {
	Message        string // the user's text, at most 1 MiB
	Session        string // empty: the named, active or branch's session
	Workflow       string // for a session that is started; a document can decide it too
	Step           *int   // nil: the workflow decides
	Name           string // of the step
	Iteration      string
	Trigger        string   // empty: that of the document, else manual
	Status         string   // of the job; empty: the state or the workflow decides
	State          []byte   // a JSON document that replaces the state
	Original       []byte   // the bytes that State was read from, if they differ: YAML, or a byte order mark
	Patch          []byte   // a JSON merge patch (RFC 7396) of the state
	Set            []Assign // members of the state to set
	Unset          []string // paths of members of the state to remove
	Metrics        []Assign // metrics to set, by name
	Outputs        []Output // File is relative to the working directory; "-" is not supported
	Error          *string  // the job's error, JSON or text; "" clears it
	IncludeIgnored []string // pathspecs of ignored files to capture
	Exclude        []string // pathspecs of files to leave out
	Tag            bool     // a milestone is meant to have a tag
	NoTag          bool     // it gets none, whatever else says so
	Pinned         bool
	SkipUnchanged  bool           // make none if nothing has changed: KindNothing, exit code 8
	Unless         name.OID       // a tree: SkipUnchanged then compares with it alone, and changes are counted from it
	Since          name.OID       // the tree from which changes are counted; empty: Unless, else the checkpoint before
	Agent          *record.Agent  // the coding agent whose event caused the create
	Reverts        []RevertedStep // of trigger revert: the checkpoints that it takes back
	Joins          name.ID        // of trigger promote: the head of another line of the session that the files have
	// Authors fills in who made the paths of the difference from the checkpoint before. It is called
	// again for each try.
	Authors func(a *record.Agent, previous name.ID, changes []git.Change) `json:"-"`
	Large   bool                                                          // capture also an unusual amount of new data, which is refused otherwise
	DryRun  bool                                                          // compute the checkpoint, but write no ref

	// Automatic says that nobody typed the command. What was ignored at the last checkpoint is then left
	// out, since nobody sees that the checkpoint takes it.
	Automatic bool `json:"-"`

	Moving bool `json:"-"` // says that a move of this process is in progress, and that all its files are there

	// LeftOut is called with what the capture left out, even if no checkpoint is made because
	// nothing else has changed; nil: nobody asks.
	LeftOut func([]record.Skipped) `json:"-"`

	// Composed is called with a checkpoint that is about to be written, and the tree that it is compared with; nil: nobody asks.
	Composed func(made *record.Record, before name.OID) `json:"-"`

	// Words makes the message, in place of Message, once it is known that there is something to save; nil: Message is it.
	Words func() string `json:"-"`

	retry bool // it failed before, and is tried again; set by Retry

	// Set by Forking, Promoting, Editing and Trying. Only one of the first three is set.
	fork    *Fork
	promote *record.Record
	edited  []byte // the state after the step edited it
	tree    name.OID
}

// RevertedStep names a checkpoint that a revert takes back, in the record of the one that it makes.
type RevertedStep struct {
	Session name.Session `json:"session"`
	ID      name.ID      `json:"id"`
}

// MemberReverts is the member of a record that has Request.Reverts, the newest first.
const MemberReverts record.Member[[]RevertedStep] = "reverts"

// Forking returns the request for the first checkpoint of an attempt, which copies another one.
func Forking(session name.Session, fork Fork) Request {
	return Request{Session: string(session), Large: true, fork: &fork}
}

// Promoting returns the request for a checkpoint that takes state, status and outputs from the last
// record of an attempt.
func Promoting(session name.Session, from *record.Record) Request {
	return Request{Session: string(session), Trigger: workflow.TriggerPromote, Large: true, promote: from}
}

// Editing returns the request with the state that its step left, instead of a document and edits: these
// were applied before the step began.
func (r Request) Editing(state []byte) Request {
	r.State, r.edited, r.Set, r.Unset, r.Metrics = nil, state, nil, nil, nil
	return r
}

// Trying returns the request for a dry run with a tree instead of a capture.
func (r Request) Trying(tree name.OID) Request {
	r.DryRun, r.tree, r.IncludeIgnored = true, tree, nil
	return r
}

// remembered is a Request in the file of a create that failed. Its members are a contract with
// earlier versions.
type remembered struct {
	members
	Edited  []byte
	Fork    *Fork
	Promote *record.Record
}

// members has the fields of a Request, but not its methods.
type members Request

// MarshalJSON encodes the request as remembered.
func (r Request) MarshalJSON() ([]byte, error) {
	return json.Marshal(remembered{members(r), r.edited, r.fork, r.promote})
}

// UnmarshalJSON decodes what MarshalJSON encodes.
func (r *Request) UnmarshalJSON(data []byte) error {
	var from remembered
	if err := json.Unmarshal(data, &from); err != nil {
		return err
	}
	*r = Request(from.members)
	r.edited, r.fork, r.promote = from.Edited, from.Fork, from.Promote
	return nil
}
