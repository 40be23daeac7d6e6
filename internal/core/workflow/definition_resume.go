package workflow

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
