package clearance

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode"

	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/core/guard"
	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/format/render"
	"git-checkpoint/internal/git/gitconfig"
	"git-checkpoint/internal/sys/gather"
)

// mode is the value of checkpoint.guard.
type mode string

// The modes. A push is refused in both warn and block.
const (
	modeWarn  mode = "warn"  // a save prints what it found
	modeBlock mode = "block" // a save with a secret is refused
	modeOff   mode = "off"   // nothing is scanned
)

// modeOf reads checkpoint.guard, which may also be a boolean of git.
func modeOf(settings *checkpoint.Settings) (mode, error) {
	v, set := settings.Get("checkpoint.guard")
	switch how := mode(strings.ToLower(v)); {
	case !set:
		return modeWarn, nil
	case how == modeWarn, how == modeBlock, how == modeOff:
		return how, nil
	}
	if on, err := gitconfig.ParseBool(v); err == nil && on {
		return modeWarn, nil
	} else if err == nil {
		return modeOff, nil
	}
	return "", checkpoint.Usage("`git config checkpoint.guard warn`, `block` or `off` sets it", "configuration checkpoint.guard: %q is not warn, block or off", v)
}

// scannerOf returns the user's scanner, or "" for the built-in rules. The scanner is a
// program that is run, so only the user's, the system's and the command line's
// configuration may name it. The repository's own configuration may have come along with an
// archive of the repository.
func scannerOf(ctx context.Context, s *checkpoint.Rules) (string, error) {
	const key = "checkpoint.guard.command"
	value, set := s.Settings.Get(key)
	if !set || s.Settings.Origin(key) == "environment" {
		// A variable of the environment, set for this process, cannot come from the
		// repository.
		return value, nil
	}
	told, err := s.Repo.Output(ctx, "config", "--show-scope", "--get-all", "-z", key)
	if err != nil {
		return "", err
	}
	value = ""
	fields := strings.Split(told, "\x00") // alternating: scope, value, scope, value
	for i := 0; i+1 < len(fields); i += 2 {
		switch fields[i] {
		case "system", "global", "command":
			value = fields[i+1]
		default:
			s.Store.Warn(key + " is ignored in the configuration of this repository; set it with git config --global")
		}
	}
	return value, nil
}

// WatchSave starts scanning what a create adds. It returns nil if the guard is off.
func WatchSave(ctx context.Context, s *checkpoint.Service) (*Watch, error) {
	how, err := modeOf(s.Settings)
	if err != nil || how == modeOff {
		return nil, err
	}
	scanner, err := OpenScanner(ctx, s)
	if err != nil {
		return nil, err
	}
	return &Watch{s: s, mode: how, scanner: scanner, unread: map[name.OID]string{}, dirs: map[string]bool{}}, nil
}

// Watch scans the files of one checkpoint while it is made: the capture calls Look, Judge decides
// before the checkpoint is written, and Say prints the warnings afterwards.
type Watch struct {
	s       *checkpoint.Service
	mode    mode
	scanner *Scanner

	mu     sync.Mutex
	found  Report
	known  Report              // findings that were known before
	back   []Found             // content that was expunged from this repository before, without rule and line
	unread map[name.OID]string // blobs to scan in Judge, with their paths
	dirs   map[string]bool     // directories that projects usually ignore
}

// Judge finishes the scan, before the checkpoint is written. It refuses the checkpoint only
// with checkpoint.guard=block. Losing work is worse than a secret that stays on this
// machine.
func (w *Watch) Judge(ctx context.Context) error {
	// Larger files are scanned at the next push.
	late, err := w.scanner.Blobs(ctx, w.unread, atSave)
	// Losing a checkpoint because a scanner is missing would be worse. The gate scans again
	// anyway.
	if errors.Is(err, ErrScanner) && w.mode != modeBlock {
		w.s.Store.Warn(err.Error() + "; this checkpoint was not scanned for secrets, and nothing leaves this machine until it is")
		w.found = Report{}
		return nil
	}
	if err != nil {
		return refusedByScanner(err, "no checkpoint was made")
	}
	w.found.Found = append(w.found.Found, late.Found...)
	for _, found := range [][]Found{w.found.Found, w.known.Found, w.back} {
		slices.SortFunc(found, byPlace)
	}
	if w.mode != modeBlock {
		return nil
	}
	stopped := append(w.found.Stopped(), w.known.Stopped()...)
	if len(stopped) == 0 {
		return nil
	}
	refused := checkpoint.Failure(checkpoint.KindRefused, "", "%s would get into the checkpoint, and checkpoint.guard is block", render.Count(len(stopped), "secret", "secrets"))
	for _, f := range firstFew(stopped) {
		refused.Hints = append(refused.Hints, fmt.Sprintf("%s looks like %s (%s)", placeOf(f), whatIs(f.Rule), f.Rule))
	}
	refused.Hints = append(refused.Hints, waysOut(stopped, "")...)
	return refused
}

