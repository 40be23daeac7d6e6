package guard

// Redact returns the text with each secret replaced by [secret: <rule>], and the rules that
// matched. It has no bounds, so it is meant for short texts such as messages.
func Redact(text string) (redacted string, found []string) {
	const rounds = 4 // bounds how often a text is searched again after a replacement
	scanner := New(nil, nil)
	out := []byte(text)
	// What is left may look like another secret.
	for range rounds {
		scan := scanner.scan()
		scan.unbounded = true
		var count int
		out, count = scan.replace(out, func(f Finding) (string, bool) {
			found = append(found, f.Rule)
			return "[secret: " + f.Rule + "]", true
		})
		if count == 0 {
			break
		}
	}
	return string(out), found
}

// Replace returns content with some of its secrets replaced, and how many. pick returns the
// new text for a finding, or false to keep it. In a string of JSON, the new text is encoded
// as often as the secret was. All other bytes stay. Content in UTF-16 is returned unchanged.
func (s *Scanner) Replace(content []byte, pick func(Finding) (text string, replaced bool)) ([]byte, int) {
	head := content[:min(len(content), looked)]
	if _, is := utf16Order(head); is {
		return content, 0
	}
	scan := s.scan()
	scan.binary = isBinary(head)
	return scan.replace(content, pick)
}

// replace replaces what is found in content.
func (s *scan) replace(content []byte, pick func(Finding) (string, bool)) ([]byte, int) {
	piece := &layer{text: content}
	s.search(piece, 0, len(content))
	var out []byte
	var done int64
	count := 0
	for _, found := range distinct(s.found) {
		text, replaced := pick(found.Finding)
		if !replaced {
			continue
		}
		text = found.layer.encoded(text, found.at)
		out = append(append(out, content[done:found.from]...), text...)
		done, count = found.to, count+1
	}
	if count == 0 {
		return content, 0
	}
	return append(out, content[done:]...), count
}
