package record

import "strings"

// Body returns the user's words and the topic from a checkpoint's commit message. It serves to
// rebuild a lost record. The words are as tame left them: lines that were indented to protect the
// trailers still are.
func Body(message string) (words, topic string) {
	body, _ := cutTrailers(message)
	_, rest, _ := strings.Cut(body, "\n\n")
	var kept []string
	for line := range strings.Lines(rest) {
		if value, is := strings.CutPrefix(line, topicHeading+" "); is {
			return strings.TrimSpace(strings.Join(kept, "")), strings.TrimSpace(value)
		}
		if strings.HasPrefix(line, filesHeading) || strings.HasPrefix(line, metricsHeading) {
			break
		}
		kept = append(kept, line)
	}
	return strings.TrimSpace(strings.Join(kept, "")), ""
}
