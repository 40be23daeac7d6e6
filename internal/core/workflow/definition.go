package workflow

import "sync"

// Definition is one workflow. Only name and version are required. With nothing else given, steps
// are numbered from 1 and have no names, any status may follow any other, the state is free-form,
// resume asks nothing and prune drops no live checkpoint.
//
// The tag `is` says what a text has to be: a path, one of some words, an age, or an expression or
// template in a scope. The tag `keys` says it of the names in an object. See verifier.text.
//
// A Definition is read-only after Parse or Builtin. Its methods may be called concurrently: the
// only things that change are the caches below, which have their own locks.
type Definition struct {
	Name        string       `json:"name"`                  // what `--workflow` and the records use: [a-z0-9][a-z0-9_-]*, at most 40 characters
	Version     string       `json:"version"`               // recorded next to the name in every checkpoint
	Title       string       `json:"title,omitempty"`       // one line of text for people
	Description string       `json:"description,omitempty"` // for people too, of any length
	Session     SessionNames `json:"session,omitzero"`      // tells how sessions and branches are named
	Steps       Steps        `json:"steps,omitzero"`        // the numbered positions that a checkpoint can have in the job
	// Commit is "step" if each milestone is also a commit on the branch of its session, where
	// `session start --branch` made that one. Otherwise it is empty.
	Commit string `json:"commit,omitempty" is:"word step"`
	// Failure is "block" if no milestone may be made after a create of one has failed, until
	// somebody decides to retry it, to skip it or to pause. Otherwise it is empty.
	Failure string `json:"failure,omitempty" is:"word block"`
	// Triggers are the reasons to make a checkpoint, by name. Some exist in every workflow without
	// being listed: manual, safety, and those returned by automatic.
	Triggers map[string]Trigger `json:"triggers,omitempty"`
	// OtherTriggers, if present, applies to every trigger name that is not listed and not one of
	// the common ones. Without it an unknown trigger is an error.
	OtherTriggers *Trigger `json:"other_triggers,omitempty"`
	Statuses      Statuses `json:"statuses,omitzero"` // lists the statuses of a job and which may follow which
	// Document tells how to find the state and the other parts in a document passed with --state.
	Document Document `json:"document,omitzero"`
	// State is the schema of the state and where the parts known to this program are found in it.
	State State `json:"state,omitzero"`
	// Values are named expressions over the variables of rules. Rules and derivations refer to them
	// by name.
	Values      map[string]string `json:"values,omitempty" is:"values value"`
	Derivations []Derivation      `json:"derive,omitempty"` // compute members of the state that nobody provided
	// Rules are checked on every new state. Every violated rule is reported, not only the first.
	Rules []Rule `json:"rules,omitempty"`
	// Diff tells which members identify the objects of a list when two states are compared.
	Diff Diff `json:"diff,omitzero"`
	// Resumption tells where work stopped and what has to be asked before it goes on.
	Resumption ResumeRules `json:"resume,omitzero"`
	// NextActions has a template per status; the key "*" stands for any other status.
	NextActions map[string]string `json:"next_action,omitempty" keys:"needs status *" is:"resume template"`
	Retention   Retention         `json:"retention,omitzero"` // tells what prune drops
	// Messages are templates by key. A key that is missing here comes from the default definition.
	Messages map[string]string `json:"messages,omitempty" is:"message template"`
	// Settings maps members of another system's configuration file to configuration keys of ours.
	Settings []Setting `json:"settings,omitempty"`
	// SettingsIn is the path of the object that holds these members. If it is empty or the file has
	// no such object, the members are looked up at the top of the file.
	SettingsIn string `json:"settings_in,omitempty" is:"path"`

	source   []byte   // the text that was parsed. JSON returns a copy of it
	programs programs // holds compiled expressions
	// schema is the compiled State.Schema, built on first use.
	schema struct {
		sync.Once
		*stateSchema
		err error
	}
}

// SessionNames tells how sessions and their branches are named.
type SessionNames struct {
	// Name is a template over `state` and `record`. It gives the session that a document belongs
	// to.
	Name string `json:"name,omitempty" is:"session template"`
	// Job has paths of members that the documents of one job share. A document that does not name
	// its session belongs to a session whose document agrees in all of them that both have.
	Job []string `json:"job,omitempty" is:"path"`
	// Made is a template like Name that can use `now` too. It names the session that is started for
	// a document that does not name its session.
	Made string `json:"made,omitempty" is:"session template"`
	// Pattern is a regular expression. A session whose name matches takes only the documents that
	// belong to it, even before it has any checkpoint.
	Pattern string `json:"pattern,omitempty"`
	// KnownBy has lists of paths. A document belongs to this workflow if it has every path of at
	// least one list.
	KnownBy [][]string `json:"known_by,omitempty" is:"path"`
	// Checkpoint is a template over `state` and `record`. It gives the name that the document's own
	// system uses for the checkpoint. If it is empty, the member `id` is used.
	Checkpoint string `json:"checkpoint,omitempty" is:"session template"`
	// Branch is a template over `workflow` and `session` for the branch that `session start
	// --branch` creates. The default is "{workflow}/{session}".
	Branch string `json:"branch,omitempty" is:"session template"`
}

