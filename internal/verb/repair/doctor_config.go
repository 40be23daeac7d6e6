package repair

// This file checks settings, signing and the space that sessions use. None of it is repaired by
// --fix: settings are the user's, and only the user can decide what to prune.

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/core/clearance"
	"git-checkpoint/internal/core/workflow"
	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/format/render"
	"git-checkpoint/internal/git"
	"git-checkpoint/internal/git/gitconfig"
	"git-checkpoint/internal/storage/store"
	"git-checkpoint/internal/verb/create"
	"git-checkpoint/internal/verb/retain"
)

// lookAtConfiguration finds settings that are invalid or that weaken a guarantee. They belong to
// the user, so --fix changes none of them.
func lookAtConfiguration(ctx context.Context, s *checkpoint.Service) ([]Problem, error) {
	out := append(wrongSettings(s.Rules), weakRemotes(s.Repo)...)
	for _, spec := range create.Unmatched(ctx, s.Repo, create.IncludedAlways(s.Repo)) {
		out = append(out, weak("checkpoint.include", spec, "no ignored file of this worktree matches", ""))
	}
	// Settings of git, each with a test for values that weaken a guarantee of this program.
	c := s.Repo.Config
	for _, w := range []struct {
		key           string
		isWeak        func(value string) bool
		message, hint string
	}{
		{"core.fsync", drops, "what a checkpoint writes may be lost in a power failure", "`git config --unset core.fsync` restores git's default"},
		{"core.fsyncMethod", is("writeout-only"), "what a checkpoint writes may be lost in a power failure", "`git config --unset core.fsyncMethod` restores git's default"},
		{"core.logAllRefUpdates", is("always"), "git keeps a reflog of every ref, so what was pruned may stay", "`git config core.logAllRefUpdates true` keeps reflogs of branches only"},
		{"gc.pruneExpire", is("now", "all"), "a gc can delete the objects of a checkpoint that is being made, which then fails", "`git config --unset gc.pruneExpire` restores the default of two weeks"},
		{"notes.displayRef", is(string(name.NotesRef)), "git log prints a warning until the first note exists", "`git checkpoint init --notes` sets a pattern, which avoids that"},
		{"extensions.preciousObjects", is("true", "yes", "on", "1"), "git deletes no objects here, so a prune frees nothing", ""},
	} {
		for _, value := range c.All(w.key) {
			if w.isWeak(value) {
				out = append(out, weak(w.key, value, w.message, w.hint))
			}
		}
	}
	return out, nil
}

// weak returns the line for a setting that weakens a guarantee.
func weak(key, value, message, hint string) Problem {
	return Problem{Kind: "configuration", Level: LevelAdvice, Object: key + " = " + value, Message: message, Hint: hint}
}

// is returns a function that compares a value with some words, without regard to case.
func is(values ...string) func(string) bool {
	return func(value string) bool { return slices.Contains(values, strings.ToLower(value)) }
}

// drops reports whether a value of core.fsync excludes the loose objects or refs that a checkpoint
// writes.
func drops(list string) bool {
	parts := strings.Split(list, ",")
	return slices.Contains(parts, "none") || slices.Contains(parts, "-loose-object") || slices.Contains(parts, "-reference") || slices.Contains(parts, "-all")
}

// weakRemotes finds remotes for which a plain fetch or push overwrites checkpoints.
func weakRemotes(repo *git.Repo) []Problem {
	var out []Problem
	c := repo.Config
	for _, key := range slices.Sorted(slices.Values(c.Keys("remote."))) {
		for _, value := range c.All(key) {
			// A refspec is <source>:<target>. Without a plus git only fast-forwards the refs here,
			// unless it prunes.
			from, to, _ := strings.Cut(value, ":")
			// Patterns for all notes or all tags are common and harmless: our refs there are derived.
			everybodys := strings.HasPrefix(to, "refs/tags/*") || strings.HasPrefix(to, "refs/notes/*")
			if strings.HasSuffix(key, ".fetch") && covers(to, name.CheckpointRoot, string(name.NotesRef), name.TagRoot) && !everybodys && (strings.HasPrefix(value, "+") || prunes(c, key)) {
				out = append(out, weak(key, value, "a plain git fetch overwrites or deletes checkpoints and journals here, without a check",
					fmt.Sprintf("`git config --fixed-value --unset %s '%s'` removes it; `git checkpoint fetch` merges instead", key, value)))
			}
			if strings.HasSuffix(key, ".push") && covers(strings.TrimPrefix(from, "+"), name.CheckpointRoot, string(name.NotesRef)) { // the notes have the records
				out = append(out, weak(key, value, "a plain git push sends checkpoints past the guard, without asking",
					fmt.Sprintf("`git config --fixed-value --unset %s %s` removes it; use `git checkpoint push`", name.Quoted(key), name.Quoted(value))))
			}
		}
		if on, err := c.Bool(key, false); strings.HasSuffix(key, ".mirror") && err == nil && on {
			out = append(out, weak(key, "true", "a plain git push sends all checkpoints past the guard, without asking, and deletes at the remote what is not here, including checkpoints of others", "use `git checkpoint push`"))
		}
	}
	return out
}

