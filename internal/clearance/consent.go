package clearance

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"git-checkpoint/internal/checkpoint"
	"git-checkpoint/internal/git"
)

// keyConsent holds the addresses that untracked files may go to. Only the repository's own
// configuration counts: what is global would speak for repositories that nobody thought of,
// and what is committed for other people.
const keyConsent = "checkpoint.pushConsent"

// Destination is a remote's address, to which untracked files go only if somebody agreed.
type Destination struct {
	URL       string                                  // without credentials
	Untracked func(context.Context) ([]string, error) // the files that would go, sorted
	Agree     Agree
}

// Agree asks whether untracked files may go to an address that never got any; an error
// says no. A nil one is nobody who could be asked.
type Agree func(ctx context.Context, first FirstTime) error

// FirstTime is what would go to an address for the first time.
type FirstTime struct {
	To    string // the remote as it is told, with its address
	Files []string
}

// String is the question's first half.
func (f FirstTime) String() string {
	if len(f.Files) == 1 {
		return "1 untracked file would go to " + f.To + " for the first time"
	}
	return fmt.Sprintf("%d untracked files would go to %s for the first time", len(f.Files), f.To)
}

// maxNamed bounds how many files a refusal or a question names.
const maxNamed = 20

// Named are the first of the files, and how many more there are.
func (f FirstTime) Named() (named []string, more int) {
	return f.Files[:min(len(f.Files), maxNamed)], max(0, len(f.Files)-maxNamed)
}

// consent sees to it that somebody agreed to send untracked files to this address. A yes
// is remembered.
func consent(ctx context.Context, s *checkpoint.Service, what Sending) error {
	to := what.Destination
	if to == nil {
		return nil
	}
	url := addressOf(s, to.URL)
	agreed, err := agreedTo(ctx, s)
	if err != nil || slices.Contains(agreed, url) {
		return err
	}
	first := FirstTime{To: what.To}
	if to.URL != what.To {
		first.To += " (" + to.URL + ")"
	}
	if first.Files, err = to.Untracked(ctx); err != nil || len(first.Files) == 0 {
		return err
	}
	if to.Agree == nil {
		return first.refusal()
	}
	if err := to.Agree(ctx, first); err != nil {
		return err
	}
	if _, err := s.Repo.Output(ctx, "config", "--local", "--add", keyConsent, url); err != nil {
		return checkpoint.Classify(fmt.Errorf("remember that untracked files may go to %s: %w", first.To, err))
	}
	return nil
}

func (f FirstTime) refusal() *checkpoint.Error {
	refused := &checkpoint.Error{Kind: checkpoint.KindRefused, Message: f.String() + "; nothing was sent"}
	named, more := f.Named()
	refused.Hints = append(refused.Hints, named...)
	if more > 0 {
		refused.Hints = append(refused.Hints, fmt.Sprintf("… and %d more", more))
	}
	refused.Hints = append(refused.Hints, "`git checkpoint push -y` sends them, and this repository remembers the address ("+keyConsent+")")
	return refused
}

// agreedTo are the addresses that somebody agreed to.
func agreedTo(ctx context.Context, s *checkpoint.Service) ([]string, error) {
	out, err := s.Repo.Output(ctx, "config", "--local", "--null", "--get-all", keyConsent)
	if git.ExitCode(err) == 1 { // there is none
		return nil, nil
	}
	return strings.Split(out, "\x00"), checkpoint.Classify(err)
}

// addressOf is an address as it is remembered: a path in full, because the same relative
// one is another place elsewhere.
func addressOf(s *checkpoint.Service, url string) string {
	if !strings.Contains(url, ":") && !filepath.IsAbs(url) {
		return filepath.Join(s.Repo.WorkTree, url)
	}
	return url
}
