// Package archive reads and writes the files in which sessions travel: the header of a git
// bundle, a tar, and JSON lines. Tar and JSON lines hold a bundle, from which an import
// reads, and the same content again in a form for people and other programs.
//
// The package works on readers and writers only: it uses neither git nor the repository. Header is
// a bundle's header, Writer and ReadTar are for tar, WriteBundleLines and ReadLines for JSON lines,
// and Decompress undoes gzip. Files may be hostile, so every reader is strict: it refuses refs that
// are not ours, links and devices, paths that lead out of the archive, and members over the size
// limits.
package archive

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"git-checkpoint/internal/format/name"
)

// Header is the text part of a bundle, before the pack.
type Header struct {
	Format string // "sha1" or "sha256"
	Refs   []Ref  // sorted by name
	// Needs are the commits that the repository must have before the bundle can be
	// imported.
	Needs []name.OID
}

// Ref is one ref of a bundle with its value.
type Ref struct {
	Name name.Ref
	OID  name.OID
}

// Bounds of a header that is read: bytes of a line, and lines.
const (
	maxLine  = 4096
	maxLines = 1 << 20
)

// Version 3 of the format is needed for SHA-256 only. Version 2 is written otherwise,
// because every git reads it.
const (
	signature2 = "# v2 git bundle"
	signature3 = "# v3 git bundle"
)

// IsBundle reports whether a file that starts with these bytes is a bundle.
func IsBundle(beginning []byte) bool {
	text := string(beginning)
	return strings.HasPrefix(text, signature2+"\n") || strings.HasPrefix(text, signature3+"\n")
}

// Encode returns the header in git's format, including the empty line at its end.
func (h Header) Encode() []byte {
	var b strings.Builder
	if h.Format == "sha256" {
		b.WriteString(signature3 + "\n@object-format=sha256\n")
	} else {
		b.WriteString(signature2 + "\n")
	}
	for _, need := range h.Needs {
		fmt.Fprintf(&b, "-%s \n", need)
	}
	for _, r := range h.Refs {
		fmt.Fprintf(&b, "%s %s\n", r.OID, r.Name)
	}
	b.WriteByte('\n')
	return []byte(b.String())
}

// ReadHeader reads a header and checks it. r is then at the first byte of the pack.
func ReadHeader(r *bufio.Reader) (Header, error) {
	h := Header{Format: "sha1"}
	first, err := readLine(r, maxLine)
	third := string(first) == signature3+"\n"
	if err != nil || !third && string(first) != signature2+"\n" {
		return h, errors.New("it is not a git bundle")
	}
	for range maxLines {
		text, err := readLine(r, maxLine)
		if errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF
		}
		if err != nil {
			return h, fmt.Errorf("read the header of the bundle: %w", err)
		}
		line := strings.TrimSuffix(string(text), "\n")
		if line == "" {
			return h, h.check()
		}
		if capability, is := strings.CutPrefix(line, "@"); is {
			if err := h.capability(capability, third); err != nil {
				return h, err
			}
			continue
		}
		if err := h.line(line); err != nil {
			return h, err
		}
	}
	return h, fmt.Errorf("the header of the bundle has more than %d lines", maxLines)
}

// capability takes the only known capability, object-format, which comes before any ref.
func (h *Header) capability(text string, third bool) error {
	format, is := strings.CutPrefix(text, "object-format=")
	if !third || !is || format != "sha1" && format != "sha256" || len(h.Refs)+len(h.Needs) > 0 {
		return fmt.Errorf("the bundle wants %q, which is not supported", name.Clip(text, name.Said))
	}
	h.Format = format
	return nil
}

// line takes a prerequisite ("-<oid> <comment>") or a ref ("<oid> <name>").
func (h *Header) line(line string) error {
	needed, isNeed := strings.CutPrefix(line, "-")
	word, rest, _ := strings.Cut(needed, " ")
	oid, err := name.ParseOID(word)
	if err != nil {
		return fmt.Errorf("the header of the bundle has %q", name.Clip(line, name.Said))
	}
	if isNeed {
		h.Needs = append(h.Needs, oid)
		return nil
	}
	h.Refs = append(h.Refs, Ref{Name: name.Ref(rest), OID: oid})
	return nil
}

// check sorts the refs and refuses ids of the wrong length, duplicate refs, and refs that
// are not ours.
func (h *Header) check() error {
	// Ids of another length belong to the other object format.
	length := 40
	if h.Format == "sha256" {
		length = 64
	}
	for _, oid := range h.Needs {
		if len(oid) != length {
			return fmt.Errorf("the bundle has %q where an object id belongs", oid)
		}
	}
	slices.SortFunc(h.Refs, func(a, b Ref) int { return strings.Compare(string(a.Name), string(b.Name)) })
	for i, r := range h.Refs {
		if len(r.OID) != length {
			return fmt.Errorf("the bundle has %q where an object id belongs", r.OID)
		}
		if i > 0 && h.Refs[i-1].Name == r.Name {
			return fmt.Errorf("the bundle has %q twice", name.Clip(string(r.Name), name.Said))
		}
		if !isOurs(r.Name) {
			return fmt.Errorf("the bundle has the ref %q, which does not belong to a checkpoint", name.Clip(string(r.Name), name.Said))
		}
	}
	return nil
}

// isOurs accepts journals, archives, checkpoints, the notes ref and the checkpoint tags.
func isOurs(ref name.Ref) bool {
	if !strings.HasPrefix(string(ref), name.CheckpointRoot) {
		return ref.Travels()
	}
	_, leaf, ok := name.SplitCheckpointRef(ref)
	_, notID := name.ParseID(leaf)
	return ok && (notID == nil || leaf == "journal" || leaf == "archive")
}
