package git

import (
	"context"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// AwaitGC waits while a `git gc` runs that may delete young objects (see GCDropsAll). Such a gc has
// listed the refs already, and may still delete the objects of a ref that is created now. A gc that
// starts later sees the new ref. One with the usual grace of two weeks does not touch objects that
// were just written or freshened, so there is no need to wait for it. AwaitGC gives up after
// gcPatience and returns nil then, too.
func (m *Maintenance) AwaitGC(ctx context.Context) error {
	const gcPatience = 30 * time.Second // the longest time that AwaitGC waits
	var limit <-chan time.Time
	for m.GCDropsAll() {
		if limit == nil {
			timer := time.NewTimer(gcPatience)
			defer timer.Stop()
			limit = timer.C
		}
		select {
		case <-limit:
			return nil
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(5 * time.Millisecond):
		}
	}
	return nil
}

// GCDropsAll reports whether a running gc may delete unreachable objects however young they are. It
// assumes that when gc.pruneExpire is set to anything but "never" or the default, or when the gc
// was started with --prune or `git -c gc.pruneExpire`. If the arguments of the process cannot be
// read (only Linux has /proc), it reports false.
func (m *Maintenance) GCDropsAll() bool {
	args := m.gcAtWork()
	if !strings.Contains(args, "git") {
		return false
	}
	if v := m.pruneExpire(); v != "never" && v != defaultExpire {
		return true
	}
	return strings.Contains(args, "\x00--prune") || strings.Contains(strings.ToLower(args), "\x00gc.pruneexpire=")
}

// gcAtWork returns the command line of the process that gc.pid names, with NULs between the
// arguments. It is empty when no such process runs on this machine.
func (m *Maintenance) gcAtWork() string {
	data, err := os.ReadFile(filepath.Join(m.at.CommonDir, "gc.pid"))
	if err != nil {
		return ""
	}
	words := strings.Fields(string(data))
	if len(words) == 0 {
		return ""
	}
	if pid, err := strconv.Atoi(words[0]); err != nil || pid <= 0 {
		return ""
	}
	cmdline, err := os.ReadFile(filepath.Join("/proc", words[0], "cmdline"))
	if err != nil {
		return ""
	}
	return string(cmdline)
}
