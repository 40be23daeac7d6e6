package git

import (
	"bytes"
	"context"
	"crypto"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	gohash "github.com/go-git/go-git/v5/plumbing/hash"

	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/git/gitconfig"
	"git-checkpoint/internal/git/internal/odb"
)

// ObjectWriter writes an object of type "blob", "tree" or "commit" and returns its id. If the
// object exists, it gets a new mtime, so that a `git prune` that was about to delete it leaves it
// alone.
type ObjectWriter interface {
	WriteObject(ctx context.Context, typ string, data []byte) (name.OID, error)
}

// Write writes an object and returns its id. It writes a loose object in this process, except
// inside InPacks, and except in a repository with extensions.compatObjectFormat: there each object
// needs a second id, which only git can record.
//
// The object is also remembered for reading, so the caller must not change data afterwards.
func (o *Objects) Write(ctx context.Context, typ string, data []byte) (name.OID, error) {
	o.writing.Do(func() { o.writer = o.newWriter() })
	oid, err := o.writer.WriteObject(ctx, typ, data)
	if err != nil {
		return "", fmt.Errorf("write %s: %w", typ, err)
	}
	if o.pack == nil { // a pack keeps what is read again, and many blobs that are not
		o.Batch().remember(Object{oid, typ, int64(len(data)), data})
	}
	return oid, nil
}

// Created reports whether Write wrote a loose object because the repository did not have it, so
// that no commit that existed before can have it. Where the object may also be in another repository,
// from which this one borrows, it reports false.
func (o *Objects) Created(oid name.OID) bool {
	loose := o.database().loose
	if _, created := loose.created.Load(oid); !created {
		return false
	}
	_, err := os.Lstat(filepath.Join(loose.dir, "info", "alternates"))
	return errors.Is(err, fs.ErrNotExist) && gitconfig.Getenv(o.at.env, alternates) == ""
}

// newWriter returns the writer for single objects that fits the configuration.
func (o *Objects) newWriter() ObjectWriter {
	if _, compat := o.at.Config.Get("extensions.compatObjectFormat"); compat {
		return &processWriter{o.at}
	}
	return o.database().loose
}

// WriteObject implements ObjectWriter. It writes a loose object in this process.
func (d *looseDir) WriteObject(_ context.Context, typ string, data []byte) (name.OID, error) {
	if !odb.IsType(typ) {
		return "", fmt.Errorf("%q is not a type of object", typ)
	}
	oid, err := identify(d.format, typ, data)
	if err != nil {
		return "", err
	}
	return oid, d.write(oid, typ, data)
}

// identify returns the id of an object that is to be written. As git does, it refuses content that
// was constructed to collide with other content under SHA-1.
func identify(format, typ string, data []byte) (name.OID, error) {
	h := odb.NewHash(format == "sha256")
	if format == "sha1" {
		h = gohash.New(crypto.SHA1)
	}
	fmt.Fprintf(h, "%s %d\x00", typ, len(data))
	h.Write(data)
	return seal(h)
}

// collisionDetector is a hash that recognizes such content, as that of go-git does.
type collisionDetector interface {
	CollisionResistantSum(prefix []byte) (sum []byte, collides bool)
}

func seal(h hash.Hash) (name.OID, error) {
	if w, is := h.(collisionDetector); is {
		if sum, collides := w.CollisionResistantSum(nil); collides {
			return "", fmt.Errorf("the content was crafted to collide with other content under SHA-1 (%x)", sum)
		}
	}
	return name.OID(hex.EncodeToString(h.Sum(nil))), nil
}

// freshen sets the mtime of a loose object to now and reports whether it could. An empty file does
// not count: a crash leaves one for an object that was not synced, and it must be replaced.
func freshen(path string) (bool, error) {
	now := time.Now()
	if err := os.Chtimes(path, now, now); errors.Is(err, fs.ErrNotExist) {
		return false, nil
	} else if errors.Is(err, fs.ErrPermission) {
		return false, nil // another user's: as git does, write a copy of our own
	} else if err != nil {
		return false, err
	}
	info, err := os.Lstat(path)
	return err == nil && (info.Size() > 0 || !info.Mode().IsRegular()), err
}

