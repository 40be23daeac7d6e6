package guard

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"encoding/json"
	"slices"
	"sort"
	"strconv"
	"unicode/utf8"
)

// layer is a text to search: a piece of a file, or what such a text contains in another
// form. Transcripts and notebooks hold files in strings of JSON, often within further JSON,
// and with a number before each line. The secret of a layer is the same as in the file that
// was quoted, so it has the same fingerprint.
type layer struct {
	text  []byte
	below *layer // nil: a piece of the file
	marks []mark // where the text stands below, in order
	// depth is how many times the text is encoded as a string of JSON, and level how many
	// layers are below.
	depth, level int
	open         bool        // the text begins within a string, which began in the piece before
	hits         []int       // where keywords begin, in order of their ends
	named        int         // where the last name of a secret ends that was tried
	inner        *layer      // the text that is in base64 in this layer
	done         map[int]int // where the last finding of each rule ends. A keyword inside it is not tried again
}

// mark says where bytes come from: those from at on are in the layer below from the offset from on.
// They correspond one by one or, if width is not 0, the bytes up to the next mark are one escape of
// width bytes.
type mark struct{ at, from, width int }

// deepest bounds how often strings within strings are decoded.
const deepest = 4

// isAbove reports whether more was decoded for one layer than for another.
func (l *layer) isAbove(other *layer) bool {
	return cmp.Or(cmp.Compare(l.depth, other.depth), cmp.Compare(l.level, other.level)) > 0
}

// holding returns the last mark that begins at an offset or before it.
func (l *layer) holding(at int) mark {
	return l.marks[max(0, sort.Search(len(l.marks), func(i int) bool { return l.marks[i].at > at })-1)]
}

// start returns the offset in the piece of the file at which a byte begins.
func (l *layer) start(at int) int {
	if l.below == nil {
		return at
	}
	m := l.holding(at)
	if m.width > 0 {
		return l.below.start(m.from)
	}
	return l.below.start(m.from + at - m.at)
}

// end returns the offset in the piece of the file after the last byte before an offset.
func (l *layer) end(at int) int {
	if l.below == nil {
		return at
	}
	m := l.holding(at - 1)
	if m.width > 0 {
		return l.below.end(m.from + m.width)
	}
	return l.below.end(m.from + at - m.at)
}

// add appends bytes that are at the offset from in the layer below.
func (l *layer) add(text []byte, from, width int) {
	l.marks = append(l.marks, mark{len(l.text), from, width})
	l.text = append(l.text, text...)
}

// strings returns the layer of the strings in this one, decoded, each as lines of its own. It is
// nil if none of them has to be decoded. Where quotes do not mark strings of JSON, the result does
// not look like a secret.
func (l *layer) strings() *layer {
	hiding := hides(l.text)
	if l.depth == deepest || len(l.hits) == 0 && !hiding {
		return nil
	}
	inner := &layer{below: l, depth: l.depth + 1, level: l.level + 1}
	hit := 0
	decode := func(from, to int) bool {
		for hit < len(l.hits) && l.hits[hit] < from {
			hit++
		}
		body := l.text[from:to]
		// A string is decoded only if it may hold a keyword, and an escape or a sign of assignment.
		if (hit < len(l.hits) && l.hits[hit] < to || hiding && hides(body)) && bytes.ContainsAny(body, `\=:`) {
			inner.decode(body, from)
			inner.add([]byte{'\n'}, to, 1)
		}
		return true
	}
	if hiding {
		eachString(l.text, 0, l.open, decode)
	} else {
		l.eachLine(func(from, to int) { eachString(l.text[:to], from, l.open && from == 0, decode) })
	}
	if len(inner.text) == 0 {
		return nil
	}
	return inner
}

// lastHit returns where the last keyword begins.
func (l *layer) lastHit() int {
	if len(l.hits) == 0 {
		return 0
	}
	return l.hits[len(l.hits)-1]
}

