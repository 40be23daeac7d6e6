package clearance

import (
	"context"
	"fmt"
	"html"
	"io"
	"maps"
	"slices"
	"strings"

	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/core/guard"
	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/format/render"
)

// Texts is the gate for what leaves as text and not as objects, such as a report. It replaces what it finds
// instead of refusing it.
type Texts struct{ scanner *Scanner }

// OpenTexts opens the gate for texts.
func OpenTexts(ctx context.Context, s *checkpoint.Service) (*Texts, error) {
	how, err := modeOf(s.Settings)
	if err != nil {
		return nil, err
	}
	scanner, err := OpenScanner(ctx, s)
	if err != nil {
		return nil, err
	}
	scanner.off = how == modeOff
	return &Texts{scanner}, nil
}

// PageMayLeave decides whether a page of HTML may leave that shows checkpoints without their contents. It
// refuses a secret in the page that nobody allowed, and checkpoints that were expunged.
func PageMayLeave(ctx context.Context, s *checkpoint.Service, to, page string, shown []name.OID) error {
	t, err := OpenTexts(ctx, s)
	if err != nil {
		return err
	}
	for _, commit := range shown {
		if t.scanner.expunged.Objects[commit] {
			return checkpoint.Failure(checkpoint.KindRefused, "", "%s was expunged; nothing was written", commit.Short())
		}
	}
	if t.scanner.off {
		return nil
	}
	report, err := t.scanner.File(ctx, "", strings.NewReader(html.UnescapeString(page)))
	if err != nil {
		return refusedByScanner(err, "nothing was written")
	}
	stopped := report.Stopped()
	if len(stopped) == 0 {
		return nil
	}
	refused := checkpoint.Failure(checkpoint.KindRefused, "", "%s would go to %s; nothing was written", render.Count(len(stopped), "secret", "secrets"), to)
	for _, f := range firstFew(stopped) {
		refused.Hints = append(refused.Hints, fmt.Sprintf("line %d of the page looks like %s (%s)", f.Line, whatIs(f.Rule), f.Rule),
			"if it is not a secret, or may leave this machine: git checkpoint guard allow "+f.Fingerprint+" --reason TEXT")
	}
	return refused
}

// Expunged reports whether a checkpoint was expunged: then nothing of what it says may leave.
func (t *Texts) Expunged(session name.Session, id name.ID, commit name.OID) bool {
	x := t.scanner.expunged
	return x.Checkpoints[session][id] || x.Objects[commit]
}

// Clean replaces secrets in texts by [secret: <rule>], by the built-in rules, even where
// checkpoint.guard is off, and by the user's scanner. What that finds in one text is replaced in
// all.
func (t *Texts) Clean(ctx context.Context, texts []string) error {
	for i, text := range texts {
		texts[i], _ = guard.Redact(strings.ToValidUTF8(text, "\ufffd"))
	}
	d := t.scanner
	if d.external == nil || d.off {
		return nil
	}
	secrets := map[string]string{} // and what they become
	for some := range slices.Chunk(texts, atOnce) {
		contents := make([]content, len(some))
		for i, text := range some {
			contents[i].write = func(w io.Writer) error { _, err := io.WriteString(w, text); return err }
		}
		if err := d.external.leaks(ctx, contents, func(i int, l leak) {
			f := l.finding(d.rules)
			switch {
			case d.allowed[f.Fingerprint] != "" || f.User != "" && d.allowed[f.User] != "":
			case l.Secret != "" && strings.Contains(some[i], l.Secret):
				secrets[l.Secret] = "[secret: " + f.Rule + "]"
			case !strings.HasPrefix(some[i], "[secret: "): // it does not say where
				some[i] = "[secret: " + f.Rule + "]"
			}
		}); err != nil {
			return refusedByScanner(err, "nothing is shown")
		}
	}
	// Of two that begin alike, the longer one comes first.
	keys := slices.Sorted(maps.Keys(secrets))
	slices.Reverse(keys)
	var all []string
	for _, secret := range keys {
		all = append(all, secret, secrets[secret])
	}
	replacer := strings.NewReplacer(all...)
	for i := range texts {
		texts[i] = replacer.Replace(texts[i])
	}
	return nil
}
