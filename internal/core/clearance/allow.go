package clearance

import (
	"cmp"
	"context"
	"fmt"
	"os"
	pathpkg "path"
	"path/filepath"
	"slices"
	"strings"

	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/git"
	"git-checkpoint/internal/storage/store"
	"git-checkpoint/internal/sys/gather"
)

// keyAllow lists in git's configuration what may leave, as "<fingerprint> <reason>". In the
// committed .checkpoint/config the form is "<path> <reason>", and it is only a suggestion:
// see suggestions.
const keyAllow = "checkpoint.guard.allow"

// Scope says for which repositories an allowance applies.
type Scope string

// The scopes have the names of git's configuration files (git config --local, --global).
const (
	ThisRepository  Scope = "local"
	AllRepositories Scope = "global"
)

// AllowRequest holds the options of `guard allow`.
type AllowRequest struct {
	Target string // path, directory, pattern, blob id or fingerprint
	Reason string
	Scope  Scope
}

// Allowance is the answer of `guard allow`.
type Allowance struct {
	Allowed []Secret
	// The configuration key that was written.
	Key   string
	Scope Scope
}

// Allow lets the secrets in a file or blob leave the repository. It stores the fingerprints
// of the secrets and not the path, so another secret that is put into the file later is
// still stopped.
func Allow(ctx context.Context, s *checkpoint.Service, req AllowRequest) (*Allowance, error) {
	if strings.TrimSpace(req.Reason) == "" || strings.ContainsAny(req.Reason, "\n\x00") {
		return nil, checkpoint.Usage("--reason 'a key of the test server'", "--reason must say in one line why it may leave this machine")
	}
	if req.Scope == AllRepositories {
		if err := makeUserKey(s.Settings); err != nil {
			return nil, err
		}
	}
	scanner, err := OpenScanner(ctx, s)
	if err != nil {
		return nil, err
	}
	found, err := findingsOf(ctx, s, scanner, req.Target)
	if err != nil {
		return nil, err
	}
	if err := scanner.Close(); err != nil {
		return nil, err
	}
	out := &Allowance{Key: keyAllow, Scope: req.Scope}
	seen, gone := map[string]bool{}, ""
	// What was expunged may never leave, so allowing it would have no effect.
	for _, one := range found {
		if scanner.expunged.Objects[one.Blob] {
			seen[one.Fingerprint], gone = true, cmp.Or(string(one.Path), string(one.Blob))
		}
	}
	// A secret that occurs several times has one fingerprint and needs one entry.
	for _, one := range found {
		if one.Allowed != "" || seen[one.Fingerprint] {
			continue
		}
		seen[one.Fingerprint] = true
		fingerprint := one.Fingerprint
		// Only the fingerprint by the user's key is the same in all repositories.
		if req.Scope == AllRepositories {
			fingerprint = one.user
		}
		if _, err := s.Repo.Output(ctx, "config", "--"+string(req.Scope), "--add", out.Key, fingerprint+" "+req.Reason); err != nil {
			return nil, err
		}
		one.Allowed = req.Reason
		out.Allowed = append(out.Allowed, one)
	}
	if len(out.Allowed) == 0 && gone != "" {
		return nil, checkpoint.Failure(checkpoint.KindRefused, "remove it again: git checkpoint expunge "+name.Quoted(gone), "%q was expunged, so it may not leave this machine", gone)
	}
	if len(out.Allowed) == 0 {
		return nil, checkpoint.Failure(checkpoint.KindNothing, "", "everything that was found in %q is already allowed", req.Target)
	}
	return out, nil
}

// userKey returns the path of the key with which a secret has the same fingerprint in all
// repositories of this user, or "" if there is no directory for it.
func userKey(settings *checkpoint.Settings) string {
	dir := UserDir(settings)
	if dir == "" {
		return ""
	}
	return filepath.Join(dir, "guard-key")
}

// UserDir returns the directory of the user's key, or "" if there is none.
func UserDir(settings *checkpoint.Settings) string {
	// Where git looks for its own configuration.
	dir := settings.Getenv("XDG_CONFIG_HOME")
	if dir == "" {
		if dir = settings.Getenv("HOME"); dir == "" {
			return ""
		}
		dir = filepath.Join(dir, ".config")
	}
	return filepath.Join(dir, "git-checkpoint")
}

