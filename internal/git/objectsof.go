package git

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"strings"

	"git-checkpoint/internal/format/name"
)

// ObjectsOf calls each for the given commits and for every tree and blob in them, once per object.
// It does not follow parents.
func (c *Commits) ObjectsOf(ctx context.Context, commits []name.OID, each func(name.OID)) error {
	if len(commits) == 0 {
		return ctx.Err()
	}
	out := &lineWriter{each: func(line string) { each(name.OID(line)) }}
	_, err := c.at.Run(ctx, Cmd{
		Args: []string{"rev-list", "--objects", "--no-object-names", "--no-walk=unsorted", "--stdin"}, Stdin: Revisions(commits, nil), Stdout: out,
	})
	if err != nil {
		return fmt.Errorf("list the objects of %d commits: %w", len(commits), err)
	}
	return nil
}

// lineWriter splits what is written to it into lines and calls each for every complete one. A last
// line without a newline is dropped.
type lineWriter struct {
	each func(string)
	rest []byte // the beginning of a line whose end has not arrived yet
}

// Write implements io.Writer.
func (w *lineWriter) Write(p []byte) (int, error) {
	w.rest = append(w.rest, p...)
	for {
		line, rest, whole := bytes.Cut(w.rest, []byte{'\n'})
		if !whole {
			return len(p), nil
		}
		w.each(string(line))
		w.rest = rest
	}
}

// Revisions returns the input of rev-list --stdin for what some commits reach and others do not.
func Revisions(from, not []name.OID) io.Reader {
	var in strings.Builder
	for _, oid := range from {
		in.WriteString(string(oid) + "\n")
	}
	for _, oid := range not {
		in.WriteString("^" + string(oid) + "\n")
	}
	return strings.NewReader(in.String())
}
