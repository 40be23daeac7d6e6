package workflow

import "sync"

// Definition is one workflow. Only name and version are required. Without the
// other members steps are open from 1 and have no names, any status may follow
// any, the state is free, resume asks nothing and prune drops no live checkpoint.
type Definition struct {
	// Name is how `--workflow` and records call it: [a-z0-9][a-z0-9_-]*, at most 40.
	Name string `json:"name"`
	// Version is recorded in every checkpoint beside the name.
	Version string `json:"version"`
	// Title is a line for people.
	Title string `json:"title,omitempty"`
	// Description is for people too, as long as it takes.
	Description string `json:"description,omitempty"`
	// Session says how sessions and branches are called.
	Session SessionNames `json:"session,omitzero"`
	// Steps are the numbered places a checkpoint can stand at.
	Steps Steps `json:"steps,omitzero"`
	// Triggers are the occasions for a checkpoint, by name. manual,
	// user_interrupt, session_end and safety are known without being listed.
	Triggers map[string]Trigger `json:"triggers,omitempty"`
	// OtherTriggers, when present, is what any trigger not listed is taken for.
	OtherTriggers *Trigger `json:"other_triggers,omitempty"`
	// Statuses are the states of the machine and its transitions.
	Statuses Statuses `json:"statuses,omitzero"`
	// Document says how a document given as state is recognised and taken apart.
	Document Document `json:"document,omitzero"`
	// State is the schema of the state and where its parts live.
	State State `json:"state,omitzero"`
	// Values are named expressions over the variables of rules; rules, and what is
	// derived, may use the names.
	Values map[string]string `json:"values,omitempty"`
	// Derivations compute members of the state that were not given.
	Derivations []Derivation `json:"derive,omitempty"`
	// Rules are checked on every new state; all broken ones are reported.
	Rules []Rule `json:"rules,omitempty"`
	// Diff says by which members the objects of a list are matched.
	Diff Diff `json:"diff,omitzero"`
	// Resumption says where work stopped and what has to be asked before it goes on.
	Resumption ResumeRules `json:"resume,omitzero"`
	// NextActions is a template per status ("*": any other).
	NextActions map[string]string `json:"next_action,omitempty"`
	// Retention says what prune drops.
	Retention Retention `json:"retention,omitzero"`
	// Messages are templates by key; the default definition has the others.
	Messages map[string]string `json:"messages,omitempty"`
	// Settings maps members of a foreign configuration file to configuration keys.
	Settings []Setting `json:"settings,omitempty"`
	// SettingsIn is the path of the object that has these members; absent, or when it is
	// not there: the file itself.
	SettingsIn string `json:"settings_in,omitempty"`

	source []byte
	cache  struct {
		sync.Mutex
		language  *language
		programs  map[string]*program
		templates map[string]*template
	}
	schema struct {
		sync.Once
		*stateSchema
		err error
	}
}

// SessionNames says how sessions and their branches are called.
type SessionNames struct {
	// Name is a template over `state` and `record`: the session that a document
	// belongs to.
	Name string `json:"name,omitempty"`
	// Pattern is a regular expression: a session with such a name takes the documents
	// of that name only, even before it has any.
	Pattern string `json:"pattern,omitempty"`
	// KnownBy says how documents of this workflow are recognised: by all members of one
	// of these lists of paths.
	KnownBy [][]string `json:"known_by,omitempty"`
	// Checkpoint is a template over `state` and `record`: what the document's own system
	// calls the checkpoint. Absent: what the member `id` says.
	Checkpoint string `json:"checkpoint,omitempty"`
	// Branch is a template over `workflow` and `session`: the branch that
	// `session start --branch` makes; "{workflow}/{session}" when absent.
	Branch string `json:"branch,omitempty"`
}

// Steps are a list, or open-ended, or a list that may be exceeded.
type Steps struct {
	// List holds the known steps in order; numbers may start at 0.
	List []Step `json:"list,omitempty"`
	// Open allows numbers that List does not have. Without List it is implied.
	Open bool `json:"open,omitempty"`
	// First is the first number of open steps, 0 or more; 1 when absent.
	First *int `json:"first,omitempty"`
	// Pattern names open steps; {N} stands for the number, as in "phase_{N}".
	Pattern string `json:"pattern,omitempty"`
	// Requires is "previous" when a step needs its predecessor live or skipped.
	Requires string `json:"requires,omitempty"`
	// Follow says which state names the step when none is given: "document" (one
	// handed in with this checkpoint, the default) or "state" (also one carried on).
	Follow string `json:"follow,omitempty"`
}

// Step is one entry of Steps.List.
type Step struct {
	// Number is 0 or more, ascending in the list.
	Number int `json:"number"`
	// Name goes into labels, slugged.
	Name string `json:"name,omitempty"`
	// Title is for people.
	Title string `json:"title,omitempty"`
	// Iterates makes the first checkpoint of the step its iteration 1.
	Iterates bool `json:"iterates,omitempty"`
}

