package clearance

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"git-checkpoint/internal/core/guard"
	"git-checkpoint/internal/sys/command"
	"git-checkpoint/internal/sys/lazy"
)

// Bounds of one run of the user's scanner. Content is passed on in batches, so that time
// and disk space do not depend on how much there is to scan.
const (
	patience = 2 * time.Minute
	// atOnce is the number of files of a batch, bytesAtOne their size.
	atOnce     = 2000
	bytesAtOne = 256 << 20
	maxReport  = 64 << 20
)

// external is a scanner that the user has configured in place of the built-in rules. It is
// started in a directory with the files to scan, and prints a report in the JSON format of
// gitleaks.
type external struct {
	command  string
	patience time.Duration
}

// ErrScanner means that the user's scanner failed, so nothing is known about the content.
var ErrScanner = errors.New("the scanner of checkpoint.guard.command failed")

// content is something to scan, with the path at which it was seen.
type content struct {
	path  string
	write func(io.Writer) error
}

// version identifies the scanner for the remembered verdicts. It changes with the command.
// A newer version of the program behind the same command goes unnoticed.
func (e *external) version() string {
	sum := sha256.Sum256([]byte(e.command))
	return "external-" + hex.EncodeToString(sum[:8])
}

// scan runs the scanner once and returns what it found in each content.
func (e *external) scan(ctx context.Context, fingerprints *guard.Scanner, some []content) ([]guard.Result, error) {
	verdicts := make([]guard.Result, len(some))
	if err := e.leaks(ctx, some, func(i int, l leak) {
		verdicts[i].Findings = append(verdicts[i].Findings, l.finding(fingerprints))
	}); err != nil {
		return nil, err
	}
	return verdicts, nil
}

// leaks runs the scanner once, and calls found for each entry of its report with the number of the content.
func (e *external) leaks(ctx context.Context, some []content, found func(int, leak)) error {
	dir, err := os.MkdirTemp("", "git-checkpoint-guard-") // mode 0700
	if err != nil {
		return fmt.Errorf("%w: %w", ErrScanner, err)
	}
	defer os.RemoveAll(dir) //nolint:errcheck // a system cleans its temporary directory too
	for i, one := range some {
		if err := writeAt(filepath.Join(dir, placeIn(i, one.path)), one.write); err != nil {
			return err
		}
	}
	report, err := e.run(ctx, dir)
	if err != nil {
		return err
	}
	for _, leak := range report {
		i, known := leak.contentNumber(dir, len(some))
		if !known {
			// A report about unknown files means that the scanner looked elsewhere, so
			// nothing is known.
			return fmt.Errorf("%w: its report names %q, which it was not given", ErrScanner, leak.File)
		}
		found(i, leak)
	}
	return nil
}

// placeIn returns the path for content number i. It keeps the original path, since scanners
// treat tests differently, below a directory with the number. A .gitleaks.toml of the
// repository must not be at the top, where it would configure the scanner.
func placeIn(i int, path string) string {
	local := filepath.FromSlash(path)
	if path == "" || !filepath.IsLocal(local) || len(path) > 1000 || strings.Contains(path, "\x00") {
		local = "content"
	}
	return filepath.Join(strconv.Itoa(i), local)
}

// writeAt writes one file for the scanner. Nobody else may read it.
func writeAt(path string, write func(io.Writer) error) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return fmt.Errorf("%w: %w", ErrScanner, err)
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrScanner, err)
	}
	return errors.Join(write(f), f.Close())
}

// run starts the scanner and parses its report. Its other output is dropped, since it may
// have the secret in it.
func (e *external) run(ctx context.Context, dir string) ([]leak, error) {
	limit := e.patience
	// A deadline of the caller, such as that of a hook, may be shorter than our own
	// patience.
	if at, set := ctx.Deadline(); set {
		limit = min(limit, time.Until(at))
	}
	out := &command.Bounded{Most: maxReport}
	end, err := command.Command{
		Args: []string{"sh", "-c", e.command}, Dir: dir, Env: os.Environ(), Out: out, Err: io.Discard, Timeout: max(limit, time.Millisecond), Grace: time.Second,
	}.Run(nil)
	switch {
	case err != nil:
		return nil, fmt.Errorf("%w: %w", ErrScanner, err)
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case end.How == command.TimedOut:
		return nil, fmt.Errorf("%w: it took longer than %s and was stopped", ErrScanner, limit.Round(time.Millisecond))
	// Gitleaks exits with 1 if it found something.
	case end.Code > 1:
		return nil, fmt.Errorf("%w: exit code %d", ErrScanner, end.Code)
	// A report that was cut off would hide findings, so it counts as a failure.
	case out.Cut:
		return nil, fmt.Errorf("%w: its report has more than %d bytes", ErrScanner, maxReport)
	}
	var report []leak
	text := bytes.TrimSpace(out.Bytes())
	if err := json.Unmarshal(text, &report); err != nil || report == nil && !bytes.Equal(text, []byte("null")) {
		return nil, fmt.Errorf("%w: it printed no report, exit code %d; gitleaks prints one with --report-format json --report-path -", ErrScanner, end.Code)
	}
	return report, nil
}

// leak is the part of a gitleaks report entry that is used.
type leak struct {
	RuleID    string
	File      string
	StartLine int
	Secret    string
}

// contentNumber returns the number of the content that an entry is about.
func (l leak) contentNumber(dir string, count int) (int, bool) {
	// Scanners report paths in full or relative to the directory where they run.
	file := filepath.ToSlash(l.File)
	for _, top := range []string{filepath.ToSlash(dir) + "/", "./"} {
		file = strings.TrimPrefix(file, top)
	}
	number, _, _ := strings.Cut(file, "/")
	i, err := strconv.Atoi(number)
	return i, err == nil && i >= 0 && i < count
}

// finding is what is remembered of an entry.
func (l leak) finding(fingerprints *guard.Scanner) guard.Finding {
	rule := "secret" // for a name with characters that would break the file of verdicts
	if ruleName().MatchString(l.RuleID) {
		rule = l.RuleID
	}
	return fingerprints.Finding(rule, max(l.StartLine, 1), []byte(l.Secret))
}

var ruleName = lazy.Pattern(`^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$`)
