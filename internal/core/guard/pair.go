package guard

import "bytes"

// A secret may be beside its name instead of after it, as in the lists of variables of Kubernetes
// and Compose and in XML:
//
//	{"name": "DB_PASSWORD", "value": "…"}
//	- name: DB_PASSWORD
//	  value: …
//	<property name="password" value="…"/>

// namesPair reports whether the word around an offset is the name of such a pair: the value of a
// member whose own name ends with name or key.
func namesPair(text []byte, at int) bool {
	for at > 0 && inName(text[at-1]) {
		at--
	}
	// Most words follow something else.
	if at == 0 || text[at-1] > '=' && text[at-1] != '`' {
		return false
	}
	text = bytes.TrimRight(bytes.TrimRight(text[:at], quotes), " \t")
	if len(text) == 0 || text[len(text)-1] != ':' && text[len(text)-1] != '=' {
		return false
	}
	text = bytes.TrimRight(text[:len(text)-1], " \t"+quotes)
	return endsFold(text, "name") || endsFold(text, "key")
}

func endsFold(text []byte, word string) bool {
	return len(text) >= len(word) && bytes.EqualFold(text[len(text)-len(word):], []byte(word))
}

func inName(b byte) bool { return isWord(b) || b == '-' || b == '.' }

// far is how far apart the name and the value of a pair may be, in bytes.
const far = 300

// pairedWith finds the value that belongs to the name of a pair, which is text[from:to]: after it,
// or else before it, in the same object, list item or element.
func pairedWith(text []byte, from, to int) (start, end int, found bool) {
	behind := text[to:min(len(text), to+far)]
	for _, place := range member().FindAllSubmatchIndex(behind, -1) {
		if !crosses(behind[:place[0]]) {
			if start, end, found = memberAt(text, to+place[1]); found {
				return start, end, true
			}
		}
	}
	begin := max(0, from-far)
	before := text[begin:from]
	for _, place := range member().FindAllSubmatchIndex(before, -1) {
		start, end, found = memberAt(text, begin+place[1])
		if found && end < from && !crosses(text[end:from]) {
			return start, end, true
		}
	}
	return 0, 0, false
}

// memberAt finds a value as valueAt does. In an object on one line, a bare value ends with the line
// only.
func memberAt(text []byte, at int) (from, to int, found bool) {
	return valueAt(text[:min(len(text), at+reach)], at, 0)
}

// member matches the name of the value in a pair, and its operator.
var member = lazily(`(?i)value["']?[ \t]*[:=][ \t]*\\?`)

// crosses reports whether what stands between the two halves of a pair ends the object, the
// item or the element that they have to share.
func crosses(between []byte) bool { return border().Match(between) }

var border = lazily(`[{}<>]|\n[ \t]*- |\n[ \t]*\n`)

// isPaired checks the value of a pair in the same way as the value of a variable of that name.
func isPaired(m match) bool {
	name := append(bytes.Clone(m.groups[0]), '=')
	if aside().Match(name) || m.quote == 0 && (isComputed(m.secret) || !isStrong(m.secret) && bytes.ContainsAny(m.secret, signs)) {
		return false
	}
	return isStrong(m.secret) || chosen().Match(name) && isChosen(m.secret)
}

// chosen matches names of what people choose.
var chosen = lazily(`(?i)pass|pwd`)
