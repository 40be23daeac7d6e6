package record

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"git-checkpoint/internal/format/name"
)

// trailerPrefix begins all trailers of this program.
const trailerPrefix = "Checkpoint-"

// trailers returns the last paragraph of the message. Empty values are left out, because git may
// join an empty trailer with the next line.
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

// Summary holds what a checkpoint's commit message repeats of the record, so that a list needs no
// records. Message is the first line of the user's message. All texts are single lines, shortened,
// and not trustworthy: anyone may have written the commit.
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

// ParseMessage reads the message of a checkpoint's commit. It looks for trailers in the last
// paragraph only. One of our trailers that occurs twice, is malformed or is missing though required
// is an error; other trailers are ignored.
func ParseMessage(message string) (Summary, error) {
	body, block := cutTrailers(message)
	values := map[string]string{}
	for line := range strings.Lines(block) {
		key, value, found := strings.Cut(line, ":")
		key, ours := strings.CutPrefix(key, trailerPrefix)
		if !found || !ours {
			continue
		}
		if _, twice := values[key]; twice {
			return Summary{}, fmt.Errorf("parsing checkpoint message: trailer %q occurs twice", trailerPrefix+clip(key, 60))
		}
		values[key] = oneLine(value, maxValue)
	}
	s, err := summarize(values)
	if err != nil {
		return Summary{}, fmt.Errorf("parsing checkpoint message: %w", err)
	}
	s.Message = userLine(body)
	return s, nil
}

// cutTrailers splits the last paragraph off a message.
func cutTrailers(message string) (body, block string) {
	message = withoutFooter(strings.TrimRight(message, "\n"))
	if i := strings.LastIndex(message, "\n\n"); i >= 0 {
		return message[:i], message[i+2:]
	}
	return message, ""
}

// withoutFooter removes the paragraph that BFG adds to each commit that it makes anew.
func withoutFooter(message string) string {
	i := strings.LastIndex(message, "\n\n")
	for line := range strings.Lines(message[i+1:]) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "Former-commit-id: ") {
			return message
		}
	}
	return strings.TrimRight(message[:max(i, 0)], "\n")
}

// summarize parses the trailers. Numbers have the same limits as in a record.
func summarize(values map[string]string) (s Summary, err error) {
	for _, t := range []struct {
		key  string
		read func(value string) error
	}{
		{"Id", func(v string) (err error) { s.ID, err = name.ParseID(v); return }},
		{"Session", func(v string) (err error) { s.Session, err = name.ParseSession(v); return }},
		{"Step", func(v string) (err error) { s.Step, err = parseNumber(v, maxStep); return }},
		{"Label", func(v string) (err error) { s.Label, err = parseLabel(v); return }},
		{"Milestone", func(v string) (err error) { s.Milestone, err = parseFlag(v); return }},
		{"Created-At", func(v string) (err error) { s.CreatedAt, err = time.Parse(timeForm, v); return }},
		{"Files", func(v string) (err error) { s.Files, err = parseNumber(v, math.MaxInt); return }},
		{"Record", func(v string) (err error) { s.Checksum, err = parseChecksum(v); return }},
	} {
		if err = t.read(values[t.key]); err != nil {
			return s, fmt.Errorf("trailer %q: %w", trailerPrefix+t.key, err)
		}
	}
	s.StepName, s.Iteration = values["Step-Name"], values["Iteration"]
	s.Trigger, s.Status = values["Trigger"], values["Status"]
	return s, nil
}

func parseNumber(text string, limit int) (int, error) {
	n, err := strconv.Atoi(text)
	if err != nil || strconv.Itoa(n) != text {
		return 0, fmt.Errorf("not a number: %q", clip(text, 60))
	}
	return n, inRange(n, limit)
}

func parseFlag(text string) (bool, error) {
	if text != "true" && text != "false" {
		return false, fmt.Errorf("neither true nor false: %q", clip(text, 60))
	}
	return text == "true", nil
}

// userLine returns the first line of the user's message from a commit message without trailers, or
// "" if a section follows the subject directly.
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

// Agree compares a record with the summary in its commit message. It returns the names of the
// members that differ, in the order of the record, and nil if all agree. Texts are compared in the
// shortened form that a commit message has.
func Agree(r *Record, s Summary) []string {
	var differ []string
	for _, m := range []struct {
		name string
		same bool
	}{
		{"id", r.ID == s.ID},
		{"label", r.Label == s.Label},
		{"session", r.Session == s.Session},
		{"step", r.Step == s.Step},
		{"step_name", oneLine(r.StepName, maxValue) == s.StepName},
		{"iteration", oneLine(r.Iteration, maxValue) == s.Iteration},
		{"milestone", r.Milestone == s.Milestone},
		{"trigger", oneLine(r.Trigger, maxValue) == s.Trigger},
		{"status", oneLine(r.Status, maxValue) == s.Status},
		{"message", firstLine(r.Message) == s.Message},
		{"created_at", r.CreatedAt.UnixMilli() == s.CreatedAt.UnixMilli()},
		{"files", r.Files.Total() == s.Files},
		{"checksum", r.Checksum == s.Checksum},
	} {
		if !m.same {
			differ = append(differ, m.name)
		}
	}
	return differ
}

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
