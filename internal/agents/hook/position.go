package hook

import (
	"errors"
	"io"
	"io/fs"
	"strings"

	"git-checkpoint/internal/format/record"
	"git-checkpoint/internal/verb/continuation"
)

// position returns where the conversation stands at the end of the turn, or nil if that is not known. The
// transcript of a turn that was closed late may already have lines of the next one: then the lines have to
// name their turns.
func (h *handler) position(mark string) *record.Position {
	chat, turn := h.def.Chat, h.c.Turn.ID
	counts := !chat.Turn && len(chat.Of) == 0 // prompts, because the lines do not name their turns
	if !chat.Can() || !counts && turn == "" || counts && mark != "" {
		return nil
	}
	var p record.Position
	if h.e.Transcript != "" {
		f, err := continuation.Open(h.e.Transcript)
		if err == nil {
			defer f.Close() //nolint:errcheck // it was only read
			p, err = chat.PlaceIn(f, f.Size, turn)
		} else if counts && errors.Is(err, fs.ErrNotExist) { // its first lines come late, too
			p, err = chat.PlaceIn(strings.NewReader(""), 0, turn)
		}
		if err != nil {
			return nil
		}
		if counts {
			p.Missing = h.missing(f, p.Offset)
		}
	}
	if chat.Turn {
		p.ID = turn
	} else if p.Offset == 0 && p.Missing == 0 {
		return nil
	}
	h.c.Talk = h.e.Transcript
	return &p
}

// missing returns how many prompts are not in the transcript yet, up to its place at the end of this turn. The
// lines of this agent do not name their turns, and it may write even the prompt of a turn after the turn has
// ended: so the prompts since the place before are counted.
func (h *handler) missing(transcript io.ReaderAt, to int64) int {
	c := h.c
	if c.Talk != h.e.Transcript || to < c.Place {
		c.Place, c.Owed = 0, 0
	}
	c.Owed = max(0, c.Owed+c.Prompts-h.def.Chat.Prompts(io.NewSectionReader(transcript, c.Place, to-c.Place)))
	c.Place, c.Prompts = to, 0
	return c.Owed
}