// prunes reports whether a plain fetch deletes what the remote does not have. key is one of the
// remote's.
func prunes(c *gitconfig.Config, key string) bool {
	always, err := c.Bool("fetch.prune", false)
	here, hereErr := c.Bool(key[:strings.LastIndexByte(key, '.')]+".prune", always)
	return err == nil && hereErr == nil && here
}

// covers reports whether one side of a refspec is below some refs of ours, or its pattern includes them.
func covers(side string, ours ...string) bool {
	prefix, _, pattern := strings.Cut(side, "*")
	return slices.ContainsFunc(ours, func(root string) bool {
		return strings.HasPrefix(prefix, root) || pattern && strings.HasPrefix(root, prefix)
	})
}

// wrongSettings finds settings of this program with values that cannot be parsed.
func wrongSettings(s *checkpoint.Rules) []Problem {
	var out []Problem
	wrong := func(key string, err error) {
		if err != nil {
			value, _ := s.Settings.Get(key)
			out = append(out, Problem{Kind: "configuration", Level: LevelProblem, Object: key + " = " + value, Message: err.Error(), Hint: "`git config " + key + " <value>` sets a valid one"})
		}
	}
	for _, key := range []string{"checkpoint.enabled", "checkpoint.tag", "checkpoint.tagPrivate", "checkpoint.auto", "checkpoint.autoPrune", "checkpoint.autoPush", "checkpoint.autoPack"} {
		_, err := s.Settings.Bool(key, true)
		wrong(key, err)
	}
	for _, key := range []string{"checkpoint.maxFileSize", "checkpoint.hookFileSize", "checkpoint.maxNew", "checkpoint.maxRecordSize", "checkpoint.maxSize", "checkpoint.maxSizeRecords", "checkpoint.maxToolSize"} {
		_, err := s.Settings.Size(key, 0)
		wrong(key, err)
	}
	for _, key := range []string{"checkpoint.expire", "checkpoint.failedExpire"} {
		if v, ok := s.Settings.Get(key); ok && v != "never" {
			_, err := workflow.ParseAge(v)
			wrong(key, err)
		}
	}
	if v, ok := s.Settings.Get("checkpoint.session"); ok && v != "" {
		_, err := name.ParseSession(v)
		wrong("checkpoint.session", err)
	}
	if _, err := s.Definition(""); err != nil {
		wrong("checkpoint.workflow", err)
	}
	return out
}

// lookAtSigning checks that git can sign, if checkpoint.sign asks for it. Otherwise the next create
// would fail.
func lookAtSigning(_ context.Context, s *checkpoint.Service) ([]Problem, error) {
	signer := s.Store.Signer
	if signer == nil {
		return nil, nil
	}
	value, _ := s.Settings.Get("checkpoint.sign")
	a := Problem{Kind: "signing", Level: LevelProblem, Object: "checkpoint.sign = " + value}
	format, program := s.Store.SigningProgram(*signer)
	set := func(key string) bool {
		v, ok := s.Repo.Config.Get(key)
		return ok && v != ""
	}
	_, checks := s.Repo.Config.Get("gpg.ssh.allowedSignersFile")
	switch {
	case signer.Invalid != nil:
		a.Message, a.Hint = signer.Invalid.Error(), "set it to true, false, openpgp, ssh or x509"
	case program == "":
		a.Message, a.Hint = fmt.Sprintf("gpg.format is %q, which git does not know", format), "set it to openpgp, ssh or x509"
	case !git.IsInstalled(program):
		a.Message, a.Hint = fmt.Sprintf("%s is not installed, so every create fails", path.Base(program)), "install it, or `git config checkpoint.sign false`"
	// gpg selects a default key by itself, ssh-keygen does not.
	case format == "ssh" && !set("user.signingKey") && !set("gpg.ssh.defaultKeyCommand"):
		a.Message, a.Hint = "no signing key is set, so every create fails", "`git config user.signingKey <path of the public key>` sets one"
	case format == "ssh" && !checks:
		a.Level, a.Message = LevelAdvice, "signatures are made, but cannot be checked here"
		a.Hint = "`git config gpg.ssh.allowedSignersFile <file>` says whose keys are trusted"
	default:
		return nil, nil
	}
	return []Problem{a}, nil
}

