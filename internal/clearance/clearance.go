// Package clearance decides whether objects of a repository may leave it. It reads blobs
// and messages, has package guard look for secrets in them, and remembers each verdict,
// so that nothing is looked at twice. It knows objects, not checkpoints: who sends names
// what is sent, and turns what was found into words.
package clearance

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"git-checkpoint/internal/git"
	"git-checkpoint/internal/guard"
	"git-checkpoint/internal/name"
)

// Found is a secret in an object. Its value is nowhere in it.
type Found struct {
	OID  name.OID
	Path string // where the object was met; empty: it is the message of a commit or tag
	guard.Finding
	Allowed string // the reason that it was allowed for; empty: it was not
}

// Gap is an object that was not looked at, or not at all of it.
type Gap struct {
	OID  name.OID
	Path string
	Why  string
}

// Report is what was found in some objects.
type Report struct {
	Found  []Found
	Gaps   []Gap
	Looked int // objects, those among them whose verdict was known
}

// Stopped are the findings that nobody allowed.
func (r *Report) Stopped() []Found {
	var out []Found
	for _, f := range r.Found {
		if f.Allowed == "" {
			out = append(out, f)
		}
	}
	return out
}

// Sizes up to which content is looked at.
const (
	atSave    = 1 << 20  // when a checkpoint is made, which should be quick
	inMemory  = 1 << 20  // larger content is streamed
	binaryMax = 32 << 20 // binary content, in which little can be found
)

// Desk looks at the objects of one repository.
type Desk struct {
	repo     *git.Repo
	scanner  *guard.Scanner
	external *external // nil: the built-in rules look
	allowed  map[string]string
	expunged *Expunged
	verdicts *verdicts
}

// RuleExpunged is the rule of what was expunged from this repository, whatever it is.
const RuleExpunged = "expunged"

// Options say how to look.
type Options struct {
	Repo    *git.Repo
	Allowed []string // "<fingerprint> <reason>"
	UserKey string   // file of the user's key, which need not be there; empty: none
	Command string   // of another scanner; empty: the built-in rules
}

// Open prepares for looking. The key of fingerprints is made on first use and stays in
// the git directory.
func Open(o Options) (*Desk, error) {
	dir := filepath.Join(o.Repo.CommonDir, "checkpoint")
	if borrowed := o.Repo.Borrowed(); borrowed != "" { // the repository cannot be written
		dir = borrowed
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return nil, fmt.Errorf("make %q: %w", dir, err)
	}
	key, err := keyIn(filepath.Join(dir, "guard-key"))
	if err != nil {
		return nil, err
	}
	userKey, err := readKey(o.UserKey)
	if err != nil {
		return nil, err
	}
	d := &Desk{repo: o.Repo, scanner: guard.New(key, userKey), allowed: map[string]string{}}
	for _, entry := range o.Allowed {
		fingerprint, reason, _ := strings.Cut(entry, " ")
		d.allowed[fingerprint] = reason
		if reason == "" {
			d.allowed[fingerprint] = "allowed"
		}
	}
	if d.expunged, err = ReadExpunged(o.Repo); err != nil {
		return nil, err
	}
	scanner := guard.Version()
	if o.Command != "" {
		d.external = &external{command: o.Command, patience: patience}
		scanner = d.external.version()
	}
	d.verdicts = openVerdicts(filepath.Join(dir, "guard"), scanner, key, userKey)
	return d, nil
}

const keySize = 32

// readKey reads a key of fingerprints; nil where there is none.
func readKey(path string) ([]byte, error) {
	if path == "" {
		return nil, nil
	}
	key, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the key of fingerprints: %w", err)
	}
	if len(key) != keySize {
		return nil, fmt.Errorf("%q is no key of fingerprints: it has %d bytes, not %d", path, len(key), keySize)
	}
	return key, nil
}

