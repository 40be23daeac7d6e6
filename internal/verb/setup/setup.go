// Package setup prepares a repository for checkpoints and takes that out again: Init,
// Deinit, the git hooks (hooks.go), and the list of settings (Config). It also has
// Candidates, which completes words for a shell. None of it is required: checkpoints work
// without an init.
package setup

import (
	"cmp"
	"context"
	"slices"
	"sort"
	"strings"

	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/git"
	"git-checkpoint/internal/storage/remote"
	"git-checkpoint/internal/sys/gather"
)

// notesGlob makes `git log` show the notes. It is a glob because git warns about a literal
// ref on every log until the first note exists.
const notesGlob = "refs/notes/checkpoint*"

// InitRequest holds the options of `init`.
type InitRequest struct {
	ExcludeDecoration bool                 // set log.excludeDecoration
	Notes             bool                 // set notes.displayRef
	Hooks             bool                 // install pre-push and post-merge
	Settings          []checkpoint.Setting // to set in the repository's configuration
}

// Init adds settings of git so that `git log` does not decorate commits with our refs and, if asked for,
// shows the records, and so that `git fetch` does not bring our refs as branches. It also writes the
// given settings and installs hooks. It returns what it changed.
func Init(ctx context.Context, s *checkpoint.Rules, req InitRequest) ([]string, error) {
	set := []string{}
	var wanted [][2]string
	if req.ExcludeDecoration {
		wanted = append(wanted, ours[0])
	}
	if req.Notes {
		wanted = append(wanted, ours[1])
	}
	for _, kv := range append(wanted, kept(s)...) {
		if slices.Contains(s.Repo.Config.All(kv[0]), kv[1]) {
			continue
		}
		if _, err := s.Repo.Output(ctx, "config", "--local", "--add", kv[0], kv[1]); err != nil {
			return set, err
		}
		set = append(set, kv[0]+" = "+kv[1])
		if branches, ok := strings.CutPrefix(kv[1], "^refs/heads/"); ok { // those that an earlier fetch made stay otherwise
			tracked, err := s.Repo.Refs.List(ctx, "refs/remotes/"+s.DefaultRemote()+"/"+strings.TrimSuffix(branches, "*"))
			gone := gather.List(tracked, func(r git.RefValue) git.Update { return git.Update{Ref: r.Ref, Old: r.OID} })
			if err = cmp.Or(err, s.Repo.Refs.Update(ctx, gone)); err != nil {
				return set, err
			}
		}
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
		hooks, err := setHooks(s.Repo)
		return append(set, hooks...), err
	}
	return set, nil
}

// ours are the values of git's own settings that init adds, and last one that older versions added.
var ours = [...][2]string{{"log.excludeDecoration", name.CheckpointRoot + "*"}, {"notes.displayRef", notesGlob}, {"log.excludeDecoration", name.CheckpointRoot}}

// kept returns the refspec that keeps checkpoints which the remote has as branches out of a plain `git fetch`, if it has some.
func kept(s *checkpoint.Rules) [][2]string {
	prefix, _ := s.Settings.Get("checkpoint.refPrefix")
	mapping, err := remote.ParseMapping(prefix)
	key, there := "remote."+s.DefaultRemote()+".fetch", string(mapping.ToRemote(name.CheckpointRoot))
	if err != nil || !strings.HasPrefix(there, "refs/heads/") || len(s.Repo.Config.All(key)) == 0 {
		return nil
	}
	return [][2]string{{key, "^" + there + "*"}}
}

// knownKeys are settings with their defaults. A default is empty if the workflow or the
// branch decides, or if there is none.
var knownKeys = [...][2]string{
	{"checkpoint.enabled", "true"}, {"checkpoint.auto", "true"}, {"checkpoint.session", ""}, {"checkpoint.workflow", "default"},
	{"checkpoint.tag", "true"}, {"checkpoint.tagPrivate", "false"}, {"checkpoint.sign", "false"}, {"checkpoint.maxFileSize", "100m"}, {"checkpoint.hookFileSize", "8m"}, {"checkpoint.maxNew", "1g"}, {"checkpoint.maxRecordSize", "50m"},
	{"checkpoint.undoLevels", "10"}, {"checkpoint.maxSize", ""}, {"checkpoint.maxSizeRecords", ""}, {"checkpoint.maxToolSize", "1g"}, {"checkpoint.expire", ""}, {"checkpoint.failedExpire", ""}, {"checkpoint.autoPrune", ""},
	{"checkpoint.remote", ""}, {"checkpoint.refPrefix", ""}, {"checkpoint.autoPush", "false"}, {"checkpoint.autoPack", "true"},
}

// Config returns the settings in force with their origins: the known ones, and others that
// are set.
func Config(settings *checkpoint.Settings) []checkpoint.Setting {
	out := []checkpoint.Setting{}
	seen := map[string]bool{}
	for _, kv := range knownKeys {
		st := checkpoint.Setting{Key: kv[0], Value: kv[1], Origin: "default"}
		if v, ok := settings.Get(kv[0]); ok {
			st.Value, st.Origin = v, settings.Origin(kv[0])
		}
		seen[strings.ToLower(kv[0])] = true
		out = append(out, st)
	}
	more := append(settings.Config.Keys("checkpoint."), settings.Committed.Keys("checkpoint.")...)
	sort.Strings(more)
	for _, key := range more {
		if !seen[strings.ToLower(key)] {
			seen[strings.ToLower(key)] = true
			if v, ok := settings.Get(key); ok {
				out = append(out, checkpoint.Setting{Key: key, Value: v, Origin: settings.Origin(key)})
			}
		}
	}
	return out
}
