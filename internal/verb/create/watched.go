package create

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"

	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/core/clearance"
	"git-checkpoint/internal/format/journal"
	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/git"
	"git-checkpoint/internal/storage/snapshot"
)

// captureWatched captures the worktree while the guard scans new files for secrets, unless that is off. Package snapshot stores
// no content of files until the definition is there: until then the workflow or trigger may still refuse the create. It may
// have written the trees of what is staged by then, which hold names only; no ref leads to them, and git collects them.
func (c *captured) captureWatched(ctx context.Context, definition definition) (err error) {
	in := c.in
	rules := snapshot.Rules{Ready: func() error {
		_, err := definition()
		return err
	}}
	if in.req.Trigger == journal.TriggerBefore { // an agent waits for it
		if rules.MaxUnread, err = in.s.Settings.Size("checkpoint.hookFileSize", checkpoint.DefaultHookFileSize); err != nil {
			return err
		}
	}
	var watch *clearance.Watch
	if !in.req.DryRun {
		if watch, err = clearance.WatchSave(ctx, in.s); err != nil {
			return err
		}
	}
	if watch != nil {
		rules.Look = watch.Look
	}
	got, err := in.take(ctx, rules)
	if err == nil && watch != nil {
		err = watch.Judge(ctx) // it refuses the create or warns, depending on what was found and on the configuration
	}
	if err == nil {
		c.capture, c.watch = got, watch
	}
	return err
}

// take captures the worktree by the rules of the request and the configured ones.
func (r *request) take(ctx context.Context, rules snapshot.Rules) (got *snapshot.Capture, err error) {
	s, session := r.s, r.home.session
	rules.IncludeIgnored, rules.Exclude, rules.LeaveUnignored = r.req.IncludeIgnored, r.req.Exclude, r.req.Automatic
	WatchIgnored(ctx, s.Store, session, &rules)
	if !r.req.Large {
		rules.MaxNewFiles = checkpoint.DefaultMaxNewFiles
		if rules.MaxNewSize, err = s.Settings.Size("checkpoint.maxNew", checkpoint.DefaultMaxNewSize); err != nil {
			return nil, err
		}
		rules.Known = func() name.OID { return CurrentTree(ctx, s.Store, session) }
	}
	return Take(ctx, s, rules)
}

// Take captures the worktree by rules and the configured ones about what is left out. Each capture
// has the latter, or a file that no create takes would count as changed forever. A pathspec that
// git refuses is a usage error: it comes from an option, from checkpoint.exclude or from
// checkpoint.include.
func Take(ctx context.Context, s *checkpoint.Service, rules snapshot.Rules) (*snapshot.Capture, error) {
	shot, err := s.Worktree()
	if err != nil {
		return nil, err
	}
	rules.Exclude = append(ExcludedAlways(s.Repo), rules.Exclude...)
	rules.Include = IncludedAlways(s.Repo)
	if rules.MaxFileSize, err = s.Settings.Size("checkpoint.maxFileSize", checkpoint.DefaultMaxFileSize); err != nil {
		return nil, err
	}
	got, err := shot.Take(ctx, rules)
	if _, is := errors.AsType[*snapshot.PathspecError](err); is && len(rules.Include) > 0 {
		// A setting must not stop each save and hook. An exclude may: what it names has to stay out.
		none := Unmatched(ctx, s.Repo, rules.Include)
		rules.Include = slices.DeleteFunc(rules.Include, func(spec string) bool { return slices.Contains(none, strings.TrimPrefix(spec, ":(top)")) })
		if got, err = shot.Take(ctx, rules); err == nil {
			s.Store.Warn("not captured: what checkpoint.include names with " + name.Quoted(strings.Join(none, " ")) + "; git finds no ignored file of this repository there")
		}
	}
	if _, is := errors.AsType[*snapshot.PathspecError](err); is {
		return nil, &checkpoint.Error{Kind: checkpoint.KindUsage, Err: err, Hints: []string{"the pathspec is in an option, or in checkpoint.exclude or checkpoint.include in git's configuration"}}
	}
	return got, err
}

// ExcludedAlways returns the pathspecs of checkpoint.exclude, relative to the top of the worktree.
func ExcludedAlways(repo *git.Repo) []string { return fromTop(repo, "checkpoint.exclude") }

// IncludedAlways returns the pathspecs of checkpoint.include, relative to the top of the worktree.
func IncludedAlways(repo *git.Repo) []string { return fromTop(repo, "checkpoint.include") }

// Unmatched returns those of some pathspecs that name no ignored file: also one that leads out of the worktree.
func Unmatched(ctx context.Context, repo *git.Repo, asked []string) (specs []string) {
	for _, spec := range asked {
		res, err := repo.Run(ctx, git.Cmd{Args: []string{"ls-files", "--others", "--ignored", "--exclude-standard", "--", spec}, Dir: filepath.Join(repo.WorkTree, filepath.FromSlash(repo.Prefix))})
		if err != nil || len(res.Stdout) == 0 {
			specs = append(specs, strings.TrimPrefix(spec, ":(top)"))
		}
	}
	return specs
}

// fromTop returns pathspecs of git's configuration. git would take them relative to the working
// directory. Settings in .checkpoint/config, which comes with the repository, are not read.
func fromTop(repo *git.Repo, key string) []string {
	var out []string
	for _, spec := range repo.Config.All(key) {
		switch {
		case spec == "": // it resets the list, as in git's own settings
			out = nil
		case strings.HasPrefix(spec, ":"):
			out = append(out, spec)
		default:
			if below, err := filepath.Rel(repo.WorkTree, spec); filepath.IsAbs(spec) && err == nil && filepath.IsLocal(below) {
				spec = filepath.ToSlash(below) // git takes no such path after :(top)
			}
			out = append(out, ":(top)"+spec)
		}
	}
	return out
}