// Steps describes the numbered steps. They can be a closed list, open-ended, or a list that may be
// exceeded.
type Steps struct {
	List    []Step `json:"list,omitempty"`    // holds the known steps in order; numbers may start at 0
	Open    bool   `json:"open,omitempty"`    // allows numbers that are not in List. It is implied if List is empty
	First   *int   `json:"first,omitempty"`   // the first number of open steps, 0 or more. The default is 1
	Pattern string `json:"pattern,omitempty"` // names open steps; {N} stands for the number, as in "phase_{N}"
	// Requires is "previous" if a step may only be taken when the step before it has a live
	// checkpoint or was skipped. Otherwise it is empty.
	Requires string `json:"requires,omitempty" is:"word previous"`
	// Follow tells which state determines the step when none is given: "document" (default) is a
	// document passed with this checkpoint, "state" also allows the state carried over from the
	// previous checkpoint.
	Follow string `json:"follow,omitempty" is:"word document state"`
}

// Step is one entry of Steps.List.
type Step struct {
	Number int    `json:"number"`          // 0 or more. Numbers ascend in the list but may have gaps
	Name   string `json:"name,omitempty"`  // becomes part of labels, converted to a slug
	Title  string `json:"title,omitempty"` // for people
	// Iterates means that the step is repeated in rounds, so already its first checkpoint has the
	// iteration "1". Other steps have an iteration only from the second checkpoint on.
	Iterates bool `json:"iterates,omitempty"`
}

// Trigger describes one reason to make a checkpoint. A milestone is a checkpoint that takes a step
// number of its own; any other checkpoint hangs on the step of a milestone.
type Trigger struct {
	// Milestone means that checkpoints of this trigger take a step number of their own.
	Milestone bool `json:"milestone,omitempty"`
	// NewPhase makes a milestone anyway when a document names a step that has no live milestone
	// yet.
	NewPhase bool `json:"new_phase,omitempty"`
	// Again decides what happens when the document names a step that already has a live milestone:
	// "hang" (default) attaches the checkpoint to it, "iterate" makes another round of it.
	Again string `json:"again,omitempty" is:"word hang iterate"`
	// Hangs decides where a checkpoint without a step of its own is attached: "phase" (default) is
	// the step that its state names, or the last step if it names none; "last" is always the last
	// step.
	Hangs string `json:"hangs,omitempty" is:"word phase last"`
	// ByHand means that checkpoint.auto does not switch the trigger off, as it does not with manual.
	ByHand bool `json:"by_hand,omitempty"`
	Off    bool `json:"off,omitempty"` // disables the trigger unless configuration enables it
	// Group is a name shared by several triggers. The configuration key checkpoint.<group>.enabled
	// switches all of them.
	Group string `json:"group,omitempty"`
	// Exempt means that schema, transitions and rules do not apply to checkpoints of this trigger.
	Exempt      bool   `json:"exempt,omitempty"`
	Description string `json:"description,omitempty"` // for people
}

// Statuses describes the status machine. Staying at the same status is always allowed.
type Statuses struct {
	// List has the known statuses. If it is empty, any status is allowed.
	List []string `json:"list,omitempty" is:"needs status"`
	Open bool     `json:"open,omitempty"` // allows statuses that are not in List
	// Initial is the status of a checkpoint for which nothing gives one. The default is
	// "in_progress".
	Initial string `json:"initial,omitempty" is:"status"`
	// Transitions lists for each status what may follow it. Any status may follow one that is not a
	// key here.
	Transitions map[string][]string `json:"transitions,omitempty" keys:"needs status" is:"needs status"`
	// Closes maps a status to the session status that it is equivalent to for retention:
	// "complete", "failed" or "abandoned".
	Closes map[string]string `json:"closes,omitempty" keys:"needs status" is:"needs word complete failed abandoned"`
	// Paused is what ends a pause of the session: "create" is the next checkpoint, "resume" (default)
	// only somebody who resumes it, and until then no milestone is made.
	Paused string `json:"paused,omitempty" is:"word create resume"`
}

