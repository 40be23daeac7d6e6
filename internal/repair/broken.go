package repair

import (
	"git-checkpoint/internal/inspect"
	"git-checkpoint/internal/proof"
)

// note keeps what is damage: that a signature was demanded is a matter of one validation.
func note(b inspect.Broken, v Validated) {
	for _, f := range v.Findings {
		if f.Kind != proof.Unsigned && f.Kind != proof.SignatureUnchecked {
			b[v.Checkpoint] = append(b[v.Checkpoint], f)
		}
	}
}
