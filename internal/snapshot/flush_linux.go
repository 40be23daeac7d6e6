package snapshot

import (
	"os"

	"golang.org/x/sys/unix"
)

// startWriting asks the kernel to start writing the content of f to disk. It does not wait, and
// it gives no guarantee; it only shortens the time in which a power failure could lose the
// content.
func startWriting(f *os.File) {
	unix.SyncFileRange(int(f.Fd()), 0, 0, unix.SYNC_FILE_RANGE_WRITE) //nolint:errcheck // an offer, and no promise
}
