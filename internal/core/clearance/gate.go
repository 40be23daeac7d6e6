package clearance

// The gate has two parts. The first scans every object that the other side would get and refuses
// the whole push or export for a single finding, so that nothing is sent in part. The second part,
// consent, concerns only remotes and asks once per address.

import (
	"cmp"
	"context"
	"fmt"
	"path"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/format/journal"
	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/format/record"
	"git-checkpoint/internal/format/render"
	"git-checkpoint/internal/git"
	"git-checkpoint/internal/storage/lfs"
	"git-checkpoint/internal/storage/store"
)

// Sending describes what is about to leave the repository.
type Sending struct {
	To   string // the destination for messages
	Tips []name.OID
	Held []name.OID // commits that the other side has, which need no scan. Those that are not here add nothing
	// Elsewhere returns hints for a refusal where the other side may have more than Held; may be nil.
	Elsewhere   func(context.Context) ([]string, error)
	Outside     []lfs.Named            // files of git-lfs whose content goes too, as far as it is here
	Labels      []Holder               // oldest first; used to name the checkpoint that holds a finding
	firsts      []name.OID             // the first checkpoint of each session
	Within      func(path string) bool // which paths are written; nil: all
	Unscanned   bool                   // objects that could not be scanned may leave, too: the user said so
	Destination *Destination           // the remote; nil: the content goes to files
}

// Holder is a checkpoint that may hold a finding.
type Holder struct {
	Commit name.OID
	Label  string
}

// MayLeave decides whether something may leave the repository. Every push, export and
// mirror calls it before the first byte goes. It refuses content with a secret that nobody
// allowed, content that could not be scanned, expunged objects, and private files for a
// remote to which nobody agreed.
func MayLeave(ctx context.Context, s *checkpoint.Service, what Sending) error {
	if err := holdsNoSecret(ctx, s, what); err != nil {
		return err
	}
	return consent(ctx, s.Repo, what)
}

// holdsNoSecret scans what is sent. With checkpoint.guard=off it only looks for expunged
// objects.
func holdsNoSecret(ctx context.Context, s *checkpoint.Service, what Sending) error {
	how, err := modeOf(s.Settings)
	if err != nil {
		return err
	}
	scanner, err := OpenScanner(ctx, s)
	if err != nil {
		return err
	}
	scanner.off = how == modeOff // objects that were expunged still must not leave
	report, err := scanner.ScanOutgoing(ctx, what.Tips, what.Held)
	if err == nil {
		err = scanner.outside(ctx, report, what.Outside)
	}
	scanner.closeOrWarn(s)
	if err != nil {
		return refusedByScanner(err, "nothing was sent")
	}
	// An export in another layout writes a part of the objects only, so findings elsewhere
	// do not count. Messages have no path and are always part of it.
	if what.Within != nil {
		report.Found = slices.DeleteFunc(report.Found, func(f Found) bool { return f.Path != "" && !what.Within(f.Path) })
		report.Gaps = slices.DeleteFunc(report.Gaps, func(g Gap) bool { return g.Path != "" && !what.Within(g.Path) })
	}
	if stopped := report.Stopped(); len(stopped) > 0 {
		return stop(ctx, s.Rules, what, stopped)
	}
	if len(report.Gaps) > 0 && !what.Unscanned {
		refused := checkpoint.Failure(checkpoint.KindRefused, "", "%d objects for %s could not be scanned for secrets; nothing was sent", len(report.Gaps), what.To)
		for _, g := range report.Gaps {
			refused.Hints = append(refused.Hints, g.where()+": "+g.Why)
		}
		refused.Hints = append(refused.Hints, "--yes (-y) sends them")
		return refused
	}
	return nil
}

