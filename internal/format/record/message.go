package record

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
)

// The maximum size of the parts of a commit message: characters of a title, lines of a list.
const (
	maxTitle   = 60
	maxFiles   = 10
	maxMetrics = 20
)

// Headings of the sections. Lines of the user's message that begin like one are indented, see
// special.
const (
	topicHeading   = "Topic:"
	filesHeading   = "Files changed:"
	metricsHeading = "Metrics:"
)

// Message returns the message of a checkpoint's commit: subject, the user's words, topic, files,
// metrics, and the trailers that ParseMessage reads. r must be sealed. metrics is the object in the
// state that the workflow keeps its metrics in, or nil.
//
// No text in r or metrics can add a trailer: lines that look like one are indented, and the
// trailers are a paragraph of their own at the end.
func Message(r *Record, metrics json.RawMessage) string {
	parts := []string{subject(r), paragraphs(r.Message)}
	if topic := oneLine(r.Topic, maxValue); topic != "" {
		parts = append(parts, topicHeading+" "+topic)
	}
	parts = append(parts, filesSection(r.Files), metricsSection(metrics), trailers(r))
	var b strings.Builder
	for _, part := range parts {
		if part == "" {
			continue
		}
		if b.Len() > 0 {
			b.WriteString("\n\n")
		}
		b.WriteString(part)
	}
	return b.String() + "\n"
}

// subject returns the first line: the number and the first line of the message, or what describes the checkpoint
// without one. Where the step has a name, the workflow's documents give the format.
func subject(r *Record) string {
	if r.StepName != "" {
		return namedSubject(r)
	}
	number := oneLine(Number(r.Step, r.Milestone, r.Iteration, r.Label), maxTitle)
	said := oneLine(firstLine(r.Message), maxValue)
	if files := oneLine(r.Files.Named(), maxValue); said == "" && files != "" {
		said = "(" + files + ")"
	}
	if said == "" && !r.Milestone {
		said = oneLine(r.Trigger, maxTitle)
	}
	if said == "" {
		return number
	}
	return number + " " + said
}

// namedSubject is subject for a step with a name. A milestone is named like its tag, step-6.2, and any other
// checkpoint by its step and the count in its label, step-3+2; then follows a title.
func namedSubject(r *Record) string {
	s := fmt.Sprintf("checkpoint: step-%d", r.Step)
	title := oneLine(r.StepName, maxTitle)
	if iteration := oneLine(r.Iteration, maxTitle); iteration != "" {
		s += "." + iteration
	}
	if !r.Milestone {
		if i := strings.LastIndexByte(r.Label, '+'); i >= 0 {
			s += oneLine(r.Label[i:], maxTitle)
		}
		if title = FirstWords(firstLine(r.Message), maxTitle); title == "" {
			title = oneLine(r.Trigger, maxTitle)
		}
	}
	return s + " - " + title
}

// Number returns what people type for a checkpoint: the number of its step with its iteration or,
// between steps, with the count after the last "+" of its label: 3, 6.2 or 3+1.
func Number(step int, milestone bool, iteration, label string) string {
	number := strconv.Itoa(step)
	if !milestone {
		if i := strings.LastIndexByte(label, '+'); i >= 0 {
			return number + label[i:]
		}
		return number
	}
	if iteration != "" {
		return number + "." + iteration
	}
	return number
}

// filesSection returns the number of changed files and the first few paths.
func filesSection(f Files) string {
	if f.Total() == 0 {
		return filesHeading + " none"
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s %d created, %d modified, %d deleted", filesHeading, f.Counts[0], f.Counts[1], f.Counts[2])
	left := maxFiles
	for _, list := range []struct {
		letter string
		paths  []Path
	}{{"A", f.Created}, {"M", f.Modified}, {"D", f.Deleted}} {
		for _, p := range list.paths[:min(left, len(list.paths))] {
			text, _ := EncodePath(p)
			fmt.Fprintf(&b, "\n  %s %s", list.letter, oneLine(text, maxValue))
			left--
		}
	}
	if more := f.Total() - (maxFiles - left); more > 0 {
		fmt.Fprintf(&b, "\n  and %d more", more)
	}
	return b.String()
}

// metricsSection returns the first few metrics, or "" if there are none.
func metricsSection(metrics json.RawMessage) string {
	if !json.Valid(metrics) || kind(metrics) != '{' {
		return ""
	}
	var b strings.Builder
	seen := 0
	for name, value := range members(metrics) {
		if seen++; seen <= maxMetrics {
			text := string(value)
			if value[0] == '"' {
				text = unquote(value)
			}
			fmt.Fprintf(&b, "\n  %s: %s", oneLine(name, maxTitle), oneLine(text, maxTitle))
		}
	}
	if seen > maxMetrics {
		fmt.Fprintf(&b, "\n  and %d more", seen-maxMetrics)
	}
	if seen == 0 {
		return ""
	}
	return metricsHeading + b.String()
}
