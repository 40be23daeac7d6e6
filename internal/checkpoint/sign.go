package checkpoint

import (
	"strings"

	"git-checkpoint/internal/gitconfig"
	"git-checkpoint/internal/name"
	"git-checkpoint/internal/store"
)

// signer is how checkpoints and events are signed, as checkpoint.sign says; nil: not at
// all. commit.gpgSign is not asked: it would want a passphrase in the middle of a job.
func (s *Service) signer(asking store.Asking) *store.Signer {
	value, set := s.Settings.Get("checkpoint.sign")
	if !set {
		return nil
	}
	switch format := strings.ToLower(value); format {
	case "openpgp", "ssh", "x509":
		return &store.Signer{Format: format, Asking: asking}
	}
	on, err := gitconfig.ParseBool(value)
	if err != nil {
		err = Usage("it takes true, false, openpgp, ssh or x509", "configuration checkpoint.sign: not a way to sign: %q", name.Clip(value, name.Said))
		return &store.Signer{Invalid: err}
	}
	if !on {
		return nil
	}
	return &store.Signer{Asking: asking}
}

// Asking says whether a person can be asked for a passphrase.
type Asking = store.Asking

// The choices.
const (
	AskNever      = store.AskNever
	AskOnTerminal = store.AskOnTerminal
)
