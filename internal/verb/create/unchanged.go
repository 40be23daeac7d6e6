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
// nothing new, and the draft has nothing.
func (b base) refuseUnchanged(ctx context.Context, d *draft) error {
	req := d.in.req
	switch {
	case !req.SkipUnchanged, req.Unless != "" && d.got.capture.Tree != req.Unless:
		return nil
	case req.Unless != "":
		return &checkpoint.Error{Kind: checkpoint.KindNothing, Err: ErrFilesUnchanged}
	}
	same, err := b.same(ctx, d)
	if err != nil || !same {
		return err
	}
	d.in.s.Store.Touch(d.record.Session) // its mirror may be behind, if a command was killed before it wrote it
	return &checkpoint.Error{Kind: checkpoint.KindNothing, Err: &UnchangedError{d.record.Session, b.entry.Checkpoint, checkpoint.MentionOf(b.record)}}
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
func (b base) same(ctx context.Context, d *draft) (bool, error) {
	if b.record == nil {
		return false, nil
	}
	req, capture, made := d.in.req, d.got.capture, d.record
	before, now := b.record.Git, made.Git // a commit or a checkout is a change, too
	same := b.tree == capture.Tree && before.Index == now.Index && before.Head == now.Head && before.Branch == now.Branch &&
		b.sameState(d) && maps.EqualFunc(b.record.Outputs, made.Outputs, func(a, b record.Output) bool { return a.OID == b.OID }) &&
		b.record.Status == made.Status && (req.Error == nil || sameError(b.record.Error, made.Error))
	if !same {
		return false, nil
	}
	// What the document has besides the state, such as a description, unless nothing is kept of one of them.
	if was, _ := checkpoint.ImportedMember.Of(b.record.Extra); d.kept != nil && was.Files[KeptJSON] != "" {
		kept, err := d.in.s.Store.Imported(ctx, b.commit, KeptJSON)
		if err != nil || !maps.EqualFunc(d.got.def.MembersBeside(kept), d.got.def.MembersBeside(req.State), sameJSON) {
			return false, err
		}
	}
	// What trees do not contain: permission bits, and the exact bytes of files that git's conversions would not reproduce.
	known, _ := record.ModesKnown.Of(b.record.Snapshot.Extra)
	if known && !maps.Equal(b.record.Snapshot.Modes, made.Snapshot.Modes) {
		return false, nil
	}
	if len(b.record.Snapshot.Raw)+len(capture.Raw) == 0 {
		return true, nil
	}
	kept, err := d.in.s.Store.Raw(ctx, b.commit)
	return maps.Equal(kept, capture.Raw), err
}

// sameState compares what the user or the job said. Members that the workflow derives, such as an
// elapsed time, are not changes.
func (b base) sameState(d *draft) bool {
	if !d.in.handed() {
		// stated was edited from b's whole state, derived members included, so it is compared
		// before the new ones are derived.
		return sameJSON(b.record.State, d.stated)
	}
	document := d.got.document.State
	return sameJSON(d.got.def.Underived(b.record.State, document), d.got.def.Underived(d.record.State, document))
}

// sameError reports whether two errors of a job are equal. Absent and null are the same.
func sameError(a, b json.RawMessage) bool {
	none := func(e json.RawMessage) bool { return len(e) == 0 || string(e) == "null" }
	return none(a) && none(b) || sameJSON(a, b)
}

func sameJSON(a, b json.RawMessage) bool { return bytes.Equal(Compact(a), Compact(b)) }

// Compact removes insignificant white space. Invalid JSON is returned as it is.
func Compact(raw json.RawMessage) []byte {
	var b bytes.Buffer
	if json.Compact(&b, raw) != nil {
		return raw
	}
	return b.Bytes()
}
