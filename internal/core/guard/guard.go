// Package guard recognises secrets: keys, tokens and passwords that must not travel with a
// checkpoint. It reports where a secret is and which rule found it, but never its value. It does
// not depend on git or checkpoints; package clearance calls it and decides what a finding means.
//
// A Rule (rule.go) has keywords, a regular expression and a check. A Scanner runs over the content
// once with a finder of the keywords of all rules (finder.go), and tries the
// patterns of a rule only where one of its keywords occurs. Most content has no keyword and costs
// no more than reading it. The rules are in rules.txt, the checks in check.go. Start with
// Scanner.Bytes.
package guard

import (
	"bytes"
	"cmp"
	"errors"
	"io"
	"slices"
	"strings"

	"git-checkpoint/internal/sys/lazy"
)

// Finding is a secret that was found. It does not contain the value.
type Finding struct {
	Line        int // counted from 1
	Rule        string
	Fingerprint string // by the repository's key, see Scanner
	User        string `json:",omitempty"` // by the user's key; empty without one
	// Guess marks a finding that goes by a name or place and not by a format of its own;
	// see At.
	Guess bool `json:",omitempty"`
}

// Result is the outcome of a scan.
type Result struct {
	Findings []Finding `json:",omitempty"`
	Binary   bool      `json:"-"`          // rules for text were not applied
	Gap      string    `json:",omitempty"` // why a part was not scanned; empty: all was
}

// Scanner looks for secrets. Fingerprints are made with its keys. An unkeyed hash of a
// short password can be reversed by trying words, and fingerprints end up in configuration
// files and logs.
type Scanner struct{ key, user []byte }

// New returns a scanner. The same key gives the same secret the same fingerprint. user is a
// second key that is the same in all repositories of a user, or nil.
func New(key, user []byte) *Scanner { return &Scanner{key, user} }

// Finding returns a Finding for a secret that another scanner has found.
func (s *Scanner) Finding(rule string, line int, secret []byte) Finding {
	f := Finding{Line: line, Rule: rule, Fingerprint: fingerprint(s.key, rule, secret)}
	if s.user != nil {
		f.User = fingerprint(s.user, rule, secret)
	}
	return f
}

// overlap is how much of a piece is read again with the next one, before and after the border, in
// bytes. In a string, what a pattern sees takes several times as many bytes.
const overlap = 4 * longestReach

// Bounds of a scan. A hostile file could consist of keywords.
const (
	maxTried = 100_000 // attempts to match a pattern
	maxFound = 1_000   // findings in a file
)

// Bytes scans a whole file.
func (s *Scanner) Bytes(content []byte) Result {
	// UTF-16 has to be decoded first, which Reader does.
	head := content[:min(len(content), looked)]
	if _, is := utf16Order(head); is {
		r, _ := s.Reader(bytes.NewReader(content)) // a bytes.Reader does not fail
		return r
	}
	scan := s.scan()
	scan.binary = isBinary(head)
	scan.search(&layer{text: content}, 0, len(content))
	return scan.result()
}

func (s *Scanner) scan() *scan { return &scan{scanner: s, table: rules(), line: 1} }

// Reader scans a file of any length in bounded memory.
func (s *Scanner) Reader(in io.Reader) (Result, error) {
	in, binary, err := decoded(in)
	if err != nil {
		return Result{}, err
	}
	scan := s.scan()
	scan.binary = binary
	err = scan.stream(in)
	return scan.result(), err
}

// scan is the state of scanning one file. Offsets are in the whole file, unless a name says
// otherwise.
type scan struct {
	scanner   *Scanner
	table     *table
	binary    bool
	tried     [deepest + 1]int // by depth of the layer
	unbounded bool             // means that maxTried and maxFound do not count
	found     []span

	// piece is what is scanned now, and offset is where it begins in the file.
	piece         []byte
	offset        int64
	line, counted int // line is the number of the line at the offset counted of the current piece
}

// span is a finding with its place in the file, from inclusive and to exclusive.
type span struct {
	rule     int
	from, to int64
	layer    *layer
	at       int // the secret's offset there
	Finding
}

// distinct keeps one of findings that overlap. A token that is assigned to a variable is a token, and not also a named
// secret: what has a format of its own comes before a guess, and of two guesses the one in the upper layer, which is
// decoded; then, a rule with a lower index.
func distinct(spans []span) []span {
	before := func(a, b span) bool {
		switch {
		case a.Guess != b.Guess:
			return b.Guess
		case a.layer.isAbove(b.layer) || b.layer.isAbove(a.layer):
			return a.layer.isAbove(b.layer)
		}
		return a.rule < b.rule
	}
	slices.SortFunc(spans, func(a, b span) int { return cmp.Or(cmp.Compare(a.from, b.from), cmp.Compare(a.rule, b.rule)) })
	var kept []span
	for _, one := range spans {
		last := len(kept) - 1
		switch {
		case last < 0 || one.from >= kept[last].to:
			kept = append(kept, one)
		case before(one, kept[last]):
			kept[last] = one
		}
	}
	return kept
}

