package cli

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"time"

	"github.com/alecthomas/kong"

	"git-checkpoint/internal/core/workflow"
	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/ui/cli/usage"
	"git-checkpoint/internal/verb/create"
)

// assign decodes a flag value of the form <path>=<value>, as in --set metrics.coverage=81.5. It
// splits the text at the first "=", so the value may contain more of them.
func assign(ctx *kong.DecodeContext, target reflect.Value) error {
	text := ctx.Scan.Pop().String()
	path, value, found := strings.Cut(text, "=")
	if !found || path == "" {
		return fmt.Errorf("%q is not of the form name=value", text)
	}
	target.Set(reflect.ValueOf(create.Assign{Path: path, Value: value}))
	return nil
}

// verbatim decodes an argument byte for byte. kong's own way replaces bytes that are not UTF-8, but
// an argument may be the name of a file, and those are bytes.
func verbatim(ctx *kong.DecodeContext, target reflect.Value) error {
	token, err := ctx.Scan.PopValue("string")
	target.SetString(token.String())
	return err
}

// since parses the point in time of --since: RFC 3339, a local date or date and time, or how long
// ago it was (30d, 12h), as for prune --older-than. An empty text gives the zero time.
func since(text string, now time.Time) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	if age, err := workflow.ParseAge(text); err == nil {
		return now.Add(-age), nil
	}
	if t, ok := ago(strings.ToLower(text), now); ok {
		return t, nil
	}
	if t, err := time.Parse(time.RFC3339Nano, text); err == nil {
		return t, nil
	}
	// A date or time without a zone is a local one.
	for _, layout := range []string{time.DateOnly, "2006-01-02 15:04", time.DateTime, "2006-01-02T15:04", "2006-01-02T15:04:05"} {
		if t, err := time.ParseInLocation(layout, text, now.Location()); err == nil {
			return t, nil
		}
	}
	return time.Time{}, usage.Error(fmt.Sprintf("%q is not a time", name.Clip(text, name.Said)),
		"write 2026-11-20, 2026-11-20T09:43:11Z, or an age such as 30d, 12h or \"2 hours ago\"")
}

// ago parses how git says a time before now: "2 hours ago", "1.week.ago", "yesterday".
func ago(text string, now time.Time) (time.Time, bool) {
	words := strings.FieldsFunc(text, func(r rune) bool { return r == ' ' || r == '.' })
	if len(words) == 1 && words[0] == "yesterday" {
		return now.AddDate(0, 0, -1), true
	}
	if len(words) < 3 || len(words)%2 == 0 || words[len(words)-1] != "ago" {
		return now, false
	}
	for i := 0; i+1 < len(words); i += 2 {
		n, err := strconv.Atoi(words[i])
		if err != nil || n < 0 || n > 1e6 {
			return now, false
		}
		switch strings.TrimSuffix(words[i+1], "s") {
		case "second":
			now = now.Add(-time.Duration(n) * time.Second)
		case "minute":
			now = now.Add(-time.Duration(n) * time.Minute)
		case "hour":
			now = now.Add(-time.Duration(n) * time.Hour)
		case "day":
			now = now.AddDate(0, 0, -n)
		case "week":
			now = now.AddDate(0, 0, -7*n)
		case "month":
			now = now.AddDate(0, -n, 0)
		case "year":
			now = now.AddDate(-n, 0, 0)
		default:
			return now, false
		}
	}
	return now, true
}
