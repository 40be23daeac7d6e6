//go:build unix

package mapped

import (
	"io"
	"io/fs"
	"syscall"
)

// read makes the system calls itself. os.Open makes six more for each file, to find out whether
// the file can be polled. O_NONBLOCK keeps open from waiting at a pipe.
func read(path string, room func(size int64) []byte) ([]byte, error) {
	fault := func(op string, err error) error { return &fs.PathError{Op: op, Path: path, Err: err} }
	file, err := again(func() (int, error) {
		return syscall.Open(path, syscall.O_RDONLY|syscall.O_CLOEXEC|syscall.O_NONBLOCK, 0)
	})
	if err != nil {
		return nil, fault("open", err)
	}
	defer syscall.Close(file) //nolint:errcheck // read only
	var info syscall.Stat_t
	if err := syscall.Fstat(file, &info); err != nil {
		return nil, fault("stat", err)
	}
	if info.Mode&syscall.S_IFMT != syscall.S_IFREG {
		return nil, fault("read", fs.ErrInvalid)
	}
	data := room(info.Size)
	for have := 0; have < len(data); {
		n, err := again(func() (int, error) { return syscall.Read(file, data[have:]) })
		if err != nil {
			return nil, fault("read", err)
		}
		if n == 0 {
			return nil, fault("read", io.ErrUnexpectedEOF)
		}
		have += n
	}
	return data, nil
}

// again repeats a call that a signal has interrupted.
func again(call func() (int, error)) (n int, err error) {
	for {
		if n, err = call(); err != syscall.EINTR { //nolint:errorlint // it comes as it is
			return n, err
		}
	}
}