// Document tells how to find the state in a document. The first form that matches is used. If none
// does, the whole document is the state.
type Document struct {
	Forms []Form `json:"forms,omitempty"` // tried in order
	// Record gives the parts that are found outside the state, as paths from the record.
	Record Members `json:"record,omitzero"`
}

// Form is one layout of a document. The record is the object that surrounds the state and has
// members such as an id or a timestamp.
type Form struct {
	// Record is the path of the record in the document; "" means the document itself.
	Record string `json:"record,omitempty" is:"path"`
	// State is the path of the state in the record. The form only matches if there is an object, or if
	// the workflow knows the document.
	State string `json:"state" is:"path"`
	// With lists paths in the record of which at least one must exist. An empty list requires
	// nothing.
	With []string `json:"with,omitempty" is:"path"`
}

// Members gives the paths of the parts that this program understands. A path is names with dots
// between them; "" means that the workflow does not have the part. See Facts for their meaning.
type Members struct {
	ID        string `json:"id,omitempty" is:"path"`
	Topic     string `json:"topic,omitempty" is:"path"`
	Type      string `json:"type,omitempty" is:"path"`
	Step      string `json:"step,omitempty" is:"path"`
	StepName  string `json:"step_name,omitempty" is:"path"`
	Iteration string `json:"iteration,omitempty" is:"path"`
	Status    string `json:"status,omitempty" is:"path"`
	Error     string `json:"error,omitempty" is:"path"`
	Trigger   string `json:"trigger,omitempty" is:"path"`
	Time      string `json:"time,omitempty" is:"path"`
	Created   string `json:"created,omitempty" is:"path"`
	Metrics   string `json:"metrics,omitempty" is:"path"`
	Outputs   string `json:"outputs,omitempty" is:"path"`
	Decisions string `json:"decisions,omitempty" is:"path"`
	Branch    string `json:"branch,omitempty" is:"path"`
	Commit    string `json:"commit,omitempty" is:"path"`
}

// State describes the state of a session.
type State struct {
	// Schema is a JSON Schema (draft 2020-12), still as decoded JSON. docs/workflows.md lists the
	// keywords. Members of the state that the schema does not mention are accepted.
	Schema  any     `json:"schema,omitempty"`
	Members Members `json:"members,omitzero"` // gives the parts inside the state, as paths from the state
	// Better tells for each metric whether a high or a low value is better.
	Better map[string]Better `json:"better,omitempty"`
}

// Better tells which value of a metric is better. True counts as higher than false.
type Better string

// The possible values of Better.
const (
	BetterHigh Better = "high"
	BetterLow  Better = "low"
)

// Derivation computes one member of the state that nobody provided. See Derive.
type Derivation struct {
	Path  string `json:"path" is:"needs path"`               // the member that receives the value
	When  string `json:"when,omitempty" is:"rule condition"` // a condition. Without it the derivation always applies
	Value string `json:"value" is:"rule value"`              // the expression. If it evaluates to null, the member is removed
}

// Rule is a condition that every new state must meet.
type Rule struct {
	Name string `json:"name"` // identifies the rule in violations
	// When is a condition for the rule to apply. Without it the rule always applies.
	When  string `json:"when,omitempty" is:"rule condition"`
	Check string `json:"check" is:"rule condition"` // the condition that has to be true
	// Path is the member of the state that the rule is about. It is shown in the violation.
	Path string `json:"path,omitempty" is:"path"`
	// Value is an expression for the offending value. Without it the value at Path is shown.
	Value   string `json:"value,omitempty" is:"rule value"`
	Allowed string `json:"allowed,omitempty" is:"rule template"` // a template that describes what would be allowed
	Message string `json:"message" is:"rule template"`           // a template that describes what is wrong
}

// Diff tells how the lists of two states are compared.
type Diff struct {
	// Identity maps the path of a list to the members that identify its objects. For lists that are
	// not in the map, the member is "id".
	Identity map[string][]string `json:"identity,omitempty" keys:"path" is:"path"`
}

// Setting maps one member of a foreign configuration file to a configuration key of ours.
type Setting struct {
	// From is a path. One of its names may be "*", which matches any name of a trigger or group.
	From string `json:"from" is:"path *"`
	// Key is the configuration key. A "*" in it is replaced with the name that From's "*" matched.
	Key string `json:"key,omitempty"`
	// Unused explains why the member has no equivalent here. Such a setting has no Key.
	Unused string `json:"unused,omitempty"`
	// Suffix is appended to the value, for example a unit. The value must be a number then.
	Suffix string `json:"suffix,omitempty"`
}

