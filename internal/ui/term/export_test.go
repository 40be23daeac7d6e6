package term

// What the tests from outside need besides the public names.
const (
	RedrawEvery   = redrawEvery
	Listed        = listed
	LongestAnswer = longestAnswer
)

var ErrAbandoned = errAbandoned

// Done returns how many units are done.
func (p *Progress) Done() int64 { return p.done.Load() }
