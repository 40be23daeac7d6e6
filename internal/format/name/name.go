// Package name defines the types of the program's names and their grammar: object ids, refs,
// sessions, checkpoint ids and labels. docs/format.md specifies them ("Names").
//
// Each type is a string. The Parse functions accept exactly the grammar, and the functions at the
// end of this file build refs and labels from names. The package also has small helpers for
// messages (Clip) and suggestions (Distance). It imports nothing else of this project and reads no
// repository.
package name

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"
	"time"

	"git-checkpoint/internal/sys/gather"
)

// OID is a git object id: 40 (SHA-1) or 64 (SHA-256) lower-case hex digits. An empty OID stands for
// "none".
type OID string

// ParseOID parses a full object id of either length.
func ParseOID(s string) (OID, error) {
	if len(s) != 40 && len(s) != 64 || !IsHex(s) {
		return "", fmt.Errorf("not an object id: %q", Clip(s, Said))
	}
	return OID(s), nil
}

// All converts a list of names from one type to another.
func All[To, From ~string](list []From) []To {
	return gather.List(list, func(n From) To { return To(n) })
}

// NotedOID returns the object that a path in a notes tree stands for: git fans those trees out into
// directories, and without the slashes the path is the id.
func NotedOID(path string) (OID, error) { return ParseOID(strings.ReplaceAll(path, "/", "")) }

// OIDOf returns the id for the 20 or 32 bytes by which trees and indexes store it.
func OIDOf(id []byte) OID {
	var digits [64]byte
	return OID(digits[:hex.Encode(digits[:], id)])
}

// Bytes appends the binary form of the id to room, which may be nil. It returns nil if o is not an
// id.
func (o OID) Bytes(room []byte) []byte {
	if len(o) != 40 && len(o) != 64 || !IsHex(o) {
		return nil
	}
	// On the stack: proving a repository converts millions of ids.
	var digits [64]byte
	room, _ = hex.AppendDecode(room, digits[:copy(digits[:], o)]) //nolint:errcheck // IsHex has seen every digit
	return room
}

// IsZero reports whether o names no object: it is empty, or all zeros as git writes it.
func (o OID) IsZero() bool { return strings.Trim(string(o), "0") == "" }

// Short returns the first seven digits, for messages.
func (o OID) Short() string {
	if len(o) < 7 {
		return string(o)
	}
	return string(o[:7])
}

// Ref is a full ref name, such as "refs/heads/main".
type Ref string

// Session is the name of a session. ParseSession has the grammar.
type Session string

// isWord reports whether s has 1 to most characters of A-Z a-z 0-9 . _ - and begins with a letter
// or digit. It is written out, as are other patterns in this package, because compiling regular
// expressions would take longer than everything else that a start of the program does.
func isWord(s string, most int) bool {
	if s == "" || len(s) > most {
		return false
	}
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c >= 'A' && c <= 'Z', c >= 'a' && c <= 'z', c >= '0' && c <= '9':
		case i > 0 && (c == '.' || c == '_' || c == '-'):
		default:
			return false
		}
	}
	return true
}

// OutputRule describes in words what ParseOutput accepts, for messages.
const OutputRule = "1 to 100 of A-Z a-z 0-9 . _ -, starting with a letter or digit"

// ParseOutput parses the name of an output, which becomes a name in a tree and may become that of a
// file: no such name is "..", ".git" or an option.
func ParseOutput(s string) (string, error) {
	if !isWord(s, 100) {
		return "", fmt.Errorf("invalid output name %q: it must be %s", Clip(s, Said), OutputRule)
	}
	return s, nil
}

// ParseIteration parses the iteration of a step, which is a part of its label and tag. It may be
// empty.
func ParseIteration(s string) (string, error) {
	if Slug(s) != s {
		return "", fmt.Errorf("iteration %q cannot stand in a label", Clip(s, Said))
	}
	return s, nil
}

// ParseSession parses the name of a session, by the grammar in docs/format.md ("Session"). The
// rules are such that the name can be one part of a ref.
func ParseSession(s string) (Session, error) {
	switch {
	case !isWord(s, 64):
		return "", fmt.Errorf("invalid session name %q: it must be 1 to 64 of A-Z a-z 0-9 . _ -, starting with a letter or digit", Clip(s, Said))
	case strings.Contains(s, ".."), strings.HasSuffix(s, "."), strings.HasSuffix(strings.ToLower(s), ".lock"):
		return "", fmt.Errorf("invalid session name %q: it must not contain '..', or end in '.' or '.lock'", Clip(s, Said))
	}
	return Session(s), nil
}

// SessionFromBranch returns the session that is named after a branch. short is the branch without
// refs/heads/. Characters that are not allowed become '-', and 's' goes before a first character
// that is not a letter or digit. The result has at most 60 characters, so that a caller can append
// "-2".
func SessionFromBranch(short string) Session {
	var b strings.Builder
	for _, r := range short {
		if isWord("a"+string(r), 64) {
			b.WriteRune(r)
		} else {
			b.WriteByte('-')
		}
	}
	s := b.String()
	if s == "" || !isWord(s[:1], 64) {
		s = "s" + s
	}
	if len(s) > 60 {
		s = s[:60]
	}
	for strings.Contains(s, "..") {
		s = strings.ReplaceAll(s, "..", ".-")
	}
	if strings.HasSuffix(s, ".") || strings.HasSuffix(strings.ToLower(s), ".lock") {
		s = s[:strings.LastIndexByte(s, '.')] + "-" + s[strings.LastIndexByte(s, '.')+1:]
	}
	return Session(s)
}

