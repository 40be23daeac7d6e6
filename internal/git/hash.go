package git

import (
	"encoding/hex"
	"fmt"
	"io"

	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/git/internal/odb"
)

// HashObject returns the id that an object has in a repository of the given object format ("sha1"
// or "sha256"). It writes nothing.
func HashObject(format, typ string, data []byte) name.OID {
	h := odb.NewHash(format == "sha256")
	fmt.Fprintf(h, "%s %d\x00", typ, len(data))
	h.Write(data)
	return name.OID(hex.EncodeToString(h.Sum(nil)))
}

// IsEmptyBlob reports whether an id is that of the empty blob.
func IsEmptyBlob(oid name.OID) bool {
	return oid == HashObject("sha1", "blob", nil) || oid == HashObject("sha256", "blob", nil)
}

// HashBlob returns the id of a blob whose content is read from content. The size must be known in
// advance, because it is hashed first. If the content turns out to be longer or shorter, for
// example because the file is being written to, the id is empty and the error is that of the
// reader, or nil.
func HashBlob(format string, size int64, content io.Reader) (name.OID, error) {
	h := odb.NewHash(format == "sha256")
	fmt.Fprintf(h, "blob %d\x00", size)
	n, err := io.Copy(h, content)
	if err != nil || n != size {
		return "", err
	}
	return name.OID(hex.EncodeToString(h.Sum(nil))), nil
}
