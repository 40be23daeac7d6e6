//go:build unix

package mapped

import (
	"os"
	"syscall"
)

// memory maps the first size bytes of f for reading. size must not be 0.
func memory(f *os.File, size int) ([]byte, error) {
	return syscall.Mmap(int(f.Fd()), 0, size, syscall.PROT_READ, syscall.MAP_PRIVATE)
}
