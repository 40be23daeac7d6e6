package session

// Request holds the options of `session start`.
type Request struct {
	Name     string
	Workflow string
	Topic    string
	// Create a branch for the session and switch to it.
	Branch bool
	// Close an unfinished session of the same topic as abandoned.
	Fresh bool
}
