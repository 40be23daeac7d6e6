package clearance

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"unicode"

	"git-checkpoint/internal/checkpoint"
	"git-checkpoint/internal/gitconfig"
	"git-checkpoint/internal/guard"
)

// mode is checkpoint.guard.
type mode string

// The modes.
const (
	modeWarn  mode = "warn"  // a save says what it found
	modeBlock mode = "block" // a save is refused
	modeOff   mode = "off"
)

func modeOf(s *checkpoint.Service) (mode, error) {
	v, set := s.Settings.Get("checkpoint.guard")
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
	return "", checkpoint.Usage("`git config checkpoint.guard warn`, `block` or `off` sets it", "configuration checkpoint.guard: %q is none of warn, block and off", v)
}

// desk opens the guard of this repository.
func desk(ctx context.Context, s *checkpoint.Service) (*Desk, error) {
	scanner, err := scannerOf(ctx, s)
	if err != nil {
		return nil, err
	}
	d, err := Open(Options{Repo: s.Repo, Allowed: s.Repo.Config.All(keyAllow), UserKey: userKey(s), Command: scanner})
	return d, checkpoint.Classify(err)
}

// OpenDesk opens the guard of a repository for whoever acts on what it finds.
func OpenDesk(ctx context.Context, s *checkpoint.Service) (*Desk, error) { return desk(ctx, s) }

// scannerOf is the user's own scanner; empty: the built-in rules. It is run, so only the
// user's and the system's configuration, and this process's own, can name it: that of the
// repository may have come with its files.
func scannerOf(ctx context.Context, s *checkpoint.Service) (string, error) {
	const key = "checkpoint.guard.command"
	value, set := s.Settings.Get(key)
	if !set || s.Settings.Origin(key) == "environment" {
		return value, nil
	}
	told, err := s.Repo.Output(ctx, "config", "--show-scope", "--get-all", "-z", key)
	if err != nil {
		return "", checkpoint.Classify(err)
	}
	value = ""
	fields := strings.Split(told, "\x00") // scope, value, scope, value, …
	for i := 0; i+1 < len(fields); i += 2 {
		switch fields[i] {
		case "system", "global", "command":
			value = fields[i+1]
		default:
			s.Warn(key + " in the configuration of this repository does not count; git config --global sets it")
		}
	}
	return value, nil
}

// WatchSave begins to look at what a create adds; nil where the guard is off.
func WatchSave(ctx context.Context, s *checkpoint.Service) (*Watch, error) {
	how, err := modeOf(s)
	if err != nil || how == modeOff {
		return nil, err
	}
	desk, err := desk(ctx, s)
	if err != nil {
		return nil, err
	}
	return &Watch{s: s, mode: how, desk: desk, Saved: desk.Saving()}, nil
}

// Watch looks at what one checkpoint adds.
type Watch struct {
	s     *checkpoint.Service
	mode  mode
	desk  *Desk
	Saved *Saved
	found *Report
}

// Judge ends the look, before the checkpoint is written. Only with checkpoint.guard=block
// does it refuse: losing work is worse than a secret that stays on this machine.
func (w *Watch) Judge(ctx context.Context) error {
	found, known, err := w.Saved.Report(ctx)
	w.found = found
	if errors.Is(err, ErrScanner) && w.mode != modeBlock {
		w.s.Warn(err.Error() + "; this checkpoint was not looked through, and nothing leaves until it is")
		w.found = &Report{}
		return nil
	}
	if err != nil {
		return refusedByScanner(err, "no checkpoint was made")
	}
	if w.mode != modeBlock {
		return nil
	}
	stopped := append(found.Stopped(), known.Stopped()...)
	if len(stopped) == 0 {
		return nil
	}
	refused := &checkpoint.Error{Kind: checkpoint.KindRefused, Message: countSecrets(len(stopped)) + " would come into the checkpoint, and checkpoint.guard is block"}
	for _, f := range firstFew(stopped) {
		refused.Hints = append(refused.Hints, fmt.Sprintf("%s looks like %s (%s)", placeOf(f), whatIs(f.Rule), f.Rule))
	}
	refused.Hints = append(refused.Hints, waysOut(stopped)...)
	return refused
}

// Say tells once what was found, and remembers it.
func (w *Watch) Say() {
	stopped := w.found.Stopped()
	for _, f := range firstFew(stopped) {
		w.s.Warn(fmt.Sprintf("%s looks like %s; it stays on this machine until you say otherwise: git checkpoint guard", placeOf(f), whatIs(f.Rule)))
	}
	if more := len(stopped) - len(firstFew(stopped)); more > 0 {
		w.s.Warn(fmt.Sprintf("%d more look like secrets: git checkpoint guard lists them", more))
	}
	for _, dir := range w.Saved.Directories() {
		w.s.Warn(fmt.Sprintf("%s/ came into the checkpoint; projects usually ignore it: echo %s >>.gitignore", inOneLine(dir), shellQuote("/"+dir+"/")))
	}
	if err := w.desk.Close(); err != nil {
		w.s.Warn(err.Error())
	}
}

// refusedByScanner is what it means that the user's scanner failed: nobody knows what there
// is, so nothing is done.
func refusedByScanner(err error, so string) error {
	if !errors.Is(err, ErrScanner) {
		return checkpoint.Classify(err)
	}
	return &checkpoint.Error{
		Kind: checkpoint.KindRefused, Message: err.Error() + "; " + so,
		Hints: []string{"`git config --global --unset checkpoint.guard.command` goes back to the built-in rules"},
	}
}

func firstFew(found []Found) []Found { return found[:min(len(found), 10)] }

func countSecrets(n int) string {
	if n == 1 {
		return "1 secret"
	}
	return fmt.Sprintf("%d secrets", n)
}

// placeOf is where a finding is, as editors read it.
func placeOf(f Found) string {
	if f.Path == "" {
		return fmt.Sprintf("the message of %s, line %d,", f.OID.Short(), f.Line)
	}
	return fmt.Sprintf("%s:%d", inOneLine(f.Path), f.Line)
}

// inOneLine quotes a path that would break a line or move the cursor.
func inOneLine(path string) string {
	if strings.ContainsFunc(path, unicode.IsControl) {
		return strconv.Quote(path)
	}
	return path
}

var rulesByID = sync.OnceValue(func() map[string]string {
	all := map[string]string{}
	for _, r := range guard.Rules() {
		all[r.ID] = r.What
	}
	return all
})

// Knows reports whether a rule can have found something. Another scanner has rules of its own.
func (d *Desk) Knows(rule string) bool { return d.external != nil || rulesByID()[rule] != "" }

// whatIs describes what a rule finds. Those of another scanner have only their names.
func whatIs(rule string) string {
	if what := rulesByID()[rule]; what != "" {
		return what
	}
	if rule == RuleExpunged {
		return "something that was expunged"
	}
	return "a secret"
}

var plainWord = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[\w./@%+=:,-]+$`) })

// shellQuote writes a word so that it can be pasted into a shell.
func shellQuote(word string) string {
	if plainWord().MatchString(word) {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

// Redacted is a text for a message: one that cannot be changed later must not hold a
// secret.
func Redacted(s *checkpoint.Service, what, text string) string {
	if text == "" {
		return text
	}
	if how, err := modeOf(s); err != nil || how == modeOff {
		return text // a wrong setting is told where it is used first
	}
	clean, found := guard.Redact(text)
	for _, rule := range found {
		s.Warn(fmt.Sprintf("%s in the %s was replaced by [secret: %s]", whatIs(rule), what, rule))
	}
	return clean
}
