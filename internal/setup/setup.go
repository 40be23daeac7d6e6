// Package setup sets a repository up for checkpoints and takes that out again: init,
// deinit, hooks, configuration and what a shell can complete.
package setup

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strings"

	"git-checkpoint/internal/checkpoint"
	"git-checkpoint/internal/git"
	"git-checkpoint/internal/name"
	"git-checkpoint/internal/retain"
)

// notesGlob makes `git log` show notes. A glob, because a literal ref warns on
// every log until the first note is there.
const notesGlob = "refs/notes/checkpoint*"

// Init sets the repository up: notes of checkpoints in `git log`, and on request
// no decoration of commits by our refs.
func Init(ctx context.Context, s *checkpoint.Service, req InitRequest) ([]string, error) {
	set := []string{}
	for _, kv := range ours {
		if kv[0] == "log.excludeDecoration" && !req.ExcludeDecoration || slices.Contains(s.Repo.Config.All(kv[0]), kv[1]) {
			continue
		}
		if _, err := s.Repo.Output(ctx, "config", "--local", "--add", kv[0], kv[1]); err != nil {
			return set, checkpoint.Classify(err)
		}
		set = append(set, kv[0]+" = "+kv[1])
	}
	for _, kv := range req.Settings {
		if slices.Equal(s.Repo.Config.All(kv.Key), []string{kv.Value}) {
			continue
		}
		if _, err := s.Repo.Output(ctx, "config", "--local", "--replace-all", kv.Key, kv.Value); err != nil {
			return set, checkpoint.Classify(err)
		}
		set = append(set, kv.Key+" = "+kv.Value)
	}
	if req.Hooks {
		hooks, err := setHooks(s)
		return append(set, hooks...), err
	}
	return set, nil
}

// ours are the entries of git's own settings that init adds.
var ours = [...][2]string{{"notes.displayRef", notesGlob}, {"log.excludeDecoration", name.CheckpointRoot}}

// PlanDeinit says which refs `deinit --all` would remove.
func PlanDeinit(ctx context.Context, s *checkpoint.Service, _ DeinitRequest) (*retain.Removed, error) {
	updates, err := allRefs(ctx, s)
	out := &retain.Removed{Removed: []checkpoint.Labelled{}}
	for _, u := range updates {
		out.Removed = append(out.Removed, checkpoint.Labelled{Label: string(u.Ref)})
	}
	return out, err
}

// allRefs are the deletions of everything that this program keeps in refs.
func allRefs(ctx context.Context, s *checkpoint.Service) ([]git.Update, error) {
	refs, err := s.Repo.Refs(ctx, name.CheckpointRoot, name.TagRoot, string(name.NotesRef), "refs/checkpoint-remotes/")
	if err != nil {
		return nil, checkpoint.Classify(err)
	}
	var updates []git.Update
	for _, r := range refs {
		updates = append(updates, git.Update{Ref: r.Ref, Old: r.OID})
	}
	return updates, nil
}

// Deinit takes the configuration out, and with All every session, note and tag.
func Deinit(ctx context.Context, s *checkpoint.Service, req DeinitRequest) ([]string, error) {
	gone, err := unsetHooks(s)
	if err != nil {
		return gone, err
	}
	if req.All {
		updates, err := allRefs(ctx, s)
		if err != nil {
			return nil, err
		}
		if len(updates) > 0 {
			if err := s.Repo.UpdateRefs(ctx, updates); err != nil {
				return nil, checkpoint.Classify(err)
			}
		}
		for _, u := range updates {
			gone = append(gone, string(u.Ref))
		}
		if err := os.RemoveAll(filepath.Join(s.Repo.GitDir, "checkpoint")); err != nil {
			return gone, checkpoint.Classify(err)
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
	if err != nil && git.ExitCode(err) != 1 { // 1: there are none
		return gone, checkpoint.Classify(err)
	}
	for _, key := range slices.Compact(slices.Sorted(slices.Values(strings.Fields(keys)))) {
		if err := unset(ctx, s, "--unset-all", key); err != nil {
			return gone, err
		}
		gone = append(gone, key)
	}
	return gone, nil
}

func unset(ctx context.Context, s *checkpoint.Service, args ...string) error {
	_, err := s.Repo.Output(ctx, append([]string{"config", "--local"}, args...)...)
	if git.ExitCode(err) == 5 { // it stands in an included file or another scope
		return nil
	}
	return checkpoint.Classify(err)
}

// Setting looks up a key of git's own configuration.
func Setting(s *checkpoint.Service, key string) (string, bool) { return s.Repo.Config.Get(key) }

// knownKeys are the keys with the value they have when nothing is set; empty where
// the workflow or the branch decides, or nothing does.
var knownKeys = [...][2]string{
	{"checkpoint.enabled", "true"}, {"checkpoint.auto", "true"}, {"checkpoint.session", ""}, {"checkpoint.workflow", "default"},
	{"checkpoint.tag", "true"}, {"checkpoint.sign", "false"}, {"checkpoint.maxFileSize", "100m"}, {"checkpoint.maxNew", "1g"}, {"checkpoint.maxRecordSize", "50m"},
	{"checkpoint.undoLevels", "10"}, {"checkpoint.maxSize", ""}, {"checkpoint.expire", ""}, {"checkpoint.failedExpire", ""}, {"checkpoint.autoPrune", ""},
	{"checkpoint.remote", ""}, {"checkpoint.refPrefix", ""}, {"checkpoint.autoPush", "false"}, {"checkpoint.autoPack", "true"},
}

// Config lists the configuration in force.
func Config(_ context.Context, s *checkpoint.Service) ([]checkpoint.Setting, error) {
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
	return out, nil
}
