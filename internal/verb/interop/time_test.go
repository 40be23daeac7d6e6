package interop

import (
	"testing"
	"time"
)

// A time that a workflow takes in a document is one for an import too, as are those in ids.
func TestMoments(t *testing.T) {
	for text, want := range map[string]string{
		"2026-03-01T10:00:00+0100": "2026-03-01T09:00:00Z", // strftime's %z
		"2026-03-01T10:00:00+01":   "2026-03-01T09:00:00Z",
		"20260301T100000+0100":     "2026-03-01T09:00:00Z",
		"2026-03-01 10:00:00.25":   "2026-03-01T10:00:00.25Z",
		"20260301_100000":          "2026-03-01T10:00:00Z",
		"20260301":                 "2026-03-01T00:00:00Z",
		"0001-01-01T00:00:00Z":     "",
		"tomorrow":                 "",
	} {
		got := ""
		if at, ok := moment("", text); ok {
			got = at.Format(time.RFC3339Nano)
		}
		if got != want {
			t.Errorf("%q is %q, not %q", text, got, want)
		}
	}
}
