//go:build !unix

package command

import "os/exec"

// detach does nothing: without sessions of processes there is no terminal to detach from.
func detach(*exec.Cmd) {}
