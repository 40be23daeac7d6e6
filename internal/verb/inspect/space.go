package inspect

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/git"
	"git-checkpoint/internal/storage/store"
	"git-checkpoint/internal/sys/wholefile"
)

// space is what was measured of all checkpoints, in a file of the common directory that may be
// deleted at any time.
type space struct {
	Bytes int64 `json:"bytes"` // size on disk of the objects that only they hold
	Slow  bool  `json:"slow"`  // to measure took longer than spaceLimit, so Bytes is an older figure
	At    int64 `json:"at"`    // seconds of Unix
}

const (
	// spaceFresh is for how many seconds a figure is used, and spaceStale the same for one that
	// could not be measured in time.
	spaceFresh = 600
	spaceStale = 24 * 3600
	spaceLimit = 200 * time.Millisecond // how long somebody waits for the figure
)

// spaceOf returns how much only checkpoints hold, of all sessions. The figure may be ten minutes
// old: to measure it, git walks all objects of checkpoints. It is 0 if it is not known, for example
// because measuring takes too long.
func spaceOf(ctx context.Context, s *store.Store) int64 {
	file := filepath.Join(s.Repo.CommonDir, "checkpoint", "space")
	now := space{At: s.Now().Unix()}
	var was space
	if data, err := os.ReadFile(file); err == nil && json.Unmarshal(data, &was) == nil {
		stands := int64(spaceFresh)
		if was.Slow {
			stands = spaceStale
		}
		if age := now.At - was.At; age >= 0 && age < stands {
			return was.Bytes
		}
	}
	if refs, err := s.Repo.Refs.List(ctx, name.CheckpointRoot); err != nil || len(refs) == 0 {
		return 0
	}
	limited, cancel := context.WithTimeout(ctx, spaceLimit)
	defer cancel()
	res, err := s.Repo.Run(limited, git.Cmd{Args: []string{
		"rev-list", "--objects", "--disk-usage", "--ignore-missing", "--missing=allow-any", "--glob=" + name.CheckpointRoot + "*",
		"--not", "HEAD", "--branches", "--remotes", "--exclude=" + name.TagRoot + "*", "--tags",
	}})
	switch {
	case err == nil:
		fmt.Sscan(strings.TrimSpace(string(res.Stdout)), &now.Bytes) //nolint:errcheck // zero when git says nothing
	case limited.Err() == nil:
		return 0
	default:
		now.Bytes, now.Slow = was.Bytes, true
	}
	write := func(w io.Writer) error { return json.NewEncoder(w).Encode(now) }
	wholefile.Write(file, s.Repo.Settings.PrivateMode(), write) //nolint:errcheck // it is measured again
	return now.Bytes
}
