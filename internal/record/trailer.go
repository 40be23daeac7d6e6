package record

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"git-checkpoint/internal/name"
)

// trailerPrefix begins every trailer that is ours.
const trailerPrefix = "Checkpoint-"

// trailers is the last paragraph. What is empty is left out: an empty trailer is
// one that git may join with the next line.
func trailers(r *Record) string {
	var b strings.Builder
	for _, t := range []struct{ key, value string }{
		{"Id", string(r.ID)},
		{"Session", string(r.Session)},
		{"Step", strconv.Itoa(r.Step)},
		{"Step-Name", r.StepName},
		{"Iteration", r.Iteration},
		{"Label", r.Label},
		{"Milestone", strconv.FormatBool(r.Milestone)},
		{"Trigger", r.Trigger},
		{"Status", r.Status},
		{"Created-At", formatTime(r.CreatedAt)},
		{"Files", strconv.Itoa(r.Files.Total())},
		{"Record", r.Checksum},
	} {
		if value := oneLine(t.value, maxValue); value != "" {
			fmt.Fprintf(&b, "%s%s: %s\n", trailerPrefix, t.key, value)
		}
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// Summary is what a checkpoint's commit message says of it: what list shows,
// without a look at the record. Message is the first line of the user's. The
// texts are one line each, cut where they are long, and may come from anyone.
type Summary struct {
	ID        name.ID
	Label     string
	Session   name.Session
	Step      int
	StepName  string
	Iteration string
	Milestone bool
	Trigger   string
	Status    string
	CreatedAt time.Time
	Files     int
	Message   string
	Checksum  string
}

// ParseMessage reads the message of a checkpoint commit, which may come from
// anyone. Only the last paragraph is looked at for trailers; a trailer of ours
// that stands there twice, or breaks its grammar, is an error, and others are
// read past.
func ParseMessage(message string) (Summary, error) {
	body, block := cutTrailers(message)
	var values trailerList
	for line := range strings.Lines(block) {
		key, value, found := strings.Cut(line, ":")
		key, ours := strings.CutPrefix(key, trailerPrefix)
		if !found || !ours {
			continue
		}
		if !values.add(key, oneLine(value, maxValue)) {
			return Summary{}, fmt.Errorf("parsing checkpoint message: trailer %q stands twice", trailerPrefix+clip(key, 60))
		}
	}
	s, err := summarize(&values)
	if err != nil {
		return Summary{}, fmt.Errorf("parsing checkpoint message: %w", err)
	}
	s.Message = userLine(body)
	return s, nil
}

// trailerList are the trailers of a message that are ours: a few, in general, for which a
// map would take longer than all else.
type trailerList struct {
	count int
	few   [16]struct{ key, value string }
	more  map[string]string
}

// add is false where the trailer is there already.
func (l *trailerList) add(key, value string) bool {
	for _, t := range l.few[:l.count] {
		if t.key == key {
			return false
		}
	}
	if _, twice := l.more[key]; twice {
		return false
	}
	if l.count < len(l.few) {
		l.few[l.count].key, l.few[l.count].value = key, value
		l.count++
		return true
	}
	if l.more == nil {
		l.more = map[string]string{}
	}
	l.more[key] = value
	return true
}

// value is that of a trailer, "" without it.
func (l *trailerList) value(key string) string {
	for _, t := range l.few[:l.count] {
		if t.key == key {
			return t.value
		}
	}
	return l.more[key]
}

// cutTrailers splits the last paragraph off.
func cutTrailers(message string) (body, block string) {
	message = strings.TrimRight(message, "\n")
	for i := len(message) - 2; i >= 0; i-- { // faster than the library over some lines
		if message[i] == '\n' && message[i+1] == '\n' {
			return message[:i], message[i+2:]
		}
	}
	return message, ""
}

// summarize holds the grammar of each trailer. The numbers are those that a
// record may have.
func summarize(values *trailerList) (s Summary, err error) {
	for _, t := range []struct {
		key  string
		read func(value string) error
	}{
		{"Id", func(v string) (err error) { s.ID, err = name.ParseID(v); return }},
		{"Session", func(v string) (err error) { s.Session, err = name.ParseSession(v); return }},
		{"Step", func(v string) (err error) { s.Step, err = parseNumber(v, maxStep); return }},
		{"Label", func(v string) (err error) { s.Label, err = parseLabel(v); return }},
		{"Milestone", func(v string) (err error) { s.Milestone, err = parseFlag(v); return }},
		{"Created-At", func(v string) (err error) { s.CreatedAt, err = parseTime(v); return }},
		{"Files", func(v string) (err error) { s.Files, err = parseNumber(v, 0); return }},
		{"Record", func(v string) (err error) { s.Checksum, err = parseChecksum(v); return }},
	} {
		if err = t.read(values.value(t.key)); err != nil {
			return s, fmt.Errorf("trailer %q: %w", trailerPrefix+t.key, err)
		}
	}
	s.StepName, s.Iteration = values.value("Step-Name"), values.value("Iteration")
	s.Trigger, s.Status = values.value("Trigger"), values.value("Status")
	return s, nil
}

// parseTime reads what formatTime writes.
func parseTime(text string) (time.Time, error) {
	if len(text) == len(timeForm) && text[19] == '.' && text[23] == 'Z' {
		return time.Parse(time.RFC3339, text) // which the library reads without a look at the layout
	}
	return time.Parse(timeForm, text)
}

func parseNumber(text string, limit int) (int, error) {
	n, err := strconv.Atoi(text)
	if err != nil || strconv.Itoa(n) != text {
		return 0, fmt.Errorf("not a number: %q", clip(text, 60))
	}
	return n, integer[int]{at: &n, limit: limit}.inRange()
}

func parseFlag(text string) (bool, error) {
	if text != "true" && text != "false" {
		return false, fmt.Errorf("neither true nor false: %q", clip(text, 60))
	}
	return text == "true", nil
}

// userLine is the first line of the user's message in what stands before the
// trailers, empty when a section follows the subject at once.
func userLine(body string) string {
	_, rest, _ := strings.Cut(body, "\n\n")
	first, _, _ := strings.Cut(rest, "\n")
	for _, heading := range []string{topicHeading, filesHeading, metricsHeading} {
		if strings.HasPrefix(first, heading) {
			return ""
		}
	}
	return oneLine(first, maxValue)
}