// freshenPack sets the mtime of a pack to now, so that gc takes its objects for recent ones. It
// returns false for a cruft pack (with a file *.mtimes): there each object has a time of its own,
// so the object must be written again as a loose one, as git does.
func freshenPack(pack string) bool {
	if _, err := os.Lstat(strings.TrimSuffix(pack, ".pack") + ".mtimes"); !errors.Is(err, fs.ErrNotExist) {
		return false
	}
	now := time.Now()
	return os.Chtimes(pack, now, now) == nil
}

// createTemp creates a file with a random name that begins with prefix. The umask applies to mode,
// which is why os.CreateTemp does not fit.
func createTemp(prefix string, mode fs.FileMode) (*os.File, error) {
	for {
		f, err := os.OpenFile(prefix+rand.Text()[:10], os.O_CREATE|os.O_EXCL|os.O_RDWR, mode)
		if !errors.Is(err, fs.ErrExist) {
			return f, err
		}
	}
}

// syncNames are the words of core.fsync that cover a kind of files. The index of a pack is metadata.
var syncNames = map[string][]string{
	"loose-object":  {"loose-object", "objects", "committed", "added", "all"},
	"pack":          {"pack", "objects", "committed", "added", "all"},
	"pack-metadata": {"pack-metadata", "derived-metadata", "all"},
}

// syncs reads core.fsync and its predecessor core.fsyncObjectFiles for one kind of syncNames. By
// default git syncs all of them but loose objects. What core.fsync names takes precedence over what
// it excludes.
func syncs(c *gitconfig.Config, kind string) bool {
	on := kind != "loose-object"
	named, excluded := false, false
	v, _ := c.Get("core.fsync")
	for _, word := range strings.FieldsFunc(v, func(r rune) bool { return strings.ContainsRune(", \t\r\n", r) }) {
		word, minus := strings.CutPrefix(word, "-")
		covers := slices.Contains(syncNames[kind], word)
		on = on && word != "none"
		named, excluded = named || covers && !minus, excluded || covers && minus
	}
	old, err := c.Bool("core.fsyncObjectFiles", false)
	return named || on && !excluded || err == nil && old && kind == "loose-object"
}

// sharing is the value of core.sharedRepository: bits that are added to what the umask leaves, or,
// if exact, the complete mode of files.
type sharing struct {
	bits  fs.FileMode // 0: the umask alone decides
	exact bool
}

// sharedMode reads core.sharedRepository: a word such as "group", or an octal mode.
func sharedMode(c *gitconfig.Config) sharing {
	v, _ := c.Get("core.sharedRepository")
	switch strings.ToLower(v) {
	case "", "umask", "false", "0", "no", "off":
		return sharing{}
	case "group", "true", "1", "yes", "on":
		return sharing{bits: 0o660}
	case "all", "world", "everybody", "2":
		return sharing{bits: 0o664}
	}
	mode, err := strconv.ParseUint(v, 8, 12)
	if err != nil || mode&0o600 != 0o600 { // git refuses such a value
		return sharing{}
	}
	return sharing{bits: fs.FileMode(mode) & 0o666, exact: true}
}

// processWriter has git write, with one process per object.
type processWriter struct{ at *Location }

// WriteObject implements ObjectWriter.
func (w *processWriter) WriteObject(ctx context.Context, typ string, data []byte) (name.OID, error) {
	res, err := w.at.Run(ctx, Cmd{Args: []string{"hash-object", "-w", "-t", typ, "--stdin"}, Stdin: bytes.NewReader(data)})
	if err != nil {
		return "", err
	}
	return name.ParseOID(strings.TrimSpace(string(res.Stdout)))
}
