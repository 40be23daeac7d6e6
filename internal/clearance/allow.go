package clearance

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"git-checkpoint/internal/checkpoint"
)

// keyAllow lists in git's configuration what may leave: "<fingerprint> <reason>". In the
// committed .checkpoint/config it suggests only, by path: "<path> <reason>".
const keyAllow = "checkpoint.guard.allow"

// Scope says for which repositories something is allowed.
type Scope string

// The scopes, by the names that git has for its configuration files.
const (
	ThisRepository  Scope = "local"
	AllRepositories Scope = "global"
)

// AllowRequest is what `guard allow` was asked for.
type AllowRequest struct {
	Target string // path, blob or fingerprint
	Reason string
	Scope  Scope
}

// Allowance is the answer of `guard allow`.
type Allowance struct {
	Allowed []Secret
	Key     string // of the configuration
	Scope   Scope
}

// Allow lets the secrets of a file or a blob leave, by their fingerprints: what
// changes in the file later does not go with them.
func Allow(ctx context.Context, s *checkpoint.Service, req AllowRequest) (*Allowance, error) {
	if strings.TrimSpace(req.Reason) == "" || strings.ContainsAny(req.Reason, "\n\x00") {
		return nil, checkpoint.Usage("--reason 'a key of the test server'", "--reason has to say in a line why it may leave")
	}
	if req.Scope == AllRepositories {
		if err := makeUserKey(s); err != nil {
			return nil, checkpoint.Classify(err)
		}
	}
	desk, err := desk(ctx, s)
	if err != nil {
		return nil, err
	}
	found, err := findingsOf(ctx, s, desk, req.Target)
	if err != nil {
		return nil, err
	}
	if err := desk.Close(); err != nil {
		return nil, checkpoint.Classify(err)
	}
	out := &Allowance{Key: keyAllow, Scope: req.Scope}
	seen := map[string]bool{}
	for _, one := range found {
		if one.Allowed != "" || seen[one.Fingerprint] {
			continue
		}
		seen[one.Fingerprint] = true
		fingerprint := one.Fingerprint
		if req.Scope == AllRepositories {
			fingerprint = one.user
		}
		if _, err := s.Repo.Output(ctx, "config", "--"+string(req.Scope), "--add", out.Key, fingerprint+" "+req.Reason); err != nil {
			return nil, checkpoint.Classify(err)
		}
		one.Allowed = req.Reason
		out.Allowed = append(out.Allowed, one)
	}
	if len(out.Allowed) == 0 {
		return nil, &checkpoint.Error{Kind: checkpoint.KindNothing, Message: fmt.Sprintf("everything that was found in %q is allowed already", req.Target)}
	}
	return out, nil
}

// userKey is the file of the key that gives a secret the same fingerprint in all
// repositories of this user; empty where there is no place for it.
func userKey(s *checkpoint.Service) string {
	dir := s.Getenv("XDG_CONFIG_HOME") // as git looks for its own
	if dir == "" {
		if dir = s.Getenv("HOME"); dir == "" {
			return ""
		}
		dir = filepath.Join(dir, ".config")
	}
	return filepath.Join(dir, "git-checkpoint", "guard-key")
}

func makeUserKey(s *checkpoint.Service) error {
	path := userKey(s)
	if path == "" {
		return checkpoint.Usage("set HOME, or leave --user out", "--user needs a directory for your configuration, and there is none")
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return fmt.Errorf("keep the key of fingerprints: %w", err)
	}
	_, err := keyIn(path)
	return err
}

// findingsOf are the findings with a fingerprint, in a blob, or in every version of a file
// that checkpoints hold and in the one that is there now.
func findingsOf(ctx context.Context, s *checkpoint.Service, desk *Desk, target string) ([]Secret, error) {
	all, err := List(ctx, s, ListRequest{All: true})
	if err != nil {
		return nil, err
	}
	path := target
	if below, err := s.Repo.Below(target); err == nil {
		path = below
	}
	var found []Secret
	for _, one := range all.Secrets {
		if string(one.Path) == path || string(one.Path) == target || one.Fingerprint == target || len(target) >= 7 && strings.HasPrefix(string(one.Blob), target) {
			found = append(found, one)
		}
	}
	if report, err := checkFile(ctx, desk, target); err == nil {
		found = append(found, guarded(ctx, s, report, nil).Secrets...)
	}
	if len(found) == 0 {
		return nil, &checkpoint.Error{Kind: checkpoint.KindNotFound, Message: fmt.Sprintf("no secret was found in %q", target), Hints: []string{"`git checkpoint guard --all` lists what was found, with paths and blobs"}}
	}
	return found, nil
}

// suggestions repeats what the committed configuration says of paths with a finding. It
// allows nothing: whoever can change the branch could allow a leak.
func suggestions(s *checkpoint.Service, stopped []Found) []string {
	var hints []string
	for _, entry := range s.Settings.Committed.All(keyAllow) {
		path, reason, _ := strings.Cut(entry, " ")
		if reason = strings.TrimSpace(reason); reason == "" || !slices.ContainsFunc(stopped, func(f Found) bool { return f.Path == path }) {
			continue
		}
		hints = append(hints, "the project's .checkpoint/config suggests: git checkpoint guard allow "+shellQuote(path)+" --reason "+shellQuote(reason))
	}
	return hints
}
