package discover

import (
	"bytes"
	"io"
	"os"
	"slices"
	"syscall"
)

// IsDistributed reports whether program is a git that a distribution has installed, and an ELF
// binary, so not a wrapper script. Only for such a git is it known where it looks for the machine's
// configuration file.
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

// workingDir returns the path of the working directory without symbolic links. os.Getwd would
// return $PWD, which may contain links.
func workingDir() (string, error) { return syscall.Getwd() }

// ours reports whether a file belongs to the user. git only trusts such repositories, unless
// safe.directory says otherwise.
func ours(path string) bool {
	var st syscall.Stat_t
	return syscall.Lstat(path, &st) == nil && int(st.Uid) == os.Geteuid()
}

// sameDevice reports whether two directories are on one file system.
func sameDevice(a, b string) bool {
	var of [2]syscall.Stat_t
	return syscall.Stat(a, &of[0]) == nil && syscall.Stat(b, &of[1]) == nil && of[0].Dev == of[1].Dev
}