// stream scans a file piece by piece. Each piece begins with the end of the one before, so
// that a secret across the border is seen as a whole. A keyword in the shared part is tried
// only once.
func (s *scan) stream(in io.Reader) error {
	const piece = 1 << 20 // how much of a stream is scanned at a time, in bytes
	buffer := make([]byte, 0, piece/16)
	// Keywords before this offset were tried.
	from := 0
	open := false
	for {
		filled := bytes.NewBuffer(buffer)
		if _, err := io.CopyN(filled, in, int64(piece-len(buffer))); err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		buffer = filled.Bytes()
		upTo, end := len(buffer), len(buffer) < piece
		// A keyword near the end waits for the next piece, where its pattern can see
		// enough.
		if !end {
			upTo -= overlap
		}
		here := &layer{text: buffer, open: open}
		if !s.search(here, from, upTo) || end {
			return nil
		}
		// A pattern may look back by as much as it looks ahead.
		keep := upTo - overlap
		for keep > 0 && upTo-keep < overlap+longestReach && buffer[keep-1] == '\\' { // an escape stays whole
			keep--
		}
		open = here.withinString(keep)
		s.lineOf(buffer, keep)
		s.counted = 0
		buffer = buffer[:copy(buffer, buffer[keep:])]
		s.offset, from = s.offset+int64(keep), upTo-keep
	}
}

// search tries the rules of all keywords that begin in the bytes from, inclusive, to upTo of a
// piece, and in what these bytes contain in another form. It returns false if a bound of the
// scan was reached.
func (s *scan) search(piece *layer, from, upTo int) bool {
	s.piece = piece.text
	if s.binary {
		return s.searchLayer(piece, from, upTo)
	}
	for one := piece; one != nil; one = one.strings() {
		if !s.searchLayer(one, from, upTo) {
			return false
		}
		if plain := one.unnumbered(); plain != nil && !s.searchLayer(plain, from, upTo) {
			return false
		}
	}
	return true
}

// searchLayer tries the rules in one layer of the piece, and in what is in base64 there.
func (s *scan) searchLayer(l *layer, from, upTo int) bool {
	going := true
	s.table.keywords.find(l.text, func(keyword, at int) bool {
		if begins := l.start(at); begins < from || begins >= upTo { // with the next piece or the one before
			return true
		}
		l.hits = append(l.hits, max(at, l.lastHit()))
		of := &s.table.of[keyword]
		for _, rule := range of.rules {
			s.try(rule, l, at)
		}
		if of.stem != "" && !s.binary {
			s.tryName(l, at, of.stem)
		}
		if of.encoded {
			l.base64(at)
		}
		going = s.unbounded || s.tried[l.depth] < maxTried && len(s.found) < maxFound
		return going
	})
	return going && (l.inner == nil || s.searchLayer(l.inner, from, upTo))
}

// try applies one rule at one of its keywords, and records a finding.
func (s *scan) try(rule int, l *layer, at int) {
	r := &s.table.rules[rule]
	if r.Text && s.binary {
		return
	}
	if from := at - r.Back; at < l.done[rule] || !r.Inside && (from < 0 || !wordStarts(l.text, from)) {
		return
	}
	if r.Needs != "" {
		line := l.text[at:min(len(l.text), at+r.Reach)]
		if end := bytes.IndexByte(line, '\n'); end >= 0 {
			line = line[:end]
		}
		if !bytes.ContainsAny(line, r.Needs) {
			return
		}
	}
	s.tried[l.depth]++
	if m := r.matchAt(l.text, at); m != nil {
		s.find(rule, l, m.from, m.secret, at)
	}
}

// tryName records the secrets that a name has, which stands around one of the stems of names.
func (s *scan) tryName(l *layer, at int, stem string) {
	if at < l.named {
		return
	}
	n := nameAt(l.text, at, stem)
	if n.kind == noSecret {
		return
	}
	s.tried[l.depth]++
	text := l.text[:min(len(l.text), n.to+reach)]
	seen := map[[2]int]bool{} // values that were judged
	line := n.from
	take := func(v value) bool {
		place := [2]int{v.from, v.to}
		if seen[place] {
			return false
		}
		seen[place] = true
		rule := s.table.formatOf(text[n.from:n.to], text[v.from:v.to])
		if rule < 0 && !n.accepts(text, v) {
			return false
		}
		if rule < 0 {
			rule = s.table.index(n.rule(text, v))
		}
		if v.to == len(text) {
			v.to = goesOn(l.text, v.from, v.to)
		}
		l.named = n.to
		s.find(rule, l, v.from, l.text[v.from:v.to], line)
		return true
	}
	n.values(text, take)
	if n.heads(text) {
		n.rows(l.text[:min(len(l.text), n.to+longestReach)], func(v value) { line = v.from; take(v) })
	}
}

// find records a secret. It is said to be on the line of the offset at.
func (s *scan) find(rule int, l *layer, from int, held []byte, at int) {
	r := &s.table.rules[rule]
	if l.done == nil {
		l.done = map[int]int{}
	}
	to := from + len(held)
	l.done[rule] = to
	s.found = append(s.found, span{
		rule: rule, from: s.offset + int64(l.start(from)), to: s.offset + int64(l.end(to)), layer: l, at: from,
		Finding: s.scanner.Finding(r.ID, s.lineOf(s.piece, l.start(at)), held),
	})
	s.found[len(s.found)-1].Guess = r.Guess && !(r.Firm && isFirm(held))
}

