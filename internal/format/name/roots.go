package name

import (
	"slices"
	"strings"
)

// The places of our refs. Below a session's refs the names "journal" and "archive" are reserved; no
// id is equal to one, because ids begin with "cp-".
const (
	CheckpointRoot = "refs/checkpoints/"
	NotesRef       = Ref("refs/notes/checkpoints")
	TagRoot        = "refs/tags/checkpoint/"
	// What remotes had when they were last seen: <root><remote>/<session>/journal.
	TrackingRoot = "refs/checkpoint-remotes/"
	// What a fetch has brought and not yet taken over: <root><hex time>-<random>/...
	IncomingRoot = "refs/checkpoint-incoming/"
)

// Roots returns the places of all our refs: prefixes that end in a slash, and NotesRef.
func Roots() []string { return append(travelling(), TrackingRoot, IncomingRoot) }

// travelling returns the places that remotes have, too. The others stay in their repository.
func travelling() []string { return []string{CheckpointRoot, string(NotesRef), TagRoot} }

// IsOurs reports whether a ref is in one of our places.
func (r Ref) IsOurs() bool { return r.isIn(Roots()) }

// Travels reports whether a ref is in one of our places that remotes have, too.
func (r Ref) Travels() bool { return r.isIn(travelling()) }

// Short returns the name of a branch as people type it, without refs/heads/.
func (r Ref) Short() string { return strings.TrimPrefix(string(r), "refs/heads/") }

func (r Ref) isIn(roots []string) bool {
	return slices.ContainsFunc(roots, func(root string) bool {
		return string(r) == root || strings.HasSuffix(root, "/") && strings.HasPrefix(string(r), root)
	})
}
