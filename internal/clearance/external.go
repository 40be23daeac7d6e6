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
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"

	"git-checkpoint/internal/command"
	"git-checkpoint/internal/guard"
)

// Bounds of one run of another scanner. What is looked at is handed over in parts, so that
// neither time nor disk depends on how much there is.
const (
	patience   = 2 * time.Minute
	atOnce     = 2000
	bytesAtOne = 256 << 20
	maxReport  = 64 << 20
)

// external is a scanner that the user has put in the place of the built-in rules. It is
// started in a directory of files, and prints a report as gitleaks writes it.
type external struct {
	command  string
	patience time.Duration
}

// ErrScanner says that the user's scanner did not do its work: nothing is known of what it
// was to look at.
var ErrScanner = errors.New("the scanner of checkpoint.guard.command failed")

// content is what is looked at, and the path at which it was met.
type content struct {
	path  string
	write func(io.Writer) error
}

// version changes with the command. A newer program behind the same command is not seen.
func (e *external) version() string {
	sum := sha256.Sum256([]byte(e.command))
	return "external-" + hex.EncodeToString(sum[:8])
}

// scan gives a verdict for each content.
func (e *external) scan(ctx context.Context, fingerprints *guard.Scanner, some []content) ([]verdict, error) {
	dir, err := os.MkdirTemp("", "git-checkpoint-guard-") // mode 0700
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrScanner, err)
	}
	defer os.RemoveAll(dir) //nolint:errcheck // a system cleans its temporary directory too
	for i, one := range some {
		if err := writeAt(filepath.Join(dir, placeIn(i, one.path)), one.write); err != nil {
			return nil, err
		}
	}
	report, err := e.run(ctx, dir)
	if err != nil {
		return nil, err
	}
	verdicts := make([]verdict, len(some))
	for _, leak := range report {
		i, found := leak.of(dir, len(some))
		if !found {
			return nil, fmt.Errorf("%w: its report names %q, which it was not given", ErrScanner, leak.File)
		}
		verdicts[i].findings = append(verdicts[i].findings, fingerprints.Finding(leak.rule(), max(leak.StartLine, 1), []byte(leak.Secret)))
	}
	return verdicts, nil
}

// placeIn is where content is put. It keeps its path, by which scanners tell tests from
// other files, below a number: a .gitleaks.toml of the repository must not be at the top,
// where it would configure the scanner.
func placeIn(i int, path string) string {
	local := filepath.FromSlash(path)
	if path == "" || !filepath.IsLocal(local) || len(path) > 1000 || strings.Contains(path, "\x00") {
		local = "content"
	}
	return filepath.Join(strconv.Itoa(i), local)
}

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

// run starts the scanner. What it prints beside the report is not repeated: it may be the
// secret.
func (e *external) run(ctx context.Context, dir string) ([]leak, error) {
	limit := e.patience
	if at, set := ctx.Deadline(); set {
		limit = min(limit, time.Until(at))
	}
	out := &bounded{most: maxReport}
	end, err := command.Command{
		Args: []string{"sh", "-c", e.command}, Dir: dir, Env: os.Environ(), Out: out, Err: io.Discard, Timeout: max(limit, time.Millisecond), Grace: time.Second,
	}.Run(nil)
	switch {
	case err != nil:
		return nil, fmt.Errorf("%w: %w", ErrScanner, err)
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case end.How == command.TimedOut:
		return nil, fmt.Errorf("%w: it took longer than %s and was ended", ErrScanner, limit.Round(time.Millisecond))
	case end.Code > 1: // gitleaks exits with 1 when it has found something
		return nil, fmt.Errorf("%w: exit code %d", ErrScanner, end.Code)
	case out.cut:
		return nil, fmt.Errorf("%w: its report has more than %d bytes", ErrScanner, maxReport)
	}
	var report []leak
	text := bytes.TrimSpace(out.Bytes())
	if err := json.Unmarshal(text, &report); err != nil || report == nil && !bytes.Equal(text, []byte("null")) {
		return nil, fmt.Errorf("%w: it printed no report, exit code %d; gitleaks does with --report-format json --report-path -", ErrScanner, end.Code)
	}
	return report, nil
}

// leak is what is read of an entry of gitleaks' report.
type leak struct {
	RuleID    string
	File      string
	StartLine int
	Secret    string
}

// of is the content that an entry is about.
func (l leak) of(dir string, count int) (int, bool) {
	file := filepath.ToSlash(l.File)
	for _, top := range []string{filepath.ToSlash(dir) + "/", "./"} {
		file = strings.TrimPrefix(file, top)
	}
	number, _, _ := strings.Cut(file, "/")
	i, err := strconv.Atoi(number)
	return i, err == nil && i >= 0 && i < count
}

var ruleName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$`) })

// rule is the name of what was found. One that could be taken for something else where
// verdicts are kept is not repeated.
func (l leak) rule() string {
	if ruleName().MatchString(l.RuleID) {
		return l.RuleID
	}
	return "secret"
}

// bounded keeps the beginning of what is written to it.
type bounded struct {
	bytes.Buffer
	most int
	cut  bool
}

func (b *bounded) Write(p []byte) (int, error) {
	if b.Len()+len(p) > b.most {
		b.cut = true
		return len(p), nil
	}
	return b.Buffer.Write(p)
}
