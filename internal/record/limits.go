package record

import (
	"bytes"
	"fmt"
)

// What a record may be at most when nothing else is said: a state is at most 100 deep,
// and stands inside a record.
const (
	MaxSize  = 50 << 20
	MaxDepth = 101
)

// Limits bound a JSON text before it is looked at. A zero member means the
// default: MaxSize bytes; MaxDepth brackets for a record and one less for what
// stands inside a record.
type Limits struct {
	Size  int64
	Depth int
}

func (l Limits) orDefault(depth int) Limits {
	if l.Size <= 0 {
		l.Size = MaxSize
	}
	if l.Depth <= 0 {
		l.Depth = depth
	}
	return l
}

// SizeError says that a text is larger than its limit. What to do about a record:
// move the large part of the state into an output.
type SizeError struct {
	Size, Limit int64
}

func (e *SizeError) Error() string {
	return fmt.Sprintf("%d bytes of JSON, and at most %d are allowed", e.Size, e.Limit)
}

// JSONError says where a text is not what it has to be. Path is in gjson's
// syntax, empty at the top; Offset counts bytes from 0, Line lines from 1.
type JSONError struct {
	Path    string
	Offset  int
	Line    int
	Reason  string
	TooDeep bool // nested deeper than the limit
	syntax  bool
}

func (e *JSONError) Error() string {
	where := fmt.Sprintf("line %d, offset %d", e.Line, e.Offset)
	if e.Path != "" {
		where += fmt.Sprintf(", at %q", clip(e.Path, 100))
	}
	return where + ": " + e.Reason
}

func jsonError(data []byte, offset int, path, reason string) *JSONError {
	offset = max(0, min(offset, len(data)))
	line := 1 + bytes.Count(data[:offset], []byte("\n"))
	return &JSONError{Path: path, Offset: offset, Line: line, Reason: reason}
}

// FormatError says that a record was written in a later format.
type FormatError struct {
	Format string
}

func (e *FormatError) Error() string {
	return fmt.Sprintf("the record has format %s, and this version reads up to %d: a git-checkpoint that knows format %s is needed", e.Format, Format, e.Format)
}
