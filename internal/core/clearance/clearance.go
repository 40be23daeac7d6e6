// Package clearance is the gate that everything passes before it leaves the repository. It
// looks for secrets in the objects that would be sent, and asks for consent before
// untracked files or prompts go to an address for the first time.
//
// MayLeave (gate.go) is the entry point for push, export and mirrors. WatchSave (save.go)
// looks at the files of a checkpoint while it is made, and by default only warns. List,
// Files and Allow are the command `guard`. A Scanner scans the objects of one repository with
// the rules of package guard or with the user's own scanner (external.go), and remembers
// the verdict of each object (verdicts.go), so that nothing is scanned twice. What was
// expunged (expunged.go) never leaves again.
package clearance

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/core/guard"
	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/git"
	"git-checkpoint/internal/sys/lockfile"
)

// Found is a secret in an object. The value of the secret is not stored.
type Found struct {
	OID name.OID
	// Where the object was seen first; empty: the message of a commit or tag.
	Path string
	guard.Finding
	Allowed string // the reason for which it was allowed; empty: it is not allowed
}

// byPlace compares findings by path and line.
func byPlace(a, b Found) int { return cmp.Or(cmp.Compare(a.Path, b.Path), cmp.Compare(a.Line, b.Line)) }

// Gap is an object that was not scanned, or only in part.
type Gap struct {
	OID  name.OID
	Path string
	Why  string
}

// where names the object for messages.
func (g Gap) where() string {
	if g.Path == "" {
		return "the message of " + g.OID.Short()
	}
	return inOneLine(g.Path)
}

// Report holds the findings in a set of objects.
type Report struct {
	Found  []Found
	Gaps   []Gap
	Looked int // number of objects, including those whose verdict was remembered

	missing []name.OID // objects that are not here, so that nobody can look at them or send them
}

// Stopped returns the findings that nobody allowed.
func (r *Report) Stopped() []Found {
	return slices.DeleteFunc(slices.Clone(r.Found), func(f Found) bool { return f.Allowed != "" })
}

// Limits in bytes.
const (
	atSave    = 1 << 20  // larger files are not scanned during a save, which has to be quick
	inMemory  = 1 << 20  // larger content is streamed
	binaryMax = 32 << 20 // larger binary content is reported as a gap
)

// Scanner scans the objects of one repository.
type Scanner struct {
	repo     *git.Repo
	rules    *guard.Scanner
	external *external // nil: use the built-in rules
	// allowed maps a fingerprint to the reason for which it was allowed.
	allowed  map[string]string
	expunged *Expunged
	verdicts *verdicts
	notes    *verdicts // has no objects
	off      bool      // look for expunged objects only
}

// RuleExpunged is the rule of a finding that was expunged from this repository, whatever
// its content.
const RuleExpunged = "expunged"

// OpenScanner returns the Scanner of this repository with its configuration. The repository's key for
// fingerprints is created on first use, in the common git directory. Close has to be called to keep
// the verdicts.
func OpenScanner(ctx context.Context, s *checkpoint.Service) (*Scanner, error) {
	command, err := scannerOf(ctx, s.Rules)
	if err != nil {
		return nil, err
	}
	if _, err := os.Stat(userKey(s.Settings)); errors.Is(err, fs.ErrPermission) {
		s.Store.Warn(s.Settings.Getenv("HOME") + " is a home directory that this account cannot read: what is allowed there is not allowed here")
	}
	d, err := open(s.Repo, s.Repo.Config.All(keyAllow), userKey(s.Settings), command)
	if err != nil {
		return nil, err
	}
	// The tags of ten thousand steps, or a save and the tag of its step, read the file once.
	for _, v := range []**verdicts{&d.verdicts, &d.notes} {
		shared, _ := s.Verdicts.LoadOrStore((*v).path+(*v).head, *v)
		*v = shared.(*verdicts)
	}
	return d, nil
}

// open opens a Scanner. allowed has "<fingerprint> <reason>", keyFile is the user's key, which may
// be missing, and command is the user's own scanner; without one the built-in rules are used.
func open(repo *git.Repo, allowed []string, keyFile, command string) (*Scanner, error) {
	dir := filepath.Join(repo.CommonDir, "checkpoint")
	if borrowed := repo.Objects.Borrowed(); borrowed != "" { // the repository is read-only
		dir = borrowed
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return nil, fmt.Errorf("make %q: %w", dir, err)
	}
	key, err := keyIn(filepath.Join(dir, "guard-key"))
	if err != nil {
		return nil, err
	}
	userKey, err := readKey(keyFile)
	if err != nil {
		return nil, err
	}
	d := &Scanner{repo: repo, rules: guard.New(key, userKey), allowed: map[string]string{}}
	for _, entry := range allowed {
		fingerprint, reason, _ := strings.Cut(entry, " ")
		// An entry without a reason, added by hand, still allows.
		d.allowed[fingerprint] = cmp.Or(reason, "allowed")
	}
	if d.expunged, err = ReadExpunged(repo); err != nil {
		return nil, err
	}
	scanner := guard.Version() + ", authors" // verdicts of earlier versions did not look at them
	if command != "" {
		d.external = &external{command: command, patience: patience}
		scanner = d.external.version()
	}
	d.verdicts, d.notes = openVerdicts(filepath.Join(dir, "guard"), scanner, key, userKey), openVerdicts(filepath.Join(dir, "guard-notes"), scanner, key, userKey)
	d.verdicts.made = repo.Objects.Created
	return d, nil
}

