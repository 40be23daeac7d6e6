package create

// This file decides what a new checkpoint takes over from the one before it, which anyone may have
// written. A safety checkpoint must never fail because of it: a rollback or undo would be impossible
// then.

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"strings"

	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/format/record"
	"git-checkpoint/internal/git"
)

// goesOn reports whether a checkpoint can be made although the record before it cannot be read, as
// err says. The files of the user come first. But an edit needs the state that it edits, and a record
// of a later format is whole: its state would be dropped for no reason.
func goesOn(req Request, err error) bool {
	_, later := errors.AsType[*record.FormatError](err)
	return !later && len(req.Set)+len(req.Unset)+len(req.Metrics)+len(req.Patch) == 0
}

// leaveOut removes from b.record what the new record cannot take over: a state that is not an
// object, and outputs whose content is not here. It warns about what it removed.
func (c *captured) leaveOut(ctx context.Context, b base) error {
	r := b.record
	if len(r.State) > 0 && r.State[0] != '{' && !c.handed() {
		c.s.Warn(fmt.Sprintf("the state of %s is no object, so it is not carried over", checkpoint.MentionOf(r)))
		r.State = json.RawMessage("{}")
	}
	names := SortedKeys(r.Outputs)
	oids := make([]string, len(names))
	for i, n := range names {
		// Git cannot be asked about an empty id. The zero id names no object either.
		oids[i] = string(cmp.Or(r.Outputs[n].OID, name.OID(strings.Repeat("0", 2*c.s.Repo.HashLen()))))
	}
	return c.s.Repo.Objects.Batch().Info(ctx, oids, func(i int, o git.Object, err error) error {
		if err == nil && o.Type == "blob" {
			return nil
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		c.s.Warn(fmt.Sprintf("output %q of %s is not here, so it is not carried over", names[i], checkpoint.MentionOf(r)))
		delete(r.Outputs, names[i])
		return nil
	})
}

// lighten removes everything that a safety checkpoint has taken over, because with it the record is
// too large. It warns, and reports whether there was anything to remove.
func (c *draft) lighten() bool {
	r := c.record
	if !c.safety || string(r.State) == "{}" && len(r.Outputs) == 0 && r.Topic == "" {
		return false
	}
	c.s.Warn(fmt.Sprintf("the safety checkpoint leaves out state and outputs of %s: with them its record would be too large", r.Previous))
	r.State, r.Error, r.Topic, r.Status = json.RawMessage("{}"), nil, "", checkpoint.StatusOpen
	maps.DeleteFunc(r.Outputs, func(string, record.Output) bool { return true })
	return true
}

// longest returns how large the record may be, in bytes. What is only carried over was made elsewhere, where more
// may be allowed: checkpoint.maxRecordSize is for what is added here.
func (c *draft) longest() (int64, error) {
	limit, err := c.s.Settings.Size("checkpoint.maxRecordSize", checkpoint.DefaultMaxRecordSize)
	if err == nil && limit > checkpoint.DefaultMaxRecordSize {
		err = checkpoint.Usage("a larger record could not be read again", "checkpoint.maxRecordSize is more than 50m")
	}
	if c.prev.record != nil && bytes.Equal(c.record.State, c.prev.record.State) {
		limit = checkpoint.DefaultMaxRecordSize
	}
	return limit, err
}

func tooLarge(size *record.SizeError) error {
	text := "the record of this checkpoint is larger than checkpoint.maxRecordSize (%d bytes)"
	if size.Values {
		text = "the record of this checkpoint has more than %d members and elements"
	}
	return checkpoint.Failure(checkpoint.KindRefused, "move the large part of the state into an output: --output NAME=FILE", text, size.Limit)
}
