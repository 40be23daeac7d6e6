//go:build !unix

package torture

import "os/exec"

// ownGroup does nothing here: there are no process groups.
func ownGroup(*exec.Cmd) {}

// killGroup kills the process, without those that it started.
func killGroup(cmd *exec.Cmd) { cmd.Process.Kill() } //nolint:errcheck // it may have ended
