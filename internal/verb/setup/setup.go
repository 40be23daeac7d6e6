// Package setup prepares a repository for checkpoints and takes that out again: Init,
// Deinit, the git hooks (hooks.go), and the list of settings (Config). It also has
// Candidates, which completes words for a shell. None of it is required: checkpoints work
// without an init.
package setup

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strings"

	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/git"
	"git-checkpoint/internal/storage/snapshot"
	"git-checkpoint/internal/verb/retain"
)

// notesGlob makes `git log` show the notes. It is a glob because git warns about a literal
// ref on every log until the first note exists.
const notesGlob = "refs/notes/checkpoint*"

// InitRequest holds the options of `init`.
type InitRequest struct {
	ExcludeDecoration bool // set log.excludeDecoration
	Hooks             bool // install pre-push and post-merge
	// To set in the repository's configuration.
	Settings []checkpoint.Setting
}

// Init adds settings of git so that `git log` shows notes and, if asked for, does not
// decorate commits with our refs. It also writes the given settings and installs hooks. It
// returns what it changed.
func Init(ctx context.Context, s *checkpoint.Service, req InitRequest) ([]string, error) {
	set := []string{}
	for _, kv := range ours {
		if kv[0] == "log.excludeDecoration" && !req.ExcludeDecoration || slices.Contains(s.Repo.Config.All(kv[0]), kv[1]) {
			continue
		}
		if _, err := s.Repo.Output(ctx, "config", "--local", "--add", kv[0], kv[1]); err != nil {
			return set, err
		}
		set = append(set, kv[0]+" = "+kv[1])
	}
	// A value that is set already, in any scope, is not written again.
	for _, kv := range req.Settings {
		if slices.Equal(s.Repo.Config.All(kv.Key), []string{kv.Value}) {
			continue
		}
		if _, err := s.Repo.Output(ctx, "config", "--local", "--replace-all", kv.Key, kv.Value); err != nil {
			return set, err
		}
		set = append(set, kv.Key+" = "+kv.Value)
	}
	if req.Hooks {
		hooks, err := setHooks(s)
		return append(set, hooks...), err
	}
	return set, nil
}

// ours are the values of git's own settings that init adds.
var ours = [...][2]string{{"notes.displayRef", notesGlob}, {"log.excludeDecoration", name.CheckpointRoot}}

// PlanDeinit returns the refs that `deinit --all` would remove.
func PlanDeinit(ctx context.Context, s *checkpoint.Service) (*retain.Removed, error) {
	if _, err := allFiles(s); err != nil {
		return nil, err
	}
	updates, err := allRefs(ctx, s)
	out := &retain.Removed{Removed: []checkpoint.Labelled{}}
	for _, u := range updates {
		out.Removed = append(out.Removed, checkpoint.Labelled{Label: string(u.Ref)})
	}
	return out, err
}

