package git

import (
	"encoding/hex"
	"fmt"

	"git-checkpoint/internal/name"
)

// HashObject is the id that an object of a type has in a repository of an object
// format ("sha1" or "sha256"); nothing is written.
func HashObject(format, typ string, data []byte) name.OID {
	h := newHash(format)
	fmt.Fprintf(h, "%s %d\x00", typ, len(data))
	h.Write(data)
	return name.OID(hex.EncodeToString(h.Sum(nil)))
}
