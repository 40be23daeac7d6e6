// Package lazy makes values when they are first asked for. A command starts in milliseconds and uses few of the
// program's patterns; to compile all of them takes longer than many a command.
package lazy

import (
	"regexp"
	"sync"
)

// Pattern compiles a regular expression at the first call of the function that it returns.
func Pattern(text string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(text) })
}
