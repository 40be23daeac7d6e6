// Package archive owns the files that sessions travel in: the header of a git bundle,
// and the tar and JSON lines that hold one. It is pure over readers and writers. It
// refuses what is not exactly such a file: a foreign ref, a link or device, a path that
// leads out, a member that is larger than it may be.
package archive

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"git-checkpoint/internal/name"
)

// Header is what a bundle says before its pack.
type Header struct {
	Format string // "sha1" or "sha256"
	Refs   []Ref  // in order of their names
	Needs  []name.OID
}

// Ref is one ref of a bundle.
type Ref struct {
	Name name.Ref
	OID  name.OID
}

// Bounds of a header.
const (
	maxLine  = 4096
	maxLines = 1 << 20
)

const (
	signature2 = "# v2 git bundle"
	signature3 = "# v3 git bundle"
)

// IsBundle reports whether a file that begins so is a bundle.
func IsBundle(beginning []byte) bool {
	text := string(beginning)
	return strings.HasPrefix(text, signature2+"\n") || strings.HasPrefix(text, signature3+"\n")
}

// Encode writes the header, the empty line at its end included.
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

// ReadHeader reads a header and leaves r at the pack.
func ReadHeader(r *bufio.Reader) (Header, error) {
	h := Header{Format: "sha1"}
	line, err := readLine(r)
	if err != nil || line != signature2 && line != signature3 {
		return h, errors.New("it is no git bundle")
	}
	third := line == signature3
	for range maxLines {
		if line, err = readLine(r); err != nil {
			return h, fmt.Errorf("read the header of the bundle: %w", err)
		}
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

func readLine(r *bufio.Reader) (string, error) {
	var line []byte
	for len(line) <= maxLine {
		b, err := r.ReadByte()
		if errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF
		}
		if err != nil {
			return "", err
		}
		if b == '\n' {
			return string(line), nil
		}
		line = append(line, b)
	}
	return "", fmt.Errorf("a line of more than %d bytes", maxLine)
}

func (h *Header) capability(text string, third bool) error {
	format, is := strings.CutPrefix(text, "object-format=")
	if !third || !is || format != "sha1" && format != "sha256" || len(h.Refs)+len(h.Needs) > 0 {
		return fmt.Errorf("the bundle wants %q, which is not supported", name.Clip(text, name.Said))
	}
	h.Format = format
	return nil
}

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

// check refuses what is none of ours, and a name that stands twice.
func (h *Header) check() error {
	length := 40
	if h.Format == "sha256" {
		length = 64
	}
	for _, oid := range h.Needs {
		if len(oid) != length {
			return fmt.Errorf("the bundle has the object id %q", oid)
		}
	}
	slices.SortFunc(h.Refs, func(a, b Ref) int { return strings.Compare(string(a.Name), string(b.Name)) })
	for i, r := range h.Refs {
		if len(r.OID) != length {
			return fmt.Errorf("the bundle has the object id %q", r.OID)
		}
		if i > 0 && h.Refs[i-1].Name == r.Name {
			return fmt.Errorf("the bundle has %q twice", name.Clip(string(r.Name), name.Said))
		}
		if !isOurs(r.Name) {
			return fmt.Errorf("the bundle has the ref %q, which is none of a checkpoint", name.Clip(string(r.Name), name.Said))
		}
	}
	return nil
}

// isOurs accepts journals, archives and checkpoints, the notes and the tags.
func isOurs(ref name.Ref) bool {
	if ref == name.NotesRef || strings.HasPrefix(string(ref), name.TagRoot) {
		return true
	}
	_, leaf, ok := name.SplitCheckpointRef(ref)
	_, notID := name.ParseID(leaf)
	return ok && (notID == nil || leaf == "journal" || leaf == "archive")
}
