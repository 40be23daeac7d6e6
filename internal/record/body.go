package record

import "strings"

// Body gives back what the message of a checkpoint's commit has of the user's words and
// the topic: as they were tamed, the lines that had to be indented still indented.
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
