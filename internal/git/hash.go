package git

import (
	"encoding/hex"
	"fmt"
	"io"

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

// HashBlob is the id of a blob of a size whose content comes from a reader. It is empty
// when more or less comes.
func HashBlob(format string, size int64, content io.Reader) (name.OID, error) {
	h := newHash(format)
	fmt.Fprintf(h, "blob %d\x00", size)
	n, err := io.Copy(h, content)
	if err != nil || n != size {
		return "", err
	}
	return name.OID(hex.EncodeToString(h.Sum(nil))), nil
}
