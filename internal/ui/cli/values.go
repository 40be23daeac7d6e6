package cli

import (
	"fmt"
	"reflect"
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
		"write 2026-11-20, 2026-11-20T09:43:11Z, or an age such as 30d or 12h")
}
