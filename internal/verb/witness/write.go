package witness

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"git-checkpoint/internal/core/author"
	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/core/clearance"
	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/format/provenance"
	"git-checkpoint/internal/git"
	"git-checkpoint/internal/storage/store"
	"git-checkpoint/internal/sys/gather"
	"git-checkpoint/internal/verb/why"
)

// Request is about the notes of commits.
type Request struct {
	Format   string // the name of a format; empty: the first one
	Range    string // as for git log; empty: what sessions here may have made
	Version  string // of this program
	Progress func(int)
}

// Answer says which notes were written.
type Answer struct {
	Format  string     `json:"format"`
	Ref     string     `json:"ref"`
	Range   string     `json:"range"`
	Written []name.OID `json:"written"`  // the commits
	Same    int        `json:"same"`     // commits whose note has this already
	Others  int        `json:"others"`   // commits with a note that somebody else wrote, which stays
	Empty   int        `json:"empty"`    // commits for which there is nothing to write
	LeftOut int        `json:"left_out"` // files that the format cannot have, or whose path must not leave
}

// writing is notes that are being written.
type writing struct {
	s      *checkpoint.Service
	format provenance.Format
	answer *Answer
	notes  map[name.OID][]byte
}

// Write writes the notes of the commits of a range, in one commit of the notes' ref. It replaces only what this program
// wrote; without a range it leaves all commits alone that have a note.
func Write(ctx context.Context, s *checkpoint.Service, req Request) (*Answer, error) {
	w, commits, err := begin(ctx, s, req)
	if err != nil {
		return nil, err
	}
	if req.Range == "" {
		old, err := notesIn(ctx, s.Repo, name.Ref(w.format.Ref))
		if err != nil {
			return nil, err
		}
		commits = slices.DeleteFunc(commits, func(c name.OID) bool { return old.at[c] != nil })
	}
	known, err := why.Commits(ctx, s.Rules, commits, req.Progress)
	if err != nil {
		return nil, err
	}
	made := gather.List(known, noteOf)
	if err := w.cleaned(ctx, made); err != nil {
		return nil, err
	}
	for i, c := range known {
		text, err := w.format.Write(made[i], c.Committed.UTC().Format(time.RFC3339), req.Version)
		if err != nil {
			return nil, err
		}
		if w.notes[c.Commit] = text; text == nil {
			w.answer.Empty++
			delete(w.notes, c.Commit)
		}
	}
	for try := 1; ; try++ {
		if err = w.store(ctx); !errors.Is(err, git.ErrRaced) || try == 20 {
			return w.answer, err
		}
		if err := s.Store.Pause(ctx, 50*time.Millisecond); err != nil {
			return nil, err
		}
	}
}

// begin finds the format and the commits.
func begin(ctx context.Context, s *checkpoint.Service, req Request) (*writing, []name.OID, error) {
	all := provenance.Formats()
	i := slices.IndexFunc(all, func(f provenance.Format) bool { return f.Name == cmp.Or(req.Format, all[0].Name) })
	if i < 0 {
		return nil, nil, checkpoint.Usage("", "--notes is agent-trace or git-ai, not %q", name.Clip(req.Format, name.Said))
	}
	if req.Range == "" {
		req.Range = begun(ctx, s.Store)
	}
	w := &writing{s: s, format: all[i], notes: map[name.OID][]byte{}}
	w.answer = &Answer{Format: w.format.Name, Ref: w.format.Ref, Range: req.Range}
	commits, err := Commits(ctx, s.Repo, req.Range)
	return w, commits, err
}

// Commits returns the commits of a range, as somebody typed it for git log, oldest first.
func Commits(ctx context.Context, repo *git.Repo, typed string) ([]name.OID, error) {
	if strings.HasPrefix(typed, "-") {
		return nil, checkpoint.Usage("", "%q is no range of commits", name.Clip(typed, name.Said))
	}
	res, err := repo.Run(ctx, git.Cmd{Args: []string{"rev-list", "--reverse", "--topo-order", "--end-of-options", typed, "--"}})
	if git.ExitCode(err) > 0 {
		return nil, checkpoint.Failure(checkpoint.KindNotFound, "`git branch --all` shows the branches: one that only a remote has is origin/NAME", "no such range of commits: %q", name.Clip(typed, name.Said))
	}
	return name.All[name.OID](strings.Fields(string(res.Stdout))), err
}

// begun returns the range from the oldest commit on which a session began to HEAD. What was rewritten since, begins where the
// histories parted.
func begun(ctx context.Context, s *store.Store) string {
	states, _ := checkpoint.States(ctx, s, "") //nolint:errcheck // then nothing is known of any
	args := []string{"merge-base", "--octopus", "HEAD"}
	for _, st := range states {
		for i := range st.Len() {
			if rec, err := checkpoint.ReadRecord(ctx, s, st.At(i)); err == nil {
				if _, err := s.Repo.Commits.Read(ctx, string(rec.Git.Head)); err == nil && !slices.Contains(args, string(rec.Git.Head)) {
					args = append(args, string(rec.Git.Head))
				}
				break
			}
		}
	}
	if base, err := s.Repo.Output(ctx, args...); err == nil && len(args) > 3 {
		return base + "..HEAD"
	}
	return "HEAD"
}

