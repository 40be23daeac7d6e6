//go:build unix

package main

import (
	"os"
	"path/filepath"
	"syscall"
)

// socket creates a socket file. It changes to the directory first, because the name of a
// socket must be short.
func socket(path string) error {
	if err := os.Chdir(filepath.Dir(path)); err != nil {
		return err
	}
	fd, err := syscall.Socket(syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
	if err != nil {
		return err
	}
	return syscall.Bind(fd, &syscall.SockaddrUnix{Name: filepath.Base(path)})
}
