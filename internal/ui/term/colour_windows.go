package term

import (
	"os"

	"golang.org/x/sys/windows"
)

// obeyColours makes a Windows console interpret color codes, which it does not by default. If f is
// not a console, the call fails and changes nothing.
func obeyColours(f *os.File) {
	console := windows.Handle(f.Fd())
	var mode uint32
	if windows.GetConsoleMode(console, &mode) == nil {
		_ = windows.SetConsoleMode(console, mode|windows.ENABLE_VIRTUAL_TERMINAL_PROCESSING)
	}
}
