package name_test

import (
	"strings"
	"testing"

	"git-checkpoint/internal/format/name"
)

// An error does not repeat all of a refused input, which may have been sent to flood a terminal or
// a log.
func TestErrorsAreShort(t *testing.T) {
	hostile := strings.Repeat("\x1b[2J", 1<<20)
	for what, parse := range map[string]func(string) error{
		"object id": func(s string) error { _, err := name.ParseOID(s); return err },
		"session":   func(s string) error { _, err := name.ParseSession(s); return err },
		"id":        func(s string) error { _, err := name.ParseID(s); return err },
		"id of hex": func(s string) error { _, err := name.ParseID("cp-01" + s); return err },
	} {
		err := parse(hostile)
		if err == nil || len(err.Error()) > 500 || strings.ContainsRune(err.Error(), '\x1b') {
			t.Errorf("%s: the error has %d bytes, or control characters", what, len(err.Error()))
		}
	}
}
