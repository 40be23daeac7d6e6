package clearance

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/git"
)

// These keys hold the addresses to which untracked files, ignored files, or prompts to coding
// agents, may go. Only the repository's own configuration counts. A global value would apply to
// repositories that the user did not think of, and a committed one would apply to other people.
const (
	keyFiles   = "checkpoint.pushConsent"
	keyPrompts = "checkpoint.promptConsent"
	keyIgnored = "checkpoint.ignoredConsent"
)

// Destination is a remote's address together with the private content that would go there.
// Private content goes to a new address only after somebody agreed.
type Destination struct {
	URL           string                                       // without credentials
	Untracked     func(context.Context) ([]string, error)      // paths of the files, sorted
	Ignored       func(context.Context) ([]string, error)      // of those that git ignores, which are not in Untracked
	Conversations func(context.Context) (Conversations, error) // how much of conversations
	Agree         Agree
}

// Conversations counts what checkpoints keep of conversations with coding agents.
type Conversations struct {
	// Messages with the words of a prompt.
	Prompts     int
	Transcripts int
}

// Agree asks whether private content may go to a new address. An error means no. A nil
// Agree means that nobody can be asked.
type Agree func(ctx context.Context, first FirstTime) error

// FirstTime describes what would go to an address for the first time.
type FirstTime struct {
	// The remote for messages, with its address.
	To      string
	Files   []string // untracked
	Ignored []string
	Conversations
}

// String returns the first half of the question. At least one of the counts must not be
// zero.
func (f FirstTime) String() string {
	var parts []string
	for _, part := range []struct {
		n         int
		one, many string
	}{
		{len(f.Files), "1 untracked file", "%d untracked files"},
		{len(f.Ignored), "1 ignored file", "%d ignored files"},
		{f.Prompts, "1 prompt to a coding agent", "%d messages with prompts to coding agents"},
		{f.Transcripts, "1 transcript", "%d transcripts"},
	} {
		switch {
		case part.n == 1:
			parts = append(parts, part.one)
		case part.n > 1:
			parts = append(parts, fmt.Sprintf(part.many, part.n))
		}
	}
	what := parts[len(parts)-1]
	if len(parts) > 1 {
		what = strings.Join(parts[:len(parts)-1], ", ") + " and " + what
	}
	return what + " would go to " + f.To + " for the first time"
}

// maxNamed bounds how many files a refusal or a question lists.
const maxNamed = 20

// Named returns lines that name the first files and say how many more there are, first the untracked
// and then the ignored ones.
func (f FirstTime) Named() (lines []string) {
	add := func(files []string, mark string) {
		for _, file := range files[:min(len(files), maxNamed)] {
			lines = append(lines, file+mark)
		}
		if more := len(files) - maxNamed; more > 0 {
			lines = append(lines, fmt.Sprintf("… and %d more", more)+mark)
		}
	}
	add(f.Files, "")
	add(f.Ignored, " (ignored)")
	return lines
}

// consent makes sure that somebody agreed to send private content to this address. A yes is
// stored in the repository's configuration.
func consent(ctx context.Context, s *checkpoint.Service, what Sending) error {
	to := what.Destination
	if to == nil {
		return nil
	}
	first, err := Foresee(ctx, s, what.To, to)
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
		if _, err := s.Repo.Output(ctx, "config", "--local", "--add", key, addressOf(s, to.URL)); err != nil {
			return fmt.Errorf("remember what may go to %s: %w", first.To, err)
		}
	}
	return nil
}

// Foresee returns the private content that would go to an address for the first time. remote is
// the name of the remote for messages. If somebody agreed to it, or there is none,
// FirstTime.Asks is false.
func Foresee(ctx context.Context, s *checkpoint.Service, remote string, to *Destination) (FirstTime, error) {
	first := FirstTime{To: remote}
	if to.URL != remote {
		first.To += " (" + to.URL + ")"
	}
	// Addresses are stored without credentials, so a new password does not need a new consent.
	agreed, err := agreedTo(ctx, s, addressOf(s, to.URL))
	// Computing the content reads every checkpoint, so do it only where nobody has agreed
	// yet.
	if err == nil && !agreed[keyFiles] {
		first.Files, err = to.Untracked(ctx)
	}
	if err == nil && !agreed[keyIgnored] {
		first.Ignored, err = to.Ignored(ctx)
	}
	if err == nil && !agreed[keyPrompts] {
		first.Conversations, err = to.Conversations(ctx)
	}
	return first, err
}

// keys returns the keys under which consent to this content is stored.
func (f FirstTime) keys() (keys []string) {
	if len(f.Files) > 0 {
		keys = append(keys, keyFiles)
	}
	if len(f.Ignored) > 0 {
		keys = append(keys, keyIgnored)
	}
	if f.Prompts+f.Transcripts > 0 {
		keys = append(keys, keyPrompts)
	}
	return keys
}

// Asks reports whether there is private content to ask about.
func (f FirstTime) Asks() bool { return len(f.keys()) > 0 }

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
func agreedTo(ctx context.Context, s *checkpoint.Service, url string) (map[string]bool, error) {
	out, err := s.Repo.Output(ctx, "config", "--local", "--null", "--get-regexp", `^checkpoint\.(push|prompt|ignored)consent$`)
	if git.ExitCode(err) == 1 { // git's exit code for no match
		return nil, nil
	}
	agreed := map[string]bool{}
	for _, setting := range strings.Split(out, "\x00") {
		key, value, _ := strings.Cut(setting, "\n")
		for _, known := range []string{keyFiles, keyIgnored, keyPrompts} {
			if value == url && strings.EqualFold(key, known) { // git prints keys in lower case
				agreed[known] = true
			}
		}
	}
	return agreed, err
}

// addressOf returns an address in the form that is stored. A relative path becomes
// absolute, since it means another place in another worktree.
func addressOf(s *checkpoint.Service, url string) string {
	host, _, remote := strings.Cut(url, ":") // git takes a colon after a slash for a part of a path
	if (!remote || strings.Contains(host, "/")) && !filepath.IsAbs(url) {
		return filepath.Join(s.Repo.WorkTree, url)
	}
	return url
}
