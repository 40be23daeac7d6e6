package git

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// gcPatience bounds the wait for a gc.
const gcPatience = 30 * time.Second

// AwaitGC waits while a `git gc` is at work that drops objects without a time of grace:
// it looked at the refs before it deletes, so what a new ref names may still go. One that
// starts later sees the ref. One with the usual two weeks leaves alone what is as young,
// and is not waited for.
func (r *Repo) AwaitGC(ctx context.Context) error {
	var limit <-chan time.Time
	for r.gcDropsAll() {
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

// gcDropsAll reads the file in which git notes the process and host of a running gc.
// Where its arguments cannot be read it is taken for one of the harmless kind.
func (r *Repo) gcDropsAll() bool {
	data, err := os.ReadFile(filepath.Join(r.CommonDir, "gc.pid"))
	if err != nil {
		return false
	}
	var pid int
	if n, err := fmt.Sscan(string(data), &pid); n != 1 || err != nil || pid <= 0 {
		return false
	}
	args, err := os.ReadFile(filepath.Join("/proc", fmt.Sprint(pid), "cmdline"))
	if err != nil || !strings.Contains(string(args), "git") {
		return false
	}
	if v, ok := r.Config.Get("gc.pruneExpire"); ok && v != "never" && v != "2.weeks.ago" {
		return true
	}
	return strings.Contains(string(args), "\x00--prune")
}
