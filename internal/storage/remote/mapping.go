package remote

import (
	"fmt"
	"strings"

	"git-checkpoint/internal/format/name"
)

// Mapping translates ref names between here and the remote. With the zero Mapping the names are the
// same. A host that accepts only branches gets the refs below a prefix such as
// refs/heads/checkpoints/, from the setting checkpoint.refPrefix. Tags are never mapped.
type Mapping struct{ prefix string }

// notesLeaf is the name of the notes ref below a prefix. It cannot clash with a session, because no
// session begins with an underscore.
const notesLeaf = "_notes"

// ParseMapping parses the value of checkpoint.refPrefix. A missing slash at the end is added. It
// refuses what is not a valid ref name, and prefixes that other refs share.
func ParseMapping(prefix string) (Mapping, error) {
	if prefix == "" {
		return Mapping{}, nil
	}
	p := strings.TrimSuffix(prefix, "/") + "/"
	parts := strings.Split(strings.TrimSuffix(p, "/"), "/")
	bad := len(parts) < 2 || parts[0] != "refs"
	if len(parts) == 2 { // refs/heads/ alone would mix sessions with branches
		switch parts[1] {
		case "heads", "tags", "notes", "remotes", "checkpoint-remotes", "checkpoint-incoming":
			bad = true
		}
	}
	for _, part := range parts {
		bad = bad || part == "" || strings.HasPrefix(part, ".") || strings.HasSuffix(part, ".lock") || strings.HasSuffix(part, ".") || strings.Contains(part, "..")
	}
	if bad || strings.ContainsAny(p, " ~^:?*[\\\n\x00\x7f") || strings.Contains(p, "@{") {
		return Mapping{}, fmt.Errorf("%q is not a prefix for refs, such as refs/heads/checkpoints/", name.Clip(prefix, name.Said))
	}
	if p == name.CheckpointRoot {
		return Mapping{}, nil
	}
	return Mapping{prefix: p}, nil
}

// ToRemote returns the name at the remote of a ref here.
func (m Mapping) ToRemote(ref name.Ref) name.Ref {
	if m.prefix == "" {
		return ref
	}
	if rest, ok := strings.CutPrefix(string(ref), name.CheckpointRoot); ok {
		return name.Ref(m.prefix + rest)
	}
	if ref == name.NotesRef {
		return name.Ref(m.prefix + notesLeaf)
	}
	return ref
}

// ToLocal returns the name here of a ref at the remote. ok is false if the ref is not one of ours.
func (m Mapping) ToLocal(ref name.Ref) (name.Ref, bool) {
	if m.prefix == "" {
		return ref, ref.Travels()
	}
	rest, ok := strings.CutPrefix(string(ref), m.prefix)
	switch {
	case !ok:
		return ref, strings.HasPrefix(string(ref), name.TagRoot)
	case rest == notesLeaf:
		return name.NotesRef, true
	}
	return name.Ref(name.CheckpointRoot + rest), true
}
