package repair

// This file checks git itself and the files of this program in the git directory: temporary files,
// locks, unfinished rollbacks and active sessions. It looks at the directories of all worktrees,
// because a killed process may have run in any of them.

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strings"
	"time"

	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/format/render"
	"git-checkpoint/internal/git"
	"git-checkpoint/internal/storage/snapshot"
	"git-checkpoint/internal/storage/store"
	"git-checkpoint/internal/storage/worktree"
	"git-checkpoint/internal/sys/gather"
	"git-checkpoint/internal/verb/background"
	"git-checkpoint/internal/verb/continuation"
	"git-checkpoint/internal/verb/create"
)

// lookAtGit reports a git that is too old.
func lookAtGit(ctx context.Context, s *checkpoint.Service) ([]Problem, error) {
	const oldestGit = "2.34" // the oldest that works
	const wantedGit = "2.36" // the oldest that has everything this program can use, such as cat-file --batch-command
	version, err := s.Repo.Version(ctx)
	switch {
	case err != nil:
		return nil, err
	case git.Older(version, oldestGit):
		return []Problem{{Kind: "git_too_old", Level: LevelProblem, Object: version, Message: "git " + version + " is older than " + oldestGit + ", the oldest version that this program supports", Hint: "install a newer git"}}, nil
	case git.Older(version, wantedGit):
		return []Problem{{Kind: "git_old", Level: LevelAdvice, Object: version, Message: "git " + version + " has no cat-file --batch-command, so two processes read objects", Hint: "git " + wantedGit + " and later have it"}}, nil
	}
	return nil, nil
}