// makeUserKey creates the user's key unless it exists.
func makeUserKey(settings *checkpoint.Settings) error {
	path := userKey(settings)
	if path == "" {
		return checkpoint.Usage("set HOME, or leave out --user", "--user writes to your own configuration, and there is no directory for it")
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return fmt.Errorf("save the key of fingerprints: %w", err)
	}
	_, err := keyIn(path)
	return err
}

// findingsOf returns the findings that match the target: a fingerprint, (the start of) a
// blob id, a path, a directory or a pattern, in every version that checkpoints hold, in what is staged, and in the
// files as they are on disk.
func findingsOf(ctx context.Context, s *checkpoint.Service, scanner *Scanner, target string) ([]Secret, error) {
	all, err := List(ctx, s, ListRequest{All: true})
	if err != nil {
		return nil, err
	}
	if s.Repo.WorkTree != "" {
		staged, err := Staged(ctx, s)
		if err != nil {
			return nil, err
		}
		all.Secrets = append(all.Secrets, staged.Secrets...)
	}
	// The user may name the file relative to the current directory; findings have paths
	// from the top.
	path := target
	if below, err := s.Repo.RelativePath(target); err == nil {
		path = below
	}
	found := gather.Those(all.Secrets, func(one Secret) bool {
		return string(one.Path) == path || string(one.Path) == target || one.Fingerprint == target || len(target) >= 7 && strings.HasPrefix(string(one.Blob), target)
	})
	// The file on disk may have a secret that no checkpoint holds yet.
	if report, err := checkFile(ctx, scanner, target, nil); err == nil {
		found = append(found, guarded(ctx, s.Store, report, nil).Secrets...)
	}
	if len(found) == 0 { // a name is taken as it is before it is taken as a pattern
		if found, err = findingsBelow(ctx, s.Store, scanner, path, all.Secrets); err != nil {
			return nil, err
		}
	}
	if len(found) == 0 {
		return nil, checkpoint.Failure(checkpoint.KindNotFound, "`git checkpoint guard --all` lists what was found, with paths and blobs", "no secret was found in %q", target)
	}
	return found, nil
}

// findingsBelow returns the findings in a directory, or in the files that match a pattern. As in a
// pathspec of git, "*" matches a slash, too. path is relative to the top.
func findingsBelow(ctx context.Context, s *store.Store, scanner *Scanner, path string, all []Secret) (found []Secret, err error) {
	flat := strings.NewReplacer("/", "\x00").Replace // Match knows no pattern for a slash
	for _, one := range all {
		in := path == "." || strings.HasPrefix(string(one.Path), path+"/")
		if is, err := pathpkg.Match(flat(path), flat(string(one.Path))); in && one.Path != "" || err == nil && is {
			found = append(found, one)
		}
	}
	listed, err := s.Repo.Run(ctx, git.Cmd{
		Args: []string{"ls-files", "-z", "--cached", "--others", "--exclude-standard", "--", ":(top)" + path}, Dir: s.Repo.WorkTree,
	})
	if err != nil {
		return nil, err
	}
	for _, file := range listed.Paths() {
		// A file that is gone, or no regular one, has nothing to allow.
		if report, err := checkFile(ctx, scanner, filepath.Join(s.Repo.WorkTree, filepath.FromSlash(file)), nil); err == nil {
			found = append(found, guarded(ctx, s, report, nil).Secrets...)
		}
	}
	return found, nil
}

// suggestions returns hints with the reasons that the committed configuration gives for
// paths with a finding. It allows nothing by itself, as anybody who can change the branch
// could then allow a leak.
func suggestions(settings *checkpoint.Settings, stopped []Found) []string {
	var hints []string
	for _, entry := range settings.Committed.All(keyAllow) {
		path, reason, _ := strings.Cut(entry, " ")
		if reason = strings.TrimSpace(reason); reason == "" || !slices.ContainsFunc(stopped, func(f Found) bool { return f.Path == path }) {
			continue
		}
		hints = append(hints, "the project's .checkpoint/config suggests: git checkpoint guard allow "+name.Quoted(path)+" --reason "+name.Quoted(reason))
	}
	return hints
}