// stop returns the refusal: what was found, in which checkpoint, and what the user can do.
func stop(ctx context.Context, s *checkpoint.Rules, what Sending, stopped []Found) error {
	slices.SortStableFunc(stopped, byPlace)
	refused := checkpoint.Failure(checkpoint.KindRefused, "", "%s would go to %s; nothing was sent", render.Count(len(stopped), "secret", "secrets"), what.To)
	var kept []Found
	var committed []string
	for _, f := range firstFew(stopped) {
		in := holder(ctx, s.Store, f, what.Labels)
		f.Path = in.path
		if f.Rule != RuleExpunged {
			if in.path == recordFile && in.age > 0 {
				// Every checkpoint has a file of this name, so the commands name the blob.
				f.Path = ""
				refused.Hints = append(refused.Hints, fmt.Sprintf("%s looks like %s (%s)", inRecord(ctx, s.Repo, f, in.String()), whatIs(f.Rule), f.Rule))
			} else {
				refused.Hints = append(refused.Hints, fmt.Sprintf("%s looks like %s (%s), in %s", placeOf(f), whatIs(f.Rule), f.Rule, in))
			}
			kept = append(kept, f)
			continue
		}
		refused.Hints = append(refused.Hints, fmt.Sprintf("%s was expunged, but is in %s again", cmp.Or(inOneLine(f.Path), "commit "+f.OID.Short()), in))
		if in.age == 0 {
			// Expunge leaves commits of the user alone while a branch holds them, and finds no
			// checkpoint with this path.
			committed = append(committed, "take it out of your branches (git rebase -i), and then out of the checkpoints: git checkpoint expunge "+string(f.OID))
			continue
		}
		kept = append(kept, f)
	}
	if more := len(stopped) - len(firstFew(stopped)); more > 0 {
		refused.Hints = append(refused.Hints, fmt.Sprintf("and %d more: `git checkpoint guard --all` lists them", more))
	}
	refused.Hints = append(append(append(refused.Hints, suggestions(s.Settings, kept)...), waysOut(kept, "to remove it from every checkpoint: git checkpoint expunge ")...), committed...)
	if what.Elsewhere != nil {
		hints, err := what.Elsewhere(ctx)
		if err != nil {
			return err
		}
		refused.Hints = append(refused.Hints, hints...)
	}
	return refused
}

// waysOut returns hints with commands that can be pasted, each once. removes begins the one that removes a finding from
// checkpoints; empty: it is in none.
func waysOut(stopped []Found, removes string) []string {
	const maxWays = 3 // for how many files waysOut names commands
	var hints, targets []string
	add := func(hint string) {
		if !slices.Contains(hints, hint) {
			hints = append(hints, hint)
		}
	}
	for _, f := range stopped {
		// A few are enough as examples: a directory or a pattern allows many files at once.
		if target := targetOf(f); !slices.Contains(targets, target) {
			if len(targets) == maxWays {
				add("many at once: git checkpoint guard allow DIR/ --reason TEXT, or a pattern such as '*.pem'")
				break
			}
			targets = append(targets, target)
		}
		if f.Rule == RuleExpunged {
			add("remove it again: git checkpoint expunge " + name.Quoted(targetOf(f)))
			continue
		}
		target := targetOf(f)
		if target != "" {
			add("if it is not a secret, or may leave this machine: git checkpoint guard allow " + name.Quoted(target) + " --reason TEXT")
		}
		if target != "" && removes != "" {
			add(removes + name.Quoted(target))
		}
		if isPasteable(f.Path) {
			add("to leave the file out from now on: git config --add checkpoint.exclude " + name.Quoted(f.Path))
		}
	}
	return hints
}

// targetOf returns how a command names a finding: by its path, or by the object if the path cannot be
// pasted or would be read as a flag.
func targetOf(f Found) string {
	if isPasteable(f.Path) && !strings.HasPrefix(f.Path, "-") {
		return f.Path
	}
	return cmp.Or(string(f.OID), f.Path)
}

// isPasteable reports whether a terminal shows a path as it is: control characters and bytes that
// are not UTF-8 are escaped.
func isPasteable(path string) bool {
	return path != "" && utf8.ValidString(path) && !strings.ContainsFunc(path, unicode.IsControl)
}

// inHistory names the place of an object that no checkpoint holds, but the commits that are sent
// with it.
const inHistory = "commits that the checkpoints are based on"

// held says where a finding is.
type held struct {
	label   string             // of the oldest checkpoint that holds the object, or words in place of it
	mention checkpoint.Mention // the zero value where no checkpoint holds it
	path    string             // all of it, in that checkpoint
	age     int                // 1: in the first of the checkpoints that were searched; 0: in none of them
}

// String names the checkpoint for a message of one line: without the words that describe it where these
// have a line break.
func (h held) String() string {
	if said := h.mention.String(); !strings.ContainsFunc(said, unicode.IsControl) {
		return cmp.Or(said, h.label)
	}
	return h.mention.Name
}

