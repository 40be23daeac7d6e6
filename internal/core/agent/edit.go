package agent

import (
	"bytes"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tidwall/gjson"
)

// Edit is what a tool is asked to make of one file.
type Edit struct {
	Path   string // absolute, or relative to the directory of the hook
	Source string // the file from whose content it is made: Path, or the old name of a file that moves
	// Sole says that the agent promises that nothing else writes the file while the tool runs. Then
	// what the tool makes of the file need not be known.
	Sole   bool
	Afresh bool // says that the content does not depend on what was there
	make   func(before []byte) (after []byte, ok bool)
}

// Make returns the content of the file after the tool, from that of Source. A nil slice stands for no
// file. It returns false if that cannot be told, for example because the tool would fail.
func (e Edit) Make(before []byte) (after []byte, ok bool) {
	if e.make == nil {
		return nil, false
	}
	return e.make(before)
}

// edits returns what a use of the tool makes of the files that it names.
func (t Tool) edits(root gjson.Result, dir string) (all []Edit) {
	if patch := text(root, t.Patch); patch != "" {
		return patchEdits(patch, dir)
	}
	if text(root, t.Text) != "" { // a command
		return nil
	}
	path := absolute(dir, text(root, t.Path))
	if path == "" {
		return nil
	}
	_, whole := textAt(root, t.Content)
	return []Edit{{Path: path, Source: path, Sole: t.Sole, Afresh: whole, make: t.maker(root)}}
}

// absolute returns a path of a payload as a clean one, absolute if the directory is known, or "".
func absolute(dir, path string) string {
	switch {
	case path == "":
		return ""
	case filepath.IsAbs(path):
		return filepath.Clean(path)
	}
	return filepath.Join(dir, path)
}

// maker returns what the tool does with the content, or nil if the definition does not say that.
func (t Tool) maker(root gjson.Result) func([]byte) ([]byte, bool) {
	if whole, is := textAt(root, t.Content); is {
		return func([]byte) ([]byte, bool) { return []byte(whole), true }
	}
	var steps []replacing
	if len(t.Edits) > 0 {
		for _, path := range t.Edits {
			for _, step := range root.Get(path).Array() {
				steps = append(steps, t.replacing(step))
			}
		}
	} else if _, is := textAt(root, t.Old); is {
		steps = []replacing{t.replacing(root)}
	}
	if len(steps) == 0 {
		return nil
	}
	return func(content []byte) ([]byte, bool) {
		for _, step := range steps {
			var ok bool
			if content, ok = step.apply(content); !ok {
				return nil, false
			}
		}
		return content, true
	}
}

// textAt returns the first value among paths that is a string, which may be empty.
func textAt(root gjson.Result, paths []string) (string, bool) {
	for _, path := range paths {
		if v := root.Get(path); v.Type == gjson.String {
			return v.String(), true
		}
	}
	return "", false
}

// replacing is the replacement of one text by another.
type replacing struct {
	before, after string
	all           bool
}

func (t Tool) replacing(root gjson.Result) (r replacing) {
	r.before, _ = textAt(root, t.Old)
	r.after, _ = textAt(root, t.New)
	for _, path := range t.All {
		r.all = r.all || root.Get(path).Bool() || root.Get(path).Int() > 1
	}
	return r
}

// apply replaces the text in a content. Where git keeps the file with other line ends than the
// agent sees, those of the content are used.
func (r replacing) apply(content []byte) ([]byte, bool) {
	before, after := []byte(r.before), []byte(r.after)
	if bytes.Contains(before, []byte("\r\n")) && !bytes.Contains(content, []byte("\r\n")) {
		before, after = bytes.ReplaceAll(before, []byte("\r\n"), []byte("\n")), bytes.ReplaceAll(after, []byte("\r\n"), []byte("\n"))
	}
	switch n := bytes.Count(content, before); {
	case len(before) == 0 && len(content) == 0: // a new file
		return append([]byte{}, after...), true
	case len(before) == 0 || n == 0 || n > 1 && !r.all:
		return nil, false
	}
	return append([]byte{}, bytes.ReplaceAll(content, before, after)...), true
}

