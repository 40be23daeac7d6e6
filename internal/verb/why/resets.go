package why

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"git-checkpoint/internal/format/name"
)

// reset is a git reset that moved HEAD.
type reset struct {
	from, to name.OID
	at       int64
}

// resets reads those that the log of HEAD still has.
func (h *commits) resets() []reset {
	return h.moved.get("HEAD", func() (out []reset) {
		log, _ := os.ReadFile(filepath.Join(h.s.Repo.GitDir, "logs", "HEAD")) //nolint:errcheck // then none is known
		for line := range strings.Lines(string(log)) {
			said, why, _ := strings.Cut(line, "\t")
			words := strings.Fields(said)
			if len(words) < 4 || !strings.HasPrefix(why, "reset: ") {
				continue
			}
			at, err := strconv.ParseInt(words[len(words)-2], 10, 64)
			if words[0] != words[1] && err == nil {
				out = append(out, reset{name.OID(words[0]), name.OID(words[1]), at})
			}
		}
		return out
	})
}

// thrownAway reports whether HEAD was reset, between a checkpoint and a commit, from a commit that had a line of the checkpoint
// to one that lacks it, and a line beside it is gone in the commit. git does not write down whether the worktree lost it,
// too; if so, somebody typed it again.
func (j judge) thrownAway(ctx context.Context, l newLine, at saved, line int) bool {
	mine := j.journals.file(ctx, at)
	partners, lines := j.files.matched(ctx, mine, l.file), len(j.files.read(ctx, mine).numbers)
	stays := func(k int) bool { return k < 0 || k >= lines || slices.Contains(partners, k) }
	if l.by.isWorktree() || stays(line-1) && stays(line+1) {
		return false
	}
	has := func(oid name.OID) bool {
		c := j.commits.read(ctx, oid)
		if c == nil {
			return false
		}
		was := j.files.entryAt(ctx, c.Tree, at.path)
		return isFile(was) && j.files.matched(ctx, was, mine)[line] != alone
	}
	return slices.ContainsFunc(j.commits.resets(), func(r reset) bool {
		return j.x.Checkpoints[at.point].At <= r.at && r.at <= l.by.Committer.When.Unix() && has(r.from) && !has(r.to)
	})
}