// Say warns of what was found for the first time, and saves the verdicts.
func (w *Watch) Say() {
	stopped := w.found.Stopped()
	for _, f := range firstFew(stopped) {
		w.s.Store.Warn(fmt.Sprintf("%s looks like %s; it stays on this machine until you say otherwise: git checkpoint guard", placeOf(f), whatIs(f.Rule)))
	}
	if more := len(stopped) - len(firstFew(stopped)); more > 0 {
		w.s.Store.Warn(fmt.Sprintf("%d more places look like secrets: git checkpoint guard lists them", more))
	}
	for _, f := range firstFew(w.back) {
		w.s.Store.Warn(fmt.Sprintf("%s was expunged, and came into the checkpoint again: remove or change it, then git checkpoint expunge %s", inOneLine(f.Path), name.Quoted(targetOf(f))))
	}
	for _, dir := range w.directories() {
		said := inOneLine(dir+"/") + " is in the checkpoint, but projects usually ignore it"
		if isPasteable(dir) {
			said += ": echo " + name.Quoted("/"+dir+"/") + " >>.gitignore"
		}
		w.s.Store.Warn(said)
	}
	w.scanner.closeOrWarn(w.s)
}

// refusedByScanner returns the error for a scanner that failed. What it did not scan may
// hold anything, so nothing is done.
func refusedByScanner(err error, so string) error {
	if !errors.Is(err, ErrScanner) {
		return err
	}
	return checkpoint.Failure(checkpoint.KindRefused, "`git config --global --unset checkpoint.guard.command` goes back to the built-in rules", "%v; %s", err, so)
}

// firstFew bounds the list in a message.
func firstFew(found []Found) []Found { return found[:min(len(found), 10)] }

// placeOf returns path:line, which editors and terminals recognise.
func placeOf(f Found) string {
	if f.Path == "" {
		return fmt.Sprintf("the message of %s, line %d,", f.OID.Short(), f.Line)
	}
	return fmt.Sprintf("%s:%d", inOneLine(f.Path), f.Line)
}

// inOneLine quotes a path with control characters, which would break the line or move the
// cursor.
func inOneLine(path string) string {
	if strings.ContainsFunc(path, unicode.IsControl) {
		return strconv.Quote(path)
	}
	return path
}

var rulesByID = sync.OnceValue(func() map[string]string {
	return gather.Map(guard.Rules(), func(r guard.Rule) (string, string) { return r.ID, r.What })
})

// Knows reports whether a rule of this name exists. The rules of another scanner are not
// known here.
func (sc *Scanner) Knows(rule string) bool { return sc.external != nil || rulesByID()[rule] != "" }

// whatIs describes what a rule finds, to follow "looks like".
func whatIs(rule string) string {
	if what := rulesByID()[rule]; what != "" {
		return what
	}
	if rule == RuleExpunged {
		return "something that was expunged"
	}
	return "a secret"
}

// Redacted returns a text for a message with its secrets replaced, and warns of each. A
// message cannot be changed after the checkpoint is made, and the text is usually typed and
// not seen again. Bytes that are not UTF-8 become U+FFFD, because records are JSON.
func Redacted(s *checkpoint.Rules, what, text string) string {
	if text = strings.ToValidUTF8(text, "\ufffd"); text == "" {
		return text
	}
	if how, err := modeOf(s.Settings); err != nil || how == modeOff {
		// A wrong setting is reported where it is first needed.
		return text
	}
	clean, found := guard.Redact(text)
	for _, rule := range found {
		s.Store.Warn(fmt.Sprintf("%s in the %s was replaced by [secret: %s]", whatIs(rule), what, rule))
	}
	return clean
}

// Look takes one captured file. If the content is at hand and small, it is scanned at once,
// which saves reading the blob later. content may be nil. Look may be called concurrently.
func (w *Watch) Look(file string, oid name.OID, content []byte) {
	dir := usuallyIgnored(file)
	if w.scanner.external != nil && content != nil && len(content) <= atSave {
		// It gets all files together, in Judge.
		content = nil
	}
	v, known := w.verdictOf(oid, content)
	w.mu.Lock()
	defer w.mu.Unlock()
	if dir != "" {
		w.dirs[dir] = true
	}
	if w.scanner.expunged.Objects[oid] {
		w.back = append(w.back, Found{OID: oid, Path: file})
	}
	switch {
	case known:
		w.scanner.report(&w.known, oid, file, v)
	case content == nil:
		w.unread[oid] = file
	case len(content) <= atSave:
		w.scanner.report(&w.found, oid, file, v)
	}
}

// verdictOf returns the verdict of an object, and whether it is remembered. It is empty if the content
// is not at hand or too large. Scanning a small file takes less time than reading what is
// remembered, so only one with a finding is looked up.
func (w *Watch) verdictOf(oid name.OID, content []byte) (v guard.Result, known bool) {
	if content == nil || len(content) > atSave {
		return w.scanner.verdicts.verdictOf(oid)
	}
	v = w.scanner.rules.Bytes(content)
	if len(v.Findings) > 0 || v.Gap != "" {
		if old, known := w.scanner.verdicts.verdictOf(oid); known {
			return old, true
		}
	}
	w.scanner.verdicts.add(oid, v)
	return v, false
}

// directories returns directories that projects usually ignore and this one captured. Each
// is returned only once in the life of the file of notes.
func (w *Watch) directories() []string {
	var out []string
	for dir := range w.dirs {
		if w.scanner.notes.isFirst("dir " + dir) {
			out = append(out, dir)
		}
	}
	slices.Sort(out)
	return out
}

// usuallyIgnored returns the outermost directory of a path that projects usually ignore, or
// "".
func usuallyIgnored(file string) string {
	for from := 0; ; {
		n := strings.IndexByte(file[from:], '/')
		if n < 0 {
			return ""
		}
		switch end := from + n; file[from:end] {
		case "node_modules", ".venv", "target", "__pycache__", ".next":
			return file[:end]
		default:
			from = end + 1
		}
	}
}
