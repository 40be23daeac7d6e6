// Package guard recognizes secrets: keys, tokens and passwords that must not travel with
// a checkpoint. It says where one is and which rule found it, never what it is. It knows
// neither git nor checkpoints; who asks decides what a finding means.
package guard

import (
	"bytes"
	"cmp"
	"errors"
	"io"
	"slices"
)

// Finding is a secret that was found. Its value is nowhere in it.
type Finding struct {
	Line        int // from 1
	Rule        string
	Fingerprint string // see Scanner
	User        string // the same with the user's key; empty without one
	Guess       bool   // see At
}

// Result is what a scan found.
type Result struct {
	Findings []Finding
	Binary   bool   // rules for text were not applied
	Gap      string // why a part was not looked at; empty: all was
}

// Scanner looks for secrets. Fingerprints are made with its key: an unkeyed hash of a
// short password can be turned back by trying words, and fingerprints end up in
// configuration and logs.
type Scanner struct{ key, user []byte }

// New makes a scanner. The same key gives the same secret the same fingerprint. A key of
// the user's, which is the same in all repositories, gives a second one; nil: none.
func New(key, user []byte) *Scanner { return &Scanner{key, user} }

// Finding names a secret that something else has found.
func (s *Scanner) Finding(rule string, line int, secret []byte) Finding {
	f := Finding{Line: line, Rule: rule, Fingerprint: fingerprint(s.key, rule, secret)}
	if s.user != nil {
		f.User = fingerprint(s.user, rule, secret)
	}
	return f
}

// piece is how much of a stream is looked at in one go.
const piece = 1 << 20

// Bounds of a scan: a hostile file is made of keywords.
const (
	maxTried = 100_000 // patterns that are tried
	maxFound = 1_000
)

// Bytes scans a whole file.
func (s *Scanner) Bytes(content []byte) Result {
	head := content[:min(len(content), looked)]
	if utf16Order(head) != nil {
		r, _ := s.Reader(bytes.NewReader(content)) // a bytes.Reader does not fail
		return r
	}
	scan := s.scan(kindOf(head))
	scan.search(content, 0, 0, len(content))
	return scan.result()
}

func (s *Scanner) scan(kind kind) *scan {
	return &scan{scanner: s, table: rules(), kind: kind, line: 1, done: map[int]int64{}}
}

// Reader scans a file of any length in bounded memory.
func (s *Scanner) Reader(in io.Reader) (Result, error) {
	in, kind, err := decoded(in)
	if err != nil {
		return Result{}, err
	}
	scan := s.scan(kind)
	err = scan.stream(in)
	return scan.result(), err
}

// scan is one file on its way through. Offsets are those in the whole file.
type scan struct {
	scanner *Scanner
	table   *table
	kind    kind
	tried   int
	done    map[int]int64 // where each rule's last finding ends
	found   []span

	line, counted int // the line of the offset counted, in the current piece
}

// span is the place of a secret in its file.
type span struct {
	rule     int
	from, to int64
	Finding
}

// distinct leaves out what overlaps with a finding of a more specific rule: a token that
// is assigned to a variable is a token, not a high-entropy assignment as well.
func distinct(spans []span) []span {
	slices.SortFunc(spans, func(a, b span) int { return cmp.Or(cmp.Compare(a.from, b.from), cmp.Compare(a.rule, b.rule)) })
	var kept []span
	for _, one := range spans {
		last := len(kept) - 1
		switch {
		case last < 0 || one.from >= kept[last].to:
			kept = append(kept, one)
		case one.rule < kept[last].rule:
			kept[last] = one
		}
	}
	return kept
}

// stream scans piece by piece. A piece begins with the end of the one before, so that a
// secret across the seam is seen whole, and keywords in the shared part are followed up
// in one of the two only.
func (s *scan) stream(in io.Reader) error {
	buffer := make([]byte, 0, piece/16)
	var offset int64 // of buffer[0] in the file
	from := 0        // keywords before it are done
	for {
		var end bool
		var err error
		if buffer, end, err = fill(in, buffer); err != nil {
			return err
		}
		upTo := len(buffer)
		if !end {
			upTo -= longestReach
		}
		if !s.search(buffer, offset, from, upTo) || end {
			return nil
		}
		keep := upTo - longestReach
		s.lineOf(buffer, keep)
		s.counted = 0
		buffer = buffer[:copy(buffer, buffer[keep:])]
		offset, from = offset+int64(keep), longestReach
	}
}

// fill reads until the buffer holds a piece, or the file is at its end.
func fill(in io.Reader, buffer []byte) (filled []byte, end bool, err error) {
	for len(buffer) < piece {
		if len(buffer) == cap(buffer) {
			buffer = slices.Grow(buffer, len(buffer)+1)
		}
		n, err := in.Read(buffer[len(buffer):min(cap(buffer), piece)])
		buffer = buffer[:len(buffer)+n]
		if errors.Is(err, io.EOF) {
			return buffer, true, nil
		}
		if err != nil {
			return buffer, false, err
		}
	}
	return buffer, false, nil
}