// formatOf returns the index of the rule for a value whose format is known together with its name, or -1.
func (t *table) formatOf(called, held []byte) int {
	if len(held) < 16 {
		return -1
	}
	squeezed := strings.NewReplacer("-", "", ".", "", "_", "").Replace(strings.ToLower(string(called)))
	if called[0] == '_' {
		squeezed = "_" + squeezed
	}
	for _, i := range t.named {
		r := t.rules[i]
		for _, word := range r.Named {
			whole, exact := strings.CutPrefix(word, "=")
			if (exact && squeezed == whole || !exact && strings.Contains(squeezed, word)) && r.pattern().Match(held) && r.Check(match{secret: held}) {
				return i
			}
		}
	}
	return -1
}

// rule returns the rule for the value of a name.
func (n name) rule(text []byte, v value) string {
	before := bytes.TrimRight(lineBefore(text[:n.from]), " ")
	switch {
	case endsFold(text[n.from:n.to], "authorization") || endsFold(text[n.from:n.to], "bearer"):
		return "authorization-header"
	case v.paired:
		return "paired-secret"
	case n.kind != password:
		return "named-secret"
	case len(before) > 0 && bytes.IndexByte([]byte(";&?"), before[len(before)-1]) >= 0:
		return "connection-password"
	case login().Match(text[max(0, n.from-100):n.from]):
		return "netrc-password"
	}
	return "named-password"
}

// login matches what precedes a password in .netrc on its line.
var login = lazy.Pattern(`login\s+\S+\s+$`)

// matchAt applies the rule's pattern at a keyword and then its check. It returns nil without a
// secret.
func (r *Rule) matchAt(text []byte, keyword int) *match {
	from := max(0, keyword-r.Back)
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
	// The window may have cut the secret. Extend it, because the fingerprint needs all of
	// it.
	if end == from+len(window) {
		end = goesOn(text, m.from, end)
	}
	m.secret = text[m.from:end]
	if r.Back == 0 && secret == 0 {
		for _, word := range r.Keywords {
			if len(word) > m.prefix && len(word) <= len(m.secret) && bytes.EqualFold(m.secret[:len(word)], []byte(word)) {
				m.prefix = len(word)
			}
		}
	}
	// More characters of a word follow, so this is something longer than the format allows.
	if end < len(text) && isWord(text[end]) && !r.Inside || !r.Check(*m) {
		return nil
	}
	return m
}

// goesOn returns the end of a secret that continues beyond the window of its rule.
func goesOn(text []byte, from, end int) int {
	const most = 8 << 10
	lines := bytes.IndexByte(text[from:end], '\n') >= 0 // a private key spans lines
	for i := end; i < min(len(text), end+most); i++ {
		b := text[i]
		inToken := isWord(b) || b == '+' || b == '/' || b == '=' || b == '-' || b == '.'
		if !inToken && (!lines || b != '\n' && b != '\r') {
			return i
		}
	}
	return min(len(text), end+most)
}

// lineBefore returns the text before the match on its line, at most 120 bytes of it.
func lineBefore(text []byte) []byte {
	const most = 120
	text = text[max(0, len(text)-most):]
	text = text[bytes.LastIndexByte(text, '\n')+1:]
	return bytes.TrimPrefix(text, []byte("\ufeff")) // a byte order mark
}

// wordStarts reports whether a word may begin at an offset: after a character that is part
// of no word, or after an escape such as \n in a string literal.
func wordStarts(text []byte, at int) bool {
	if at == 0 || !isWord(text[at-1]) {
		return true
	}
	return at > 1 && text[at-2] == '\\' && (text[at-1] == 'n' || text[at-1] == 'r' || text[at-1] == 't')
}

func isWord(b byte) bool {
	return 'a' <= b && b <= 'z' || 'A' <= b && b <= 'Z' || '0' <= b && b <= '9' || b == '_'
}

// lineOf returns the line number of an offset. It counts from the last offset that was
// asked for, in either direction, so that a file with many findings is not counted from the
// start each time.
func (s *scan) lineOf(text []byte, at int) int {
	if at >= s.counted {
		s.line += bytes.Count(text[s.counted:at], []byte{'\n'})
	} else {
		s.line -= bytes.Count(text[at:s.counted], []byte{'\n'})
	}
	s.counted = at
	return s.line
}

// result returns the findings without overlaps, and says whether a bound cut the scan
// short.
func (s *scan) result() Result {
	r := Result{Binary: s.binary}
	for _, found := range distinct(s.found) {
		r.Findings = append(r.Findings, found.Finding)
	}
	switch {
	case slices.Max(s.tried[:]) >= maxTried:
		r.Gap = "it has too many places that look like the start of a secret"
	case len(s.found) >= maxFound:
		r.Gap = "it has more findings than can be listed"
	}
	return r
}
