package git

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// A gc that may delete young objects is recognized by its arguments, wherever they say so.
func TestGCDropsAll(t *testing.T) {
	f := newFixture(t)
	r := f.open()
	for args, want := range map[string]bool{
		"gc": false, "gc --auto": false, "gc --prune=now": true, "-c gc.pruneExpire=now gc": true, "-c GC.pruneexpire=now gc --auto": true,
	} {
		cmd := exec.Command("sh", append([]string{"-c", "read end", "git"}, strings.Fields(args)...)...)
		end, err := cmd.StdinPipe()
		f.must(err)
		f.must(cmd.Start())
		f.must(os.WriteFile(filepath.Join(r.CommonDir, "gc.pid"), fmt.Appendf(nil, "%d here", cmd.Process.Pid), 0o666))
		if got := r.Maintenance.GCDropsAll(); got != want {
			t.Errorf("%s: %v", args, got)
		}
		f.must(end.Close())
		cmd.Wait() //nolint:errcheck // it ends either way
	}
}
