package inspect

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/git"
	"git-checkpoint/internal/sys/wholefile"
)

// space is what was measured of all checkpoints, in a file of the common directory that may go at any
// time.
type space struct {
	Refs  string `json:"refs"`  // of which checkpoints, as a digest
	Bytes int64  `json:"bytes"` // size on disk of the objects that only they hold
	Slow  bool   `json:"slow"`  // to measure took over a second
	At    int64  `json:"at"`    // seconds of Unix
}

// spaceStale is for how many seconds a figure stands that took long to measure.
const spaceStale = 3600

// spaceOf returns how much only checkpoints hold, of all sessions. Objects are walked again after the
// checkpoints have changed, but not each time where that takes long. 0 if it is not known.
func spaceOf(ctx context.Context, s *checkpoint.Service) int64 {
	refs, err := s.Repo.Refs(ctx, name.CheckpointRoot)
	if err != nil || len(refs) == 0 {
		return 0
	}
	digest := sha256.New()
	for _, r := range refs {
		fmt.Fprintln(digest, r.OID)
	}
	file := filepath.Join(s.Repo.CommonDir, "checkpoint", "space")
	now := space{Refs: hex.EncodeToString(digest.Sum(nil)), At: s.Now().Unix()}
	var was space
	if data, err := os.ReadFile(file); err == nil && json.Unmarshal(data, &was) == nil &&
		(was.Refs == now.Refs || was.Slow && now.At-was.At < spaceStale && now.At >= was.At) {
		return was.Bytes
	}
	began := time.Now()
	res, err := s.Repo.Run(ctx, git.Cmd{Args: []string{
		"rev-list", "--objects", "--disk-usage", "--ignore-missing", "--missing=allow-any", "--glob=" + name.CheckpointRoot + "*",
		"--not", "HEAD", "--branches", "--remotes", "--exclude=" + name.TagRoot + "*", "--tags",
	}})
	if err != nil {
		return 0
	}
	fmt.Sscan(strings.TrimSpace(string(res.Stdout)), &now.Bytes) //nolint:errcheck // zero when git says nothing
	now.Slow = time.Since(began) > time.Second
	write := func(w io.Writer) error { return json.NewEncoder(w).Encode(now) }
	wholefile.Write(file, s.Repo.PrivateMode(), write) //nolint:errcheck // it is measured again
	return now.Bytes
}
