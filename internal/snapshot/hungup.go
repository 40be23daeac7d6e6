package snapshot

import (
	"context"
	"strings"

	"git-checkpoint/internal/git"
)

// triedAlone is how many files are shown to a filter one by one, each with a process of
// its own.
const triedAlone = 50

// withoutHungUp leaves out the files over which a long-running filter ended: git says
// then that it hung up, and not over what. Where there are many, all that go through a
// filter are left out.
func (s *Shot) withoutHungUp(ctx context.Context, private *privateIndex, files []candidate, cause error, c *Capture) ([]candidate, error) {
	if !strings.Contains(cause.Error(), "hung up unexpectedly") {
		return files, nil
	}
	affected, err := s.affected(ctx, private.path, files)
	if err != nil {
		return nil, err
	}
	failed := map[string]bool{}
	for _, f := range affected {
		if f.filter {
			failed[f.path] = true
		}
	}
	if len(failed) <= triedAlone {
		for p := range failed {
			_, err := s.repo.Run(ctx, git.Cmd{
				Args:  []string{"update-index", "--add", "--remove", "--replace", "-z", "--stdin"},
				Stdin: strings.NewReader(p + "\x00"), Config: s.config, Env: []string{"GIT_INDEX_FILE=" + private.path},
			})
			failed[p] = err != nil
		}
	}
	var left []candidate
	for _, f := range files {
		if failed[f.path] {
			c.Skipped = append(c.Skipped, Skip{Path: f.path, Reason: ReasonFilter, Size: f.size})
		} else {
			left = append(left, f)
		}
	}
	return left, ctx.Err()
}
