package checkpoint

// Tools that rewrite history (`git filter-repo`, BFG, `git filter-branch`, `git lfs migrate`) rewrite
// the commits of checkpoints with it. The journal goes on naming the old ones. This file recognizes
// that, so that messages can say what happened and what helps.

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"git-checkpoint/internal/format/journal"
	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/format/record"
	"git-checkpoint/internal/format/render"
	"git-checkpoint/internal/git"
	"git-checkpoint/internal/storage/store"
	"git-checkpoint/internal/sys/gather"
)

// CommitMap returns what `git filter-repo` made of each commit when it rewrote the history of this
// repository. It is empty if there is no such map. The map is a file in the git directory, so nobody
// can push one.
func CommitMap(repo *git.Repo) (map[name.OID]name.OID, error) {
	f, err := os.Open(filepath.Join(repo.CommonDir, "filter-repo", "commit-map"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read what git filter-repo did: %w", err)
	}
	defer f.Close() //nolint:errcheck // only read
	made := map[name.OID]name.OID{}
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		// The first line is a header. A commit that was dropped has only zeros beside it.
		fields := strings.Fields(lines.Text())
		if len(fields) != 2 || strings.Trim(fields[1], "0") == "" {
			continue
		}
		from, err := name.ParseOID(fields[0])
		to, other := name.ParseOID(fields[1])
		if err == nil && other == nil {
			made[from] = to
		}
	}
	return made, lines.Err()
}

// RewriteTrace names the traces of a tool that rewrote history, or returns "".
func RewriteTrace(repo *git.Repo) string {
	for _, trace := range []string{filepath.Join("filter-repo", "commit-map"), "filter-repo", "commit-map", filepath.Join("refs", "original")} {
		if _, err := os.Lstat(filepath.Join(repo.CommonDir, trace)); err == nil {
			return filepath.Join(repo.CommonDir, trace)
		}
	}
	// BFG writes its report beside the repository.
	for _, top := range []string{repo.WorkTree, repo.CommonDir} {
		if _, err := os.Lstat(top + ".bfg-report"); err == nil && top != "" {
			return top + ".bfg-report"
		}
	}
	return ""
}

// RewrittenTo returns the commit that a rewrite of history put in place of a checkpoint's commit:
// the commit that the journal names is gone, and the ref is at another one that says it is this
// checkpoint. It returns "" if that is not so.
func RewrittenTo(ctx context.Context, repo *git.Repo, session name.Session, e *journal.Entry) name.OID {
	now, err := repo.Refs.Resolve(ctx, name.CheckpointRef(session, e.Checkpoint))
	if err != nil || now == e.Event().Commit {
		return ""
	}
	missing, err := repo.Objects.Batch().Missing(ctx, []name.OID{e.Event().Commit})
	if err != nil || !missing[e.Event().Commit] {
		return ""
	}
	c, err := repo.Commits.Read(ctx, string(now))
	if err != nil {
		return ""
	}
	if told, err := record.ParseMessage(c.Message); err != nil || told.ID != e.Checkpoint || told.Session != session {
		return ""
	}
	return now
}

// CountRewritten counts the checkpoints of a session that were rewritten; see RewrittenTo.
func CountRewritten(ctx context.Context, s *store.Store, st *journal.State) (int, error) {
	held, _, err := s.HeldOf(ctx, st.Session)
	if err != nil {
		return 0, err
	}
	count := gather.Count(st.Checkpoints(), func(e *journal.Entry) bool {
		to := held[e.Checkpoint]
		return !e.Dead && to != "" && to != e.Event().Commit && RewrittenTo(ctx, s.Repo, st.Session, e) == to
	})
	return count, ctx.Err()
}

// RewrittenWords says how many checkpoints were rewritten.
func RewrittenWords(count int) string {
	return "history was rewritten: " + render.Count(count, "checkpoint is", "checkpoints are") + " not what the journal names any more"
}

// RewrittenHint returns the command for checkpoints that were rewritten. With the map of `git
// filter-repo` it adopts all at once. Without the map it is about one checkpoint or one session,
// and shows the differences first.
func RewrittenHint(repo *git.Repo, session name.Session, id name.ID) string {
	if m, err := CommitMap(repo); err == nil && len(m) > 0 {
		return "`git checkpoint rebuild --all` adopts the rewritten checkpoints"
	}
	if id == "" {
		return "`git checkpoint rebuild --session " + string(session) + "` shows how the rewritten ones differ, and adopts them"
	}
	return "`git checkpoint rebuild " + string(id) + "` shows how the rewritten one differs, and adopts it"
}
