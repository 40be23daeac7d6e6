package render

import (
	"strings"
	"time"
)

// UTC returns t as RFC 3339 in UTC, with a resolution of one second. It is empty for the zero time.
func UTC(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339)
}

// Ago returns how long before now t was, in the words and with the rounding of git's
// --date=relative, so that both agree when read side by side.
func Ago(t, now time.Time) string {
	if t.IsZero() {
		return ""
	}
	// Use seconds, since a time.Duration cannot hold more than 292 years.
	n := now.Unix() - t.Unix()
	if n < 0 {
		return "in the future"
	}
	if n < 90 {
		return Count(n, "second", "seconds") + " ago"
	}
	if n = (n + 30) / 60; n < 90 {
		return Count(n, "minute", "minutes") + " ago"
	}
	if n = (n + 30) / 60; n < 36 {
		return Count(n, "hour", "hours") + " ago"
	}
	days := (n + 12) / 24
	switch {
	case days < 14:
		return Count(days, "day", "days") + " ago"
	case days < 70:
		return Count((days+3)/7, "week", "weeks") + " ago"
	case days < 365:
		return Count((days+15)/30, "month", "months") + " ago"
	case days < 5*365:
		return yearsAndMonths(days) + " ago"
	}
	return Count((days+183)/365, "year", "years") + " ago"
}

// Age is Ago in a few columns: 7s, 3m, 2d, 5w, 3mo, 2y, or "later" for a time in the future.
func Age(t, now time.Time) string {
	words := strings.Fields(Ago(t, now))
	switch {
	case len(words) == 0:
		return ""
	case words[0] == "in":
		return "later"
	case strings.HasPrefix(words[1], "mo"):
		return words[0] + "mo"
	}
	return words[0] + words[1][:1]
}

// yearsAndMonths returns a number of days in years and months, rounded like git does.
func yearsAndMonths(days int64) string {
	months := (days*12*2 + 365) / (365 * 2)
	years := Count(months/12, "year", "years")
	if months%12 == 0 {
		return years
	}
	return years + ", " + Count(months%12, "month", "months")
}
