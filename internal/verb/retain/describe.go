package retain

import (
	"context"
	"strings"

	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/core/clearance"
	"git-checkpoint/internal/format/journal"
	"git-checkpoint/internal/format/name"
)

// Described is a checkpoint whose message was corrected.
type Described struct {
	checkpoint.Labelled
	Session name.Session `json:"session"`
	Message string       `json:"message"`
}

// Describe corrects the message of a checkpoint, or with dry only says what that would be. Its record stays as it was: the
// journal has the new message. Without a ref it is the checkpoint that is current here: KindRefused if none is.
func Describe(ctx context.Context, s *checkpoint.Sessions, session, ref, message string, dry bool) (*Described, error) {
	const longest = 1 << 20
	if message = strings.TrimSpace(message); message == "" || len(message) > longest {
		return nil, checkpoint.Usage("git checkpoint "+strings.TrimSuffix("describe "+name.Quoted(ref), " ''")+" -m TEXT", "the message is empty or longer than 1 MiB")
	}
	f, err := s.Resolve(ctx, session, ref)
	if err == nil && ref == "" && f.State.Place == "" {
		err = checkpoint.Failure(checkpoint.KindRefused, "`git checkpoint list` shows them; git checkpoint describe N -m TEXT", "no step of %s is current here; name one", f.Session)
	}
	if err != nil {
		return nil, err
	}
	d := &Described{checkpoint.LabelledOf(ctx, s.Store, f.State, f.Entry), f.Session, clearance.Redacted(s.Rules, "message", message)}
	d.Mention.Message, _, _ = strings.Cut(d.Message, "\n")
	if dry {
		return d, nil
	}
	return d, checkpoint.Append(ctx, s.Store, f.Session, journal.KindStart, func(e *journal.Event) {
		e.Extra = []journal.Trailer{{Key: journal.TrailerDescribes, Value: string(f.Entry.Checkpoint)}, {Key: journal.TrailerMessage, Value: d.Message}}
	})
}
