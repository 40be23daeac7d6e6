package snapshot

import (
	"slices"
	"testing"
)

// Everything that git writes to stderr while it exits with 0 is understood, or the capture fails.
func TestClassify(t *testing.T) {
	for said, want := range map[string][]string{
		"":                                   nil,
		"hint: use -f if you really want to": nil,
		"warning: could not open directory 'a/b/': Permission denied":                                 {"a/b/"},
		"error: secret: Permission denied\nwarning: could not open directory 'x/': Permission denied": {"secret", "x/"},
	} {
		got, err := classify([]byte(said + "\n"))
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%q: %q %v", said, got, err)
		}
	}
	for _, said := range []string{
		"warning: something new", "error: bad index", "fatal: x: Permission denied", "warning: could not open directory 'a/': Input/output error\nwarning: else",
	} {
		if got, err := classify([]byte(said)); err == nil {
			t.Errorf("%q is taken for %q", said, got)
		}
	}
}
