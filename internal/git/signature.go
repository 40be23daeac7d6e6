package git

import (
	"context"
	"fmt"
	"strings"

	"git-checkpoint/internal/name"
)

// SignatureState is what git says of the signature of a commit.
type SignatureState struct {
	Code               byte // G good, U good of unknown validity, B bad, X and Y expired, R revoked, E not to be checked, N none
	Signer, Key, Trust string
}

// Signatures asks git about the signatures of commits, all of which can be read.
func (r *Repo) Signatures(ctx context.Context, commits []name.OID) (map[name.OID]SignatureState, error) {
	out := make(map[name.OID]SignatureState, len(commits))
	if len(commits) == 0 {
		return out, nil
	}
	var in strings.Builder
	for _, c := range commits {
		fmt.Fprintf(&in, "%s\n", c)
	}
	const format = "%H%x00%G?%x00%GS%x00%GF%x00%GK%x00%GT%x00"
	const fields = 6
	res, err := r.Run(ctx, Cmd{Args: []string{"log", "--no-walk=unsorted", "--stdin", "--no-show-signature", "-z", "--format=tformat:" + format}, Stdin: strings.NewReader(in.String())})
	if err != nil {
		return nil, fmt.Errorf("check signatures: %w", err)
	}
	parts := strings.Split(string(res.Stdout), "\x00")
	for i := 0; i+fields <= len(parts); i += fields + 1 { // -z ends each with one more
		state := SignatureState{Signer: parts[i+2], Key: parts[i+3], Trust: parts[i+5]}
		if state.Key == "" {
			state.Key = parts[i+4]
		}
		if len(parts[i+1]) == 1 {
			state.Code = parts[i+1][0]
		}
		out[name.OID(parts[i])] = state
	}
	return out, nil
}
