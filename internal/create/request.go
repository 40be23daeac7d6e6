package create

import (
	"strings"
	"time"
	"unicode"

	"git-checkpoint/internal/checkpoint"
	"git-checkpoint/internal/name"
	"git-checkpoint/internal/record"
)

func checkRequest(req Request) error {
	if req.Step != nil && (*req.Step < 0 || *req.Step > 999_999_999) {
		return checkpoint.Usage("steps are whole numbers from 0", "step %d is out of range", *req.Step)
	}
	if req.Name != "" && !strings.ContainsFunc(req.Name, nameable) {
		return checkpoint.Usage("use letters or digits", "step name %q has none that could be read", name.Clip(req.Name, name.Said))
	}
	if req.Iteration != "" && name.Slug(req.Iteration) != req.Iteration {
		return checkpoint.Usage("a number, or a word of a-z, 0-9, _ and -", "iteration %q cannot stand in a label", name.Clip(req.Iteration, name.Said))
	}
	if len(req.Message) > 1<<20 {
		return checkpoint.Usage("put long text into an output", "the message is %d bytes long; 1 MiB is the limit", len(req.Message))
	}
	for _, o := range req.Outputs {
		if !outputPattern().MatchString(o.Name) {
			return checkpoint.Usage("a name is "+outputNames, "invalid output name %q", name.Clip(o.Name, name.Said))
		}
	}
	return nil
}

// nameable is what at least one character of a step's name has to be. A label shows
// fewer; where it shows none of them it is that of a step without a name.
func nameable(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) || r == '_' }

// Assign is one PATH=VALUE of the command line.
type Assign struct{ Path, Value string }

// Output is one --output NAME=FILE; an empty File without Data drops the output.
type Output struct {
	Name, File string
	Data       []byte // what it holds, instead of a file
}

// Request is what `create` was asked for. Zero values mean "not given".
type Request struct {
	Message        string
	Session        string
	Workflow       string // of a session that is started; the document says it too
	Step           *int
	Name           string
	Iteration      string
	Trigger        string
	Status         string
	State          []byte // a document that replaces the state
	Patch          []byte // a JSON merge patch (RFC 7396) on the state
	Edited         []byte // the state after somebody edited it, instead of Set and Unset
	Set            []Assign
	Unset          []string
	Metrics        []Assign
	Outputs        []Output // File is relative to the working directory; "-" is not allowed
	Error          *string  // JSON or text; "" clears it
	IncludeIgnored []string // pathspecs of ignored files to capture
	Exclude        []string // pathspecs to leave out
	Tag            TagChoice
	Pin            PinChoice
	Unchanged      UnchangedChoice
	Unless         name.OID      // with UnchangedSkip: none is made where the files are this tree, and only there; what changed is counted from it
	Agent          *record.Agent // the agent whose event asked for it
	Size           SizeChoice
	DryRun         bool
	Promote        *record.Record // of an attempt: state, status and outputs go on from this one
	Fork           *Fork          // the first checkpoint of an attempt: it copies another

	// Given by import only; zero: as they are now.
	At   time.Time
	Tree name.OID
	Head *name.OID
}

// TagChoice says whether a milestone gets its tag.
type TagChoice int

// The choices; the zero value follows checkpoint.tag.
const (
	TagConfigured TagChoice = iota
	TagNever
)

// PinChoice says whether a new checkpoint is pinned.
type PinChoice int

// The choices.
const (
	PinNo PinChoice = iota
	PinYes
)

// UnchangedChoice says what happens when nothing has changed since the current
// checkpoint.
type UnchangedChoice int

// The choices.
const (
	UnchangedCreate UnchangedChoice = iota
	UnchangedSkip                   // exit code 8
)

// SizeChoice says whether an unusually large first capture goes on.
type SizeChoice int

// The choices.
const (
	SizeGuarded SizeChoice = iota
	SizeLarge
)