// noteOf collects the lines of a commit by file and maker. It has none if neither an agent nor a checkpoint has one.
func noteOf(c why.Commit) (n provenance.Note) {
	n.Commit = string(c.Commit)
	parts := map[string]*provenance.Part{}
	for _, l := range c.Lines {
		m, known := makerOf(l)
		if !known || c.Counts.Named+c.Counts.Held == 0 {
			continue
		}
		last := len(n.Files) - 1
		if last < 0 || n.Files[last].Path != l.Path {
			n.Files = append(n.Files, provenance.File{Path: l.Path})
			last++
		}
		key := fmt.Sprintf("%q %q", l.Path, m)
		if parts[key] == nil {
			parts[key] = &provenance.Part{Maker: m}
			n.Files[last].Parts = append(n.Files[last].Parts, parts[key])
		}
		parts[key].Add(l.Line)
	}
	return n
}

// makerOf returns who made a line: an agent where one is named, a person where an editor told it, and else somebody
// unknown. It is not known where no checkpoint has it.
func makerOf(l why.Line) (m provenance.Maker, known bool) {
	m.Type = provenance.Unknown
	for _, c := range l.Claims {
		step := fmt.Sprintf("%s/%d", c.Session, c.Step)
		if c.Step == 0 {
			step = fmt.Sprintf("%s/%s", c.Session, c.Checkpoint)
		}
		if !slices.Contains(m.Steps, step) {
			m.Steps = append(m.Steps, step)
		}
	}
	switch c := l.Claim(); {
	case c.By == author.Outside && c.Because == author.InEditor:
		m.Type = provenance.Human
	case l.Answer() == "named":
		m.Type, m.Agent, m.Model = provenance.AI, c.Agent, c.Model
		m.Conversation, m.Session = cmp.Or(c.Conversation, string(c.Session)), string(c.Session)
	}
	return m, len(l.Claims) > 0
}

// cleaned makes the texts of notes such that they may leave this machine: nothing looks at them when notes are pushed. A
// file whose path would change, or that the format cannot have, is left out.
func (w *writing) cleaned(ctx context.Context, notes []provenance.Note) error {
	gate, err := clearance.OpenTexts(ctx, w.s)
	if err != nil {
		return err
	}
	var at []*string
	paths := map[*string]bool{}
	for _, n := range notes {
		for i := range n.Files {
			path := &n.Files[i].Path
			at, paths[path] = append(at, path), true
			for _, p := range n.Files[i].Parts {
				at = append(at, &p.Agent, &p.Model, &p.Conversation, &p.Session)
				for i := range p.Steps {
					at = append(at, &p.Steps[i])
				}
			}
		}
	}
	texts := make([]string, len(at))
	for i := range at {
		texts[i] = *at[i]
	}
	if err := gate.Clean(ctx, texts); err != nil {
		return err
	}
	for i, text := range texts {
		if paths[at[i]] && *at[i] != text {
			text = "" // it has no other name
		}
		*at[i] = text
	}
	for i, n := range notes {
		notes[i].Files = slices.DeleteFunc(n.Files, func(f provenance.File) bool { return f.Path == "" || !w.format.Holds(f.Path) })
		w.answer.LeftOut += len(n.Files) - len(notes[i].Files)
	}
	return nil
}

// store writes the notes, if nobody else moves their ref meanwhile. Others' notes stay, at the places that ours have: git
// cannot merge notes of mixed places.
func (w *writing) store(ctx context.Context) error {
	ref := name.Ref(w.format.Ref)
	old, err := notesIn(ctx, w.s.Repo, ref)
	if err != nil {
		return err
	}
	w.answer.Written, w.answer.Same, w.answer.Others = []name.OID{}, 0, 0
	edits := map[string]git.Entry{}
	put := func(of name.OID, forms []git.Change, blob git.Entry) {
		for _, f := range forms {
			edits[f.Path] = git.Entry{}
		}
		edits[string(of[:2])+"/"+string(of[2:])] = blob
	}
	for of, forms := range old.at {
		if len(forms) == 1 {
			put(of, forms, forms[0].New)
		}
	}
	for of, text := range w.notes {
		blob, err := w.s.Repo.Objects.Write(ctx, "blob", text)
		if err != nil {
			return err
		}
		switch forms := old.at[of]; {
		case len(forms) == 1 && forms[0].New.OID == blob:
			w.answer.Same++
		case len(forms) > 0 && !w.ours(ctx, forms):
			w.answer.Others++
		default:
			w.answer.Written = append(w.answer.Written, of)
			put(of, forms, git.Entry{Mode: git.ModeFile, OID: blob})
		}
	}
	if slices.Sort(w.answer.Written); len(w.answer.Written) == 0 {
		return nil
	}
	tree, err := w.s.Repo.Trees.Edit(ctx, old.tree, edits)
	if err != nil {
		return err
	}
	c := git.Commit{Tree: tree, Message: "Notes of git checkpoint why\n"}
	if c.Author, c.Committer = w.s.Repo.Commits.Identity(w.s.Store.Now()); old.tip != "" {
		c.Parents = []name.OID{old.tip}
	}
	oid, err := w.s.Repo.Commits.Write(ctx, c)
	if err != nil {
		return err
	}
	return w.s.Repo.Refs.Update(ctx, []git.Update{{Ref: ref, New: oid, Old: old.tip}})
}

// ours reports whether this program wrote all of the notes of a commit.
func (w *writing) ours(ctx context.Context, forms []git.Change) bool {
	return !slices.ContainsFunc(forms, func(e git.Change) bool {
		notes, err := readNote(ctx, w.s.Repo, w.format, e)
		return err != nil || len(notes) == 0 || slices.ContainsFunc(notes, func(n provenance.Note) bool { return !n.Ours })
	})
}
