package render

import (
	"fmt"
	"strings"
)

// Role is what a piece of text means; the style decides how that looks.
type Role uint8

// The roles. Normal text has no colour.
const (
	Normal Role = iota
	Success
	Warning
	Error
	Hint
	ID
	Dim
	Added
	Removed
	Heading
)

// sgr follows git where git has a colour for the same thing: hints and commit ids
// yellow, added green, removed red.
func (r Role) sgr() string {
	switch r {
	case Success, Added:
		return "\x1b[32m"
	case Warning:
		return "\x1b[1;33m"
	case Error:
		return "\x1b[1;31m"
	case Hint, ID:
		return "\x1b[33m"
	case Dim:
		return "\x1b[2m"
	case Removed:
		return "\x1b[31m"
	case Heading:
		return "\x1b[1m"
	}
	return ""
}

const sgrReset = "\x1b[0m"

// Style says whether roles become colours.
type Style uint8

// Plain is the zero style.
const (
	Plain Style = iota
	Coloured
)

// Paint escapes text for one line and gives it its role's colour.
func (s Style) Paint(role Role, text string) string { return s.wrap(role, Escape(text)) }

func (s Style) wrap(role Role, escaped string) string {
	code := role.sgr()
	if s == Plain || code == "" || escaped == "" {
		return escaped
	}
	return code + escaped + sgrReset
}

// ColorWhen is the setting color.ui of git.
type ColorWhen uint8

// ColorAuto, the zero value, colours on a terminal only.
const (
	ColorAuto ColorWhen = iota
	ColorAlways
	ColorNever
)

// ParseColorWhen reads a value of color.ui as git does: a boolean true means auto.
func ParseColorWhen(value string) (ColorWhen, error) {
	switch strings.ToLower(value) {
	case "auto", "true", "yes", "on", "1":
		return ColorAuto, nil
	case "always":
		return ColorAlways, nil
	case "never", "false", "no", "off", "0", "":
		return ColorNever, nil
	}
	return ColorAuto, fmt.Errorf("unknown colour setting %q: always, auto or never", value)
}

// Screen is what is known of the place a text goes to.
type Screen struct {
	Terminal bool
	Term     string // $TERM
	NoColor  string // $NO_COLOR
}

// Style decides for one screen. "always" is an explicit wish and beats NO_COLOR, which
// is how git and no-color.org have it. An unset TERM is a dumb terminal, as for git.
func (c ColorWhen) Style(s Screen) Style {
	switch {
	case c == ColorAlways:
		return Coloured
	case c == ColorNever, !s.Terminal, s.NoColor != "", s.Term == "", s.Term == "dumb":
		return Plain
	}
	return Coloured
}
