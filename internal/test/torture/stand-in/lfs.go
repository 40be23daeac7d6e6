package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// lfs works like git-lfs: content goes to a store in the git directory, and a pointer to
// the repository. Cleaning a pointer keeps it, and content that is missing in the store is
// an error, as with git-lfs when there is no remote.
func lfs(verb string, data []byte) ([]byte, error) {
	oid, isPointer := pointsTo(data)
	switch {
	case verb == "clean" && (isPointer || len(data) == 0), verb == "smudge" && !isPointer:
		return data, nil
	case verb == "clean":
		oid = fmt.Sprintf("%x", sha256.Sum256(data))
	}
	path, err := lfsObject(oid)
	if err != nil {
		return nil, err
	}
	if verb == "smudge" {
		return os.ReadFile(path)
	}
	if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
		if err := writeWhole(path, data); err != nil {
			return nil, err
		}
	}
	return fmt.Appendf(nil, "%s\noid sha256:%s\nsize %d\n", pointerVersion, oid, len(data)), nil
}

// pointerVersion is the first line of a pointer file.
const pointerVersion = "version https://git-lfs.github.com/spec/v1"

// pointsTo parses a pointer file.
func pointsTo(data []byte) (oid string, ok bool) {
	rest, ok := bytes.CutPrefix(data, []byte(pointerVersion+"\noid sha256:"))
	hash, size, found := bytes.Cut(rest, []byte("\nsize "))
	if !ok || !found || len(hash) != 2*sha256.Size || len(bytes.TrimRight(size, "0123456789\n")) > 0 {
		return "", false
	}
	return string(hash), true
}

// lfsObject returns the path of an object in the store, which linked worktrees share.
func lfsObject(oid string) (string, error) {
	dir, err := exec.CommandContext(context.Background(), "git", "rev-parse", "--git-common-dir").Output()
	if err != nil {
		return "", fmt.Errorf("ask git for its directory: %w", err)
	}
	return filepath.Join(strings.TrimSuffix(string(dir), "\n"), "lfs", "objects", oid[:2], oid[2:4], oid), nil
}

// writeWhole writes a file through a rename, because git runs several filters at once.
func writeWhole(path string, data []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(path), "new-")
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), path)
	}
	return err
}
