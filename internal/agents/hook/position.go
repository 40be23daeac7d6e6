package hook

import (
	"git-checkpoint/internal/format/record"
	"git-checkpoint/internal/verb/continuation"
)

// position returns where the conversation stands at the end of the turn, or nil if that is not known. The
// transcript of a turn that was closed late may already have lines of the next one: then the lines have to
// name their turns.
func (h *handler) position(mark string) *record.Position {
	chat, turn := h.def.Chat, h.c.Turn.ID
	late := mark != ""
	if !chat.Can() || turn == "" && (chat.Turn || len(chat.Of) > 0) || late && !chat.Turn && len(chat.Of) == 0 {
		return nil
	}
	var p record.Position
	if h.e.Transcript != "" {
		f, err := continuation.Open(h.e.Transcript)
		if err != nil {
			return nil
		}
		defer f.Close() //nolint:errcheck // it was only read
		if p, err = chat.PlaceIn(f, f.Size, turn); err != nil {
			return nil
		}
	}
	if chat.Turn {
		p.ID = turn
	} else if p.Offset == 0 {
		return nil
	}
	h.c.Talk = h.e.Transcript
	return &p
}