// Key returns the repository's key, which it creates on first use. What is derived and kept in a file is
// sealed with it, so that nobody else's file is taken for our own.
func Key(repo *git.Repo) ([]byte, error) {
	return keyIn(filepath.Join(repo.CommonDir, "checkpoint", "guard-key"))
}

// keySize is the length of a key for fingerprints in bytes.
const keySize = 32

// readKey reads a key for fingerprints. It returns nil if the file does not exist.
func readKey(path string) ([]byte, error) {
	if path == "" {
		return nil, nil
	}
	key, err := os.ReadFile(path)
	// The home directory may be another account's. What that account allowed is then not allowed here.
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the key of fingerprints: %w", err)
	}
	if len(key) != keySize {
		return nil, fmt.Errorf("%q is not a key of fingerprints: it has %d bytes, not %d", path, len(key), keySize)
	}
	return key, nil
}

// keyIn reads the key, or creates it. If two processes create it at once, both use the one
// that was there first.
func keyIn(path string) ([]byte, error) {
	if key, err := os.ReadFile(path); err == nil && len(key) == keySize {
		return key, nil
	} else if err == nil {
		os.Remove(path) //nolint:errcheck // Create says so if it is still there
	} else if !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("read the key of fingerprints: %w", err)
	}
	key := make([]byte, keySize)
	if _, err := rand.Read(key); err != nil {
		return nil, fmt.Errorf("make a key of fingerprints: %w", err)
	}
	err := lockfile.Create(path, key)
	if errors.Is(err, fs.ErrExist) {
		key, err = os.ReadFile(path)
	}
	if err != nil {
		return nil, fmt.Errorf("save the key of fingerprints: %w", err)
	}
	return key, nil
}

// report adds the verdict of an object that was seen at a path.
func (sc *Scanner) report(r *Report, oid name.OID, path string, v guard.Result) {
	r.Looked++
	if v.Gap != "" {
		r.Gaps = append(r.Gaps, Gap{oid, path, v.Gap})
	}
	for _, f := range guard.CountingAt(path, v.Findings) {
		reason := sc.allowed[f.Fingerprint]
		if reason == "" && f.User != "" {
			reason = sc.allowed[f.User]
		}
		r.Found = append(r.Found, Found{OID: oid, Path: path, Finding: f, Allowed: reason})
	}
}

// File scans content that is not in the repository, such as a file that the user names.
func (sc *Scanner) File(ctx context.Context, path string, in io.Reader) (*Report, error) {
	v, err := sc.read(ctx, path, in)
	if err != nil {
		return nil, err
	}
	r := &Report{}
	sc.report(r, "", path, v)
	return r, nil
}

// read returns what is in content that was seen at a path. An external scanner gets it through a file.
func (sc *Scanner) read(ctx context.Context, path string, in io.Reader) (guard.Result, error) {
	if sc.external == nil {
		return sc.rules.Reader(in)
	}
	got, err := sc.external.scan(ctx, sc.rules, []content{{path, func(w io.Writer) error {
		_, err := io.Copy(w, in)
		return err
	}}})
	if err != nil {
		return guard.Result{}, err
	}
	return got[0], nil
}

// stream scans a blob without holding it in memory.
func (sc *Scanner) stream(ctx context.Context, oid name.OID) (guard.Result, error) {
	in, out := io.Pipe()
	go func() {
		_, err := sc.repo.Run(ctx, git.Cmd{Args: []string{"cat-file", "blob", string(oid)}, Stdout: out})
		out.CloseWithError(err) //nolint:errcheck // it never fails
	}()
	result, err := sc.rules.Reader(in)
	if err == nil {
		// Git's exit tells whether the blob was complete.
		_, err = io.Copy(io.Discard, in)
	}
	in.CloseWithError(io.ErrClosedPipe) //nolint:errcheck // the same
	return result, err
}

// Replace returns content with some of its secrets replaced; see guard.Scanner.Replace.
func (sc *Scanner) Replace(content []byte, pick func(guard.Finding) (string, bool)) ([]byte, int) {
	return sc.rules.Replace(content, pick)
}

// Close saves the new verdicts and notes.
func (sc *Scanner) Close() error { return errors.Join(sc.verdicts.save(), sc.notes.save()) }

// closeOrWarn saves them as far as it can: the others are computed again next time.
func (sc *Scanner) closeOrWarn(s *checkpoint.Service) {
	if err := sc.Close(); err != nil {
		s.Store.Warn(err.Error())
	}
}
