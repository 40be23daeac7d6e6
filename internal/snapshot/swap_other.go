//go:build !linux

package snapshot

func (w *worktree) swap(string, string) error     { return errNoSwap }
func (w *worktree) placeNew(string, string) error { return errNoSwap }
