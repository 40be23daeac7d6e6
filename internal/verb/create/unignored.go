package create

import (
	"context"

	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/format/render"
	"git-checkpoint/internal/storage/snapshot"
	"git-checkpoint/internal/storage/store"
)

// WatchIgnored has a capture list what was ignored at the newest checkpoint of the session and is not any
// more.
func WatchIgnored(ctx context.Context, s *store.Store, session name.Session, rules *snapshot.Rules) {
	rules.Before = func(lost map[name.OID]bool) snapshot.Before { return lastIgnored(ctx, s, session, lost) }
}

// lastIgnored returns what the newest checkpoints of the session say of ignored files. In a session without
// checkpoints they are those of the session that changed last. It passes over what cannot be read, and over
// the lost trees.
func lastIgnored(ctx context.Context, s *store.Store, session name.Session, lost map[name.OID]bool) snapshot.Before {
	st, err := s.State(ctx, session)
	if err != nil || st.Len() == 0 {
		states, _ := checkpoint.States(ctx, s, "") //nolint:errcheck // then there is nothing to compare with
		for _, other := range states {
			if other.Len() > 0 && (st == nil || st.Len() == 0 || other.UpdatedAt.After(st.UpdatedAt)) {
				st = other
			}
		}
	}
	if st == nil {
		return snapshot.Before{}
	}
	var rules outsideRules
	checkpoint.Recall(s.Repo, checkpoint.OutsideFile, &rules) //nolint:errcheck // a convenience
	before := snapshot.Before{Outside: rules[st.Session]}
	for i, c := range st.Backward() {
		if c.Dead || c.Safety && len(before.Trees) > 0 {
			continue
		}
		rec, err := checkpoint.ReadRecord(ctx, s, st.At(i))
		if ctx.Err() != nil || len(lost) > 20 {
			return before
		}
		if err != nil || lost[rec.Snapshot.Tree] {
			continue
		}
		before.Trees = append(before.Trees, rec.Snapshot.Tree)
		for _, sk := range rec.Snapshot.Skipped {
			if sk.Reason == snapshot.ReasonUnignored {
				before.Left = append(before.Left, string(sk.Path))
			}
		}
		if !c.Safety {
			return before
		}
	}
	return before
}

// outsideRules are the ignore rules outside of any tree at the last checkpoint of each session that was
// made in this worktree. They stay on this machine, because they may name what is private.
type outsideRules map[name.Session]string

// rememberOutside keeps the rules at the checkpoint that was made.
func rememberOutside(s *store.Store, session name.Session, rules *string) {
	const mostOutside = 50 // how many sessions outsideRules has
	if rules == nil {
		return
	}
	var known outsideRules
	if _, err := checkpoint.Recall(s.Repo, checkpoint.OutsideFile, &known); err != nil || known[session] == *rules {
		return
	}
	if known == nil || len(known) >= mostOutside {
		known = outsideRules{}
	}
	known[session] = *rules
	checkpoint.Remember(s, checkpoint.OutsideFile, known) //nolint:errcheck // a convenience
}

// SayUnignored names the files that a checkpoint took and that were ignored at the last one.
func SayUnignored(paths []string) []string {
	const mostUnignored = 10 // how many paths get a warning of their own
	return render.First(paths, mostUnignored, "no longer ignored, and captured: %d more", func(p string) string {
		return "no longer ignored, and captured: " + name.Clip(p, name.Said)
	})
}
