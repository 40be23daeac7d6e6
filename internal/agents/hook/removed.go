package hook

import (
	"context"
	"maps"
	"slices"
	"strings"

	"git-checkpoint/internal/core/author"
	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/sys/gather"
	"git-checkpoint/internal/verb/connect"
)

// removed says what the turn that has ended removed of the work of others, and how to get it back; "" if nothing is known
// to be gone. It is also kept for status.
func (h *handler) removed(ctx context.Context) string {
	st, err := h.s.State(ctx, h.c.Session)
	if err != nil {
		return ""
	}
	var paths []string
	at, by := map[string][]string{}, h.work.Workers[h.worker()]
	by.Others = slices.DeleteFunc(by.Others, func(f author.Foreign) bool {
		if e := st.Entry(f.Lost); e != nil && !e.Dead {
			label := checkpoint.NameTo(st, e)
			if len(h.work.Sessions) > 1 { // the number may be another session's, too
				label = string(h.c.Session) + ":" + label
			}
			paths, at[label] = append(paths, f.Path), append(at[label], f.Path)
		}
		return f.Lost != ""
	})
	if len(paths) == 0 {
		return ""
	}
	back := gather.List(slices.Sorted(maps.Keys(at)), func(label string) string {
		return "git checkpoint restore " + label + " -- " + name.Quoted(slices.Compact(slices.Sorted(slices.Values(at[label])))...)
	})
	words := "This prompt removed work that was not its own: " + strings.Join(gather.List(slices.Compact(slices.Sorted(slices.Values(paths))), oneLine), ", ") + ". Get it back: " + strings.Join(back, "; ")
	var unread string
	h.s.Recall(connect.RemovedFile, &unread)                                       //nolint:errcheck // it was said on the agent's screen
	h.s.Remember(connect.RemovedFile, strings.TrimPrefix(unread+"\n"+words, "\n")) //nolint:errcheck // it is said here, too
	return words
}

// text returns what is in a content, as author.Look has it.
func (h *handler) text(ctx context.Context) func(content string) ([]byte, bool) {
	return func(content string) ([]byte, bool) {
		fields := strings.Fields(content)
		if len(fields) == 0 {
			return nil, true
		}
		object, err := h.s.Repo.Objects.Batch().Typed(ctx, fields[len(fields)-1], "blob")
		return append([]byte{}, object.Data...), err == nil && len(object.Data) <= largestEdit
	}
}
