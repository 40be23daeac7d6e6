package clearance

import (
	"context"
	"fmt"
	"strings"

	"git-checkpoint/internal/format/record"
	"git-checkpoint/internal/git"
)

// This file names the member of a record in which a finding is.

// recordFile is the name of the record in its commit; see package store.
const recordFile = "checkpoint.json"

// inRecord names the member of a checkpoint's record in which a finding is, for a message, or
// returns "".
func inRecord(ctx context.Context, repo *git.Repo, f Found, label string) string {
	blob, err := repo.Objects.Batch().Typed(ctx, string(f.OID), "blob")
	if err != nil {
		return ""
	}
	member := record.MemberAt(blob.Data, f.Line)
	if state, is := strings.CutPrefix(member, "state."); is {
		return fmt.Sprintf("%s in the state of %s", inOneLine(state), label)
	}
	return fmt.Sprintf("%s in the record of %s", inOneLine(member), label)
}
