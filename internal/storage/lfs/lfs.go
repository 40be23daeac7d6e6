// Package lfs reads the pointer files of git-lfs, finds the content that they name, and keeps that
// content from git-lfs's own prune. It does not replace git-lfs: the filters clean and smudge, and
// `git lfs push` uploads (push.go).
//
// Content is named by its SHA-256. git-lfs stores it in <git dir>/lfs/objects. Keep gives what
// checkpoints name a second name below <common dir>/checkpoint/lfs, and Sweep removes such names
// again. In a repository that has neither directory nothing is read and no process is started.
package lfs

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/format/render"
	"git-checkpoint/internal/git"
	"git-checkpoint/internal/sys/gather"
)

// Pointer is what a pointer file says.
type Pointer struct {
	ID   string // SHA-256 of the content, in hexadecimal
	Size int64  // of the content, in bytes
}

// MaxPointer is the size in bytes from which on git-lfs does not take a blob for a pointer.
const MaxPointer = 1024

// versions begin the first line of a pointer file; the last two are of early versions of git-lfs.
var versions = [...]string{"version https://git-lfs.github.com/spec/", "version http://git-media.io/v/", "version https://hawser.github.com/spec/"}

// Parse reads a pointer file. ok is false for any other content.
func Parse(data []byte) (p Pointer, ok bool) {
	known := false
	for _, v := range versions {
		known = known || bytes.HasPrefix(data, []byte(v))
	}
	if !known || len(data) >= MaxPointer {
		return p, false
	}
	p.Size = -1
	for line := range strings.Lines(string(data)) {
		key, value, _ := strings.Cut(strings.TrimSpace(line), " ")
		switch key {
		case "oid":
			p.ID = strings.TrimPrefix(value, "sha256:")
		case "size":
			size, err := strconv.ParseInt(value, 10, 64)
			if err != nil {
				return p, false
			}
			p.Size = size
		}
	}
	return p, isID(p.ID) && p.Size >= 0
}

// isID reports whether id is a SHA-256 in lower-case hexadecimal. It becomes a part of a path.
func isID(id string) bool { return len(id) == 64 && strings.Trim(id, "0123456789abcdef") == "" }

// Store is the content that git-lfs keeps for a repository, and what Keep has kept of it.
type Store struct {
	repo    *git.Repo
	objects string // git-lfs's directory of objects
	kept    string // the directory of Keep
}

// Open returns the Store of a repository. It reads the configuration only.
func Open(repo *git.Repo) *Store {
	dir, _ := repo.Config.Get("lfs.storage")
	if dir = cmp.Or(dir, "lfs"); !filepath.IsAbs(dir) {
		dir = filepath.Join(repo.CommonDir, dir)
	}
	return &Store{repo: repo, objects: filepath.Join(dir, "objects"), kept: filepath.Join(repo.CommonDir, "checkpoint", "lfs")}
}

// InUse reports whether git-lfs, or Keep, has ever stored anything here.
func (s *Store) InUse() bool {
	_, stored := os.Lstat(s.objects)
	_, kept := os.Lstat(s.kept)
	return stored == nil || kept == nil
}

// object is where git-lfs has the content, link the other name that Keep gives it.
func (s *Store) object(id string) string { return filepath.Join(s.objects, id[:2], id[2:4], id) }
func (s *Store) link(id string) string   { return filepath.Join(s.kept, id) }

// File returns a file with the content, and "" if it is not here. A file of another size, as a
// full disk may leave it, does not count.
func (s *Store) File(p Pointer) string {
	for _, file := range []string{s.object(p.ID), s.link(p.ID)} {
		if holds(file, p) {
			return file
		}
	}
	return ""
}

func holds(file string, p Pointer) bool {
	info, err := os.Stat(file)
	return err == nil && info.Mode().IsRegular() && info.Size() == p.Size
}

// Provide gives content back to git-lfs that only Keep's directory has. It reports whether git-lfs
// has the content now.
func (s *Store) Provide(p Pointer) bool {
	to := s.object(p.ID)
	if holds(to, p) {
		return true
	}
	if !holds(s.link(p.ID), p) || os.MkdirAll(filepath.Dir(to), 0o777) != nil {
		return false
	}
	os.Remove(to) //nolint:errcheck // there is none, or it is cut short
	return linkOrCopy(s.link(p.ID), to, p.Size) == nil
}