// allFiles returns the directories with the files of this program, of all worktrees. It refuses
// while one of them says how a rollback is finished or taken back.
func allFiles(s *checkpoint.Service) ([]checkpoint.OwnDir, error) {
	dirs, err := checkpoint.OwnDirs(s)
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

// allRefs returns updates that delete the refs of this program.
func allRefs(ctx context.Context, s *checkpoint.Service) ([]git.Update, error) {
	refs, err := s.Repo.Refs(ctx, name.Roots()...)
	if err != nil {
		return nil, err
	}
	var updates []git.Update
	for _, r := range refs {
		updates = append(updates, git.Update{Ref: r.Ref, Old: r.OID})
	}
	return updates, nil
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

// Deinit removes hooks and configuration, and with all every session, note and tag, and the
// files of all worktrees in their git directories. It returns what it removed.
func Deinit(ctx context.Context, s *checkpoint.Service, all bool) ([]string, error) {
	var dirs []checkpoint.OwnDir
	if all {
		var err error
		if dirs, err = allFiles(s); err != nil {
			return nil, err
		}
	}
	gone, err := unsetHooks(s)
	if err != nil {
		return gone, err
	}
	if all {
		updates, err := allRefs(ctx, s)
		if err != nil {
			return nil, err
		}
		if len(updates) > 0 {
			if err := s.Repo.UpdateRefs(ctx, updates); err != nil {
				return nil, err
			}
		}
		for _, u := range updates {
			gone = append(gone, string(u.Ref))
		}
		for _, dir := range dirs {
			if err := clearDir(dir.Path); err != nil {
				return gone, err
			}
		}
	}
	for _, kv := range ours {
		if slices.Contains(s.Repo.Config.All(kv[0]), kv[1]) {
			if err := unset(ctx, s, "--fixed-value", "--unset-all", kv[0], kv[1]); err != nil {
				return gone, err
			}
			gone = append(gone, kv[0]+" = "+kv[1])
		}
	}
	keys, err := s.Repo.Output(ctx, "config", "--local", "--name-only", "--get-regexp", "^checkpoint\\.")
	if err != nil && git.ExitCode(err) != 1 { // git's exit code for no match
		return gone, err
	}
	for _, key := range slices.Compact(slices.Sorted(slices.Values(strings.Fields(keys)))) {
		if err := unset(ctx, s, "--unset-all", key); err != nil {
			return gone, err
		}
		gone = append(gone, key)
	}
	return gone, nil
}

// unset removes a key from the repository's own configuration.
func unset(ctx context.Context, s *checkpoint.Service, args ...string) error {
	_, err := s.Repo.Output(ctx, append([]string{"config", "--local"}, args...)...)
	// The value is in an included file or another scope.
	if git.ExitCode(err) == 5 {
		return nil
	}
	return err
}

// knownKeys are settings with their defaults. A default is empty if the workflow or the
// branch decides, or if there is none.
var knownKeys = [...][2]string{
	{"checkpoint.enabled", "true"}, {"checkpoint.auto", "true"}, {"checkpoint.session", ""}, {"checkpoint.workflow", "default"},
	{"checkpoint.tag", "true"}, {"checkpoint.tagPrivate", "false"}, {"checkpoint.sign", "false"}, {"checkpoint.maxFileSize", "100m"}, {"checkpoint.maxNew", "1g"}, {"checkpoint.maxRecordSize", "50m"},
	{"checkpoint.undoLevels", "10"}, {"checkpoint.maxSize", ""}, {"checkpoint.maxSizeRecords", ""}, {"checkpoint.maxToolSize", "1g"}, {"checkpoint.expire", ""}, {"checkpoint.failedExpire", ""}, {"checkpoint.autoPrune", ""},
	{"checkpoint.remote", ""}, {"checkpoint.refPrefix", ""}, {"checkpoint.autoPush", "false"}, {"checkpoint.autoPack", "true"},
}

// Config returns the settings in force with their origins: the known ones, and others that
// are set.
func Config(s *checkpoint.Service) []checkpoint.Setting {
	out := []checkpoint.Setting{}
	seen := map[string]bool{}
	for _, kv := range knownKeys {
		st := checkpoint.Setting{Key: kv[0], Value: kv[1], Origin: "default"}
		if v, ok := s.Settings.Get(kv[0]); ok {
			st.Value, st.Origin = v, s.Settings.Origin(kv[0])
		}
		seen[strings.ToLower(kv[0])] = true
		out = append(out, st)
	}
	more := append(s.Settings.Config.Keys("checkpoint."), s.Settings.Committed.Keys("checkpoint.")...)
	sort.Strings(more)
	for _, key := range more {
		if !seen[strings.ToLower(key)] {
			seen[strings.ToLower(key)] = true
			if v, ok := s.Settings.Get(key); ok {
				out = append(out, checkpoint.Setting{Key: key, Value: v, Origin: s.Settings.Origin(key)})
			}
		}
	}
	return out
}
