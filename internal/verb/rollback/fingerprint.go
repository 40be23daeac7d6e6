package rollback

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"

	"git-checkpoint/internal/format/name"
)

// Fingerprint returns a digest of everything that the plan depends on. `rollback --plan DIGEST`
// applies a plan only if a new one has the same fingerprint, so nothing can change unnoticed
// between showing a plan and applying it.
func (r *Plan) Fingerprint() (string, error) {
	// A plan of ModeState has no capture.
	var tree, index name.OID
	if r.cur != nil {
		tree, index = r.cur.Tree, r.cur.Index.Tree
	}
	answer := *r.answer
	// These two differ between a dry run and a real one.
	answer.DryRun, answer.Digest = false, ""
	data, err := json.Marshal(struct {
		Answer      Answer
		Tree, Index name.OID
		Head        name.OID
		Branch      name.Ref
	}{answer, tree, index, r.s.Repo.Head.OID, r.s.Repo.Head.Branch})
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:]), nil
}
