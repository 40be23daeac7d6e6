package author

import (
	"bytes"
	"context"
	"slices"

	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/core/workflow"
	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/format/record"
	"git-checkpoint/internal/git"
	"git-checkpoint/internal/storage/store"
)

// Foreign is a change that others made to a file, and of which something was still there when the worker last saw it.
type Foreign struct {
	Path string `json:"path"`
	From string `json:"from,omitempty"` // contents, as in Change
	To   string `json:"to"`
	// Lost is the checkpoint before the worker, other than by an edit that names the file, left nothing of it.
	Lost   name.ID `json:"lost,omitempty"`
	Shared bool    `json:"shared,omitempty"` // says that somebody else may have done that
	Staged bool    `json:"staged,omitempty"` // says that the contents are those in the index
}

// meet remembers what others made since the checkpoint before, and what the worker left of it. What nobody is
// known to have made is others' if no tool of the worker was at work, unless its agent's rewind may have put it back.
// Without claims, the changes are those of the index, of which nobody is known to have made any.
func (b *Worker) meet(before name.ID, changes []Change, claims map[string]string, back map[string]bool, tools bool, text func(content string) ([]byte, bool)) {
	const mostForeign = 200 // bounds how many changes a worker remembers
	staged := claims == nil
	for _, c := range changes {
		claim := claims[c.Path]
		if staged {
			claim = record.Unknown
		}
		own := slices.Contains([]string{"", record.Named, record.During}, claim) || claim == record.Unknown && (tools || back[c.Path])
		kept := b.Others[:0]
		for _, f := range b.Others {
			if f.Path == c.Path && f.Staged == staged {
				switch gone := f.GoneFrom(c.To, text); {
				case !gone:
					f.Lost = ""
				case own && claim != record.Named && !back[c.Path] && f.Lost == "" && !f.GoneFrom(c.From, text):
					if to := f.movedTo(changes, c.From, text); to != "" {
						f.Path = to
					} else {
						f.Lost, f.Shared = before, claim == record.Unknown
					}
				case f.Lost == "":
					continue
				}
			}
			kept = append(kept, f)
		}
		b.Others = kept
		if !own && c.To != "" {
			b.Others = append(b.Others, Foreign{Path: c.Path, From: c.From, To: c.To, Staged: staged})
		}
	}
	b.Others = b.Others[max(0, len(b.Others)-mostForeign):]
}

// movedTo returns the path to which a file of this content was moved, or a new file that has all of the change; "": none.
func (f Foreign) movedTo(changes []Change, content string, text func(content string) ([]byte, bool)) string {
	for _, o := range changes {
		all := o.To == content
		if !all && o.From == "" {
			_, all = f.isIn(o.To, text)
		}
		if all {
			return o.Path
		}
	}
	return ""
}

// Staged notes what is staged at a capture that follows the checkpoint before.
func (w *Work) Staged(ctx context.Context, repo *git.Repo, capture CaptureContext, before name.ID, now record.Git) {
	by := w.Workers[capture.Worker]
	if by == nil || now.Index == "" || now.Index == by.Index {
		return
	}
	from, err := by.Index, error(nil)
	if from == "" && now.Head != "" {
		from, err = repo.Commits.TreeOf(ctx, now.Head)
	}
	by.Index = now.Index
	if changes, failed := repo.Trees.Diff(ctx, from, now.Index); err == nil && failed == nil {
		by.meet(before, Changes(changes), nil, nil, w.tools(capture), capture.Text)
	}
}

// GoneFrom reports whether a content that is there now has nothing of the change. What cannot be read may still have it.
func (f Foreign) GoneFrom(now string, text func(content string) ([]byte, bool)) bool {
	some, _ := f.isIn(now, text)
	return !some
}

// isIn reports whether a content has some of the change, and all of it.
func (f Foreign) isIn(now string, text func(content string) ([]byte, bool)) (some, all bool) {
	if now == f.To {
		return true, true
	}
	var texts [3][]byte
	for i, content := range []string{f.From, f.To, now} {
		ok := text != nil
		if ok {
			texts[i], ok = text(content)
		}
		if !ok {
			return true, false
		}
	}
	return left(texts[0], texts[1], texts[2])
}

// CatchUp notes what a worker's session has up to a checkpoint that no hook of the worker captured: a person saved it, or
// somebody else's hook. What cannot be read is not known.
func (w *Work) CatchUp(ctx context.Context, s *store.Store, capture CaptureContext, to name.ID) {
	by, tools := w.Workers[capture.Worker], w.tools(capture)
	known := by.Known
	if by.Known = to; known == to || known == "" && tools {
		return
	}
	st, err := checkpoint.State(ctx, s, capture.Session)
	if err != nil {
		return
	}
	was, now, from := st.Entry(known), st.Entry(to), s.Repo.Checkout.HeadTree(ctx)
	for e := range st.LineTo(now) { // of a worker that is new here: all that people saved
		if known == "" && e.Event().Trigger != workflow.TriggerManual {
			was = e
			break
		}
	}
	// Without a tool of its own at work, a rollback brought back what there was before.
	if now == nil || known != "" && (was == nil || !tools && !reaches(st, now, known)) {
		return
	}
	if was != nil {
		from, err = s.Repo.Commits.TreeOf(ctx, was.Event().Commit)
	}
	here, failed := s.Repo.Commits.TreeOf(ctx, now.Event().Commit)
	if err != nil || failed != nil {
		return
	}
	changes, claims := []Change{}, map[string]string{}
	if found, err := s.Repo.Trees.Diff(ctx, from, here); err == nil {
		changes = Changes(found)
	}
	for _, c := range changes {
		claims[c.Path] = record.Unknown
	}
	by.meet(known, changes, claims, nil, tools, capture.Text)
}

// tools reports whether a tool of a worker may have been at work since its session saw the worktree.
func (w *Work) tools(capture CaptureContext) bool {
	since := -1
	if s := w.Sessions[capture.Session]; s != nil {
		since = s.Seen
	}
	return slices.ContainsFunc(w.Windows, func(v Window) bool { return v.Worker == capture.Worker && (v.Closed == 0 || v.Closed > since) })
}

// left reports whether some is left of a change that others made to a file, and all of it: of the lines that it
// added, apart from white space. The contents are nil where there is no file. Of a file that is no text it is
// only known if it is gone, or as it was before.
func left(from, to, now []byte) (some, all bool) {
	if now == nil || from != nil && bytes.Equal(now, from) {
		return false, false
	}
	if bytes.IndexByte(to, 0) >= 0 || bytes.IndexByte(now, 0) >= 0 {
		return true, false
	}
	was, is, gone := linesOf(from), linesOf(now), 0
	for line := range linesOf(to) {
		switch {
		case was[line]:
		case is[line]:
			some = true
		default:
			gone++
		}
	}
	return some || gone == 0, some && gone == 0
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
