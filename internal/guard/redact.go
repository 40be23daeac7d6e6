package guard

import "strings"

// Redact replaces the secrets in a text by [secret: <rule>], and names the rules.
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