// inBase64 returns parts of names as they are in base64, which depend on how many bytes precede.
func inBase64() []string {
	var all []string
	for _, word := range []string{"password", "PASSWORD", "passwd", "secret", "SECRET", "token=", "TOKEN=", "_key=", "_KEY=", "apiKey", "DATABASE_URL="} {
		for before := range 3 {
			code := base64.StdEncoding.EncodeToString([]byte("\x00\x00"[:before] + word))
			// Of the first and the last group, all bits have to be of the word.
			all = append(all, code[[]int{0, 2, 3}[before]:(before+len(word))*8/6])
		}
	}
	return all
}

// base64 adds the text of the run of base64 around an offset to what is inside the layer.
func (l *layer) base64(at int) {
	in := func(b byte) bool { return isWord(b) && b != '_' || b == '+' || b == '/' }
	from, to := at, at
	for from > 0 && in(l.text[from-1]) && at-from < longestReach {
		from--
	}
	for to < len(l.text) && in(l.text[to]) && to-at < overlap/2 {
		to++
	}
	if l.depth == deepest || l.inner != nil && l.inner.marks[len(l.inner.marks)-2].from >= from || to-from < 16 {
		return
	}
	plain := fromBase64(l.text[from:to])
	if !isText(plain) || !bytes.ContainsAny(plain, "=:") {
		return
	}
	if l.inner == nil {
		l.inner = &layer{below: l, depth: l.depth, level: l.level + 1}
	}
	l.inner.add(plain, from, to-from)
	l.inner.add([]byte{'\n'}, to, 1)
}

// eachLine calls visit with the bounds of each line that has a keyword.
func (l *layer) eachLine(visit func(from, to int)) {
	done := 0
	for _, hit := range l.hits {
		if hit < done {
			continue
		}
		from := done + bytes.LastIndexByte(l.text[done:hit], '\n') + 1
		done = len(l.text)
		if end := bytes.IndexByte(l.text[hit:], '\n'); end >= 0 {
			done = hit + end
		}
		visit(from, done)
	}
}

// hides reports whether a keyword could be in a text in a form that find does not see.
func hides(text []byte) bool {
	for at := 0; ; {
		next := bytes.IndexByte(text[at:], '\\')
		if next < 0 {
			return false
		}
		at += next + 1
		rest := text[at:]
		if len(rest) > 0 && rest[0] == '/' || bytes.HasPrefix(rest, []byte("u00")) || bytes.HasPrefix(rest, []byte(`"auth`)) {
			return true
		}
	}
}

// eachString calls visit with the bounds of each string in double quotes from an offset on, until
// visit returns false. A string ends on its line or at the end of the text. open says that the
// offset is within a string.
func eachString(text []byte, from int, open bool, visit func(from, to int) bool) {
	for {
		if !open {
			at := bytes.IndexByte(text[from:], '"')
			if at < 0 {
				return
			}
			from += at + 1
		}
		open = false
		to := stringEnd(text, from)
		if to < len(text) && text[to] == '\n' {
			from = to // it was no string
			continue
		}
		if !visit(from, to) || to == len(text) {
			return
		}
		from = to + 1
	}
}

// stringEnd returns the offset of the quote or line end that ends a string, or the end of the
// text.
func stringEnd(text []byte, from int) int {
	for i := from; i < len(text); i++ {
		switch text[i] {
		case '"', '\n':
			return i
		case '\\':
			i++
		}
	}
	return len(text)
}

// withinString reports whether an offset is within a string that goes on to the end of the
// text.
func (l *layer) withinString(at int) bool {
	within := false
	eachString(l.text, 0, l.open, func(from, to int) bool {
		within = from <= at && to == len(l.text)
		return true
	})
	return within
}

