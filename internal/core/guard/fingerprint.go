package guard

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
)

// fingerprint returns a name for a secret that does not reveal it. It is keyed, so without
// the key even guessing the secret and comparing fingerprints is impossible.
func fingerprint(key []byte, rule string, secret []byte) string {
	sum := hmac.New(sha256.New, key)
	sum.Write([]byte(rule)) //nolint:errcheck // a hash takes everything
	sum.Write([]byte{0})    //nolint:errcheck // the same
	sum.Write(secret)       //nolint:errcheck // the same
	return rule + ":" + hex.EncodeToString(sum.Sum(nil)[:16])
}
