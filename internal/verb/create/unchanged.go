package create

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"maps"

	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/format/record"
)

// refuseUnchanged returns an error of KindNothing if the request asks to skip a checkpoint that has
// nothing new, and this one has nothing.
func (c *draft) refuseUnchanged(ctx context.Context) error {
	if !c.req.SkipUnchanged {
		return nil
	}
	if c.req.Unless != "" {
		if c.capture.Tree == c.req.Unless {
			return &checkpoint.Error{Kind: checkpoint.KindNothing, Err: ErrFilesUnchanged}
		}
		return nil
	}
	prev := c.prev
	same, err := c.same(ctx)
	if err != nil || !same {
		return err
	}
	return &checkpoint.Error{Kind: checkpoint.KindNothing, Err: &UnchangedError{c.session, prev.entry.Checkpoint, checkpoint.MentionOf(prev.record)}}
}

// ErrFilesUnchanged means that the worktree has the files of Request.Unless.
var ErrFilesUnchanged = errors.New("the files are unchanged")

// UnchangedError names the checkpoint that already has everything that the new one would have.
type UnchangedError struct {
	Session    name.Session
	Checkpoint name.ID
	Mention    checkpoint.Mention
}

// Error mentions it, for people.
func (e *UnchangedError) Error() string { return "nothing has changed since " + e.Mention.String() }

// same reports whether the new checkpoint equals the one before. Message, step and name do not count.
func (c *draft) same(ctx context.Context) (bool, error) {
	b := c.prev
	if b.record == nil {
		return false, nil
	}
	before, now := b.record.Git, c.record.Git // a commit or a checkout is a change, too
	same := b.tree == c.capture.Tree && before.Index == now.Index && before.Head == now.Head && before.Branch == now.Branch &&
		c.sameState() && maps.EqualFunc(b.record.Outputs, c.record.Outputs, func(a, b record.Output) bool { return a.OID == b.OID }) &&
		b.record.Status == c.record.Status && (c.req.Error == nil || sameError(b.record.Error, c.record.Error))
	if !same {
		return false, nil
	}
	if same, err := c.sameDocument(ctx); err != nil || !same {
		return false, err
	}
	return c.sameBytes(ctx)
}

// sameBytes compares what trees do not contain: the exact bytes of files that git's conversions
// would not reproduce, and permission bits.
func (c *draft) sameBytes(ctx context.Context) (bool, error) {
	b := c.prev
	known, _ := record.ModesKnown.Of(b.record.Snapshot.Extra)
	if known && !maps.Equal(b.record.Snapshot.Modes, c.record.Snapshot.Modes) {
		return false, nil
	}
	if len(b.record.Snapshot.Raw)+len(c.capture.Raw) == 0 {
		return true, nil
	}
	kept, err := c.s.Store.Raw(ctx, b.commit)
	return maps.Equal(kept, c.capture.Raw), err
}

// sameDocument compares what the document has besides the state, such as a description, with the
// kept document of the one before.
func (c *draft) sameDocument(ctx context.Context) (bool, error) {
	b := c.prev
	was, _ := checkpoint.ImportedMember.Of(b.record.Extra)
	if c.kept == nil || was.Files[KeptJSON] == "" {
		return true, nil // nothing is kept of one of them
	}
	before, err := c.s.Store.Imported(ctx, b.commit, KeptJSON)
	same := func(a, b json.RawMessage) bool { return bytes.Equal(Compact(a), Compact(b)) }
	return maps.EqualFunc(c.def.Beside(before), c.def.Beside(c.req.State), same), err
}

// sameError reports whether two errors of a job are equal. Absent and null are the same.
func sameError(a, b json.RawMessage) bool {
	none := func(e json.RawMessage) bool { return len(e) == 0 || string(e) == "null" }
	return none(a) && none(b) || bytes.Equal(Compact(a), Compact(b))
}

// sameState compares what the user or the job said. Members that the workflow derives, such as an
// elapsed time, are not changes.
func (c *draft) sameState() bool {
	b := c.prev
	if !c.handed() {
		// stated was edited from b's whole state, derived members included, so it is compared
		// before the new ones are derived.
		return bytes.Equal(Compact(b.record.State), Compact(c.stated))
	}
	before, now := c.def.Underived(b.record.State, c.document.State), c.def.Underived(c.record.State, c.document.State)
	return bytes.Equal(Compact(before), Compact(now))
}

// Compact removes insignificant white space. Invalid JSON is returned as it is.
func Compact(raw json.RawMessage) []byte {
	var b bytes.Buffer
	if json.Compact(&b, raw) != nil {
		return raw
	}
	return b.Bytes()
}