// decode appends the body of a string, which is at the offset from in the layer below.
func (l *layer) decode(body []byte, from int) {
	for at := 0; at < len(body); {
		next := bytes.IndexByte(body[at:], '\\')
		if next < 0 {
			next = len(body) - at
		}
		if next > 0 {
			l.add(body[at:at+next], from+at, 0)
			at += next
			continue
		}
		if plain, width := escape(body[at:]); width > 0 {
			l.add(plain, from+at, width)
			at += width
		} else { // not of JSON
			l.add(body[at:at+1], from+at, 0)
			at++
		}
	}
}

// escape decodes the escape of JSON with which text begins. A width of 0 means that it is not one.
func escape(text []byte) (plain []byte, width int) {
	if len(text) < 2 {
		return nil, 0
	}
	if at := bytes.IndexByte([]byte(`"\/bfnrt`), text[1]); at >= 0 {
		return []byte{"\"\\/\b\f\n\r\t"[at]}, 2
	}
	for _, width := range []int{2 * len(`\u0000`), len(`\u0000`)} { // a pair of surrogates, or one character
		var one string
		if text[1] == 'u' && len(text) >= width && json.Unmarshal(slices.Concat([]byte{'"'}, text[:width], []byte{'"'}), &one) == nil && utf8.RuneCountInString(one) == 1 {
			return []byte(one), width
		}
	}
	return nil, 0
}

// encoded returns a text as it has to be written in the file, in place of what is at an offset of
// the layer.
func (l *layer) encoded(text string, at int) string {
	begin := bytes.LastIndexByte(l.text[:at], '\n') + 1
	times := l.depth
	eachString(l.text, begin, false, func(from, to int) bool {
		if from <= at && at < to {
			times++ // in quotes, as the value of a member
		}
		return to < at
	})
	for range times {
		var out bytes.Buffer
		to := json.NewEncoder(&out)
		to.SetEscapeHTML(false)
		to.Encode(text)                             //nolint:errcheck,errchkjson // a string never fails
		text = string(out.Bytes()[1 : out.Len()-2]) // without the quotes and the line's end
	}
	return text
}

// unnumbered returns the layer without the numbers that tools print before lines, or nil if
// no two lines in a row have numbers in a row.
func (l *layer) unnumbered() *layer {
	if !slices.ContainsFunc(l.hits, l.isNumbered) {
		return nil
	}
	var inner *layer
	last, lastAt := -2, 0
	from := 0 // what was not yet added
	for at := 0; at < len(l.text); {
		number, width := lineNumber(l.text[at:])
		if inner == nil && width > 0 && number == last+1 {
			inner = &layer{below: l, depth: l.depth, level: l.level + 1}
			// The line before was the first one.
			_, first := lineNumber(l.text[lastAt:])
			inner.add(l.text[:lastAt], 0, 0)
			from = lastAt + first
		}
		if inner != nil && width > 0 {
			inner.add(l.text[from:at], from, 0)
			from = at + width
		}
		if last, lastAt = number, at; width == 0 {
			last = -2
		}
		next := bytes.IndexByte(l.text[at:], '\n')
		if next < 0 {
			break
		}
		at += next + 1
	}
	if inner != nil {
		inner.add(l.text[from:], from, 0)
	}
	return inner
}

// isNumbered reports whether the line around an offset has a number. In a long line, it looks only
// at the end before the offset.
func (l *layer) isNumbered(at int) bool {
	begin := max(0, at-far)
	begin += bytes.LastIndexByte(l.text[begin:at], '\n') + 1
	_, width := lineNumber(l.text[begin:])
	return width > 0
}

// lineNumber returns the number with which a line begins and the width of all that a tool
// printed before the line, or 0.
func lineNumber(text []byte) (number, width int) {
	rest := bytes.TrimLeft(text, " ")
	after := bytes.TrimLeft(rest, "0123456789")
	number, err := strconv.Atoi(string(rest[:len(rest)-len(after)]))
	for _, sign := range []string{"→", "\t", " │ ", " | ", "│", "|", ":"} {
		if err == nil && bytes.HasPrefix(after, []byte(sign)) {
			return number, len(text) - len(after) + len(sign)
		}
	}
	return 0, 0
}
