package guard

import "strings"

// Redact returns the text with each secret replaced by [secret: <rule>], and the rules that
// matched. It has no bounds, so it is meant for short texts such as messages.
func Redact(text string) (redacted string, found []string) {
	t, in := rules(), []byte(text)
	var spans []span
	t.keywords.find(in, func(keyword, at int) bool {
		for _, rule := range t.of[keyword] {
			r := &t.rules[rule]
			if !r.mayBe(in, at) {
				continue
			}
			if m := r.at(in, at); m != nil {
				spans = append(spans, span{rule: rule, from: int64(m.from), to: int64(m.from + len(m.secret))})
			}
		}
		return true
	})
	var out strings.Builder
	var done int64
	for _, s := range distinct(spans) {
		rule := t.rules[s.rule].ID
		out.WriteString(text[done:s.from] + "[secret: " + rule + "]")
		found, done = append(found, rule), s.to
	}
	out.WriteString(text[done:])
	return out.String(), found
}

// Replace returns content with some of its secrets replaced, and how many. pick returns the
// new text for a finding, or false to keep it. Content in UTF-16 is returned unchanged.
func (s *Scanner) Replace(content []byte, pick func(Finding) (text string, replaced bool)) ([]byte, int) {
	head := content[:min(len(content), looked)]
	if utf16Order(head) != nil {
		return content, 0
	}
	scan := s.scan(kindOf(head))
	scan.search(content, 0, 0, len(content))
	var out []byte
	var done int64
	count := 0
	for _, found := range distinct(scan.found) {
		if text, replaced := pick(found.Finding); replaced {
			out = append(append(out, content[done:found.from]...), text...)
			done, count = found.to, count+1
		}
	}
	return append(out, content[done:]...), count
}
