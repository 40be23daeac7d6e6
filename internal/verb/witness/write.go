package witness

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/core/clearance"
	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/format/provenance"
	"git-checkpoint/internal/git"
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
	req    Request
	answer *Answer
	notes  map[name.OID][]byte
}

// Write writes the notes of the commits of a range, in one commit of the notes' ref. It replaces only what this program
// wrote.
func Write(ctx context.Context, s *checkpoint.Service, req Request) (*Answer, error) {
	w, commits, err := begin(ctx, s, req)
	if err != nil {
		return nil, err
	}
	known, err := w.behind(ctx, commits)
	if err != nil {
		return nil, err
	}
	made := make([]provenance.Note, len(known))
	for i, c := range known {
		if made[i].Commit = string(c.Commit); c.Counts.Named+c.Counts.Held > 0 {
			made[i].Files = filesOf(c)
		}
	}
	if err := w.cleaned(ctx, made); err != nil {
		return nil, err
	}
	for _, n := range made {
		if err := w.encode(ctx, n); err != nil {
			return nil, err
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
	w := &writing{s: s, format: all[i], req: req, notes: map[name.OID][]byte{}}
	w.answer = &Answer{Format: w.format.Name, Ref: w.format.Ref, Range: req.Range, Written: []name.OID{}}
	words := []string{req.Range}
	if req.Range == "" {
		words = w.begun(ctx)
		w.answer.Range = strings.Join(words, " ")
	}
	commits, err := Commits(ctx, s, words...)
	return w, commits, err
}

// Commits returns the commits of a range, as somebody typed it for git log, oldest first.
func Commits(ctx context.Context, s *checkpoint.Service, words ...string) ([]name.OID, error) {
	if strings.HasPrefix(words[0], "-") {
		return nil, checkpoint.Usage("", "%q is no range of commits", name.Clip(words[0], name.Said))
	}
	res, err := s.Repo.Run(ctx, git.Cmd{Args: slices.Concat([]string{"rev-list", "--reverse", "--topo-order", "--end-of-options"}, words, []string{"--"})})
	if git.ExitCode(err) > 0 {
		return nil, checkpoint.Failure(checkpoint.KindNotFound, "", "no such range of commits: %q", name.Clip(strings.Join(words, " "), name.Said))
	}
	var out []name.OID
	for _, oid := range strings.Fields(string(res.Stdout)) {
		out = append(out, name.OID(oid))
	}
	return out, err
}

// begun returns the range from the oldest commit on which a session began to HEAD. What was rewritten since, begins where the
// histories parted.
func (w *writing) begun(ctx context.Context) []string {
	states, _ := w.s.States(ctx, "") //nolint:errcheck // then nothing is known of any
	args := []string{"merge-base", "--octopus", "HEAD"}
	for _, st := range states {
		for i := range st.Len() {
			rec, err := w.s.ReadRecord(ctx, st.At(i))
			if err != nil {
				continue
			}
			if _, err := w.s.Repo.Commits.Read(ctx, string(rec.Git.Head)); err == nil && !slices.Contains(args, string(rec.Git.Head)) {
				args = append(args, string(rec.Git.Head))
			}
			break
		}
	}
	if base, err := w.s.Repo.Output(ctx, args...); err == nil && base != "" && len(args) > 3 {
		return []string{base + "..HEAD"}
	}
	return []string{"HEAD"}
}

// behind returns what is behind the commits that may get a note: without a range, those that have none, and else those that
// have none of somebody else's.
func (w *writing) behind(ctx context.Context, commits []name.OID) ([]why.Commit, error) {
	old, err := notesIn(ctx, w.s, name.Ref(w.format.Ref))
	if err != nil {
		return nil, err
	}
	commits = slices.DeleteFunc(commits, func(c name.OID) bool {
		forms := old.at[c]
		if len(forms) == 0 {
			return false
		}
		if !w.ours(ctx, forms) {
			w.answer.Others++
			return true
		}
		if w.req.Range == "" {
			w.answer.Same++
		}
		return w.req.Range == ""
	})
	return why.Commits(ctx, w.s, commits, w.req.Progress)
}

// ours reports whether this program wrote all of the notes of a commit.
func (w *writing) ours(ctx context.Context, forms []git.Change) bool {
	for _, e := range forms {
		notes, err := readNote(ctx, w.s, w.format, e)
		if err != nil || len(notes) == 0 || slices.ContainsFunc(notes, func(n provenance.Note) bool { return !n.Ours }) {
			return false
		}
	}
	return true
}

// encode makes the text of a note.
func (w *writing) encode(ctx context.Context, n provenance.Note) error {
	c, err := w.s.Repo.Commits.Read(ctx, n.Commit)
	if err != nil {
		return err
	}
	text, err := w.format.Write(n, c.Committer.When.UTC().Format(time.RFC3339), w.req.Version)
	if text != nil {
		w.notes[name.OID(n.Commit)] = text
	} else {
		w.answer.Empty++
	}
	return err
}

// filesOf collects the lines of a commit by file and maker.
func filesOf(c why.Commit) (files []provenance.File) {
	var parts map[string]*provenance.Part
	for _, l := range c.Lines {
		m, known := makerOf(l)
		if !known {
			continue
		}
		if n := len(files); n == 0 || files[n-1].Path != l.Path {
			files, parts = append(files, provenance.File{Path: l.Path}), map[string]*provenance.Part{}
		}
		key, file := fmt.Sprintf("%q", m), &files[len(files)-1]
		if parts[key] == nil {
			parts[key] = &provenance.Part{Maker: m}
			file.Parts = append(file.Parts, parts[key])
		}
		parts[key].Add(l.Line)
	}
	return files
}

// makerOf returns who made a line: an agent where one is named, and else somebody unknown. It is not known where no
// checkpoint has it.
func makerOf(l why.Line) (m provenance.Maker, known bool) {
	m.Type = provenance.Unknown
	for _, c := range l.Claims {
		at := string(c.Checkpoint)
		if c.Step > 0 {
			at = fmt.Sprint(c.Step)
		}
		if step := string(c.Session) + "/" + at; !slices.Contains(m.Steps, step) {
			m.Steps = append(m.Steps, step)
		}
	}
	if c := l.Claim(); l.Answer() == "named" {
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
	var texts []string
	each := func(text *string) { at, texts = append(at, text), append(texts, *text) }
	paths := map[*string]string{}
	for _, n := range notes {
		for i := range n.Files {
			f := &n.Files[i]
			paths[&f.Path] = f.Path
			each(&f.Path)
			for _, p := range f.Parts {
				for _, text := range []*string{&p.Agent, &p.Model, &p.Conversation, &p.Session} {
					each(text)
				}
				for i := range p.Steps {
					each(&p.Steps[i])
				}
			}
		}
	}
	if err := gate.Clean(ctx, texts); err != nil {
		return err
	}
	for i := range at {
		if *at[i] != texts[i] && paths[at[i]] != "" {
			texts[i] = "" // it has no other name
		}
		*at[i] = texts[i]
	}
	for i, n := range notes {
		notes[i].Files = slices.DeleteFunc(n.Files, func(f provenance.File) bool { return f.Path == "" || !w.format.Holds(f.Path) })
		w.answer.LeftOut += len(n.Files) - len(notes[i].Files)
	}
	return nil
}

// store writes the notes. Others' notes stay, at the places that ours have: git cannot merge notes of mixed places.
func (w *writing) store(ctx context.Context) error {
	ref := name.Ref(w.format.Ref)
	old, err := notesIn(ctx, w.s, ref)
	if err != nil {
		return err
	}
	w.answer.Written = []name.OID{}
	edits := map[string]git.Entry{}
	for of, forms := range old.at {
		if at := placeOf(of); w.notes[of] == nil && len(forms) == 1 && forms[0].Path != at {
			edits[forms[0].Path], edits[at] = git.Entry{}, forms[0].New
		}
	}
	same, others := 0, 0
	for of, text := range w.notes {
		forms := old.at[of]
		if len(forms) > 0 && !w.ours(ctx, forms) { // somebody wrote it since
			others++
			continue
		}
		blob, err := w.s.Repo.Objects.Write(ctx, "blob", text)
		if err != nil {
			return err
		}
		if len(forms) == 1 && forms[0].New.OID == blob {
			same++
			continue
		}
		for _, f := range forms {
			edits[f.Path] = git.Entry{}
		}
		edits[placeOf(of)] = git.Entry{Mode: git.ModeFile, OID: blob}
		w.answer.Written = append(w.answer.Written, of)
	}
	slices.Sort(w.answer.Written)
	if len(w.answer.Written) > 0 {
		err = w.move(ctx, ref, old, edits)
	}
	if err == nil {
		w.answer.Same, w.answer.Others = w.answer.Same+same, w.answer.Others+others
	}
	return err
}

// placeOf returns the path of a note: always two digits and the rest.
func placeOf(commit name.OID) string { return string(commit[:2]) + "/" + string(commit[2:]) }

// move writes the commit of the notes, and lets their ref point to it if nobody else moved that.
func (w *writing) move(ctx context.Context, ref name.Ref, old notesOf, edits map[string]git.Entry) error {
	tree, err := w.s.Repo.Trees.Edit(ctx, old.tree, edits)
	if err != nil {
		return err
	}
	author, committer := w.s.Repo.Commits.Identity(w.s.Now())
	c := git.Commit{Tree: tree, Author: author, Committer: committer, Message: "Notes of git checkpoint why\n"}
	if old.tip != "" {
		c.Parents = []name.OID{old.tip}
	}
	oid, err := w.s.Repo.Commits.Write(ctx, c)
	if err != nil {
		return err
	}
	return w.s.Repo.Refs.Update(ctx, []git.Update{{Ref: ref, New: oid, Old: old.tip}})
}
