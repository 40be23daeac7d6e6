package guard

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
)

// fingerprint returns a name for a secret that does not reveal it. It is keyed, so without
// the key even guessing the secret and comparing fingerprints is impossible.
func fingerprint(key []byte, rule string, secret []byte) string {
	sum := hmac.New(sha256.New, key)
	fmt.Fprintf(sum, "%s\x00%s", rule, secret)
	return rule + ":" + hex.EncodeToString(sum.Sum(nil)[:16])
}
