//go:build !windows

package term

import "os"

// obeyColours does nothing, because terminals on these systems interpret color codes.
func obeyColours(*os.File) {}
