package refs

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"

	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/sys/gather"
)

// manyRefs is how many new refs in one transaction make it worthwhile to write them directly into
// packed-refs. Writing thousands of small files, which a later pack-refs has to read again, would
// take longer than everything else that an import does.
const manyRefs = 100

// packedHeader is the first line that git writes to packed-refs. "fully-peeled" says that every
// annotated tag has a line with its target, so that a ref without such a line is known to need
// none.
const packedHeader = "# pack-refs with: peeled fully-peeled sorted \n"

// packable splits the updates of a transaction into the new refs that go directly into packed-refs,
// and the rest in its order. fresh is empty if there are few new refs, or if the transaction also
// deletes refs. Journals are never packed here: they change with every event.
func packable(updates []Update, commits func([]name.OID) bool) (fresh, rest []Update) {
	for _, u := range updates {
		switch {
		case u.New == "":
			return nil, updates
		case u.Old == "" && strings.HasPrefix(string(u.Ref), name.CheckpointRoot) && !strings.HasSuffix(string(u.Ref), "/journal"),
			u.Old == "" && strings.HasPrefix(string(u.Ref), name.TagRoot):
			fresh = append(fresh, u)
		default:
			rest = append(rest, u)
		}
	}
	if len(fresh) < manyRefs {
		return nil, updates
	}
	oids := gather.List(fresh, func(u Update) name.OID { return u.New })
	// A tag object would need a second line in packed-refs with its target.
	if !commits(oids) {
		return nil, updates
	}
	return fresh, rest
}

// fillPacked writes the new content of packed-refs into its lock, if the transaction has that lock.
// It writes through the proof file, which is the same inode. The mode of the file is kept, and the
// content is synced, because this one file holds all refs.
func (t *transaction) fillPacked() error {
	at := slices.IndexFunc(t.locks, func(l *refLock) bool { return l.update.Ref == packedRefsFile })
	if at < 0 {
		return nil
	}
	l := t.locks[at]
	var fresh []Update
	gone := map[string]bool{}
	for _, other := range t.locks {
		if other.packs {
			fresh = append(fresh, other.update)
		} else if other.update.New == "" {
			gone[string(other.update.Ref)] = true
		}
	}
	// packed-refs is locked, so nobody replaces it between this and the rename.
	old, err := os.ReadFile(l.ref)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return errUseGit
	}
	merged, err := mergePacked(old, fresh, gone)
	if l.idle = err == nil && bytes.Equal(merged, old); err != nil || l.idle {
		return err
	}
	out, err := os.OpenFile(l.proof, os.O_WRONLY, 0)
	if err != nil {
		return errUseGit
	}
	if info, there := os.Lstat(l.ref); there == nil {
		if !info.Mode().IsRegular() { // git follows a symbolic link here; leave that to git
			err = errUseGit
		} else {
			err = out.Chmod(info.Mode().Perm())
		}
	}
	if err == nil {
		_, err = out.Write(merged)
	}
	if err == nil {
		err = out.Sync()
	}
	if err = errors.Join(err, out.Close()); err != nil {
		return errUseGit
	}
	return nil
}

// mergePacked returns the content of packed-refs with the new refs inserted in order and those in
// gone left out. It returns errUseGit for a file in a form other than the one that git has written
// for years, and ErrRaced if one of the new refs exists.
func mergePacked(old []byte, fresh []Update, gone map[string]bool) ([]byte, error) {
	fresh = slices.Clone(fresh)
	slices.SortFunc(fresh, func(a, b Update) int { return strings.Compare(string(a.Ref), string(b.Ref)) })
	if len(old) == 0 && len(fresh) == 0 {
		return old, nil
	}
	header, body := packedHeader, old
	if len(old) > 0 {
		end := bytes.IndexByte(old, '\n') + 1
		header, body = string(old[:end]), old[end:]
		if !strings.HasPrefix(header, "# pack-refs with: ") || !strings.Contains(header, " fully-peeled ") || !strings.Contains(header, " sorted ") ||
			len(body) > 0 && body[len(body)-1] != '\n' {
			return nil, errUseGit
		}
	}
	b := bytes.NewBuffer(make([]byte, 0, len(old)+128*len(fresh)))
	b.WriteString(header)
	// add writes the new refs that sort before the given one; "" means all that are left.
	add := func(before string) {
		for len(fresh) > 0 && (before == "" || string(fresh[0].Ref) < before) {
			fmt.Fprintf(b, "%s %s\n", fresh[0].New, fresh[0].Ref)
			fresh = fresh[1:]
		}
	}
	dropped := false
	for line := range bytes.Lines(body) {
		if line[0] == '^' { // belongs to the ref before it
			if !dropped {
				b.Write(line)
			}
			continue
		}
		_, ref, ok := strings.Cut(string(line[:len(line)-1]), " ")
		if !ok || ref == "" {
			return nil, errUseGit
		}
		if add(ref); len(fresh) > 0 && string(fresh[0].Ref) == ref {
			return nil, fmt.Errorf("%w: %s exists", ErrRaced, ref)
		}
		if dropped = gone[ref]; !dropped {
			b.Write(line)
		}
	}
	// Only refs after the last line are left.
	add("")
	return b.Bytes(), nil
}
