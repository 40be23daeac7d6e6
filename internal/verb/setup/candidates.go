package setup

import (
	"context"
	"maps"
	"slices"
	"strings"

	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/core/workflow"
	"git-checkpoint/internal/format/journal"
	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/git"
	"git-checkpoint/internal/storage/store"
)

// Candidates returns the values of a kind, for the completion of a shell. prefix is what was typed
// of one: it may name a session. Errors give no candidates: a completion has no place for messages.
func Candidates(ctx context.Context, s *checkpoint.Sessions, kind, session, prefix string) (all []string) {
	switch kind {
	case "session":
		sessions, _ := s.Store.Sessions(ctx) //nolint:errcheck // then there is nothing to complete
		all = name.All[string](sessions)
	case "workflow":
		all = workflowNames(s.Repo)
	case "ref":
		all = references(ctx, s, session, "", prefix)
	case "range":
		end := strings.LastIndex(prefix, "..") + 1
		if end > 0 {
			end++
		}
		all = references(ctx, s, session, prefix[:end], prefix[end:])
	case "attempt":
		all = attempts(ctx, s.Store)
	case "attempt or ref":
		all = append(attempts(ctx, s.Store), references(ctx, s, session, "", prefix)...)
	case "trigger":
		all = definition(ctx, s, session).TriggerNames()
	case "status":
		all = statuses(ctx, s, session)
	case "output":
		all = outputs(ctx, s, session)
	case "remote":
		all = s.Repo.Config.Remotes("url")
	}
	return all
}

// workflowNames returns the built-in workflows and those of the repository.
func workflowNames(repo *git.Repo) []string {
	names := slices.Clone(workflow.Names())
	if own, err := checkpoint.OwnWorkflows(repo); err == nil {
		names = append(names, own...)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// references returns the numbers of live checkpoints, the newest first, each with its message after a tab, or the label if prefix
// begins it. With a prefix "session:" they are of that session and keep the prefix. before stands in front of them.
func references(ctx context.Context, s *checkpoint.Sessions, session, before, prefix string) (all []string) {
	other, rest, named := strings.Cut(prefix, ":")
	if named {
		session, before, prefix = other, before+other+":", rest
	}
	st := stateOf(ctx, s, session)
	if st == nil {
		return nil
	}
	const most = 100 // a shell asks before it shows more
	for i, c := range st.Backward() {
		e := st.At(i)
		if !c.Live || prefix == "" && e.BesideSteps() || len(all) == most {
			continue
		}
		value := e.Label
		if prefix == "" || !strings.HasPrefix(value, prefix) {
			value = checkpoint.NumberTo(st, e)
		}
		if strings.HasPrefix(value, prefix) {
			m := checkpoint.Mentioned(ctx, s.Store, st, e)
			m.Name, m.Note = before+value, ""
			all = append(all, strings.Replace(m.String(), " ", "\t", 1))
		}
	}
	if n := len(all); n > 0 && !named {
		all = append(all, []string{before + "latest\t(the newest)", before + "@\t(the current one)", before + "@~1\t(the one before it)"}[:min(n+1, 3)]...)
	}
	return all
}

// attempts returns the names of the attempts, as fork gave them.
func attempts(ctx context.Context, s *store.Store) []string {
	sessions, _ := s.Sessions(ctx) //nolint:errcheck // then there is nothing to complete
	var all []string
	for _, session := range sessions {
		if st, err := s.State(ctx, session); err == nil {
			if origin, forked := checkpoint.OriginOf(st); forked {
				all = append(all, origin.Name)
			}
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// stateOf returns the state of a session, or of the one that commands would choose; nil on
// errors.
func stateOf(ctx context.Context, s *checkpoint.Sessions, session string) *journal.State {
	chosen, err := s.ChooseSession(ctx, session)
	if err != nil {
		return nil
	}
	st, err := s.Store.State(ctx, chosen)
	if err != nil {
		return nil
	}
	return st
}

// definition returns the workflow of the chosen session, or the default workflow.
func definition(ctx context.Context, s *checkpoint.Sessions, session string) *workflow.Definition {
	if st := stateOf(ctx, s, session); st != nil {
		if d, err := s.Rules.DefinitionFor(ctx, st); err == nil {
			return d
		}
	}
	return workflow.Default()
}

// statuses returns the statuses that the workflow knows. If it allows others, those that
// occur in the session are added.
func statuses(ctx context.Context, s *checkpoint.Sessions, session string) []string {
	known := definition(ctx, s, session).Statuses
	all := slices.Clone(known.List)
	if st := stateOf(ctx, s, session); st != nil && (known.Open || len(all) == 0) {
		for i, c := range st.Standings() {
			if status := st.At(i).Event().CheckpointStatus; c.Live && status != "" {
				all = append(all, status)
			}
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// outputs returns the names of the outputs of the current checkpoint.
func outputs(ctx context.Context, s *checkpoint.Sessions, session string) []string {
	st := stateOf(ctx, s, session)
	if st == nil || st.NewestEntry() == nil {
		return nil
	}
	rec, err := checkpoint.ReadRecord(ctx, s.Store, st.NewestEntry())
	if err != nil {
		return nil
	}
	return slices.Sorted(maps.Keys(rec.Outputs))
}
