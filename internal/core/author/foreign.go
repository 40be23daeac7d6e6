package author

import (
	"bytes"
	"slices"

	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/format/record"
)

// Foreign is a change that others made to a file, as a checkpoint has it.
type Foreign struct {
	From, To   string  // contents, as in Change
	Checkpoint name.ID // that has To
	Met        bool    // the worker changed the file since, other than by an edit that names it
}

// mostForeign bounds how many files a worker remembers.
const mostForeign = 200

// meet remembers what others made, and what the worker did to it. What nobody is known to have made is others' if no tool
// of the worker was at work, unless its agent's rewind may have put it back.
func (b *Worker) meet(m Moment, made name.ID, changes []Change, claims map[string]string, back map[string]bool, tools bool) {
	own := []string{"", record.Named, record.During}
	for _, c := range changes {
		claim := claims[c.Path]
		f, known := b.Foreign[c.Path]
		switch {
		case slices.Contains(own, claim) || claim == record.Unknown && (tools || back[c.Path] || m != BeforeTool && m != BeforeTurn):
			f.Met = f.Met || claim != record.Named
			if known {
				b.Foreign[c.Path] = f
			}
		case c.To == "" || !known && len(b.Foreign) >= mostForeign:
			delete(b.Foreign, c.Path)
		default:
			if b.Foreign == nil {
				b.Foreign = map[string]Foreign{}
			}
			if !known {
				f.From = c.From
			}
			b.Foreign[c.Path] = Foreign{From: f.From, To: c.To, Checkpoint: made}
		}
	}
}

// Gone reports whether nothing is left of a change that others made to a file: none of the lines that it
// added, apart from white space. The contents are nil where there is no file. Of a file that is no text it is
// only known if it is gone, or as it was before.
func (f Foreign) Gone(from, to, now []byte) bool {
	if now == nil || from != nil && bytes.Equal(now, from) {
		return true
	}
	if bytes.IndexByte(to, 0) >= 0 || bytes.IndexByte(now, 0) >= 0 {
		return false
	}
	was, left, added := linesOf(from), linesOf(now), 0
	for line := range linesOf(to) {
		if !was[line] {
			if added++; left[line] {
				return false
			}
		}
	}
	return added > 0
}

// linesOf returns the lines of a text without white space, except for empty ones.
func linesOf(text []byte) map[string]bool {
	lines := map[string]bool{}
	for line := range bytes.Lines(text) {
		if words := bytes.Join(bytes.Fields(line), nil); len(words) > 0 {
			lines[string(words)] = true
		}
	}
	return lines
}
