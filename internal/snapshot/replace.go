package snapshot

import (
	"errors"
	"io/fs"
	"os"
)

// errNoSwap says that two names cannot be exchanged, or not be given only when free.
var errNoSwap = errors.New("the system exchanges no names here")

// displace moves the file of operation i aside. What was moved is looked at afterwards:
// a file that somebody saved in the moment before it comes back.
func (r *Restore) displace(i int, p string) error {
	old := r.intent.oldFile(i)
	if err := r.shot.tree.aside(p, old); err != nil {
		return err
	}
	if r.kept(i, p) {
		return nil
	}
	if err := r.shot.tree.placeNew(old, p); err != nil && !errors.Is(err, errNoSwap) {
		return err
	}
	return &ChangedError{p}
}

// replace puts the new file of operation i where the old one is, whose other name is
// aside already. The names are exchanged, so that a file that somebody saved under p in
// the moment before is in our hands afterwards, and not gone.
func (r *Restore) replace(i int, p string) error {
	next, old := r.intent.newFile(i), r.intent.oldFile(i)
	switch err := r.shot.tree.swap(next, p); {
	case errors.Is(err, errNoSwap):
		return r.shot.tree.place(next, p)
	case err != nil:
		return err
	}
	r.note(i, p)
	r.trace("swapped")
	if r.seen == nil || sameFile(next, old) && r.kept(i, p) { // after a kill all was captured again
		return os.Remove(next)
	}
	if err := r.shot.tree.swap(next, p); err != nil {
		return err
	}
	return errors.Join(&ChangedError{p}, os.Remove(old))
}

// note remembers what stands at p now, so that going back takes away nothing else.
func (r *Restore) note(i int, p string) {
	if info, err := r.shot.tree.lstat(p); err == nil && info != nil && r.placed != nil {
		r.placed[i] = info
	}
}

// giveBack puts what is aside at p again, in the place of nothing: what stands there is
// somebody's new work. After a kill it was captured before, and goes.
func (r *Restore) giveBack(i int, p string) error {
	old := r.intent.oldFile(i)
	if r.seen == nil {
		return r.shot.tree.place(old, p)
	}
	err := r.shot.tree.placeNew(old, p)
	switch {
	case errors.Is(err, errNoSwap):
		return r.shot.tree.place(old, p)
	case !errors.Is(err, fs.ErrExist):
		return err
	}
	if sameFile(old, r.shot.tree.abs(p)) { // it never left
		return os.Remove(old)
	}
	return &ChangedError{p}
}

// swapped ends an exchange of names that a kill cut off: both names of the old file are
// aside.
func (r *Restore) swapped(i int) (bool, error) {
	if !sameFile(r.intent.newFile(i), r.intent.oldFile(i)) {
		return false, nil
	}
	return true, os.Remove(r.intent.newFile(i))
}

func sameFile(a, b string) bool {
	x, err := os.Lstat(a)
	if err != nil {
		return false
	}
	y, err := os.Lstat(b)
	return err == nil && os.SameFile(x, y)
}

// kept reports whether the file aside is still the version that was captured. Its own
// time of change is another: it got another name.
func (r *Restore) kept(i int, p string) bool {
	if r.seen == nil {
		return true
	}
	info, err := os.Lstat(r.intent.oldFile(i))
	was := r.seen[p]
	if err != nil || was == nil || info.Size() != was.Size() || info.Mode() != was.Mode() {
		return false
	}
	return info.Mode()&fs.ModeSymlink != 0 || info.ModTime().Equal(was.ModTime())
}

// lastLook finds a file that somebody went on writing to while it was moved aside: he
// had it open.
func (r *Restore) lastLook() error {
	for i, o := range r.intent.Ops {
		if k := o.kind(); (k == "write" || k == "delete") && r.moved(i) && !r.kept(i, o.Path) {
			return &ChangedError{o.Path}
		}
	}
	return nil
}