// search follows up the keywords that begin in text[from:upTo]. False: a bound was met.
func (s *scan) search(text []byte, offset int64, from, upTo int) bool {
	going := true
	s.table.keywords.find(text, func(keyword, at int) bool {
		if at < from || at >= upTo {
			return true
		}
		for _, rule := range s.table.of[keyword] {
			s.try(rule, text, offset, at)
		}
		going = s.tried < maxTried && len(s.found) < maxFound
		return going
	})
	return going
}

// try applies one rule where its keyword stands.
func (s *scan) try(rule int, text []byte, offset int64, at int) {
	r := &s.table.rules[rule]
	if r.Within == textContent && s.kind == binaryFile {
		return
	}
	if offset+int64(at) < s.done[rule] || !r.mayBe(text, at) {
		return
	}
	s.tried++
	m := r.at(text, at)
	if m == nil {
		return
	}
	s.done[rule] = offset + int64(m.from+len(m.secret))
	s.found = append(s.found, span{
		rule: rule, from: offset + int64(m.from), to: s.done[rule],
		Finding: s.scanner.Finding(r.ID, s.lineOf(text, at), m.secret),
	})
	s.found[len(s.found)-1].Guess = r.Guess
}

// mayBe sorts out most keywords without the pattern.
func (r *compiled) mayBe(text []byte, keyword int) bool {
	from := keyword - r.Back
	if from < 0 || r.Start == atWord && !wordStarts(text, from) {
		return false
	}
	return r.Shape != assignment || assigns(text[keyword:min(len(text), keyword+80)])
}

// assigns reports whether a name goes on to a sign that assigns.
func assigns(text []byte) bool {
	i := 0
	for i < len(text) && (isWord(text[i]) || text[i] == '-' || text[i] == '.') {
		i++
	}
	for i < len(text) && bytes.IndexByte([]byte(" \t\"'`])\\"), text[i]) >= 0 {
		i++
	}
	return i < len(text) && bytes.IndexByte([]byte("=:>,?"), text[i]) >= 0
}

// at applies the rule to the keyword at an offset.
func (r *compiled) at(text []byte, keyword int) *match {
	from := keyword - r.Back
	window := text[from:min(len(text), keyword+r.Reach)]
	groups := r.pattern().FindSubmatchIndex(window)
	if groups == nil {
		return nil
	}
	m := &match{before: lineBefore(text[:from])}
	secret := 0
	for i := 0; i < len(groups); i += 2 {
		var group []byte
		if groups[i] >= 0 {
			group = window[groups[i]:groups[i+1]]
			if secret == 0 {
				secret = i
			}
		}
		m.groups = append(m.groups, group)
	}
	m.from = from + groups[secret]
	end := from + groups[secret+1]
	if groups[secret+1] == len(window) {
		end = goesOn(text, m.from, end)
	}
	m.secret = text[m.from:end]
	if end < len(text) {
		m.after = text[end]
	}
	if isWord(m.after) && r.Start == atWord || !r.Check(*m) {
		return nil
	}
	return m
}

// goesOn is the end of a secret that is longer than its rule looks.
func goesOn(text []byte, from, end int) int {
	const most = 8 << 10
	lines := bytes.IndexByte(text[from:end], '\n') >= 0 // as those of a key are
	for i := end; i < min(len(text), end+most); i++ {
		b := text[i]
		inToken := isWord(b) || b == '+' || b == '/' || b == '=' || b == '-' || b == '.'
		if !inToken && (!lines || b != '\n' && b != '\r') {
			return i
		}
	}
	return min(len(text), end+most)
}

// lineBefore is the end of what precedes on the same line.
func lineBefore(text []byte) []byte {
	const most = 120
	text = text[max(0, len(text)-most):]
	return text[bytes.LastIndexByte(text, '\n')+1:]
}

// wordStarts reports whether a word can begin at an offset. After an escape such as \n
// one does.
func wordStarts(text []byte, at int) bool {
	if at == 0 || !isWord(text[at-1]) {
		return true
	}
	return at > 1 && text[at-2] == '\\' && (text[at-1] == 'n' || text[at-1] == 'r' || text[at-1] == 't')
}

func isWord(b byte) bool {
	return 'a' <= b && b <= 'z' || 'A' <= b && b <= 'Z' || '0' <= b && b <= '9' || b == '_'
}

// lineOf counts on from the last offset that was asked for.
func (s *scan) lineOf(text []byte, at int) int {
	if at >= s.counted {
		s.line += bytes.Count(text[s.counted:at], []byte{'\n'})
	} else {
		s.line -= bytes.Count(text[at:s.counted], []byte{'\n'})
	}
	s.counted = at
	return s.line
}

func (s *scan) result() Result {
	r := Result{Binary: s.kind == binaryFile}
	for _, found := range distinct(s.found) {
		r.Findings = append(r.Findings, found.Finding)
	}
	switch {
	case s.tried >= maxTried:
		r.Gap = "it has too many places that look like the beginning of a secret"
	case len(s.found) >= maxFound:
		r.Gap = "it has more findings than are listed"
	}
	return r
}
