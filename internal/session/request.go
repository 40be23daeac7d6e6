package session

// Request starts a session.
type Request struct {
	Name     string
	Workflow string
	Topic    string
	Branch   bool // make and switch to an own branch
	Fresh    bool // close an unfinished session of the same topic as abandoned
}
