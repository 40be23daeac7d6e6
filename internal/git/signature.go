package git

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"git-checkpoint/internal/format/name"
)

// SignatureState is what git says about the signature of a commit.
type SignatureState struct {
	// Code is the letter of %G? in git-log(1): G good, U good with unknown validity, B bad, X and Y
	// expired, R revoked, E cannot be checked, N no signature.
	Code byte
	// Signer is the name of the signer, Key the fingerprint (or else the id) of the key, and Trust
	// how far git trusts it. Trust is only known for good signatures.
	Signer, Key, Trust string
}

// Signatures asks git about the signatures of commits, which must be readable. It asks for the
// trust in a second process, for good signatures only, because git before 2.44 aborts with an
// assertion for others.
func (c *Commits) Signatures(ctx context.Context, commits []name.OID) (map[name.OID]SignatureState, error) {
	out := make(map[name.OID]SignatureState, len(commits))
	var good []name.OID
	err := c.describe(ctx, commits, "%H%x00%G?%x00%GS%x00%GF%x00%GK", func(f []string) {
		state := SignatureState{Signer: f[2], Key: cmp.Or(f[3], f[4])}
		if len(f[1]) == 1 {
			state.Code = f[1][0]
		}
		if state.Code == 'G' || state.Code == 'U' {
			good = append(good, name.OID(f[0]))
		}
		out[name.OID(f[0])] = state
	})
	if err != nil {
		return nil, err
	}
	err = c.describe(ctx, good, "%H%x00%GT", func(f []string) {
		state := out[name.OID(f[0])]
		state.Trust = f[1]
		out[name.OID(f[0])] = state
	})
	return out, err
}

// describe runs `git log` with a format whose fields are separated by NULs, and calls each with the
// fields of every commit.
func (c *Commits) describe(ctx context.Context, commits []name.OID, format string, each func(fields []string)) error {
	if len(commits) == 0 {
		return nil
	}
	var in strings.Builder
	for _, oid := range commits {
		fmt.Fprintf(&in, "%s\n", oid)
	}
	res, err := c.at.Run(ctx, Cmd{
		Args:  []string{"log", "--no-walk=unsorted", "--stdin", "--no-show-signature", "-z", "--format=tformat:" + format + "%x00"},
		Stdin: strings.NewReader(in.String()),
	})
	if err != nil {
		return fmt.Errorf("check signatures: %w", err)
	}
	fields := strings.Count(format, "%x00") + 1
	parts := strings.Split(string(res.Stdout), "\x00")
	for i := 0; i+fields <= len(parts); i += fields + 1 { // -z adds one more NUL after each commit
		each(parts[i : i+fields])
	}
	return nil
}
