package guard

import (
	"bytes"
	"slices"

	"git-checkpoint/internal/sys/lazy"
)

// A shape is a way in which people write a secret beside its name: an assignment, a pair of members, an element of
// XML, a column of a table, words of a sentence. This file finds the values that a name may have in all of them;
// value.go judges a value.

// tie says how sure it is that a value belongs to a name.
type tie int

const (
	firm  tie = iota // it is assigned to it
	list             // it stands beside it, in a list or a table
	near             // there is no operator between them, or it is one of a program
	loose            // words or lines stand between them
)

// value is what a name may have as its secret: text[from:to].
type value struct {
	from, to int
	tie      tie
	quote    byte // before it; 0: none
	paired   bool
}

// shortest is the length of the shortest value that is a secret, in bytes.
const shortest = 6

// far is how far apart the name and the value of a pair may be, in bytes.
const far = 300

// operator matches what stands between a name and a value that is assigned to it, or listed next to it: the quote or
// bracket that ends the name, and then an operator, perhaps behind a type. The second group is of a list.
var operator = lazy.Pattern(`^\\{0,3}["'\x60\])*%]{0,4}(?:\\n)?[ \t]{0,40}(?:` +
	`(:[ \t]{0,3}(?:[&'\w\[\]|?.<>]{1,24}[ \t]{1,3}){1,3}=[ \t]|[Aa]s \w{1,20} =|\[\w*\][ \t]?=|(?:string|text|str)[ \t]?=|=>|<-|:=|:?\?=|\+=|\|\|=|={2,3}[ \t]|=|:-|::?|->)|([,|;]))[ \t]{0,20}`)

// wrapping matches what stands before a string that is passed on: a call, a default, a literal of a type, a block.
var wrapping = lazy.Pattern(`^(?:\\?\r?\n[ \t]*)?(?:(?:(?:new|await|return|str|String|bytes) |!!?\w* |[&*$@(\[{:]|\\n|` +
	`[\w.:>\[\]{}-]{1,50}\((?:["'][\w.-]{1,50}["'], ?|\w{1,20}, ?)?|` +
	`["']?[\w.$"'\[\]()?-]{1,60} ?(?:\|\||\?\?|\?:|:-|or) ?|\w{1,20}: ?)[ \t]*){0,3}(?:\\?\r?\n[ \t]*)?(?:[|>][+-]?\d?[ \t]*\r?\n[ \t]+|"""\\?(?:\r?\n)?[ \t]*|'''\\?(?:\r?\n)?[ \t]*|<<[-~]?["']?\w+["']?\r?\n[ \t]*)?` +
	`(?:[bBrRuUfFLN@$]{1,2}|%?[qQ]{1,2}[({\[|/]|\[\[)?`)

// scheme matches the word before a credential in a header, and before a key in the settings of Laravel.
var scheme = lazy.Pattern(`^(?i:(?:bearer|basic|token|bot|apikey|key|negotiate|ssws|oauth|jwt)(?: +|%20|\\u0020)|base64:|pass:|\{\w+\})+`)

// values calls yield with each value that the name may have, until yield returns true. text ends where the value
// has to.
func (n name) values(text []byte, yield func(value) bool) {
	rest := text[n.to:]
	if from, to, found := memberOf(text, n); found && yield(value{from, to, list, quoteAt(text, from-1), true}) {
		return
	}
	if place := operator().FindSubmatchIndex(rest[:min(len(rest), 120)]); place != nil {
		how := firm
		if place[4] >= 0 {
			how = list
		}
		at := n.to + place[1]
		if how == list && quoteAt(text, at-1) != 0 {
			at-- // a string after a space
		}
		if n.valuesAt(text, at, how, yield) {
			return
		}
		if in := wrapping().FindIndex(text[at:min(len(text), at+200)]); in[1] > 0 && (how == firm || quoteAt(text, at+in[1]) != 0) && n.valuesAt(text, at+in[1], max(how, list), yield) {
			return
		}
	}
	if place := n.element(text); place != nil {
		at := n.to + place[1]
		if end := bytes.IndexByte(text[at:], '<'); end >= shortest && end < 400 {
			body := bytes.TrimSpace(text[at : at+end])
			from := at + bytes.Index(text[at:], body)
			if !bytes.ContainsAny(body, " \t\n") && yield(value{from, from + len(body), firm, '<', rest[0] != '>'}) {
				return
			}
		}
	}
	n.nearby(text, yield)
}

// element returns where the text of the element begins that a name belongs to, or nil.
func (n name) element(text []byte) []int {
	rest := text[n.to:min(len(text), n.to+200)]
	if n.from == 0 || bytes.IndexByte(rest, '>') < 0 {
		return nil
	}
	if before := text[n.from-1]; before != '<' && before != ':' && !(before == '>' && rest[0] == '<') && !isMember(text[:n.from]) {
		return nil
	}
	return inElement().FindIndex(rest)
}

