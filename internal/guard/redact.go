package guard

// Redact returns the text with each secret replaced by [secret: <rule>], and the rules that
// matched. It has no bounds, so it is meant for short texts such as messages.
func Redact(text string) (redacted string, found []string) {
	scan := New(nil, nil).scan(textFile)
	scan.unbounded = true
	scan.search([]byte(text), 0, 0, len(text))
	out, _ := scan.replace([]byte(text), func(f Finding) (string, bool) {
		found = append(found, f.Rule)
		return "[secret: " + f.Rule + "]", true
	})
	return string(out), found
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
	return scan.replace(content, pick)
}

// replace replaces what search has found in content.
func (s *scan) replace(content []byte, pick func(Finding) (string, bool)) ([]byte, int) {
	var out []byte
	var done int64
	count := 0
	for _, found := range distinct(s.found) {
		if text, replaced := pick(found.Finding); replaced {
			out = append(append(out, content[done:found.from]...), text...)
			done, count = found.to, count+1
		}
	}
	return append(out, content[done:]...), count
}
