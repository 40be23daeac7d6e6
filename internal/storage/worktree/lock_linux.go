package worktree

import (
	"io/fs"
	"iter"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// The locks belong to the open file, not to the process.
const (
	setLock = unix.F_OFD_SETLK
	getLock = unix.F_OFD_GETLK
)

// openFiles yields what the other processes have open, as far as this one may see it.
func openFiles() iter.Seq2[int, fs.FileInfo] {
	return func(yield func(int, fs.FileInfo) bool) {
		all, _ := os.ReadDir("/proc") //nolint:errcheck // then the locks are all there is
		for _, e := range all {
			pid, err := strconv.Atoi(e.Name())
			if err != nil || pid == os.Getpid() {
				continue
			}
			dir := "/proc/" + e.Name() + "/fd/"
			files, _ := os.ReadDir(dir) //nolint:errcheck // it has ended, or is somebody else's
			for _, f := range files {
				if info, err := os.Stat(dir + f.Name()); err == nil && info.Mode().IsRegular() && !yield(pid, info) {
					return
				}
			}
		}
	}
}
