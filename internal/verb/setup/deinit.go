package setup

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/core/clearance"
	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/format/render"
	"git-checkpoint/internal/git"
	"git-checkpoint/internal/storage/snapshot"
	"git-checkpoint/internal/sys/gather"
	"git-checkpoint/internal/verb/connect"
	"git-checkpoint/internal/verb/continuation"
)

// allFiles returns the directories with the files of this program, of all worktrees. It refuses
// while one of them says how a rollback is finished or taken back.
func allFiles(repo *git.Repo) ([]checkpoint.OwnDir, error) {
	dirs, err := checkpoint.OwnDirs(repo)
	if err != nil {
		return nil, err
	}
	for _, dir := range dirs {
		in, err := snapshot.ReadIntent(dir.Path)
		if err != nil {
			return nil, err
		}
		if in != nil {
			return nil, &checkpoint.Error{
				Kind: checkpoint.KindRefused, Message: fmt.Sprintf("a rollback in worktree %q is not finished", dir.Worktree),
				Hints: []string{
					"run `git checkpoint rollback --continue` there to finish it", "or `git checkpoint rollback --abort` there to take it back",
					"`git worktree prune` forgets a worktree that no longer exists",
				},
			}
		}
	}
	return dirs, nil
}

// clearDir removes a directory of this program, but for the receipt of hooks in agents' settings:
// what it still lists was added in other worktrees, and only a deinit there can remove it.
func clearDir(dir string) error {
	entries, err := os.ReadDir(dir)
	for _, e := range entries {
		if e.Name() != checkpoint.ReceiptFile {
			err = errors.Join(err, os.RemoveAll(filepath.Join(dir, e.Name())))
		}
	}
	os.Remove(dir) //nolint:errcheck // it stays with the receipt
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// part is something that a deinit takes out: lines that name it, and how it is removed.
type part struct {
	says []string
	sum  string // what the answer says in place of these; empty: these
	take func() error
}

// parts returns what a deinit takes out, in this order. Nothing is changed yet.
func parts(ctx context.Context, s *checkpoint.Rules, all bool) ([]part, error) {
	dirs, err := checkpoint.OwnDirs(s.Repo)
	if all {
		dirs, err = allFiles(s.Repo)
	}
	if err != nil {
		return nil, err
	}
	found := append(hookParts(s.Store), chatParts(s, dirs)...)
	if all {
		listed, err := s.Repo.Refs.List(ctx, name.Roots()...)
		if err != nil {
			return nil, err
		}
		updates := gather.List(listed, func(r git.RefValue) git.Update { return git.Update{Ref: r.Ref, Old: r.OID} })
		refs := part{take: func() error {
			defer dropEmpty(s.Repo)
			return s.Repo.Refs.Update(ctx, updates)
		}}
		for _, u := range updates {
			refs.says = append(refs.says, string(u.Ref))
		}
		if len(updates) > 1 {
			refs.sum = "all sessions (" + render.Count(len(updates), "ref", "refs") + ")"
		}
		if len(updates) > 0 {
			found = append(found, refs)
		}
		for _, dir := range dirs {
			if entries, _ := os.ReadDir(dir.Path); len(entries) > 0 { //nolint:errcheck // clearDir names what cannot be read
				found = append(found, part{says: []string{"files in " + connect.Relative(s, dir.Path)}, take: func() error { return clearDir(dir.Path) }})
			}
		}
	}
	settings, err := configParts(ctx, s)
	return append(found, settings...), err
}

// chatParts returns the conversations with agents that --chat began from copies.
func chatParts(s *checkpoint.Rules, dirs []checkpoint.OwnDir) (found []part) {
	for _, dir := range dirs {
		copies := filepath.Join(dir.Path, continuation.Dir)
		if _, err := os.Lstat(copies); err == nil {
			found = append(found, part{says: []string{"conversations in " + connect.Relative(s, copies)}, take: func() error { return os.RemoveAll(copies) }})
		}
	}
	return found
}

// dropEmpty removes the directories that refs and their logs leave empty.
func dropEmpty(repo *git.Repo) {
	for _, root := range name.Roots() {
		for _, of := range []string{"", "logs"} {
			var dirs []string
			_ = filepath.WalkDir(filepath.Join(repo.CommonDir, of, filepath.FromSlash(path.Dir(root))), func(dir string, e fs.DirEntry, err error) error {
				if err == nil && e.IsDir() {
					dirs = append(dirs, dir)
				}
				return nil
			})
			for _, dir := range slices.Backward(dirs) {
				os.Remove(dir) //nolint:errcheck // one that is not empty stays
			}
		}
	}
}

// configParts returns the settings in the repository's own configuration. A value in an included file or
// in another scope is not there.
func configParts(ctx context.Context, s *checkpoint.Rules) (found []part, err error) {
	listed, err := s.Repo.Output(ctx, "config", "--local", "--null", "--list")
	if err != nil {
		return nil, err
	}
	var keys []string
	for pair := range strings.SplitSeq(listed, "\x00") {
		key, value, _ := strings.Cut(pair, "\n")
		if strings.HasPrefix(key, "checkpoint.") {
			keys = append(keys, key)
		}
		for _, kv := range append(kept(s), ours[:]...) {
			if strings.EqualFold(key, kv[0]) && value == kv[1] {
				found = append(found, part{says: []string{kv[0] + " = " + kv[1]}, take: func() error { return unset(ctx, s.Repo, "--fixed-value", "--unset-all", kv[0], kv[1]) }})
			}
		}
	}
	for _, key := range slices.Compact(slices.Sorted(slices.Values(keys))) {
		found = append(found, part{says: []string{key}, take: func() error { return unset(ctx, s.Repo, "--unset-all", key) }})
	}
	return found, nil
}

// Leaving returns what Deinit would remove now.
func Leaving(ctx context.Context, s *checkpoint.Rules, all bool) (going []string, err error) {
	found, err := parts(ctx, s, all)
	for _, p := range found {
		going = append(going, p.says...)
	}
	return going, err
}

// Deinit removes hooks and configuration, and with all every session, note and tag, and the
// files of all worktrees in their git directories. It returns what it removed.
func Deinit(ctx context.Context, s *checkpoint.Rules, all bool) (gone []string, err error) {
	found, err := parts(ctx, s, all)
	if err != nil {
		return nil, err
	}
	for _, p := range found {
		if err := p.take(); err != nil {
			return gone, err
		}
		if p.sum != "" {
			p.says = []string{p.sum}
		}
		gone = append(gone, p.says...)
	}
	return gone, nil
}

// unset removes a key from the repository's own configuration.
func unset(ctx context.Context, repo *git.Repo, args ...string) error {
	_, err := repo.Output(ctx, append([]string{"config", "--local"}, args...)...)
	// The value is in an included file or another scope.
	if git.ExitCode(err) == 5 {
		return nil
	}
	return err
}

// Stays returns what a deinit leaves, because it is the user's or serves other repositories too,
// each with the command that removes it. all says that checkpoints are removed; otherwise they are
// not part of it.
func Stays(ctx context.Context, s *checkpoint.Rules, all bool) ([]string, error) {
	stays, err := connect.Left(s)
	if err != nil {
		return nil, err
	}
	global, _ := s.Repo.Output(ctx, "config", "--global", "--name-only", "--get-regexp", `^checkpoint\.`) //nolint:errcheck // there is none, or no home directory
	for _, key := range slices.Compact(slices.Sorted(slices.Values(strings.Fields(global)))) {
		stays = append(stays, "your setting "+key+", for all repositories: git config --global --unset-all "+key)
	}
	for _, dir := range []string{connect.UserState(s.Settings.Getenv), clearance.UserDir(s.Settings)} {
		if _, err := os.Stat(dir); err == nil && filepath.IsAbs(dir) {
			stays = append(stays, "your files in "+connect.Relative(s, dir)+", for all repositories: delete the directory")
		}
	}
	if _, err := os.Lstat(filepath.Join(s.Repo.WorkTree, ".checkpoint")); err == nil && s.Repo.WorkTree != "" {
		stays = append(stays, "the settings and workflows in .checkpoint: delete the directory")
	}
	copies, _ := clearance.Copies(s.Repo) //nolint:errcheck // those that were found count
	for _, c := range copies {
		if c.Forked() {
			stays = append(stays, c.Kind.What+": "+c.Name)
		}
	}
	for _, mirror := range s.Repo.Config.All("checkpoint.mirror") {
		stays = append(stays, "the files of the mirror "+mirror)
	}
	if all {
		stays = append(stays, "objects that nothing names any more, until git removes them: git gc --prune=now")
	}
	return stays, nil
}
