package term

import "testing"

// TestWidthUnknown checks that a terminal of buffers, as mcp and web make for the commands that
// they run, has a width although there is no device to ask.
func TestWidthUnknown(t *testing.T) {
	for want, environ := range map[int][]string{usualColumns: nil, 132: {"COLUMNS=132"}} {
		if got := (&Terminal{Environ: environ}).Width(); got != want {
			t.Errorf("with %q the width is %d, not %d", environ, got, want)
		}
	}
}
