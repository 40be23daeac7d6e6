package hook

import (
	"context"
	"maps"
	"slices"
	"strings"

	"git-checkpoint/internal/core/author"
	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/verb/connect"
)

// removed says what the turn that has ended with the files of a tree removed of the work of others, and how to
// get it back; "" if nothing is known to be gone. It is also kept for status.
func (h *handler) removed(ctx context.Context, tree name.OID) string {
	by := h.work.Workers[h.worker()]
	st, err := h.s.State(ctx, h.c.Session)
	if by == nil || err != nil {
		return ""
	}
	var paths, back []string
	at := map[string][]string{}
	for _, path := range slices.Sorted(maps.Keys(by.Foreign)) {
		f := by.Foreign[path]
		e := st.Entry(f.Checkpoint)
		if !f.Met {
			continue
		}
		if delete(by.Foreign, path); e == nil || e.Dead || !h.gone(ctx, f, tree, path) {
			continue
		}
		label := checkpoint.NameTo(st, e)
		paths, at[label] = append(paths, oneLine(path)), append(at[label], name.Quoted(path))
	}
	if len(paths) == 0 {
		return ""
	}
	for _, label := range slices.Sorted(maps.Keys(at)) {
		back = append(back, "git checkpoint restore "+label+" -- "+strings.Join(at[label], " "))
	}
	words := "This prompt removed work that was not its own: " + strings.Join(paths, ", ") + ". Get it back: " + strings.Join(back, "; ")
	h.s.Remember(connect.RemovedFile, words) //nolint:errcheck // it is said here, too
	return words
}

// gone reports whether nothing is left of a change that others made to a file.
func (h *handler) gone(ctx context.Context, f author.Foreign, tree name.OID, path string) bool {
	now, ok := author.ContentIn(ctx, h.s.Repo.Trees)(tree, path)
	if !ok || now == f.To {
		return false
	}
	var texts [3][]byte
	for i, content := range []string{f.From, f.To, now} {
		if fields := strings.Fields(content); len(fields) > 0 {
			object, err := h.s.Repo.Objects.Batch().Typed(ctx, fields[len(fields)-1], "blob")
			if err != nil || len(object.Data) > largestEdit {
				return false
			}
			texts[i] = append([]byte{}, object.Data...)
		}
	}
	return f.Gone(texts[0], texts[1], texts[2])
}
