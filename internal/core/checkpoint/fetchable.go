package checkpoint

import (
	"context"
	"strings"
)

// DefaultRemote returns the remote that is meant where none is named: checkpoint.remote, the
// upstream of the current branch, or "origin" by convention. It is "" if no remote is configured at
// all.
func (s *Rules) DefaultRemote() string {
	named, _ := s.Settings.Get("checkpoint.remote")
	if branch, ok := strings.CutPrefix(string(s.Repo.Head.Branch), "refs/heads/"); named == "" && ok {
		if named, _ = s.Repo.Config.Get("branch." + branch + ".remote"); named == "." {
			named = "" // the upstream is a local branch, so nothing would be sent anywhere
		}
	}
	if named == "" && len(s.Repo.Config.Keys("remote.")) > 0 {
		return "origin"
	}
	return named
}

// MayFetch says how to get the checkpoints of a remote: "origin may have checkpoints: git
// checkpoint fetch". It is "" if there is a session here, or no remote. If origin is only a default
// and not configured, it names the first remote that is.
func (s *Rules) MayFetch(ctx context.Context) string {
	sessions, err := s.Store.Sessions(ctx)
	if err != nil || len(sessions) > 0 {
		return ""
	}
	from, argument := s.DefaultRemote(), ""
	if _, ok := s.Repo.Config.Get("remote.origin.url"); from == "origin" && !ok {
		from = ""
		if others := s.Repo.Config.Remotes("url"); len(others) > 0 {
			from, argument = others[0], " "+others[0]
		}
	}
	if from == "" {
		return ""
	}
	if strings.ContainsAny(from, "/:@") { // an address may hold a password
		from = "the remote"
	}
	return from + " may have checkpoints: git checkpoint fetch" + argument
}

// orFetch adds the hint of MayFetch to an error.
func (s *Rules) orFetch(ctx context.Context, err error) error {
	if said := s.MayFetch(ctx); said != "" {
		return WithHints(err, func(hints []string) []string { return append(hints, said) })
	}
	return err
}

// OrFetch adds the hint of MayFetch to an error that says that nothing is here. Others stay as they are.
func (s *Rules) OrFetch(ctx context.Context, err error) error {
	if err == nil || KindOf(err) != KindNotFound {
		return err
	}
	return s.orFetch(ctx, err)
}
