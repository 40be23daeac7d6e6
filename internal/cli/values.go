package cli

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"

	"git-checkpoint/internal/checkpoint"
	"git-checkpoint/internal/create"
	"git-checkpoint/internal/name"
)

// assignment is <path>=<value> on the command line.
type assignment struct{ Path, Value string }

// UnmarshalText splits at the first "=".
func (a *assignment) UnmarshalText(text []byte) error {
	path, value, found := strings.Cut(string(text), "=")
	if !found || path == "" {
		return fmt.Errorf("%q has no name and value, as in name=value", text)
	}
	*a = assignment{path, value}
	return nil
}

func assigns(given []assignment) []create.Assign {
	var made []create.Assign
	for _, a := range given {
		made = append(made, create.Assign(a))
	}
	return made
}

var ago = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(\d{1,6})(s|m|h|d|w)$`) })

// since reads a point in time: RFC 3339, a date or date and time of this place, or
// how long ago it was (30d, 12h).
func since(text string, now time.Time) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	if m := ago().FindStringSubmatch(text); m != nil {
		n, err := strconv.Atoi(m[1])
		if err != nil {
			return time.Time{}, err
		}
		switch m[2] { // a Duration ends after 292 years
		case "d":
			return now.AddDate(0, 0, -n), nil
		case "w":
			return now.AddDate(0, 0, -7*n), nil
		}
		unit := map[string]time.Duration{"s": time.Second, "m": time.Minute, "h": time.Hour}[m[2]]
		return now.Add(-time.Duration(n) * unit), nil
	}
	if t, err := time.Parse(time.RFC3339Nano, text); err == nil {
		return t, nil
	}
	for _, layout := range []string{time.DateOnly, "2006-01-02 15:04", time.DateTime, "2006-01-02T15:04", "2006-01-02T15:04:05"} {
		if t, err := time.ParseInLocation(layout, text, now.Location()); err == nil {
			return t, nil
		}
	}
	return time.Time{}, usageError(fmt.Sprintf("%q is no time", name.Clip(text, name.Said)),
		"2026-11-20, 2026-11-20T09:43:11Z, or how long ago: 30d, 12h")
}

func hintsOf(err error) []string {
	var known *checkpoint.Error
	if errors.As(err, &known) {
		return known.Hints[:len(known.Hints):len(known.Hints)]
	}
	return nil
}