// inElement matches what stands between a name and a value that is the text of an element.
var inElement = lazy.Pattern(`^(?:["'][^<>\n]{0,80}>\s{0,40}(?:<\w+>\s{0,40})?|</[\w:]+>\s{0,40}<[\w:]+[^<>\n]{0,40}>\s{0,40}|(?:[ \t][^<>\n]{0,100})?>\s{0,40}(?:<!\[CDATA\[)?)`)

// valuesAt yields the values that begin at an offset: in quotes, or bare, whole or up to a sign that may end it.
func (n name) valuesAt(text []byte, at int, how tie, yield func(value) bool) bool {
	for at < len(text) && text[at] == '\\' && at+1 < len(text) && bytes.IndexByte([]byte(quotes), text[at+1]) >= 0 {
		at++
	}
	if at >= len(text) {
		return false
	}
	quote := quoteAt(text, at)
	if quote != 0 {
		at++
	}
	inner := at
	if in := scheme().FindIndex(text[inner:min(len(text), inner+40)]); in != nil {
		inner += in[1]
	}
	for _, from := range slices.Compact([]int{inner, at}) {
		if to, found := phraseEnd(text, from, n.kind); found && yield(value{from, to, how, quote, false}) {
			return true
		}
		if quote != 0 {
			escaped := at > 1 && text[at-2] == '\\'
			if _, to, found := quotedAt(text, from, quote, escaped); found {
				return to-from >= shortest && yield(value{from, to, how, quote, false})
			}
		}
		if n.bare(text, from, quote, how, yield) {
			return true
		}
	}
	return quote != 0 && n.bare(text, at-1, 0, how, yield) // it begins with a sign that is no quote
}