// lookAtAlternates names the places in which git looks for more objects. Some of a checkpoint may be there only.
func lookAtAlternates(_ context.Context, s *checkpoint.Service) (out []Problem, err error) {
	objects := filepath.Join(s.Repo.CommonDir, "objects")
	data, err := os.ReadFile(filepath.Join(objects, "info", "alternates"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	for line := range strings.Lines(string(data)) {
		dir := strings.TrimSpace(line)
		if dir == "" || dir[0] == '#' {
			continue
		}
		at := dir
		if !filepath.IsAbs(at) {
			at = filepath.Join(objects, at)
		}
		p := Problem{Kind: "alternates", Level: LevelAdvice, Object: dir, Message: "objects of checkpoints may be there only, and go when it goes", Hint: "`git repack -a -d` copies them here"}
		if _, err := os.Stat(at); err != nil {
			p.Level, p.Message, p.Hint = LevelProblem, "git looks for objects there, and it is not there", "bring it back, or take the line out of objects/info/alternates"
		}
		out = append(out, p)
	}
	return out, err
}

// isHere reports whether a directory belongs to the current worktree.
func isHere(repo *git.Repo, dir checkpoint.OwnDir) bool {
	return dir.Path == filepath.Join(repo.GitDir, "checkpoint")
}

// lookAtTemporaries finds temporary files, staging directories and conversations with agents that killed
// runs of this program left behind.
func lookAtTemporaries(_ context.Context, s *checkpoint.Service) ([]Problem, error) {
	var out []Problem
	dirs, err := checkpoint.OwnDirs(s.Repo)
	for _, dir := range dirs {
		if in, err := snapshot.ReadIntent(dir.Path); in != nil || err != nil {
			continue // they may belong to a rollback that can be finished
		}
		temporary := func(leaf string) bool { return strings.HasPrefix(leaf, store.TempPrefix) }
		out = append(out, leftBehind(dir.Path, "stale_temporary", "a process that was killed left it", temporary)...)
		out = append(out, leftLately(dir.Path, temporary)...)
		// Staging directories are at the top of a worktree. Only the current worktree's top is
		// known.
		if isHere(s.Repo, dir) {
			out = append(out, leftBehind(s.Repo.WorkTree, "stale_staging", "a rollback that was killed left it", worktree.IsStaging)...)
		}
		for _, p := range continuation.Left(dir.Path) {
			out = append(out, Problem{
				Kind: "stale_chat", Level: LevelProblem, Object: filepath.Join(dir.Path, continuation.Dir, p.Note()),
				Message: "a rollback or fork that was killed has prepared a conversation with " + p.Title() + ", which nobody uses", Hint: "--fix removes it",
				fix: fix{"removed", func(ctx context.Context) error { return p.Remove(ctx, s.Repo) }},
			})
		}
	}
	return out, err
}

// leftBehind returns lines for entries that are too old to belong to a running process, which --fix removes.
func leftBehind(dir, kind, message string, ours func(leaf string) bool) []Problem {
	return gather.List(ofAge(dir, create.SweepAge, math.MaxInt64, ours), func(leaf string) Problem {
		at := filepath.Join(dir, leaf)
		remove := func(context.Context) error { return os.RemoveAll(at) }
		return Problem{Kind: kind, Level: LevelProblem, Object: at, Message: message, Hint: "--fix removes it", fix: fix{"removed", remove}}
	})
}

// leftLately reports temporary files between atWork and SweepAge. They are not removed: a run may
// take hours, so their process may still exist.
func leftLately(dir string, ours func(leaf string) bool) []Problem {
	const atWork = time.Minute // how long a temporary file most likely belongs to a process that still runs
	const named = 3
	young := ofAge(dir, atWork, create.SweepAge, ours)
	if len(young) == 0 {
		return nil
	}
	list := strings.Join(young[:min(len(young), named)], ", ")
	if len(young) > named {
		list += ", …"
	}
	return []Problem{{
		Kind: "young_temporary", Level: LevelInfo, Object: dir,
		Message: fmt.Sprintf("%s younger than a day: %s", render.Count(len(young), "temporary file is", "temporary files are"), list),
		Hint:    "processes that were killed left them, unless one is still running; a create after a day removes them",
	}}
}

// ofAge returns the names of our entries in a directory that were last changed longer ago than least,
// and not longer ago than most. There are none if the directory cannot be read.
func ofAge(dir string, least, most time.Duration, ours func(leaf string) bool) (leaves []string) {
	entries, _ := os.ReadDir(dir) //nolint:errcheck // see above
	for _, e := range entries {
		if path := filepath.Join(dir, e.Name()); ours(e.Name()) && older(path, least) && !older(path, most) {
			leaves = append(leaves, e.Name())
		}
	}
	return leaves
}

// older reports whether a file was last changed longer ago than age.
func older(path string, age time.Duration) bool {
	info, err := os.Lstat(path)
	return err == nil && time.Since(info.ModTime()) > age
}

// lookAtLocks names old lock files of git. They are never removed, because another process may hold them. A lock of a
// push or of packing in the background needs nobody: once it is old, the next one takes it over.
func lookAtLocks(_ context.Context, s *checkpoint.Service) (out []Problem, err error) {
	// foreign adds a line for an old lock file of git.
	foreign := func(path string) {
		info, err := os.Lstat(path)
		if err != nil || !info.Mode().IsRegular() {
			return
		}
		if age := time.Since(info.ModTime()); age > background.StaleAfter {
			out = append(out, Problem{
				Kind: "foreign_lock", Level: LevelAdvice, Object: path, Message: fmt.Sprintf("this git lock is %s old", age.Round(time.Minute)),
				Hint: "if no git process is running here, remove the file",
			})
		}
	}
	// git ignores the gc.pid of a process that is gone, but not the lock of that file.
	for _, leaf := range []string{"packed-refs.lock", "config.lock", "HEAD.lock", "gc.pid.lock"} {
		foreign(filepath.Join(s.Repo.CommonDir, leaf))
	}
	if s.Repo.GitDir != s.Repo.CommonDir { // a linked worktree has a HEAD of its own
		foreign(filepath.Join(s.Repo.GitDir, "HEAD.lock"))
	}
	// The index lock may be ours. Then it can be removed, otherwise it is only named.
	if own := indexLock(s); own != nil {
		out = append(out, *own)
	} else {
		foreign(s.Repo.IndexPath + ".lock")
	}
	// Every loose ref may have a lock file of its own. A lock on a ref that is not ours stops a
	// fetch or a gc.
	filepath.WalkDir(filepath.Join(s.Repo.CommonDir, "refs"), func(path string, _ fs.DirEntry, err error) error { //nolint:errcheck // the function returns none
		if err == nil && strings.HasSuffix(path, ".lock") {
			foreign(path)
		}
		return nil //nolint:nilerr // a directory that cannot be read is skipped
	})
	return out, nil
}

// indexLock finds the index lock of a rollback that was killed before it wrote its intent file.
// With an intent file, --continue or --abort takes care of the lock.
func indexLock(s *checkpoint.Service) *Problem {
	if in, err := snapshot.ReadIntent(filepath.Join(s.Repo.GitDir, "checkpoint")); in != nil || err != nil {
		return nil
	}
	// AbandonedLock can tell our lock from one of git.
	shot, err := s.Worktree()
	if err != nil {
		return nil
	}
	lock := shot.AbandonedLock()
	if lock == "" {
		return nil
	}
	return &Problem{
		Kind: "stale_lock", Level: LevelProblem, Object: lock, Message: "a rollback that was killed left the lock of the index", Hint: "--fix removes it",
		fix: fix{"removed", func(context.Context) error { return shot.Sweep(create.SweepAge) }},
	}
}

// eachOwnFile calls each with every regular file in the places of our refs below a directory: those of
// the refs, or of their reflogs. Directories that cannot be read are skipped.
func eachOwnFile(top string, each func(path string)) {
	for _, root := range ownRoots() {
		filepath.WalkDir(filepath.Join(top, filepath.FromSlash(root)), func(path string, e fs.DirEntry, err error) error { //nolint:errcheck // the function returns none
			if err == nil && e.Type().IsRegular() {
				each(path)
			}
			return nil //nolint:nilerr // see above
		})
	}
}

// lookAtRollbacks reports rollbacks of any worktree that were killed and are neither continued nor
// aborted.
func lookAtRollbacks(_ context.Context, s *checkpoint.Service) ([]Problem, error) {
	var out []Problem
	dirs, err := checkpoint.OwnDirs(s.Repo)
	for _, dir := range dirs {
		in, err := snapshot.ReadIntent(dir.Path)
		if in == nil && err == nil {
			continue
		}
		a := Problem{Kind: "unfinished_rollback", Level: LevelProblem, Object: dir.Worktree}
		// Another worktree's rollback has to be finished there.
		where := " in this worktree"
		if !isHere(s.Repo, dir) {
			where = fmt.Sprintf(" in worktree %q", dir.Worktree)
		}
		var meta checkpoint.Intent
		if err == nil {
			meta, err = checkpoint.ReadIntent(in.Meta)
		}
		if err != nil {
			why := fmt.Errorf("its description cannot be read: %w", err)
			if spoilt, is := errors.AsType[*snapshot.IntentError](err); is {
				why = spoilt.Err
			}
			a.Message = "a rollback" + where + " was cut off, and " + why.Error()
			a.Hint = checkpoint.SpoiltHint(filepath.Join(dir.Path, "rollback"))
		} else if process := snapshot.Mover(dir.Path); process != 0 {
			a.Level, a.Message = LevelInfo, fmt.Sprintf("a rollback to %s%s is running (process %d)", meta.To, where, process)
		} else {
			a.Message = fmt.Sprintf("a rollback to %s%s was cut off", meta.To, where)
			a.Hint = "run `git checkpoint rollback --continue` there to finish it, or `--abort` to take it back"
		}
		out = append(out, a)
	}
	return out, err
}

// lookAtActive finds worktrees whose active session does not exist.
func lookAtActive(ctx context.Context, s *checkpoint.Service) ([]Problem, error) {
	const maxSessionFile = 256 // longer than any session name
	var out []Problem
	dirs, err := checkpoint.OwnDirs(s.Repo)
	for _, dir := range dirs {
		path := filepath.Join(dir.Path, "session")
		data, err := os.ReadFile(path)
		if err != nil {
			continue // none is active
		}
		a := Problem{
			Kind: "active_session", Level: LevelProblem, Object: dir.Worktree, Hint: "--fix clears it; `git checkpoint session switch` chooses another one",
			fix: fix{"forgotten", func(context.Context) error { return os.Remove(path) }},
		}
		active, err := name.ParseSession(strings.TrimSuffix(string(data[:min(len(data), maxSessionFile)]), "\n"))
		if err != nil {
			a.Message = "the file for the active session does not contain a session name: " + err.Error()
			out = append(out, a)
			continue
		}
		if _, err := s.Store.State(ctx, active); errors.Is(err, store.ErrNoSession) {
			a.Message = fmt.Sprintf("the active session %q does not exist", active)
			// A session that only lost its journal can come back, and is active then as it was.
			if lost := (*store.LostError)(nil); errors.As(checkpoint.UnknownSessionError(ctx, s.Store, active), &lost) {
				a.Message, a.fix = "active session: "+lost.Error(), fix{}
				a.Hint = "`git checkpoint rebuild --session " + string(active) + "` restores what can be proven of it"
			}
			out = append(out, a)
		}
	}
	return out, err
}
