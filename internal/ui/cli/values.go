package cli

import (
	"fmt"
	"reflect"
	"strings"
	"time"

	"github.com/alecthomas/kong"

	"git-checkpoint/internal/core/workflow"
	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/sys/lazy"
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

// gitsWords matches a time of git's words, such as "last friday" or "2 hours", or a date with slashes or dots. git takes
// any other word for now, without an error.
var gitsWords = lazy.Pattern(`(?i)^([\d:,+/. -]|(jan|feb|mar|apr|may|june?|july?|aug|sept?|oct|nov|dec|sun|mon|tues?|wed(nes)?|thu(rs)?|fri|sat(ur)?)(\w*(uary|ch|il|ust|ember|ober|day)\b|\b)|(second|minute|hour|day|week|month|year)s?\b|(yesterday|today|now|noon|midnight|tea|never|last|ago|at|on|am|pm|utc|gmt|one|two|three|four|five|six|seven|eight|nine|ten)\b|(st|nd|rd|th)\b)+$`)

// parseSince parses the point in time of --since: RFC 3339, a local date or date and time, how long ago it was (30d, 12h), as
// for prune --older-than. An empty text gives the zero time, and so does one of git's words, which inspect.GitTime reads.
func parseSince(text string, now time.Time) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	if age, err := workflow.ParseAge(text); err == nil {
		return now.Add(-age), nil
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
	if gitsWords().MatchString(text) && strings.Trim(text, "0123456789-: ") != "" {
		return time.Time{}, nil
	}
	return time.Time{}, usage.Error(fmt.Sprintf("%q is not a time", name.Clip(text, name.Said)),
		"write 2026-11-20, 2026-11-20T09:43:11Z, an age such as 30d or 12h, or as for git \"2 hours ago\" or \"last friday\"")
}
