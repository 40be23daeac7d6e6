package checkpoint

import (
	"strings"

	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/git/gitconfig"
	"git-checkpoint/internal/storage/store"
)

// signer returns how to sign checkpoints and events, as checkpoint.sign says, or nil for unsigned
// ones. The key is true, false, or a signature format. An invalid value gives a Signer whose use
// fails with the reason: commands that write no commit still work. git's commit.gpgSign is ignored
// on purpose, because a passphrase prompt would block an unattended job.
func (s *Service) signer() *store.Signer {
	value, set := s.Settings.Get("checkpoint.sign")
	if !set {
		return nil
	}
	switch format := strings.ToLower(value); format {
	case "openpgp", "ssh", "x509":
		return &store.Signer{Format: format, MayAsk: s.options.MayAsk}
	}
	on, err := gitconfig.ParseBool(value)
	if err != nil {
		err = Usage("set it to true, false, openpgp, ssh or x509", "configuration checkpoint.sign: %q is not a way to sign", name.Clip(value, name.Said))
		return &store.Signer{Invalid: err}
	}
	if !on {
		return nil
	}
	return &store.Signer{MayAsk: s.options.MayAsk}
}