// linkOrCopy gives a file a second name. Where that cannot be done, as on another file system, it
// copies it if it has at most most bytes.
func linkOrCopy(from, to string, most int64) error {
	err := os.Link(from, to)
	if err == nil || errors.Is(err, fs.ErrExist) {
		return nil
	}
	if info, statErr := os.Stat(from); statErr != nil {
		return statErr
	} else if info.Size() > most {
		return fmt.Errorf("%w, and it is too large for a copy", err)
	}
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close() //nolint:errcheck // read only
	out, err := os.CreateTemp(filepath.Dir(to), "tmp-")
	if err != nil {
		return err
	}
	defer os.Remove(out.Name()) //nolint:errcheck // it has its name by then
	_, err = io.Copy(out, in)
	if err = errors.Join(err, out.Close()); err == nil {
		err = os.Rename(out.Name(), to)
	}
	return err
}

// Named is a pointer with the blob that holds it and a path at which that was seen.
type Named struct {
	Pointer
	Blob name.OID
	Path string
}

// Pointers returns the pointers among blobs, which are given with a path each, in that order. Missing
// blobs are skipped.
func Pointers(ctx context.Context, repo *git.Repo, blobs []Named) ([]Named, error) {
	specs := gather.List(blobs, func(b Named) string { return string(b.Blob) })
	var small []Named
	err := repo.Objects.Batch().Info(ctx, specs, func(i int, o git.Object, err error) error {
		if err == nil && o.Type == "blob" && o.Size < MaxPointer {
			small = append(small, blobs[i])
		}
		return ctx.Err()
	})
	if err != nil {
		return nil, err
	}
	pointers := gather.List(small, func(b Named) string { return string(b.Blob) })
	var out []Named
	err = repo.Objects.Batch().Objects(ctx, pointers, func(i int, o git.Object, err error) error {
		if err != nil {
			return ctx.Err()
		}
		if p, is := Parse(o.Data); is {
			small[i].Pointer = p
			out = append(out, small[i])
		}
		return nil
	})
	return out, err
}

// PointersBelow returns the pointers below some trees or commits that no commit of not and, with beyond,
// no remote-tracking ref has.
func PointersBelow(ctx context.Context, repo *git.Repo, tips, not []name.OID, beyond bool) ([]Named, error) {
	if len(tips) == 0 {
		return nil, nil
	}
	// If the tips are trees, only --objects-edge-aggressive leaves out the content of excluded
	// commits.
	args := []string{"rev-list", "--objects-edge-aggressive", "--missing=allow-any", "--ignore-missing", fmt.Sprintf("--filter=blob:limit=%d", MaxPointer), "--stdin"}
	if beyond {
		args = append(args, "--not", "--remotes")
	}
	res, err := repo.Run(ctx, git.Cmd{Args: args, Stdin: git.Revisions(tips, not)})
	if err != nil {
		return nil, fmt.Errorf("list the files of git-lfs: %w", err)
	}
	var blobs []Named
	for line := range strings.Lines(string(res.Stdout)) {
		oid, path, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		if !strings.HasPrefix(oid, "-") && path != "" {
			blobs = append(blobs, Named{Blob: name.OID(oid), Path: path})
		}
	}
	return Pointers(ctx, repo, blobs)
}

// Count says how many different contents some pointers name, and their size.
func Count(named []Named) string {
	var size int64
	seen := map[string]bool{}
	for _, n := range named {
		if !seen[n.ID] {
			seen[n.ID] = true
			size += n.Size
		}
	}
	return fmt.Sprintf("%s (%d bytes)", render.Count(len(seen), "file", "files"), size)
}

// Paths returns the first few paths of some pointers, for a message.
func Paths(named []Named) string {
	const most = 5
	paths := gather.List(named[:min(len(named), most)], func(n Named) string { return strconv.Quote(name.Clip(n.Path, name.Said)) })
	if len(named) > most {
		paths = append(paths, "…")
	}
	return strings.Join(paths, ", ")
}
