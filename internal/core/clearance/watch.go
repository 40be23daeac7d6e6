package clearance

import (
	"slices"
	"strings"

	"git-checkpoint/internal/core/guard"
	"git-checkpoint/internal/format/name"
)

// Look takes one captured file. If the content is at hand and small, it is scanned at once,
// which saves reading the blob later. content may be nil. Look may be called concurrently.
func (w *Watch) Look(file string, oid name.OID, content []byte) {
	dir := usuallyIgnored(file)
	if w.scanner.external != nil && content != nil && len(content) <= atSave {
		// It gets all files together, in Judge.
		content = nil
	}
	v, known := w.verdictOf(oid, content)
	w.mu.Lock()
	defer w.mu.Unlock()
	if dir != "" {
		w.dirs[dir] = true
	}
	if w.scanner.expunged.Objects[oid] {
		w.back = append(w.back, Found{OID: oid, Path: file})
	}
	switch {
	case known:
		w.scanner.report(&w.known, oid, file, v)
	case content == nil:
		w.unread[oid] = file
	case len(content) <= atSave:
		w.scanner.report(&w.found, oid, file, v)
	}
}

// verdictOf returns the verdict of an object, and whether it is remembered. It is empty if the content
// is not at hand or too large. Scanning a small file takes less time than reading what is
// remembered, so only one with a finding is looked up.
func (w *Watch) verdictOf(oid name.OID, content []byte) (v guard.Result, known bool) {
	if content == nil || len(content) > atSave {
		return w.scanner.verdicts.verdictOf(oid)
	}
	v = w.scanner.rules.Bytes(content)
	if len(v.Findings) > 0 || v.Gap != "" {
		if old, known := w.scanner.verdicts.verdictOf(oid); known {
			return old, true
		}
	}
	w.scanner.verdicts.add(oid, v)
	return v, false
}

// directories returns directories that projects usually ignore and this one captured. Each
// is returned only once in the life of the file of notes.
func (w *Watch) directories() []string {
	var out []string
	for dir := range w.dirs {
		if w.scanner.notes.isFirst("dir " + dir) {
			out = append(out, dir)
		}
	}
	slices.Sort(out)
	return out
}

// usuallyIgnored returns the outermost directory of a path that projects usually ignore, or
// "".
func usuallyIgnored(file string) string {
	for from := 0; ; {
		n := strings.IndexByte(file[from:], '/')
		if n < 0 {
			return ""
		}
		switch end := from + n; file[from:end] {
		case "node_modules", ".venv", "target", "__pycache__", ".next":
			return file[:end]
		default:
			from = end + 1
		}
	}
}
