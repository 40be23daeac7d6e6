// Package witness reads what other programs say about who made the lines of a commit, in notes and in trailers of its message,
// and writes what package why knows in their formats.
//
// What others say is a witness: anybody can write it, so it is shown with its source, and nothing is decided by it.
package witness

import (
	"context"
	"slices"
	"strings"

	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/format/provenance"
	"git-checkpoint/internal/git"
	"git-checkpoint/internal/verb/why"
)

// notesOf are the notes of a ref, by the commits that they are on.
type notesOf struct {
	tip, tree name.OID // empty: there is no ref
	at        map[name.OID][]git.Change
}

// notesIn reads which commits have notes. Git joins several of one commit; here they stay apart.
func notesIn(ctx context.Context, repo *git.Repo, ref name.Ref) (notesOf, error) {
	n := notesOf{at: map[name.OID][]git.Change{}}
	found, err := repo.Refs.ResolveAll(ctx, ref)
	if err != nil || found[ref] == "" {
		return n, err
	}
	n.tip = found[ref]
	if n.tree, err = repo.Commits.TreeOf(ctx, n.tip); err != nil {
		return n, err
	}
	return n, repo.Trees.Walk(ctx, n.tree, func(path string, e git.Entry) error {
		if of, err := name.NotedOID(path); err == nil && !e.IsTree() {
			n.at[of] = append(n.at[of], git.Change{Path: path, New: e})
		}
		return nil
	})
}

// Witnesses reads what others say. What it has read it keeps, for one command.
type Witnesses struct {
	repo  *git.Repo
	notes map[string]notesOf // by ref
	read  map[name.OID][]testimony
}

// testimony is what a note says of a commit.
type testimony struct {
	ref     string
	problem string // why it cannot be read
	provenance.Note
}

// Open returns the witnesses of a repository.
func Open(repo *git.Repo) *Witnesses {
	return &Witnesses{repo, map[string]notesOf{}, map[name.OID][]testimony{}}
}

// testimonies returns what the notes of a commit say.
func (w *Witnesses) testimonies(ctx context.Context, commit name.OID) []testimony {
	if all, known := w.read[commit]; known {
		return all
	}
	var all []testimony
	for _, f := range provenance.Formats() {
		notes, known := w.notes[f.Ref]
		if !known {
			var err error
			if notes, err = notesIn(ctx, w.repo, name.Ref(f.Ref)); err != nil {
				all = append(all, testimony{ref: f.Ref, problem: err.Error()})
			}
			w.notes[f.Ref] = notes
		}
		for _, e := range notes.at[commit] {
			read, err := readNote(ctx, w.repo, f, e)
			if err != nil {
				all = append(all, testimony{ref: f.Ref, problem: err.Error()})
			}
			for _, n := range read {
				n.Files = slices.DeleteFunc(n.Files, func(file provenance.File) bool { return !w.fits(ctx, n, f, commit, file.Path) })
				all = append(all, testimony{ref: f.Ref, Note: n})
			}
		}
	}
	w.read[commit] = all
	return all
}

func readNote(ctx context.Context, repo *git.Repo, f provenance.Format, e git.Change) ([]provenance.Note, error) {
	blob, err := repo.Objects.Batch().Typed(ctx, string(e.New.OID), "blob")
	if err != nil {
		return nil, err
	}
	return f.Read(blob.Data)
}

// fits reports whether what a note says of a file can be said of a commit. Git copies notes to rewritten commits as they
// are, so a note may have the lines of another commit; then the file must be the same in both. Notes of git-ai may name the
// commit's parent, or nothing that is here: they are read as that program does.
func (w *Witnesses) fits(ctx context.Context, n provenance.Note, f provenance.Format, commit name.OID, path string) bool {
	if n.Commit == "" || strings.EqualFold(n.Commit, string(commit)) {
		return true
	}
	c, err := w.repo.Commits.Read(ctx, string(commit))
	if err != nil {
		return false
	}
	lenient := f.Name == "git-ai"
	of, err := name.ParseOID(strings.ToLower(n.Commit))
	if err != nil {
		return lenient
	}
	other, err := w.repo.Commits.Read(ctx, string(of))
	if err != nil || slices.Contains(c.Parents, of) {
		return lenient
	}
	was, _, err := w.repo.Trees.Lookup(ctx, other.Tree, path)
	is, _, err2 := w.repo.Trees.Lookup(ctx, c.Tree, path)
	return err == nil && err2 == nil && was.OID == is.OID && was.OID != ""
}

// Lines lets each line that nobody has a claim to say what others say of it.
func (w *Witnesses) Lines(ctx context.Context, lines []why.Line) {
	for i := range lines {
		if l := &lines[i]; len(l.Claims) == 0 && l.Blamed.Commit != "" {
			l.Says = w.say(ctx, l.Blamed.Commit, []why.Line{{Path: l.Blamed.Path, Line: l.Blamed.From}})
		}
	}
}

// Commit lets a commit say what others say of the lines that it adds. What this program wrote itself is left out where it
// knows of its own.
func (w *Witnesses) Commit(ctx context.Context, c *why.Commit) {
	c.Says = w.say(ctx, c.Commit, c.Lines)
	c.Says = slices.DeleteFunc(c.Says, func(s provenance.Saying) bool { return s.Ours && c.Counts.Named+c.Counts.Held > 0 })
}

// say collects what notes say of lines of a commit, and what its message says.
func (w *Witnesses) say(ctx context.Context, commit name.OID, lines []why.Line) (out []provenance.Saying) {
	at := map[provenance.Saying]int{}
	for _, t := range w.testimonies(ctx, commit) {
		if t.problem != "" {
			out = append(out, provenance.Saying{From: t.ref, Problem: t.problem})
		}
		for _, file := range t.Files {
			for _, l := range lines {
				m, said := file.At(l.Line)
				if !said || l.Path != file.Path || m.Type == provenance.Unknown {
					continue
				}
				one := saying(m)
				one.From, one.Model, one.Ours = t.ref, m.Model, t.Ours
				i, known := at[one]
				if !known {
					i = len(out)
					at[one], out = i, append(out, one)
				}
				out[i].Lines++
			}
		}
	}
	if c, err := w.repo.Commits.Read(ctx, string(commit)); err == nil {
		out = append(out, provenance.Trailers(c.Message)...)
	}
	return out
}