// bare yields a bare value: up to a space, and up to the first sign that may end it.
func (n name) bare(text []byte, from int, quote byte, how tie, yield func(value) bool) bool { //nolint:gocyclo // one question about the text after the other
	within := quoteAt(text, n.from-1)
	inQuery := bytes.ContainsAny(lineBefore(text[:n.from]), "?&'\"`")
	to := from
	for to < len(text) && !isSpace(text[to]) && text[to] != within && !bytes.HasPrefix(text[to:], []byte("</")) {
		// The next parameter of an address begins, or what is escaped within a string ends.
		if text[to] == '&' && inQuery && parameter().Match(text[to:]) || text[to] == '\\' && to+1 < len(text) && bytes.IndexByte([]byte(`nrt"'\`), text[to+1]) >= 0 {
			break
		}
		to++
	}
	if quote == 0 && to-from >= shortest && (to == len(text) || text[to] == within && within != 0 || text[to] == '&' || text[to] == '\\' || endsLine(text[to:])) && yield(value{from, to, how, 0, false}) {
		return true
	}
	word := text[from:to]
	for tries := 0; len(word) >= shortest && tries < 12; tries++ {
		word = bytes.TrimRight(word, ".,;:!?)\"'`\\*")
		if yield(value{from, from + len(word), max(how, near), 0, false}) {
			return true
		}
		cut := bytes.LastIndexAny(word, "\"'`,;&<>)]}|\\#@")
		if cut < 0 {
			break
		}
		word = word[:cut]
	}
	return false
}

// parameter matches the beginning of the next one in the query of an address.
var parameter = lazy.Pattern(`^&(?:amp;)?[a-zA-Z][\w.-]{2,30}=`)

// phraseEnd finds the end of a secret that has spaces: an app password in four groups, and the words of a wallet.
func phraseEnd(text []byte, from int, of promise) (to int, found bool) {
	window := text[from:min(len(text), from+250)]
	place := groups().FindIndex(window)
	if place == nil && of == words12 {
		place = mnemonic().FindIndex(window)
	}
	if place == nil {
		return 0, false
	}
	to = from + place[1]
	return to, to == len(text) || !isWord(text[to]) && (text[to] != ' ' || of == words12)
}

var (
	groups   = lazy.Pattern(`^[a-z]{4}(?:[ -][a-z]{4}){3}`)
	mnemonic = lazy.Pattern(`^(?:[a-z]{3,8} ){11}(?:(?:[a-z]{3,8} ){3}){0,4}?[a-z]{3,8}`)
)

// nearby yields words that follow a name on its line, or on the next one if it ends its own, or that precede it, as in
// a sentence or an option.
func (n name) nearby(text []byte, yield func(value) bool) { //nolint:gocyclo // one question about the text after the other
	at, how := n.to, near
	below := n.kind == password && at+1 < len(text) && (quoteAt(text, at) != 0 || text[at] == ':')
	for words, lines := 0, 0; words < 9; words++ {
		for at < len(text) && (text[at] == ' ' || text[at] == '\t' || text[at] == '\r' || text[at] == '\n' && words == 0 && lines < 3 && below || bytes.IndexByte([]byte("\"'`([{<*=:,|>-\\"), text[at]) >= 0) {
			if text[at] == '\n' {
				lines++
			}
			at++
		}
		if at == len(text) || text[at] == '\n' {
			break
		}
		from := at
		for at < len(text) && !isSpace(text[at]) {
			at++
		}
		if at-from >= 10 && hasDigit(text[from:at]) {
			if line := lineBefore(text[:n.from]); how == near && !bare().Match(line) && !login().Match(line) {
				how = loose
			}
			if n.bare(text, from, 0, how, yield) {
				return
			}
		}
		if lines > 0 && !bytes.Equal(text[from:at], []byte("send")) {
			return
		}
		if !isNumber(string(text[from:at])) { // the kind of a password in a router's configuration
			how = loose
		}
	}
	line := lineBefore(text[:n.from])
	if n.kind != password || !hasDigit(line) {
		return
	}
	before := bytes.Fields(line)
	end := n.from
	for i := len(before) - 1; i >= max(0, len(before)-5); i-- {
		from := bytes.LastIndex(text[:end], before[i])
		word := bytes.Trim(before[i], "\"'`*()")
		if at := from + bytes.Index(before[i], word); len(word) >= 10 && yield(value{at, at + len(word), loose, 0, false}) {
			return
		}
		end = from
	}
}

// memberOf finds the value that belongs to a name in a pair, as in the lists of variables of Kubernetes and Compose
// and in XML:
//
//	{"name": "DB_PASSWORD", "value": "…"}
//	- name: DB_PASSWORD
//	  value: …
//	<property name="password" value="…"/>
//
// It stands behind the name, or else before it, in the same object, list item or element.
func memberOf(text []byte, n name) (from, to int, found bool) {
	if !isMember(text[:n.from]) {
		return 0, 0, false
	}
	behind := text[n.to:min(len(text), n.to+far)]
	for _, place := range member().FindAllIndex(behind, -1) {
		if !border().Match(behind[:place[0]]) {
			if from, to, found = memberAt(text, n.to+place[1]); found {
				return from, to, true
			}
		}
	}
	begin := max(0, n.from-far)
	before := text[begin:n.from]
	for _, place := range member().FindAllIndex(before, -1) {
		from, to, found = memberAt(text, begin+place[1])
		if found && to < n.from && !border().Match(text[to:n.from]) {
			return from, to, true
		}
	}
	return 0, 0, false
}

// isMember reports whether text ends with the beginning of a member that names something.
func isMember(text []byte) bool {
	text = bytes.TrimRight(bytes.TrimRight(text, quotes+`\`), " \t")
	if len(text) == 0 || text[len(text)-1] != ':' && text[len(text)-1] != '=' {
		return false
	}
	text = bytes.TrimRight(text[:len(text)-1], " \t\\"+quotes)
	return slices.ContainsFunc([]string{"name", "key", "variable"}, func(word string) bool { return endsFold(text, word) })
}

func endsFold(text []byte, word string) bool {
	return len(text) >= len(word) && bytes.EqualFold(text[len(text)-len(word):], []byte(word))
}

// memberAt finds a value of a pair: in quotes, or up to the end of the line.
func memberAt(text []byte, at int) (from, to int, found bool) {
	if quote := quoteAt(text, at); quote != 0 {
		at++
		if in := scheme().FindIndex(text[at:min(len(text), at+40)]); in != nil {
			at += in[1]
		}
		return quotedAt(text, at, quote, at > 1 && text[at-2] == '\\')
	}
	to = at
	for to < len(text) && !isSpace(text[to]) && !bytes.HasPrefix(text[to:], []byte("</")) {
		to++
	}
	return at, to, to-at >= shortest && endsLine(text[to:])
}

// member matches the name of the value in a pair, and its operator.
var member = lazy.Pattern(`(?i)(?:value|content|val|data|default)["']?[ \t]*[:=][ \t]*\\?`)

// border matches what ends the object, the item or the element that the two halves of a pair have to share.
var border = lazy.Pattern(`[{}<>]|\n[ \t]*- |\n[ \t]*\n`)

// heads reports whether a name may be the head of a column.
func (n name) heads(text []byte) bool {
	i := n.to
	for i < len(text) && (text[i] == ' ' || quoteAt(text, i) != 0) {
		i++
	}
	if i == len(text) || bytes.IndexByte([]byte(",;\t|)\r\n"), text[i]) < 0 || bytes.ContainsAny(lineBefore(text[:n.from]), "=:{") {
		return false
	}
	_, rows, found := bytes.Cut(text[i:min(len(text), i+reach)], []byte{'\n'})
	return found && hasDigit(rows)
}

// rows yields the values of the column that a name heads, in a table with one row on each line, or in a statement of
// SQL.
func (n name) rows(text []byte, yield func(value)) {
	begin := max(0, n.from-longestReach)
	begin += bytes.LastIndexByte(text[begin:n.from], '\n') + 1
	head := heading().Find(text[begin:])
	if head == nil || begin+len(head) < n.to || n.vague || n.kind == key {
		return
	}
	line, indented := begin, bytes.TrimLeft(head, " \t")
	sign := indented[bytes.IndexAny(indented, ",;\t|")]
	if open := bytes.LastIndexByte(text[begin:n.from], '('); open >= 0 {
		begin += open + 1
	}
	column, columns := bytes.Count(text[begin:n.from], []byte{sign}), bytes.Count(head[:bytes.IndexByte(head, '\n')+1], []byte{sign})
	at := line + len(head)
	for rows := 0; at < len(text) && rows < 100; rows++ {
		stop := len(text)
		if next := bytes.IndexByte(text[at:], '\n'); next >= 0 {
			stop = at + next
		}
		fields := bytes.Split(text[at:stop], []byte{sign})
		if len(fields) <= column || len(fields) <= columns {
			return
		}
		from := at
		for _, field := range fields[:column] {
			from += len(field) + 1
		}
		field := bytes.TrimRight(fields[column], " \t\r);`'\"")
		from += len(field) - len(bytes.TrimLeft(field, " \t`'\"N"))
		field = bytes.TrimLeft(field, " \t`'\"N")
		if len(field) >= shortest {
			yield(value{from, from + len(field), near, 0, false})
		}
		at = stop + 1
	}
}

// heading matches the first line of a table, up to its end, or the columns of a statement of SQL.
var heading = lazy.Pattern(`^(?i:[ \t]*(?:(?:` + field + `,)+` + field + `|(?:` + field + `;)+` + field + `|(?:` + field + `\t)+` + field + `|\|(?:` + field + `\|)+)[ \t]*\r?\n(?:\|[ |:-]+\|?[ \t]*\r?\n)?` +
	`|[^\n(]{0,80}\((?: ?["'\x60]?\w{1,40}["'\x60]?,)+ ?["'\x60]?\w{1,40}["'\x60]?\)\s*values\s*\()`)

const field = `[ *]*["']?[a-z][\w .-]{0,40}["']?[ *]*`

func quoteAt(text []byte, at int) byte {
	if at >= 0 && at < len(text) && bytes.IndexByte([]byte(quotes), text[at]) >= 0 {
		return text[at]
	}
	return 0
}

// quotes begin and end a string in programming languages.
const quotes = "\"'`"

// quotedAt finds the end of a string. Only signs are escaped in a secret: other escapes,
// such as \x00, are those of binary data.
func quotedAt(text []byte, from int, quote byte, escaped bool) (start, end int, found bool) {
	for i := from; i < len(text) && !isSpace(text[i]); i++ {
		switch {
		case text[i] == quote:
			return from, i, i+1 == len(text) || !isWord(text[i+1])
		case text[i] != '\\':
		case asUnicode(text[i:]):
			i += len(`\u0026`) - 1
		case i+1 < len(text) && (text[i+1] == 'n' || text[i+1] == 'r') && i+2 < len(text) && text[i+2] == quote:
			return from, i, true
		case i+1 == len(text) || isWord(text[i+1]) || isSpace(text[i+1]):
			return 0, 0, false
		case escaped && text[i+1] == quote:
			return from, i, true
		default:
			i++
		}
	}
	return 0, 0, false
}

// asUnicode reports whether text begins with an escape such as \u0026, which some JSON encoders
// write for characters that have a meaning in HTML.
func asUnicode(text []byte) bool {
	return len(text) >= 6 && bytes.HasPrefix(text, []byte(`\u00`)) && '2' <= text[4] && text[4] <= '7' && hexadecimal().Match(text[5:6])
}

// endsLine reports whether a bare value may end before this text: at a line's end, a comment,
// or the end of an element.
func endsLine(text []byte) bool {
	rest := bytes.TrimLeft(text, " \t")
	if len(rest) == 0 || rest[0] == '\n' || bytes.HasPrefix(rest, []byte("\r\n")) || bytes.HasPrefix(rest, []byte("</")) {
		return true
	}
	return rest[0] == '#' && len(rest) < len(text)
}

func isSpace(b byte) bool { return b == ' ' || '\t' <= b && b <= '\r' }
