package repair

import (
	"git-checkpoint/internal/inspect"
	"git-checkpoint/internal/proof"
)

// note adds the findings of a line to the list of broken checkpoints. Missing signatures are not
// damage: they were findings only because this validation required them.
func note(b inspect.Broken, v Validated) {
	for _, f := range v.Findings {
		if f.Kind != proof.Unsigned && f.Kind != proof.SignatureUnchecked {
			b[v.Checkpoint] = append(b[v.Checkpoint], f)
		}
	}
}
