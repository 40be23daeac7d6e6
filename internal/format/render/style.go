package render

import "strings"

// Role is the meaning of a piece of text. The Style decides what it looks like.
type Role uint8

// The roles. Normal text has no color.
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

// sgr has the escape sequences of the roles' colors. Where git has a color for the same thing, it is
// the same: yellow for hints and commit ids, green for added and red for removed.
var sgr = [...]string{
	Success: "\x1b[32m", Warning: "\x1b[1;33m", Error: "\x1b[1;31m", Hint: "\x1b[33m", ID: "\x1b[33m",
	Dim: "\x1b[2m", Added: "\x1b[32m", Removed: "\x1b[31m", Heading: "\x1b[1m",
}

const sgrReset = "\x1b[0m"

// Style tells whether roles are shown in color.
type Style uint8

// The styles. Plain is the zero value.
const (
	Plain Style = iota
	Coloured
)

// Paint escapes text for one line and adds the color of its role.
func (s Style) Paint(role Role, text string) string { return s.wrap(role, Escape(text)) }

// wrap is Paint for text that is escaped already.
func (s Style) wrap(role Role, escaped string) string {
	code := sgr[role]
	if s == Plain || code == "" || escaped == "" {
		return escaped
	}
	return code + escaped + sgrReset
}

// Screen describes the destination of a text.
type Screen struct {
	Terminal bool
	Term     string // $TERM
	NoColor  string // $NO_COLOR
}

// Style returns the style for the screen by a value of git's setting color.ui, which --color takes
// too. "always" is an explicit choice and overrides NO_COLOR, as in git and as no-color.org has it.
// All values but "always" and "never", or a boolean false, mean color on a terminal only. A
// terminal with TERM unset counts as dumb, as in git.
func (s Screen) Style(when string) Style {
	switch strings.ToLower(when) {
	case "always":
		return Coloured
	case "never", "false", "no", "off", "0":
		return Plain
	}
	if !s.Terminal || s.NoColor != "" || s.Term == "" || s.Term == "dumb" {
		return Plain
	}
	return Coloured
}
