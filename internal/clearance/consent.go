package clearance

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"git-checkpoint/internal/checkpoint"
	"git-checkpoint/internal/git"
)

// The addresses that untracked files, and what was said to coding agents, may go to. Only the
// repository's own configuration counts: what is global would speak for repositories that
// nobody thought of, and what is committed for other people.
const (
	keyFiles   = "checkpoint.pushConsent"
	keyPrompts = "checkpoint.promptConsent"
)

// Destination is a remote's address, to which private things go only if somebody agreed.
type Destination struct {
	URL       string                                  // without credentials
	Untracked func(context.Context) ([]string, error) // the files that would go, sorted
	Talk      func(context.Context) (Talk, error)     // what would go of conversations
	Agree     Agree
}

// Talk is what checkpoints keep of conversations with coding agents.
type Talk struct {
	Prompts     int // messages with words of a prompt
	Transcripts int
}

// Agree asks whether private things may go to an address that never got any; an error
// says no. A nil one is nobody who could be asked.
type Agree func(ctx context.Context, first FirstTime) error

// FirstTime is what would go to an address for the first time.
type FirstTime struct {
	To    string // the remote as it is told, with its address
	Files []string
	Talk
}

// String is the question's first half.
func (f FirstTime) String() string {
	var parts []string
	for _, part := range []struct {
		n         int
		one, many string
	}{
		{len(f.Files), "1 untracked file", "%d untracked files"},
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

// maxNamed bounds how many files a refusal or a question names.
const maxNamed = 20

// Named are the first of the files, and how many more there are.
func (f FirstTime) Named() (named []string, more int) {
	return f.Files[:min(len(f.Files), maxNamed)], max(0, len(f.Files)-maxNamed)
}

// consent sees to it that somebody agreed to send private things to this address. A yes
// is remembered.
func consent(ctx context.Context, s *checkpoint.Service, what Sending) error {
	to := what.Destination
	if to == nil {
		return nil
	}
	url := addressOf(s, to.URL)
	agreed, err := agreedTo(ctx, s, url)
	if err != nil {
		return err
	}
	first := FirstTime{To: what.To}
	if to.URL != what.To {
		first.To += " (" + to.URL + ")"
	}
	var ask []string
	if !agreed[keyFiles] {
		if first.Files, err = to.Untracked(ctx); err != nil {
			return err
		}
		if len(first.Files) > 0 {
			ask = append(ask, keyFiles)
		}
	}
	if !agreed[keyPrompts] {
		if first.Talk, err = to.Talk(ctx); err != nil {
			return err
		}
		if first.Prompts+first.Transcripts > 0 {
			ask = append(ask, keyPrompts)
		}
	}
	switch {
	case len(ask) == 0:
		return nil
	case to.Agree == nil:
		return first.refusal(ask)
	}
	if err := to.Agree(ctx, first); err != nil {
		return err
	}
	for _, key := range ask {
		if _, err := s.Repo.Output(ctx, "config", "--local", "--add", key, url); err != nil {
			return checkpoint.Classify(fmt.Errorf("remember what may go to %s: %w", first.To, err))
		}
	}
	return nil
}

func (f FirstTime) refusal(keys []string) *checkpoint.Error {
	refused := &checkpoint.Error{Kind: checkpoint.KindRefused, Message: f.String() + "; nothing was sent"}
	named, more := f.Named()
	refused.Hints = append(refused.Hints, named...)
	if more > 0 {
		refused.Hints = append(refused.Hints, fmt.Sprintf("… and %d more", more))
	}
	refused.Hints = append(refused.Hints, "`git checkpoint push -y` sends them, and this repository remembers the address ("+strings.Join(keys, ", ")+")")
	return refused
}

// agreedTo are the keys under which somebody agreed to an address.
func agreedTo(ctx context.Context, s *checkpoint.Service, url string) (map[string]bool, error) {
	out, err := s.Repo.Output(ctx, "config", "--local", "--null", "--get-regexp", `^checkpoint\.(push|prompt)consent$`)
	if git.ExitCode(err) == 1 { // there is none
		return nil, nil
	}
	agreed := map[string]bool{}
	for _, setting := range strings.Split(out, "\x00") {
		key, value, _ := strings.Cut(setting, "\n")
		for _, known := range []string{keyFiles, keyPrompts} {
			if value == url && strings.EqualFold(key, known) { // git writes keys in small letters
				agreed[known] = true
			}
		}
	}
	return agreed, checkpoint.Classify(err)
}

// addressOf is an address as it is remembered: a path in full, because the same relative
// one is another place elsewhere.
func addressOf(s *checkpoint.Service, url string) string {
	if !strings.Contains(url, ":") && !filepath.IsAbs(url) {
		return filepath.Join(s.Repo.WorkTree, url)
	}
	return url
}
