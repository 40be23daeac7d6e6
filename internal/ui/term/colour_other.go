//go:build !windows

package term

import "os"

// obeyColours does nothing: terminals on these systems obey color codes.
func obeyColours(*os.File) {}
