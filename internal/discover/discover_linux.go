package discover

import (
	"bytes"
	"io"
	"os"
	"slices"
	"syscall"
)

// IsDistributed reports whether a program is git as distributions install it, and no
// script that stands in its place: only of that one is known where it reads the machine's
// configuration.
func IsDistributed(program string) bool {
	known := []string{"/usr/bin/git", "/usr/lib/git-core/git", "/usr/libexec/git-core/git"}
	if !slices.Contains(known, program) {
		return false
	}
	f, err := os.Open(program)
	if err != nil {
		return false
	}
	defer f.Close() //nolint:errcheck // read only
	var magic [4]byte
	_, err = io.ReadFull(f, magic[:])
	return err == nil && bytes.Equal(magic[:], []byte("\x7fELF"))
}

// workingDir is the path of the working directory without symbolic links.
func workingDir() (string, error) { return syscall.Getwd() }

// ours reports whether a file belongs to the user, so that git trusts it (safe.directory).
func ours(path string) bool {
	var st syscall.Stat_t
	return syscall.Lstat(path, &st) == nil && int(st.Uid) == os.Geteuid()
}

func sameDevice(a, b string) bool {
	var of [2]syscall.Stat_t
	return syscall.Stat(a, &of[0]) == nil && syscall.Stat(b, &of[1]) == nil && of[0].Dev == of[1].Dev
}