// lookAtSpace reports how many bytes only the checkpoints of a session hold, and how many of them a
// prune would free. The largest session comes first. If there are many sessions, it measures only
// those with the most checkpoints.
func lookAtSpace(ctx context.Context, s *checkpoint.Service) ([]Problem, error) {
	const measured = 10 // how many sessions lookAtSpace measures. For each of them git walks over everything that the others hold
	sessions, err := longest(ctx, s.Repo)
	if err != nil {
		return nil, err
	}
	var out []Problem
	for _, session := range sessions[:min(measured, len(sessions))] {
		all, err := retain.WholeSession(ctx, s.Sessions, string(session))
		if err != nil {
			if ctx.Err() != nil {
				return out, err
			}
			continue // validate says what is wrong with it
		}
		a := Problem{Kind: "space", Level: LevelInfo, Object: string(session), Bytes: all.Bytes,
			Message: fmt.Sprintf("%s %s that nothing else holds", render.Count(len(all.Removed), "checkpoint holds", "checkpoints hold"), render.Size(all.Bytes))}
		// The plan of a prune says what the retention rules would remove now.
		plan, err := retain.PlanPrune(ctx, s, retain.PruneRequest{Session: string(session)})
		if would := plan.Answer(); err == nil && len(would.Pruned) > 0 {
			a.Message += fmt.Sprintf("; a prune would remove %d of them and free %s", len(would.Pruned), render.Size(would.Bytes))
			a.Hint = "`git checkpoint prune --session " + string(session) + " -n` shows which"
		}
		out = append(out, a)
	}
	slices.SortStableFunc(out, func(a, b Problem) int { return cmp.Compare(b.Bytes, a.Bytes) })
	if more := len(sessions) - measured; more > 0 {
		out = append(out, Problem{Kind: "space", Level: LevelInfo, Object: name.CheckpointRoot, Message: render.Count(more, "session with fewer checkpoints was not measured", "sessions with fewer checkpoints were not measured")})
	}
	return out, nil
}

// lookAtCopies says how much of the user's words is beside git's objects, and how long it is kept.
func lookAtCopies(_ context.Context, s *checkpoint.Service) (out []Problem, err error) {
	copies, err := clearance.Copies(s.Repo)
	at := map[[2]string]int{}
	for _, c := range copies {
		if c.Kind.Until == "" {
			continue
		}
		key := [2]string{filepath.Dir(c.Path), c.Kind.What}
		if _, known := at[key]; !known {
			at[key] = len(out)
			out = append(out, Problem{Kind: "copies", Level: LevelInfo, Object: key[0], Hint: "`git checkpoint expunge` knows them"})
		}
		p := &out[at[key]]
		if info, err := os.Lstat(c.Path); err == nil {
			p.Bytes += info.Size()
		}
		p.Message = fmt.Sprintf("%s: %s, kept %s", c.Kind.What, render.Size(p.Bytes), c.Kind.Until)
	}
	return out, err
}

// longest returns the sessions, those with the most checkpoints first.
func longest(ctx context.Context, repo *git.Repo) ([]name.Session, error) {
	refs, err := repo.Refs.List(ctx, name.CheckpointRoot)
	if err != nil {
		return nil, err
	}
	held := map[name.Session]int{}
	for _, r := range refs {
		if session, _, ours := store.SplitRef(r.Ref); ours {
			held[session]++
		}
	}
	sessions := slices.Sorted(maps.Keys(held))
	slices.SortStableFunc(sessions, func(a, b name.Session) int { return cmp.Compare(held[b], held[a]) })
	return sessions, nil
}
