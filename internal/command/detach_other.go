//go:build !unix

package command

import "os/exec"

// detach has nothing to do where there are no sessions of processes.
func detach(*exec.Cmd) {}