// patchEdits returns what a patch in the format of Codex makes of the files that it names.
func patchEdits(patch, dir string) (all []Edit) {
	var section *patchSection
	for line := range strings.Lines(patch) {
		line = strings.TrimRight(line, "\r\n")
		if m := patched().FindStringSubmatch(line); m != nil {
			all = section.addTo(all)
			path := absolute(dir, strings.TrimSpace(m[2]))
			section = &patchSection{kind: m[1], path: path, target: path}
			continue
		}
		if section == nil {
			continue
		}
		if to, moves := strings.CutPrefix(line, "*** Move to: "); moves {
			section.target = absolute(dir, strings.TrimSpace(to))
			continue
		}
		if line == "*** End Patch" {
			break
		}
		section.lines = append(section.lines, line)
	}
	return section.addTo(all)
}

// patchSection is the part of a patch about one file.
type patchSection struct {
	kind         string // Add, Update or Delete
	path, target string // target is another one if the file moves
	lines        []string
}

func (s *patchSection) addTo(all []Edit) []Edit {
	if s == nil || s.path == "" || s.target == "" {
		return all
	}
	gone := func([]byte) ([]byte, bool) { return nil, true }
	switch {
	case s.kind == "Delete":
		return append(all, Edit{Path: s.path, Source: s.path, make: gone})
	case s.kind == "Add":
		return append(all, Edit{Path: s.path, Source: s.path, Afresh: true, make: s.added})
	case s.target != s.path:
		all = append(all, Edit{Path: s.path, Source: s.path, make: gone})
	}
	return append(all, Edit{Path: s.target, Source: s.path, make: s.updated})
}

func (s *patchSection) added([]byte) ([]byte, bool) {
	content := []byte{}
	for _, line := range s.lines {
		line, is := strings.CutPrefix(line, "+")
		if !is {
			return nil, false
		}
		content = append(append(content, line...), '\n')
	}
	return content, true
}

// updated applies the hunks one after the other, each at the first place after the one before.
func (s *patchSection) updated(before []byte) ([]byte, bool) {
	if before == nil {
		return nil, false
	}
	lines := strings.Split(strings.TrimSuffix(string(before), "\n"), "\n")
	var out []string
	at := 0
	for _, h := range s.hunks() {
		for _, context := range h.within {
			i := find(lines, at, []string{context})
			if i < 0 {
				return nil, false
			}
			out = append(out, lines[at:i+1]...)
			at = i + 1
		}
		i := find(lines, at, h.before)
		if len(h.before) == 0 { // it goes to the end
			i = len(lines)
		} else if h.last {
			i = len(lines) - len(h.before)
			if i < at || find(lines[i:], 0, h.before) != 0 {
				return nil, false
			}
		}
		if i < 0 {
			return nil, false
		}
		out = append(append(out, lines[at:i]...), h.after...)
		at = i + len(h.before)
	}
	return []byte(strings.Join(append(out, lines[at:]...), "\n") + "\n"), true
}

// hunk is one change of a file: lines to find, and those that replace them.
type hunk struct {
	within        []string // lines that come before, such as the head of a function
	before, after []string
	last          bool // it is at the end of the file
}

func (s *patchSection) hunks() (all []hunk) {
	var h hunk
	done := func() {
		if len(h.before)+len(h.after) > 0 {
			all, h = append(all, h), hunk{}
		}
	}
	for _, line := range s.lines {
		switch {
		case line == "*** End of File":
			h.last = true
		case strings.HasPrefix(line, "@@"):
			done()
			if context := strings.TrimPrefix(strings.TrimPrefix(line, "@@"), " "); context != "" {
				h.within = append(h.within, context)
			}
		case line == "":
			h.before, h.after = append(h.before, ""), append(h.after, "")
		case line[0] == ' ':
			h.before, h.after = append(h.before, line[1:]), append(h.after, line[1:])
		case line[0] == '-':
			h.before = append(h.before, line[1:])
		case line[0] == '+':
			h.after = append(h.after, line[1:])
		}
	}
	done()
	return all
}

// find returns the first place from at on where the lines occur, or -1.
func find(lines []string, at int, wanted []string) int {
	for i := at; i+len(wanted) <= len(lines); i++ {
		if slices.Equal(lines[i:i+len(wanted)], wanted) {
			return i
		}
	}
	return -1
}
