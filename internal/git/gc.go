package git

import (
	"context"
	"os"
	"path/filepath"
	"strconv"
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
	for r.GCDropsAll() {
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

// GCDropsAll reports whether a gc is at work that drops what no ref holds, however young it
// is. Where the arguments of git's cannot be read it is taken for one of the harmless kind.
func (r *Repo) GCDropsAll() bool {
	args := r.gcAtWork()
	if !strings.Contains(args, "git") {
		return false
	}
	if v, ok := r.Config.Get("gc.pruneExpire"); ok && v != "never" && v != "2.weeks.ago" {
		return true
	}
	return strings.Contains(args, "\x00--prune")
}

// gcAtWork gives the arguments of the process that the mark of a running gc names; none when
// there is no such process here.
func (r *Repo) gcAtWork() string {
	data, err := os.ReadFile(filepath.Join(r.CommonDir, "gc.pid"))
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
