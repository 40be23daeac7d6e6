package record

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"git-checkpoint/internal/sys/lazy"
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

// Text from users and agents is made safe for a commit message. Such a text could act on
// the terminal of whoever runs git log, pass for a trailer, or be cut off by git commands that look
// for scissors or patches.

// Limits of texts in a commit message: maxMessage in bytes, maxValue in characters. The record has
// the full text.
const (
	maxMessage = 64 << 10
	maxValue   = 256
)

// special matches the beginning of such lines: scissors, the divider before a patch ("---"), the
// armor of a signature ("-----BEGIN"), a signature header, and our own trailers and headings.
var special = lazy.Pattern(`(?i)^ *(---|gpgsig|Checkpoint-|(Topic|Files changed|Metrics):|(\S{0,8}[ \t]*-[- ]*)?(>8|8<|>%|%<))`)

// paragraphs returns a message that is safe in a commit: without control characters, without
// special lines, and without blank lines at either end.
func paragraphs(message string) string {
	const indent = "    " // inserted before a line that git or ParseMessage would misinterpret
	text := tame(clip(message, maxMessage))
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		line = strings.TrimRight(line, " \t")
		if special().MatchString(line) {
			line = indent + line
		}
		lines[i] = line
	}
	return strings.Trim(strings.Join(lines, "\n"), "\n")
}

// tame replaces control characters other than newline and tab by their Unicode pictures. git's C
// strings end at a NUL, and git log writes the others to the terminal. C1 controls have no pictures
// and become U+FFFD.
func tame(text string) string {
	text = strings.ReplaceAll(strings.ToValidUTF8(text, "\ufffd"), "\r\n", "\n")
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t' || !isControl(r):
			return r
		case r < 0x20:
			return 0x2400 + r
		case r == 0x7f:
			return 0x2421
		}
		return utf8.RuneError
	}, text)
}

// oneLine returns a text as one line of at most limit characters, with each run of white space as
// one space. It is used for trailers and headings.
func oneLine(text string, limit int) string {
	if text = strings.Trim(text, " \n"); len(text) <= limit && isPlain(text) {
		return text
	}
	// Bound the work for long texts: no more bytes than this can matter.
	text = tame(clip(text, 4*limit+4*utf8.UTFMax))
	runes := []rune(strings.Join(strings.Fields(text), " "))
	if len(runes) <= limit {
		return string(runes)
	}
	return strings.TrimSpace(string(runes[:limit-1])) + "…"
}

// isPlain reports whether oneLine has nothing to change. It is the fast path: a list calls oneLine
// for every trailer of every checkpoint. text must have no spaces at its ends.
func isPlain(text string) bool {
	for i := 0; i < len(text); i++ {
		if text[i] <= ' ' && (text[i] != ' ' || text[i-1] == ' ') || text[i] >= 0x7f {
			return false
		}
	}
	return true
}

// firstLine returns the first line of a message in the form that lists show.
func firstLine(message string) string {
	first, _, _ := strings.Cut(paragraphs(message), "\n")
	return oneLine(first, maxValue)
}

// FirstWords shortens text to limit characters, if possible at the end of a word.
func FirstWords(text string, limit int) string {
	short := oneLine(text, limit)
	if short == oneLine(text, maxValue) {
		return short
	}
	if i := strings.LastIndexByte(short, ' '); i > limit/2 {
		return short[:i] + "…"
	}
	return short
}
