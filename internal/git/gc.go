package git

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
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
	words, args := r.gcAtWork()
	if !strings.Contains(args, "git") {
		return false
	}
	if len(words) > 2 && words[2] == gcOurs {
		return true
	}
	if v, ok := r.Config.Get("gc.pruneExpire"); ok && v != "never" && v != "2.weeks.ago" {
		return true
	}
	return strings.Contains(args, "\x00--prune")
}

// gcOurs follows process and host where the gc is a Collect. git reads these two alone.
const gcOurs = "collects"

// gcAtWork reads the file in which git notes the process and host of a running gc, and the
// arguments of that process; none when there is no such process here.
func (r *Repo) gcAtWork() (words []string, args string) {
	data, err := os.ReadFile(filepath.Join(r.CommonDir, gcMark))
	if err != nil {
		return nil, ""
	}
	words = strings.Fields(string(data))
	if len(words) == 0 {
		return nil, ""
	}
	pid, err := strconv.Atoi(words[0])
	if err != nil || pid <= 0 {
		return nil, ""
	}
	cmdline, err := os.ReadFile(filepath.Join("/proc", words[0], "cmdline"))
	if err != nil {
		return nil, ""
	}
	return words, string(cmdline)
}

const gcMark = "gc.pid"

// holdGC leaves the mark of a gc until release is called, so that git starts none beside
// ours, and whoever writes refs meanwhile looks at the end whether all is there. git takes
// the mark of a process that is no more for none, and so do we.
func (r *Repo) holdGC(ctx context.Context) (release func(), err error) {
	dir, err := r.Dir()
	if err != nil {
		return nil, err
	}
	f, err := os.CreateTemp(dir, "tmp-gc-")
	if err != nil {
		return nil, err
	}
	defer os.Remove(f.Name()) //nolint:errcheck // it is the mark by then, or swept by age
	host, err := os.Hostname()
	if err != nil {
		host = "localhost"
	}
	_, err = fmt.Fprintf(f, "%d %s %s", os.Getpid(), host, gcOurs)
	if err = errors.Join(err, f.Close()); err != nil {
		return nil, err
	}
	mark := filepath.Join(r.CommonDir, gcMark)
	for began := time.Now(); ; {
		if err = os.Link(f.Name(), mark); err == nil {
			return func() { os.Remove(mark) }, nil //nolint:errcheck // one of a dead process counts for nothing
		}
		if !errors.Is(err, fs.ErrExist) {
			return func() {}, nil // no links here: as without the mark
		}
		if words, args := r.gcAtWork(); !strings.Contains(args, "git") {
			os.Remove(mark) //nolint:errcheck // the next try finds out
		} else if time.Since(began) > gcPatience {
			return nil, fmt.Errorf("a gc is at work (process %s)", words[0])
		}
		select {
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case <-time.After(20 * time.Millisecond):
		}
	}
}
