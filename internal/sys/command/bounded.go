package command

import "bytes"

// Bounded is a buffer that keeps the beginning of what is written to it, at most Most bytes, and drops
// the rest from the first write on that does not fit.
type Bounded struct {
	bytes.Buffer
	Most int
	Cut  bool // something was dropped
}

// Write never fails, so a program that writes more goes on.
func (b *Bounded) Write(p []byte) (int, error) {
	if b.Cut = b.Cut || b.Len()+len(p) > b.Most; b.Cut {
		return len(p), nil
	}
	return b.Buffer.Write(p)
}
