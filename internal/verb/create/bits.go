package create

// This file decides which permission bits of a record may be restored. A record can come from anybody.
// It must not open a file to other people, unless this worktree made the record: then the user did.

import (
	"io/fs"
	"slices"

	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/format/record"
)

// AllowedBits returns the permission bits that the modes in a record may set.
func AllowedBits(s *checkpoint.Service, r *record.Record) (fs.FileMode, error) {
	var open []string
	if len(r.Snapshot.Modes) == 0 {
		return 0o777, nil
	}
	if _, err := checkpoint.Recall(s.Repo, checkpoint.BitsFile, &open); err == nil && slices.Contains(open, r.Checksum) {
		return 0o777, nil
	}
	shot, err := s.Worktree()
	if err != nil {
		return 0, err
	}
	return shot.AllowedBits()
}

// rememberBits lists the record that was made if it has bits that a record of others may not set. The
// list is a convenience, so errors are ignored.
func rememberBits(s *checkpoint.Service, r *record.Record, modes ...map[string]fs.FileMode) {
	const mostOpen = 1000 // how many records the list in BitsFile has, the newest last
	all := fs.FileMode(0)
	for _, some := range modes {
		for _, m := range some {
			all |= m
		}
	}
	if all&0o077 == 0 {
		return
	}
	if allowed, err := AllowedBits(s, r); err != nil || all&^allowed == 0 {
		return
	}
	var open []string
	checkpoint.Recall(s.Repo, checkpoint.BitsFile, &open) //nolint:errcheck // see above
	open = append(open, r.Checksum)
	checkpoint.Remember(s.Store, checkpoint.BitsFile, open[max(0, len(open)-mostOpen):]) //nolint:errcheck // see above
}
