package clearance

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/git"
)

// These keys hold the addresses to which untracked files, ignored files, what a filter or a flag withholds,
// or prompts to coding agents, may go. Only the repository's own configuration counts. A global value would
// apply to repositories that the user did not think of, and a committed one would apply to other people.
const (
	keyFiles    = "checkpoint.pushConsent"
	keyPrompts  = "checkpoint.promptConsent"
	keyIgnored  = "checkpoint.ignoredConsent"
	keyWithheld = "checkpoint.withheldConsent"
)

// keyOf has the key for each Kind.
var keyOf = [len(kinds)]string{Untracked: keyFiles, Ignored: keyIgnored, Filtered: keyWithheld, Hidden: keyWithheld}

// keys returns the keys under which consent to this content is stored.
func (p *Private) keys() (keys []string) {
	for k, key := range keyOf {
		if len(p.files[k]) > 0 && !slices.Contains(keys, key) {
			keys = append(keys, key)
		}
	}
	if p.Prompts+p.Transcripts > 0 {
		keys = append(keys, keyPrompts)
	}
	return keys
}

// drop leaves out what somebody agreed to.
func (p *Private) drop(agreed map[string]bool) {
	for k, key := range keyOf {
		if agreed[key] {
			p.files[k] = nil
		}
	}
	if agreed[keyPrompts] {
		p.Conversations = Conversations{}
	}
}

// Destination is a remote's address together with the private content that would go there.
// Private content goes to a new address only after somebody agreed.
type Destination struct {
	URL     string                                  // without credentials
	Private func(context.Context) (*Private, error) // computed only where nobody has agreed
	Agree   Agree
}

// Agree asks whether private content may leave. An error means no. A nil Agree means that nobody can be
// asked.
type Agree func(ctx context.Context, first FirstTime) error

// consent makes sure that somebody agreed to send private content to this address. A yes is
// stored in the repository's configuration.
func consent(ctx context.Context, repo *git.Repo, what Sending) error {
	to := what.Destination
	if to == nil {
		return nil
	}
	first, err := Foresee(ctx, repo, what.To, to)
	ask := first.keys()
	switch {
	case err != nil || len(ask) == 0:
		return err
	case to.Agree == nil:
		return first.refusal(what.To, ask)
	}
	if err := to.Agree(ctx, first); err != nil {
		return err
	}
	for _, key := range ask {
		if _, err := repo.Output(ctx, "config", "--local", "--add", key, addressOf(repo, to.URL)); err != nil {
			return fmt.Errorf("remember what may go to %s: %w", first.To, err)
		}
	}
	return nil
}

// Foresee returns the private content that would go to an address for the first time. remote is
// the name of the remote for messages. If somebody agreed to it, or there is none,
// FirstTime.Any is false.
func Foresee(ctx context.Context, repo *git.Repo, remote string, to *Destination) (FirstTime, error) {
	const allKeys = 4 // the number of different keys
	first := FirstTime{To: remote}
	if to.URL != remote {
		first.To += " (" + to.URL + ")"
	}
	// Addresses are stored without credentials, so a new password does not need a new consent.
	agreed, err := agreedTo(ctx, repo, addressOf(repo, to.URL))
	first.Private = &Private{}
	if err != nil || len(agreed) == allKeys {
		return first, err
	}
	if first.Private, err = to.Private(ctx); err == nil {
		first.drop(agreed)
	}
	return first, err
}

// ToFile is the gate for checkpoints that leave as a file: it may go to anybody. It passes what is sent through
// the scan, and returns whether something private is in it, so that the file must be readable by its owner
// alone. Somebody has to agree to that each time. Without Tips no file of the worktree leaves, but only words.
func ToFile(ctx context.Context, s *checkpoint.Service, what Sending, commits []name.OID, agree Agree) (private bool, err error) {
	if err := MayLeave(ctx, s, what); err != nil {
		return false, err
	}
	holds, err := PrivateOf(ctx, s.Store, "", commits...)
	if err == nil && what.Tips == nil {
		holds = &Private{Conversations: holds.Conversations}
	}
	if err != nil || !holds.Any() {
		return false, err
	}
	first := FirstTime{To: what.To, File: true, Private: holds}
	if agree == nil {
		refused := checkpoint.Failure(checkpoint.KindRefused, "", "%s; nothing was written", first)
		refused.Hints = append(first.Named(), "--yes (-y) writes it, and only you can read the file then")
		return true, refused
	}
	return true, agree(ctx, first)
}

// refusal returns the error for the case that nobody can be asked.
func (f FirstTime) refusal(remote string, keys []string) *checkpoint.Error {
	push := "git checkpoint push"
	if remote != "origin" {
		push += " " + name.Quoted(remote)
	}
	refused := checkpoint.Failure(checkpoint.KindRefused, "", "%s; nothing was sent", f)
	refused.Hints = append(refused.Hints, f.Named()...)
	refused.Hints = append(refused.Hints, "`"+push+" -y` sends them, and this repository remembers the URL ("+strings.Join(keys, ", ")+")")
	return refused
}

// agreedTo returns the keys under which somebody agreed to the address.
func agreedTo(ctx context.Context, repo *git.Repo, url string) (map[string]bool, error) {
	out, err := repo.Output(ctx, "config", "--local", "--null", "--get-regexp", `^checkpoint\.(push|prompt|ignored|withheld)consent$`)
	if git.ExitCode(err) == 1 { // git's exit code for no match
		return nil, nil
	}
	agreed := map[string]bool{}
	for _, setting := range strings.Split(out, "\x00") {
		key, value, _ := strings.Cut(setting, "\n")
		for _, known := range []string{keyFiles, keyIgnored, keyWithheld, keyPrompts} {
			if value == url && strings.EqualFold(key, known) { // git prints keys in lower case
				agreed[known] = true
			}
		}
	}
	return agreed, err
}

// addressOf returns an address in the form that is stored. A relative path becomes
// absolute, since it means another place in another worktree.
func addressOf(repo *git.Repo, url string) string {
	host, _, remote := strings.Cut(url, ":") // git takes a colon after a slash for a part of a path
	if (!remote || strings.Contains(host, "/")) && !filepath.IsAbs(url) {
		return filepath.Join(repo.WorkTree, url)
	}
	return url
}
