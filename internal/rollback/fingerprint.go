package rollback

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"

	"git-checkpoint/internal/checkpoint"
	"git-checkpoint/internal/name"
)

// Fingerprint is what the plan was made of: when it is the same, so is the plan.
func (r *Plan) Fingerprint() (string, error) {
	var tree, index name.OID
	if r.cur != nil {
		tree, index = r.cur.Tree, r.cur.Index.Tree
	}
	answer := *r.answer
	answer.DryRun, answer.Digest = false, ""
	data, err := json.Marshal(struct {
		Answer      Answer
		Tree, Index name.OID
		Head        name.OID
		Branch      name.Ref
	}{answer, tree, index, r.s.Repo.Head.OID, r.s.Repo.Head.Branch})
	if err != nil {
		return "", checkpoint.Classify(err)
	}
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:]), nil
}