// ResumeRules tell where work stopped and under which conditions it goes on. All expressions and
// templates use the variables of resumeScope. See Definition.Resume for their evaluation.
type ResumeRules struct {
	// Statuses has an answer per status; the key "*" stands for any other.
	Statuses map[string]Answer `json:"statuses,omitempty" keys:"needs status *"`
	// Completed and Pending are expressions that give lists of work items.
	Completed string `json:"completed,omitempty" is:"resume value"`
	Pending   string `json:"pending,omitempty" is:"resume value"`
	// Batches is an expression that gives a list of lists: the pending items in groups.
	Batches string `json:"batches,omitempty" is:"resume value"`
	// Batch is an expression that gives the number of the batch of those items whose names do not
	// tell it.
	Batch string `json:"batch,omitempty" is:"resume value"`
	// Titles is an expression that gives an object with the titles of work items.
	Titles   string   `json:"titles,omitempty" is:"resume value"`
	Progress Progress `json:"progress,omitzero"`                    // tells how much of the work is done
	Point    string   `json:"point,omitempty" is:"resume template"` // a template for where work goes on
	// CanResume is a condition. If it is false, resume refuses with the text of Refusal.
	CanResume string `json:"can_resume,omitempty" is:"resume condition"`
	Refusal   string `json:"refusal,omitempty" is:"resume template"` // a template
	// Prerequisites is an expression. Resume refuses if it is false, or is a list or object in
	// which something is false, and names what is not met.
	Prerequisites string `json:"prerequisites,omitempty" is:"resume value"`
	Warnings      string `json:"warnings,omitempty" is:"resume value"` // an expression that gives a list of texts
	// Files are paths of members that name files: a text, or any text inside a list or object.
	// Resume warns about files that do not exist.
	Files []string `json:"files,omitempty" is:"path"`
	// Restore maps a name to the path of a member that the next worker has to take over.
	Restore   map[string]string `json:"restore,omitempty" is:"path"`
	Freshness Freshness         `json:"freshness,omitzero"` // tells how to react to changed surroundings
}

// Answer tells what resume does at one status.
type Answer struct {
	Action string `json:"action" is:"needs word resume ask refuse"` // "resume", "ask" or "refuse"
	// Message, Question, Warning and Point are templates. Point replaces the one of ResumeRules.
	Message  string `json:"message,omitempty" is:"resume template"`
	Question string `json:"question,omitempty" is:"resume template"`
	Warning  string `json:"warning,omitempty" is:"resume template"`
	Point    string `json:"point,omitempty" is:"resume template"`
}

// Progress tells how much of the work is done. Done and Total are expressions that give numbers;
// Text is a template that can use both, and is filled only if neither is null.
type Progress struct {
	Done  string `json:"done,omitempty" is:"resume value"`
	Total string `json:"total,omitempty" is:"resume value"`
	Text  string `json:"text,omitempty" is:"resume template"`
}

// Freshness tells how to react to surroundings that changed since the checkpoint: "ignore", "warn",
// "ask" or "refuse". All changes are examined and the strictest reaction wins.
type Freshness struct {
	// Branch is the reaction to a branch that does not exist any more; the default is "warn".
	Branch string `json:"branch,omitempty" is:"word ignore warn ask refuse"`
	// Files is the reaction to files that changed since the checkpoint; the default is "warn".
	Files string `json:"files,omitempty" is:"word ignore warn ask refuse"`
	// Snapshot is the path in the state of the copy of the issue as it was at the checkpoint.
	Snapshot string `json:"snapshot,omitempty" is:"path"`
	// Issue lists the members of that copy that are compared with the issue as it is now.
	Issue []IssueMember `json:"issue,omitempty"`
}

// IssueMember tells how to compare one member of an issue.
type IssueMember struct {
	// Member is the path of the member, the same in the snapshot and in the current issue.
	Member    string `json:"member" is:"path"`
	Unordered bool   `json:"unordered,omitempty"` // compares lists without regard to order and repetition
	// Changed is the reaction to a difference: "warn", "ask" or "refuse".
	Changed string `json:"changed" is:"needs word warn ask refuse"`
	Follow  bool   `json:"follow,omitempty"` // writes the new value into the state that work goes on with
	// Mark is the path of a member of the state that holds one item of the list. If that item was
	// removed and exactly one was added, the member is set to the new one. Mark needs Follow.
	Mark string `json:"mark,omitempty" is:"path"`
}