// SessionFor returns the session for a name that another system uses. If that is a valid name of a
// session, it is kept. Otherwise the result is a similar one with a part of the name's SHA-256, so
// that different names do not become the same session.
func SessionFor(called string) Session {
	if s, err := ParseSession(called); err == nil {
		return s
	}
	base := string(SessionFromBranch(called))
	digest := sha256.Sum256([]byte(called))
	return Session(strings.TrimRight(base[:min(len(base), 50)], ".-_") + "-" + hex.EncodeToString(digest[:4]))
}

// ID is the identity of a checkpoint: cp-<NN>-<UTC time to the millisecond>-<4 hex digits>.
type ID string

// idTime is the layout of the time in an id, with a dot that the id does not have: package time
// formats milliseconds only after a dot.
const idTime = "20060102T150405.000Z"

// NewID returns an id for a step at the time t. The last four digits are random. The caller draws
// again if the id exists.
func NewID(step int, t time.Time, random uint16) ID {
	stamp := strings.Replace(t.UTC().Format(idTime), ".", "", 1)
	return ID(fmt.Sprintf("cp-%02d-%s-%04x", step, stamp, random))
}

// ParseID parses a complete id.
func ParseID(s string) (ID, error) {
	const behind = len("-20060102T150405000Z-0000")
	rest, ok := strings.CutPrefix(s, "cp-")
	step := len(rest) - behind
	if !ok || step < 2 || step > 9 || !isDigits(rest[:step]) {
		return "", fmt.Errorf("not a checkpoint id: %q", Clip(s, Said))
	}
	// The rest has the fixed length of "-20060102T150405000Z-0000", so each character has its
	// place.
	if rest = rest[step:]; rest[0] != '-' || !isDigits(rest[1:9]) || rest[9] != 'T' || !isDigits(rest[10:19]) || rest[19] != 'Z' || rest[20] != '-' || !IsHex(rest[21:]) {
		return "", fmt.Errorf("not a checkpoint id: %q", Clip(s, Said))
	}
	return ID(s), nil
}

// Step returns the number of the step in an id. ok is false if id is not one.
func (id ID) Step() (step int, ok bool) {
	if _, err := ParseID(string(id)); err != nil {
		return 0, false
	}
	digits, _, _ := strings.Cut(strings.TrimPrefix(string(id), "cp-"), "-")
	step, err := strconv.Atoi(digits)
	return step, err == nil
}

// isDigits reports whether s consists of decimal digits. That is also true of "".
func isDigits(s string) bool { return strings.Trim(s, "0123456789") == "" }

// IsHex reports whether s consists of lower-case hex digits. That is also true of "".
func IsHex[T ~string | ~[]byte](s T) bool {
	for i := range len(s) {
		if c := s[i]; c-'0' > 9 && c-'a' > 5 { // bytes, so what is less than '0' or 'a' wraps around
			return false
		}
	}
	return true
}

// CheckpointRef returns refs/checkpoints/<session>/<id>.
func CheckpointRef(s Session, id ID) Ref { return Ref(CheckpointRoot + string(s) + "/" + string(id)) }

// JournalRef returns refs/checkpoints/<session>/journal.
func JournalRef(s Session) Ref { return Ref(CheckpointRoot + string(s) + "/journal") }

// ArchiveRef returns refs/checkpoints/<session>/archive.
func ArchiveRef(s Session) Ref { return Ref(CheckpointRoot + string(s) + "/archive") }

// TagRef returns refs/tags/checkpoint/<session>/step-<N>, with ".<iteration>" unless that is empty.
func TagRef(s Session, step int, iteration string) Ref {
	r := Ref(TagRoot + string(s) + "/step-" + strconv.Itoa(step))
	if iteration != "" {
		r += Ref("." + iteration)
	}
	return r
}

// SplitCheckpointRef splits refs/checkpoints/<session>/<leaf>. ok is false if the ref does not have
// that form or the session is not a valid name. The leaf is not checked.
func SplitCheckpointRef(r Ref) (s Session, leaf string, ok bool) {
	rest, found := strings.CutPrefix(string(r), CheckpointRoot)
	if !found {
		return "", "", false
	}
	session, leaf, found := strings.Cut(rest, "/")
	if !found || leaf == "" || strings.Contains(leaf, "/") {
		return "", "", false
	}
	s, err := ParseSession(session)
	return s, leaf, err == nil
}

// Slug returns the name of a step as labels contain it: lower case, with each run of other
// characters than a-z0-9_- as one '-', none of them at an end, and at most 40 characters.
func Slug(s string) string {
	var b strings.Builder
	for _, r := range strings.ToLower(s) {
		if (r >= 'a' && r <= 'z') || (r >= '0' && r <= '9') || r == '_' || r == '-' {
			b.WriteRune(r)
		} else if n := b.Len(); n > 0 && b.String()[n-1] != '-' {
			b.WriteByte('-')
		}
		if b.Len() >= 40 {
			break
		}
	}
	return strings.Trim(b.String(), "-")
}

// Label returns the label of a milestone, such as cp-03-architecture or cp-06-review-2, or cp-03
// for a step without a name.
func Label(step int, stepName, iteration string) string {
	l := fmt.Sprintf("cp-%02d", step)
	if slug := Slug(stepName); slug != "" {
		l += "-" + slug
	}
	if iteration != "" {
		l += "-" + iteration
	}
	return l
}
