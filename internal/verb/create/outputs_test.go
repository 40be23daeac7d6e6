package create

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A device has no size that could be checked first, and /dev/zero never ends.
func TestReadAtMost(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, []byte("123456"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{file: "", os.DevNull: "", "/dev/zero": "it has more than 6 bytes"} {
		data, err := readAtMost(name, 6)
		if errors.Is(err, fs.ErrNotExist) {
			t.Skip(err)
		}
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %d bytes, %v", name, len(data), err)
		}
	}
}