// Trigger is an occasion for a checkpoint.
type Trigger struct {
	// Milestone gives the checkpoint a step number of its own.
	Milestone bool `json:"milestone,omitempty"`
	// NewPhase makes a milestone when a document names a step that has none yet.
	NewPhase bool `json:"new_phase,omitempty"`
	// Again is what a milestone does at a step that is live already, when its
	// document names the step: "hang" on it (default) or "iterate".
	Again string `json:"again,omitempty"`
	// Hangs is what a checkpoint without a number hangs on: the "phase" its state
	// names, else the last step (default), or always the "last" step.
	Hangs string `json:"hangs,omitempty"`
	// Off disables it unless configuration says otherwise.
	Off bool `json:"off,omitempty"`
	// Group is a configuration key that switches all triggers of the group.
	Group string `json:"group,omitempty"`
	// Exempt frees its checkpoints from schema, transitions and rules.
	Exempt bool `json:"exempt,omitempty"`
	// Description is for people.
	Description string `json:"description,omitempty"`
}

// Statuses are the status machine. A status may always stay as it is.
type Statuses struct {
	// List holds the statuses; empty allows any.
	List []string `json:"list,omitempty"`
	// Open allows others than List has.
	Open bool `json:"open,omitempty"`
	// Initial is the status when nothing says one; "in_progress" when absent.
	Initial string `json:"initial,omitempty"`
	// Transitions lists per status what may follow. A status that is not a key may
	// be followed by any; without the member all transitions are allowed.
	Transitions map[string][]string `json:"transitions,omitempty"`
	// Closes maps a status to the session status it amounts to for retention.
	Closes map[string]string `json:"closes,omitempty"`
}

// Document says how a document is recognised. The first form that fits is taken;
// when none does, the whole document is the state.
type Document struct {
	// Forms are tried in order.
	Forms []Form `json:"forms,omitempty"`
	// Record says where the parts live beside the state, as paths from the record.
	Record Members `json:"record,omitzero"`
}

// Form is one shape of a document.
type Form struct {
	// Record is the path of the record in the document; "" is the document.
	Record string `json:"record,omitempty"`
	// State is the path of the state in the record; it must be an object there.
	State string `json:"state"`
	// With are members of the record one of which must be there; empty: no matter.
	With []string `json:"with,omitempty"`
}

// Members are paths of the parts that mean something to this program.
type Members struct {
	ID        string `json:"id,omitempty"`
	Topic     string `json:"topic,omitempty"`
	Type      string `json:"type,omitempty"`
	Step      string `json:"step,omitempty"`
	StepName  string `json:"step_name,omitempty"`
	Iteration string `json:"iteration,omitempty"`
	Status    string `json:"status,omitempty"`
	Error     string `json:"error,omitempty"`
	Trigger   string `json:"trigger,omitempty"`
	Time      string `json:"time,omitempty"`
	Metrics   string `json:"metrics,omitempty"`
	Outputs   string `json:"outputs,omitempty"`
	Decisions string `json:"decisions,omitempty"`
}

// State describes the state of a session.
type State struct {
	// Schema is a JSON Schema (draft 2020-12); see docs/workflows.md for the
	// keywords. Members it does not mention pass.
	Schema any `json:"schema,omitempty"`
	// Members says where the parts live, as paths from the state.
	Members Members `json:"members,omitzero"`
	// Better says of metrics which value is the better one.
	Better map[string]Better `json:"better,omitempty"`
}

// Better is which value of a metric is the better one; true is higher than false.
type Better string

// The two ways.
const (
	BetterHigh Better = "high"
	BetterLow  Better = "low"
)

// Derivation computes a member of the state that was not given.
type Derivation struct {
	// Path is where the value goes.
	Path string `json:"path"`
	// When is a condition; absent: always.
	When string `json:"when,omitempty"`
	// Value is the expression; null removes the member.
	Value string `json:"value"`
}

// Rule is a condition that every new state must meet.
type Rule struct {
	// Name identifies the rule in answers.
	Name string `json:"name"`
	// When restricts the rule; absent: always.
	When string `json:"when,omitempty"`
	// Check must be true.
	Check string `json:"check"`
	// Path is the member of the state that the rule is about.
	Path string `json:"path,omitempty"`
	// Value is an expression for the offending value; absent: what Path holds.
	Value string `json:"value,omitempty"`
	// Allowed is a template: what would be allowed.
	Allowed string `json:"allowed,omitempty"`
	// Message is a template: what is wrong.
	Message string `json:"message"`
}

// Diff says how the lists of two states are compared.
type Diff struct {
	// Identity maps the path of a list to the members that identify its objects.
	// A list not named here uses "id".
	Identity map[string][]string `json:"identity,omitempty"`
}

// Setting maps a member of a foreign configuration to a key of ours.
type Setting struct {
	// From is a path; one of its names may be "*", which stands for any name.
	From string `json:"from"`
	// Key is the configuration key; "*" takes the trigger or group that From's "*" met.
	Key string `json:"key,omitempty"`
	// Unused says why the member has no meaning here; it has no Key then.
	Unused string `json:"unused,omitempty"`
	// Suffix is put after the value, as a unit.
	Suffix string `json:"suffix,omitempty"`
}
