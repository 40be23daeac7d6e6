package snapshot

import (
	"context"
	"strings"

	"git-checkpoint/internal/sys/gather"
)

// withoutHungUp removes the files at which a long-running filter process died. git's message is
// then "hung up unexpectedly" and names no file, so each file that goes through a filter is tried
// on its own. If there are more than triedAlone of them, all are left out. Files that are left
// out are listed in c.Skipped. If cause is another error, files is returned as it is.
func (s *hasher) withoutHungUp(ctx context.Context, index string, files []candidate, cause error, c *Capture) ([]candidate, error) {
	const triedAlone = 50 // how many files are tried one by one; each starts a git process and a filter process
	if !strings.Contains(cause.Error(), "hung up unexpectedly") {
		return files, nil
	}
	affected, err := s.affected(ctx, index, nil, files)
	if err != nil {
		return nil, err
	}
	failed := gather.Set(gather.Those(affected, func(f filtered) bool { return f.filter }), func(f filtered) string { return f.path })
	if len(failed) <= triedAlone {
		for p := range failed {
			failed[p] = s.update(ctx, index, p+"\x00") != nil
		}
	}
	var left []candidate
	for _, f := range files {
		if failed[f.path] {
			c.Skipped = append(c.Skipped, Skip{Path: f.path, Reason: ReasonFilter, Size: f.size, Said: wordsIn(cause)})
		} else {
			left = append(left, f)
		}
	}
	return left, ctx.Err()
}
