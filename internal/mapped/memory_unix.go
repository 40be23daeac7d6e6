//go:build unix

package mapped

import (
	"os"
	"syscall"
)

func memory(f *os.File, size int) ([]byte, error) {
	return syscall.Mmap(int(f.Fd()), 0, size, syscall.PROT_READ, syscall.MAP_PRIVATE)
}
