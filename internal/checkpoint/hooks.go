package checkpoint

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

	"git-checkpoint/internal/name"
)

// hookNames are the hooks that init --hooks sets up.
var hookNames = [...]string{"pre-push", "post-merge"}

// chainedEnding is put behind the name of a hook that was there before ours.
const chainedEnding = ".before-git-checkpoint"

// hookScript runs what was there before, with the same input, and then ours, which never
// fails what the user does. Where the program is gone it is silent.
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

// hookDir is where hooks are, and whether they are this repository's own.
func (s *Service) hookDir() (string, error) {
	if dir, ok := s.repo.Config.Get("core.hooksPath"); ok && dir != "" {
		return "", &Error{
			Kind: KindRefused, Message: fmt.Sprintf("core.hooksPath is %q: hooks there may be somebody else's", dir),
			Hints: []string{"add to its pre-push: git-checkpoint __hook pre-push \"$@\" (with the same standard input)", "add to its post-merge: git-checkpoint __hook post-merge \"$@\""},
		}
	}
	return s.ownHooks(), nil
}

func (s *Service) ownHooks() string { return filepath.Join(s.repo.CommonDir, "hooks") }

// setHooks sets the hooks up beside those that exist, and says which.
func (s *Service) setHooks() ([]string, error) {
	dir, err := s.hookDir()
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(dir, 0o777); err != nil { //nolint:gosec // as git makes it
		return nil, classify(err)
	}
	var set []string
	for _, hook := range hookNames {
		path := filepath.Join(dir, hook)
		have, err := os.ReadFile(path)
		if err == nil && bytes.Equal(have, hookScript(hook)) {
			continue
		}
		if err == nil {
			if _, taken := os.Lstat(path + chainedEnding); taken == nil {
				return set, &Error{Kind: KindRefused, Message: fmt.Sprintf("%q is in the way", path+chainedEnding)}
			}
			err = os.Rename(path, path+chainedEnding)
		} else if errors.Is(err, fs.ErrNotExist) {
			err = nil
		}
		if err == nil {
			err = os.WriteFile(path, hookScript(hook), 0o777) //nolint:gosec // it has to run
		}
		if err != nil {
			return set, classify(err)
		}
		set = append(set, "hook "+hook)
	}
	return set, nil
}

// unsetHooks takes our hooks out and puts back what was there.
func (s *Service) unsetHooks() ([]string, error) {
	dir := s.ownHooks() // whatever core.hooksPath has become since
	var gone []string
	for _, hook := range hookNames {
		path := filepath.Join(dir, hook)
		have, err := os.ReadFile(path)
		if err != nil || !bytes.Contains(have, []byte("git-checkpoint __hook "+hook)) || !bytes.Contains(have, []byte(chainedEnding)) {
			continue
		}
		if !bytes.Equal(have, hookScript(hook)) {
			s.warn(fmt.Sprintf("%q was changed since it was set up, and stays", path))
			continue
		}
		if err := os.Remove(path); err != nil {
			return gone, classify(err)
		}
		if err := os.Rename(path+chainedEnding, path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return gone, classify(err)
		}
		gone = append(gone, "hook "+hook)
	}
	return gone, nil
}

// PrePush sends the sessions of the branches that are being pushed; input is what git
// gives a pre-push hook.
func (s *Service) PrePush(ctx context.Context, remoteName, input string) (*TravelAnswer, error) {
	var branches []string
	for line := range strings.Lines(input) {
		if words := strings.Fields(line); len(words) == 4 && strings.HasPrefix(words[0], "refs/heads/") {
			branches = append(branches, words[0])
		}
	}
	sessions, err := s.sessionsOf(ctx, branches)
	if err != nil || len(sessions) == 0 {
		return nil, err
	}
	return s.Push(ctx, TravelRequest{Remote: remoteName, Sessions: sessions})
}

// PostMerge fetches the sessions of the branch that something was merged into.
func (s *Service) PostMerge(ctx context.Context) (*TravelAnswer, error) {
	branch := string(s.repo.Head.Branch)
	if branch == "" {
		return nil, nil
	}
	sessions, err := s.sessionsOf(ctx, []string{branch})
	if err != nil {
		return nil, err
	}
	if own := string(name.SessionFromBranch(strings.TrimPrefix(branch, "refs/heads/"))); !slices.Contains(sessions, own) {
		sessions = append(sessions, own)
	}
	found, err := s.Fetch(ctx, TravelRequest{Sessions: sessions})
	if KindOf(err) == KindNotFound {
		err = nil
	}
	return found, err
}

// sessionsOf lists the sessions that were started on one of the branches.
func (s *Service) sessionsOf(ctx context.Context, branches []string) ([]string, error) {
	infos, _, err := s.store.Sessions(ctx)
	if err != nil {
		return nil, classify(err)
	}
	var found []string
	for _, info := range infos {
		if st, err := s.store.State(ctx, info.Session); err == nil && slices.Contains(branches, st.Branch) {
			found = append(found, string(info.Session))
		}
	}
	return found, nil
}