// keyIn reads the key, or makes one. Of two processes that make it the first one's counts.
func keyIn(path string) ([]byte, error) {
	if key, err := os.ReadFile(path); err == nil && len(key) == keySize {
		return key, nil
	} else if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("read the key of fingerprints: %w", err)
	}
	key := make([]byte, keySize)
	if _, err := rand.Read(key); err != nil {
		return nil, fmt.Errorf("make a key of fingerprints: %w", err)
	}
	made, err := os.CreateTemp(filepath.Dir(path), "guard-key-") // with mode 0600
	if err != nil {
		return nil, fmt.Errorf("keep the key of fingerprints: %w", err)
	}
	defer os.Remove(made.Name()) //nolint:errcheck // it is a second name by now
	_, err = made.Write(key)
	if err = errors.Join(err, made.Close()); err != nil {
		return nil, fmt.Errorf("keep the key of fingerprints: %w", err)
	}
	os.Link(made.Name(), path) //nolint:errcheck // somebody else's is there, or it is read in vain below
	if other, err := os.ReadFile(path); err == nil && len(other) == keySize {
		return other, nil
	}
	return key, os.Rename(made.Name(), path)
}

// report adds what a verdict says of an object that was met at a path.
func (d *Desk) report(r *Report, oid name.OID, path string, v verdict) {
	r.Looked++
	if v.gap != "" {
		r.Gaps = append(r.Gaps, Gap{oid, path, v.gap})
	}
	for _, f := range guard.At(path, v.findings) {
		reason := d.allowed[f.Fingerprint]
		if reason == "" && f.User != "" {
			reason = d.allowed[f.User]
		}
		r.Found = append(r.Found, Found{OID: oid, Path: path, Finding: f, Allowed: reason})
	}
}

// File looks at content that is no object, such as a file that somebody asks about.
func (d *Desk) File(ctx context.Context, path string, in io.Reader) (*Report, error) {
	r := &Report{}
	if d.external != nil {
		got, err := d.external.scan(ctx, d.scanner, []content{{path, func(w io.Writer) error {
			_, err := io.Copy(w, in)
			return err
		}}})
		if err != nil {
			return nil, err
		}
		d.report(r, "", path, got[0])
		return r, nil
	}
	result, err := d.scanner.Reader(in)
	if err != nil {
		return nil, err
	}
	d.report(r, "", path, verdict{findings: result.Findings, gap: result.Gap})
	return r, nil
}

// blob gives the verdict of a blob, from memory or by looking.
func (d *Desk) blob(ctx context.Context, oid name.OID, size int64) (verdict, error) {
	if v, known := d.verdicts.of(oid); known {
		return v, nil
	}
	var result guard.Result
	var err error
	if size <= inMemory {
		var o git.Object
		if o, err = d.repo.Batch().Object(ctx, string(oid)); err == nil {
			result = d.scanner.Bytes(o.Data)
		}
	} else {
		result, err = d.stream(ctx, oid)
	}
	if err != nil {
		return verdict{}, err
	}
	v := verdict{findings: result.Findings, gap: result.Gap}
	if result.Binary && size > binaryMax {
		v.gap = "it is binary and large"
	}
	d.verdicts.add(oid, v)
	return v, nil
}

// stream looks at a blob without holding it.
func (d *Desk) stream(ctx context.Context, oid name.OID) (guard.Result, error) {
	in, out := io.Pipe()
	go func() {
		_, err := d.repo.Run(ctx, git.Cmd{Args: []string{"cat-file", "blob", string(oid)}, Stdout: out})
		out.CloseWithError(err) //nolint:errcheck // it never fails
	}()
	result, err := d.scanner.Reader(in)
	if err == nil {
		_, err = io.Copy(io.Discard, in) // git's end tells whether that was all
	}
	in.CloseWithError(io.ErrClosedPipe) //nolint:errcheck // the same
	return result, err
}

// Replace gives content with other text in the place of some of its secrets; see
// guard.Scanner.Replace.
func (d *Desk) Replace(content []byte, pick func(guard.Finding) (string, bool)) ([]byte, int) {
	return d.scanner.Replace(content, pick)
}

// Close remembers what was found out.
func (d *Desk) Close() error { return d.verdicts.save() }