// holder finds the oldest checkpoint that holds the object.
func holder(ctx context.Context, s *store.Store, f Found, labels []Holder) held {
	const maxHolders = 1000 // bounds how many checkpoints are searched for the one with a finding
	for i, l := range labels[:min(len(labels), maxHolders)] {
		commit := l.Commit
		record, err := s.RecordCommit(ctx, commit)
		if err != nil {
			continue
		}
		at := func(path string) held {
			return held{l.Label, mentionOf(ctx, s, l), path, i + 1}
		}
		// A finding without a path is in a message, which belongs to either of the two
		// commits.
		if f.Path == "" && (f.OID == commit || f.OID == record) {
			return at("")
		}
		for _, oid := range []name.OID{commit, record} {
			c, err := s.Repo.Commits.Read(ctx, string(oid))
			if err != nil {
				continue
			}
			if path, found := pathIn(ctx, s.Repo.Trees, c.Tree, f); found {
				return at(path)
			}
			// The notes hold the record under the id of the commit.
			if e, found, err := s.Repo.Trees.Lookup(ctx, c.Tree, recordFile); oid == record && err == nil && found && e.OID == f.OID {
				return at(recordFile)
			}
		}
	}
	if f.Path == "" {
		return held{label: "a message"}
	}
	return held{label: inHistory, path: f.Path}
}

// mentionOf returns how a checkpoint is mentioned: by its label if its record cannot be read.
func mentionOf(ctx context.Context, s *store.Store, l Holder) checkpoint.Mention {
	r, err := s.Record(ctx, l.Commit)
	if err != nil {
		return checkpoint.Mention{Name: l.Label}
	}
	return checkpoint.MentionOf(r)
}

// pathIn returns the path that a finding has in a tree. git rev-list ends a path at the first newline in
// it, so that a name may go on after the one that it gave.
func pathIn(ctx context.Context, trees *git.Trees, tree name.OID, f Found) (string, bool) {
	if e, found, err := trees.Lookup(ctx, tree, f.Path); err == nil && found && e.OID == f.OID {
		return f.Path, true
	}
	dir, begins := path.Split(f.Path)
	if dir != "" {
		e, found, err := trees.Lookup(ctx, tree, strings.TrimSuffix(dir, "/"))
		if err != nil || !found || !e.IsTree() {
			return "", false
		}
		tree = e.OID
	}
	entries, err := trees.Read(ctx, tree)
	if err != nil {
		return "", false
	}
	for _, e := range entries {
		switch {
		case !strings.HasPrefix(e.Name, begins+"\n"):
		case e.OID == f.OID:
			return dir + e.Name, true
		case e.IsTree():
			below, err := trees.Diff(ctx, "", e.OID)
			if i := slices.IndexFunc(below, func(c git.Change) bool { return c.New.OID == f.OID }); err == nil && i >= 0 {
				return dir + e.Name + "/" + below[i].Path, true
			}
		}
	}
	return "", false
}

// Holders returns the checkpoints of a session, in the order of its journal. One that is gone
// is left out: git may still have its objects, so it would be named for what another one holds.
func Holders(log *journal.Log) (out []Holder) {
	if log == nil {
		return nil
	}
	state := log.Fold()
	for _, e := range log.Events() {
		if entry := state.Entry(e.Checkpoint); e.Commit != "" && e.Checkpoint != "" && (entry == nil || !entry.Dead) {
			out = append(out, Holder{e.Commit, cmp.Or(e.Label, string(e.Checkpoint))})
		}
	}
	return out
}

// This file names the member of a record in which a finding is.

// recordFile is the name of the record in its commit; see package store.
const recordFile = "checkpoint.json"

// inRecord names the member of a checkpoint's record in which a finding is, for a message, or
// returns "".
func inRecord(ctx context.Context, repo *git.Repo, f Found, label string) string {
	blob, err := repo.Objects.Batch().Typed(ctx, string(f.OID), "blob")
	if err != nil {
		return ""
	}
	member := record.MemberAt(blob.Data, f.Line)
	if state, is := strings.CutPrefix(member, "state."); is {
		return fmt.Sprintf("%s in the state of %s", inOneLine(state), label)
	}
	return fmt.Sprintf("%s in the record of %s", inOneLine(member), label)
}
