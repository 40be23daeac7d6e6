package setup

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/git"
	"git-checkpoint/internal/storage/store"
	"git-checkpoint/internal/verb/travel"
)

// hookNames are the git hooks that init --hooks installs.
var hookNames = [...]string{"pre-push", "post-merge"}

// chainedEnding is appended to the name of an existing hook, which ours then calls first.
const chainedEnding = ".before-git-checkpoint"

// hookScript returns the script of a hook. It runs the previous hook with the same input,
// whose failure counts, and then our command, whose failure does not: it must never stop a
// push. If the program was uninstalled, the script does nothing.
func hookScript(hook string) []byte {
	return []byte(`#!/bin/sh
# Set up by "git checkpoint init --hooks", taken out by "git checkpoint deinit".
input=$(cat; echo .)
input=${input%.}
before=$0` + chainedEnding + `
if test -x "$before"
then
	printf %s "$input" | "$before" "$@" || exit
fi
command -v git-checkpoint >/dev/null || exit 0
printf %s "$input" | git-checkpoint __hook ` + hook + ` "$@" || :
`)
}

// hookDir returns the directory of the hooks. It refuses to write to core.hooksPath, which
// may be shared by many repositories.
func hookDir(repo *git.Repo) (string, error) {
	if dir, ok := repo.Config.Get("core.hooksPath"); ok && dir != "" {
		return "", &checkpoint.Error{
			Kind: checkpoint.KindRefused, Message: fmt.Sprintf("core.hooksPath is %q, and other repositories may share the hooks there", dir),
			Hints: []string{"add to its pre-push: git-checkpoint __hook pre-push \"$@\" (with the same standard input)", "add to its post-merge: git-checkpoint __hook post-merge \"$@\""},
		}
	}
	return ownHooks(repo), nil
}

// ownHooks returns the repository's own directory of hooks.
func ownHooks(repo *git.Repo) string { return filepath.Join(repo.CommonDir, "hooks") }

// setHooks installs the hooks and returns what it installed. An existing hook is renamed
// and called by ours.
func setHooks(repo *git.Repo) ([]string, error) {
	dir, err := hookDir(repo)
	if err != nil {
		return nil, err
	}
	// Git creates it with these permissions.
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return nil, err
	}
	var set []string
	for _, hook := range hookNames {
		path := filepath.Join(dir, hook)
		have, err := os.ReadFile(path)
		if err == nil && bytes.Equal(have, hookScript(hook)) {
			continue
		}
		if err == nil {
			// An older hook of the user is there already, and renaming would overwrite it.
			if _, taken := os.Lstat(path + chainedEnding); taken == nil {
				return set, checkpoint.Failure(checkpoint.KindRefused, "", "%q is in the way", path+chainedEnding)
			}
			err = os.Rename(path, path+chainedEnding)
		} else if errors.Is(err, fs.ErrNotExist) {
			err = nil
		}
		if err == nil {
			err = os.WriteFile(path, hookScript(hook), 0o777) // it has to be executable
		}
		if err != nil {
			return set, err
		}
		set = append(set, "hook "+hook)
	}
	return set, nil
}

// hookParts returns our hooks, which are removed, so that the earlier hooks get their places back.
// A hook that was changed stays.
func hookParts(s *store.Store) (found []part) {
	// Core.hooksPath may have been set since.
	dir := ownHooks(s.Repo)
	for _, hook := range hookNames {
		path := filepath.Join(dir, hook)
		have, err := os.ReadFile(path)
		if err != nil || !bytes.Contains(have, []byte("git-checkpoint __hook "+hook)) || !bytes.Contains(have, []byte(chainedEnding)) {
			continue
		}
		if !bytes.Equal(have, hookScript(hook)) {
			s.Warn(fmt.Sprintf("%q was changed since it was set up, so it stays", path))
			continue
		}
		found = append(found, part{says: []string{"hook " + hook}, take: func() error {
			if err := os.Remove(path); err != nil {
				return err
			}
			if err := os.Rename(path+chainedEnding, path); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
			return nil
		}})
	}
	return found
}

// PrePush pushes the sessions of the branches that are being pushed. input is what git
// passes to a pre-push hook: a line "<local ref> <local oid> <remote ref> <remote oid>" for
// each ref.
func PrePush(ctx context.Context, s *checkpoint.Service, remoteName, input string) (*travel.Answer, error) {
	var branches []string
	for line := range strings.Lines(input) {
		if words := strings.Fields(line); len(words) == 4 && strings.HasPrefix(words[0], "refs/heads/") {
			branches = append(branches, words[0])
		}
	}
	sessions, err := sessionsOf(ctx, s.Store, branches)
	if err != nil || len(sessions) == 0 {
		return nil, err
	}
	return travel.Push(ctx, s, travel.Request{Remote: remoteName, Sessions: sessions})
}

// PostMerge fetches the sessions of the branch into which something was merged.
func PostMerge(ctx context.Context, s *checkpoint.Service) (*travel.Answer, error) {
	branch := string(s.Repo.Head.Branch)
	if branch == "" {
		return nil, nil
	}
	sessions, err := sessionsOf(ctx, s.Store, []string{branch})
	if err != nil {
		return nil, err
	}
	// A session named after the branch may exist at the remote only.
	if own := string(name.SessionFromBranch(strings.TrimPrefix(branch, "refs/heads/"))); !slices.Contains(sessions, own) {
		sessions = append(sessions, own)
	}
	found, err := travel.Fetch(ctx, s, travel.Request{Sessions: sessions})
	// Nobody has pushed a session of this branch, which is the usual case.
	if checkpoint.KindOf(err) == checkpoint.KindNotFound {
		err = nil
	}
	return found, err
}

// sessionsOf returns the sessions that were started on one of the branches.
func sessionsOf(ctx context.Context, s *store.Store, branches []string) ([]string, error) {
	states, err := checkpoint.States(ctx, s, "")
	var found []string
	for _, st := range states {
		if slices.Contains(branches, st.Branch) {
			found = append(found, string(st.Session))
		}
	}
	return found, err
}
