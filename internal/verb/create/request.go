package create

import (
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

// Request is the input of Checkpoint. A zero value means that the option was not given. A create that is made later is
// stored as JSON, which has the members of the groups beside the others: their names are a contract with earlier versions.
type Request struct {
	Message  string // the user's text, at most 1 MiB
	Session  string // empty: the named, active or branch's session
	Workflow string // for a session that is started; a document can decide it too
	Trigger  string // empty: that of the document, else manual
	Numbering
	Edits
	Outputs []Output // File is relative to the working directory; "-" is not supported
	Selection
	Comparison
	Tag    bool // a milestone is meant to have a tag
	NoTag  bool // it gets none, whatever else says so
	Pinned bool
	Agent  *record.Agent // the coding agent whose event caused the create
	Origin
	DryRun    bool // compute the checkpoint, but write no ref
	Moving    bool `json:"-"` // a move of this process is in progress, and all its files are there
	Callbacks `json:"-"`

	retry bool     // it failed before, and is tried again; set by Retry
	tree  name.OID // instead of a capture; set by Trying
}

// Numbering says which step the checkpoint is.
type Numbering struct {
	Step      *int   // nil: the workflow decides
	Name      string // of the step
	Iteration string
}

// Edits are what becomes of the state of the checkpoint before, in this order.
type Edits struct {
	State    []byte   // a JSON document that replaces it
	Original []byte   // the bytes that State was read from, if they differ: YAML, or a byte order mark
	Edited   []byte   // the state after the step edited it; set by Editing
	Patch    []byte   // a JSON merge patch (RFC 7396)
	Set      []Assign // members to set
	Unset    []string // paths of members to remove
	Metrics  []Assign // metrics to set, by name
	Status   string   // of the job; empty: the state or the workflow decides
	Error    *string  // the job's error, JSON or text; "" clears it
}

// Selection says which files the capture takes.
type Selection struct {
	IncludeIgnored []string // pathspecs of ignored files to capture
	Exclude        []string // pathspecs of files to leave out
	Large          bool     // capture also an unusual amount of new data, which is refused otherwise
	// Automatic says that nobody typed the command. What was ignored at the last checkpoint is then left
	// out, since nobody sees that the checkpoint takes it.
	Automatic bool `json:"-"`
}

// Comparison says what counts as a change.
type Comparison struct {
	SkipUnchanged bool     // make no checkpoint if nothing has changed: KindNothing, exit code 8
	Unless        name.OID // a tree: SkipUnchanged then compares with it alone, and changes are counted from it
	Since         name.OID // the tree from which changes are counted; empty: Unless, else the checkpoint before
}

// Origin says which other checkpoints this one is made of.
type Origin struct {
	Reverts []RevertedStep // of trigger revert: the checkpoints that it takes back
	Joins   name.ID        // of trigger promote: the head of another line of the session that the files have
	Fork    *Fork          // see Forking
	Promote *record.Record // see Promoting
}

// Callbacks are called while the checkpoint is made; nil: nobody asks.
type Callbacks struct {
	// Authors fills in who made the paths of the difference from the checkpoint before. It is called
	// again for each try.
	Authors func(a *record.Agent, previous name.ID, changes []git.Change)
	// LeftOut gets what the capture left out, even if no checkpoint is made because nothing else has changed.
	LeftOut func([]record.Skipped)
	// Composed gets a checkpoint that is about to be written, and the tree that it is compared with.
	Composed func(made *record.Record, before name.OID)
	// Words makes the message, in place of Message, once it is known that there is something to save.
	Words func() string
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
	return Request{Session: string(session), Selection: Selection{Large: true}, Origin: Origin{Fork: &fork}}
}

// Promoting returns the request for a checkpoint that takes state, status and outputs from the last
// record of an attempt.
func Promoting(session name.Session, from *record.Record) Request {
	return Request{Session: string(session), Trigger: workflow.TriggerPromote, Selection: Selection{Large: true}, Origin: Origin{Promote: from}}
}

// Editing returns the request with the state that its step left, instead of a document and edits: these
// were applied before the step began.
func (r Request) Editing(state []byte) Request {
	r.State, r.Edited, r.Set, r.Unset, r.Metrics = nil, state, nil, nil, nil
	return r
}

// Trying returns the request for a dry run with a tree instead of a capture.
func (r Request) Trying(tree name.OID) Request {
	r.DryRun, r.tree, r.IncludeIgnored = true, tree, nil
	return r
}
