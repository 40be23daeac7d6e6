// Package name owns the typed names of the program — object ids, refs, sessions,
// checkpoint ids, labels — and their grammar. It is a leaf: it imports nothing of
// this project, reads no repository, and refuses what is outside the grammar.
package name

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// OID is a git object id: 40 (SHA-1) or 64 (SHA-256) lower-case hex digits.
type OID string

// ParseOID accepts exactly the two lengths that git has.
func ParseOID(s string) (OID, error) {
	if len(s) != 40 && len(s) != 64 || !IsHex(s) {
		return "", fmt.Errorf("not an object id: %q", Clip(s, Said))
	}
	return OID(s), nil
}

// hexDigits has the value of each lower-case hex digit, and 0xf0 for all else: a proof
// looks at millions.
var hexDigits = func() (table [256]byte) {
	for c := range table {
		table[c] = 0xf0
	}
	for value, c := range []byte("0123456789abcdef") {
		table[c] = byte(value)
	}
	return table
}()

// OIDOf is an id as trees and indexes have it, 20 or 32 bytes.
func OIDOf(id []byte) OID {
	var digits [64]byte
	return OID(digits[:hex.Encode(digits[:], id)])
}

// Bytes is the inverse of OIDOf; nil for what is no id. It appends to room, which may be
// nil.
func (o OID) Bytes(room []byte) []byte {
	if len(o) != 40 && len(o) != 64 {
		return nil
	}
	var odd byte
	at := len(room)
	room = append(room, make([]byte, len(o)/2)...)
	for i := range room[at:] {
		high, low := hexDigits[o[2*i]], hexDigits[o[2*i+1]]
		odd |= high | low
		room[at+i] = high<<4 | low
	}
	if odd > 0x0f {
		return nil
	}
	return room
}

// IsZero reports whether o names no object: empty or all zeros.
func (o OID) IsZero() bool { return strings.Trim(string(o), "0") == "" }

// Short is the abbreviation shown to people: seven digits.
func (o OID) Short() string {
	if len(o) < 7 {
		return string(o)
	}
	return string(o[:7])
}

// Ref is a full ref name, "refs/…".
type Ref string

// Session is a session's name; see ParseSession for the grammar.
type Session string

// isWord reports whether s is 1 to most characters of A-Z a-z 0-9 . _ -, the first
// one a letter or digit. (Patterns are spelled out in this package: compiling
// regular expressions would cost more than all the rest of a start.)
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

// ParseSession holds the grammar of docs/format.md, "Sessions".
func ParseSession(s string) (Session, error) {
	switch {
	case !isWord(s, 64):
		return "", fmt.Errorf("invalid session name %q: 1 to 64 of A-Z a-z 0-9 . _ -, the first one a letter or digit", Clip(s, Said))
	case strings.Contains(s, ".."), strings.HasSuffix(s, "."), strings.HasSuffix(strings.ToLower(s), ".lock"):
		return "", fmt.Errorf("invalid session name %q: no '..', no '.' or '.lock' at the end", Clip(s, Said))
	}
	return Session(s), nil
}

// SessionFromBranch names the session of a branch's short name: what the grammar
// lacks becomes '-', 's' goes before a leading character that is no letter or
// digit, and the result is cut to 60 so that a "-2" still fits.
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

// SessionFor names the session of what another system calls so: the same where it is a
// session's name, else one like it with a part of its digest.
func SessionFor(called string) Session {
	if s, err := ParseSession(called); err == nil {
		return s
	}
	base := string(SessionFromBranch(called))
	digest := sha256.Sum256([]byte(called))
	return Session(strings.TrimRight(base[:min(len(base), 50)], ".-_") + "-" + hex.EncodeToString(digest[:4]))
}

// ID is a checkpoint's identity: cp-<NN>-<UTC time to the millisecond>-<4 hex>.
type ID string

const idTime = "20060102T150405.000Z"

// NewID makes the id of step at t; random supplies the last four digits.
func NewID(step int, t time.Time, random uint16) ID {
	stamp := strings.Replace(t.UTC().Format(idTime), ".", "", 1)
	return ID(fmt.Sprintf("cp-%02d-%s-%04x", step, stamp, random))
}

// ParseID accepts a whole id only.
func ParseID(s string) (ID, error) {
	const behind = len("-20060102T150405000Z-0000")
	rest, ok := strings.CutPrefix(s, "cp-")
	step := len(rest) - behind
	if !ok || step < 2 || step > 9 || !isDigits(rest[:step]) {
		return "", fmt.Errorf("not a checkpoint id: %q", Clip(s, Said))
	}
	if rest = rest[step:]; rest[0] != '-' || !isDigits(rest[1:9]) || rest[9] != 'T' || !isDigits(rest[10:19]) || rest[19] != 'Z' || rest[20] != '-' || !IsHex(rest[21:]) {
		return "", fmt.Errorf("not a checkpoint id: %q", Clip(s, Said))
	}
	return ID(s), nil
}

func isDigits(s string) bool {
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return true
}

// IsHex reports whether all of a text is digits of an id.
func IsHex[T ~string | ~[]byte](s T) bool {
	var odd byte
	for i := range len(s) {
		odd |= hexDigits[s[i]]
	}
	return odd <= 0x0f
}

// Refs of a session. Leaves "journal" and "archive" are reserved; no id collides
// with them, because ids start with "cp-".
const (
	CheckpointRoot = "refs/checkpoints/"
	TagRoot        = "refs/tags/checkpoint/"
	NotesRef       = Ref("refs/notes/checkpoints")
)

// CheckpointRef is refs/checkpoints/<session>/<id>.
func CheckpointRef(s Session, id ID) Ref { return Ref(CheckpointRoot + string(s) + "/" + string(id)) }

// JournalRef is refs/checkpoints/<session>/journal.
func JournalRef(s Session) Ref { return Ref(CheckpointRoot + string(s) + "/journal") }

// ArchiveRef is refs/checkpoints/<session>/archive.
func ArchiveRef(s Session) Ref { return Ref(CheckpointRoot + string(s) + "/archive") }

// TagRef is refs/tags/checkpoint/<session>/step-<N>[.<iteration>].
func TagRef(s Session, step int, iteration string) Ref {
	r := Ref(TagRoot + string(s) + "/step-" + strconv.Itoa(step))
	if iteration != "" {
		r += Ref("." + iteration)
	}
	return r
}

// SplitCheckpointRef takes refs/checkpoints/<session>/<leaf> apart; ok is false
// for a ref that is not of that shape or whose session breaks the grammar.
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

// Slug is a step name as labels have it: [a-z0-9_-], at most 40.
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

// Label is a milestone's label for people: cp-03-architecture, cp-06-review-2,
// cp-03 for a step without a name.
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
