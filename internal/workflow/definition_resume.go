package workflow

// ResumeRules say where work stopped and under which conditions it goes on. All
// expressions and templates see the variables of the scope "resume".
type ResumeRules struct {
	// Statuses answers per status; "*" is any other.
	Statuses map[string]Answer `json:"statuses,omitempty"`
	// Completed and Pending are expressions that give lists.
	Completed string `json:"completed,omitempty"`
	Pending   string `json:"pending,omitempty"`
	// Batches is an expression that gives a list of lists, rebuilt from Pending.
	Batches string `json:"batches,omitempty"`
	// Progress says how far the work is.
	Progress Progress `json:"progress,omitzero"`
	// Point is a template: where work goes on.
	Point string `json:"point,omitempty"`
	// CanResume is a condition; false refuses with Refusal.
	CanResume string `json:"can_resume,omitempty"`
	// Refusal is a template.
	Refusal string `json:"refusal,omitempty"`
	// Prerequisites is an expression: false, or a list or object with something
	// that is false in it, refuses and names what is not met.
	Prerequisites string `json:"prerequisites,omitempty"`
	// Warnings is an expression that gives a list of texts.
	Warnings string `json:"warnings,omitempty"`
	// Files are paths of members that name files: a text, or any text inside a
	// list or object. What does not exist is named.
	Files []string `json:"files,omitempty"`
	// Restore maps a name to the path of what has to be taken over.
	Restore map[string]string `json:"restore,omitempty"`
	// Freshness says what changed surroundings mean.
	Freshness Freshness `json:"freshness,omitzero"`
}

// Answer is what resume does at a status.
type Answer struct {
	// Action is "resume", "ask" or "refuse".
	Action string `json:"action"`
	// Message, Question, Warning and Point are templates. Point replaces the one
	// of ResumeRules.
	Message  string `json:"message,omitempty"`
	Question string `json:"question,omitempty"`
	Warning  string `json:"warning,omitempty"`
	Point    string `json:"point,omitempty"`
}

// Progress is counted by two expressions and told by a template.
type Progress struct {
	Done  string `json:"done,omitempty"`
	Total string `json:"total,omitempty"`
	Text  string `json:"text,omitempty"`
}

// Freshness says what it means that the surroundings changed: "ignore", "warn",
// "ask" or "refuse". The strictest answer wins.
type Freshness struct {
	// Branch is for a branch that is gone; "warn" when absent.
	Branch string `json:"branch,omitempty"`
	// Files is for files changed since the checkpoint; "warn" when absent.
	Files string `json:"files,omitempty"`
	// Snapshot is the path in the state of the issue as it was.
	Snapshot string `json:"snapshot,omitempty"`
	// Issue compares members of the issue with what it is now.
	Issue []IssueMember `json:"issue,omitempty"`
}

// IssueMember is one member of the issue's snapshot.
type IssueMember struct {
	// Member is its name in the snapshot and in the issue as it is now.
	Member string `json:"member"`
	// Unordered compares lists as sets.
	Unordered bool `json:"unordered,omitempty"`
	// Changed is "warn", "ask" or "refuse".
	Changed string `json:"changed"`
	// Follow writes the new value into the state that work goes on with.
	Follow bool `json:"follow,omitempty"`
	// Mark is the path of a member of the state that holds one item of a list; when
	// that item went and a single one came, it takes the new one. Needs Follow.
	Mark string `json:"mark,omitempty"`
}

// Retention says what prune drops. Only live checkpoints are counted; pinned ones
// never go.
type Retention struct {
	// Automatic runs it after every create.
	Automatic bool `json:"automatic,omitempty"`
	// Keep is how many of the newest live checkpoints of a session stay; absent or
	// -1: all.
	Keep *int `json:"keep,omitempty"`
	// Triggers limits by trigger; one not listed keeps all.
	Triggers map[string]Keep `json:"triggers,omitempty"`
	// Sessions maps a session status ("*": any other) to the age, since the last
	// change of the session, after which all of it goes: "30d", "12h", "0d" for
	// the next prune.
	Sessions map[string]string `json:"sessions,omitempty"`
	// Discarded and Safety are ages for what a rollback discarded and for safety
	// checkpoints; "30d" when absent.
	Discarded string `json:"discarded,omitempty"`
	Safety    string `json:"safety,omitempty"`
}

// Keep is a number of newest checkpoints, counted per "session" or per "phase".
type Keep struct {
	// Last is how many stay; -1 keeps all.
	Last int `json:"last"`
	// Per is "session" (default) or "phase", the step that they hang on.
	Per string `json:"per,omitempty"`
	// Steps limits them further, to those of the newest so many steps; 0: of any step.
	Steps int `json:"steps,omitempty"`
	// After is an age before which none goes; none when absent.
	After string `json:"after,omitempty"`
}
