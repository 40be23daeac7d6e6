//go:build !linux

package snapshot

// Other systems do not exchange names; see replace.go for what is done instead.
func (w *worktree) swap(string, string) error     { return errNoSwap }
func (w *worktree) placeNew(string, string) error { return errNoSwap }
