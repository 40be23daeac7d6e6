package clearance

import (
	"bytes"
	"context"
	"maps"
	"slices"
	"strings"

	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/format/record"
	"git-checkpoint/internal/format/render"
	"git-checkpoint/internal/git"
	"git-checkpoint/internal/storage/store"
	"git-checkpoint/internal/sys/gather"
	"git-checkpoint/internal/sys/lazy"
)

// Kind says why a file of a checkpoint is private.
type Kind int

// Git shows none of these to anybody: a commit of the same worktree would not hold them.
const (
	Untracked Kind = iota // in neither the index nor HEAD
	Ignored               // captured although git ignores it
	Filtered              // a filter withholds a part of it, and the exact bytes are in the checkpoint
	Hidden                // changed, but skip-worktree or assume-unchanged keeps the change from commits
)

// kinds has the words for each Kind: for one file, for several, and for a tag that would hold some.
var kinds = [...]struct{ one, many, held, mark string }{
	Untracked: {"untracked file", "untracked files", "untracked files", ""},
	Ignored:   {"ignored file", "ignored files", "ignored files", " (ignored)"},
	Filtered:  {"file with content that a filter withholds", "files with content that a filter withholds", "content that a filter withholds", " (a filter withholds a part)"},
	Hidden:    {"file with changes hidden from git", "files with changes hidden from git", "changes hidden from git", " (skip-worktree or assume-unchanged)"},
}

// Private is what checkpoints hold that a commit of the same worktree would not: files, and what was
// said to a coding agent. It is the only definition of that. Tags, pushes, commits that the program makes,
// and files that leave ask it. An output is not private: somebody named it for the job.
type Private struct {
	files [len(kinds)]map[string]bool
	there name.OID // a tree whose files are known where it goes; "" for none
	Conversations
}

// Conversations counts what checkpoints keep of conversations with coding agents.
type Conversations struct {
	Prompts     int // messages with the words of a prompt
	Transcripts int
}

// PrivateOf returns what some checkpoints hold that is private. Nothing of one that is damaged is known,
// and it is left out. Nor is an untracked file as the commit there has it, which is where they go: "" for none.
func PrivateOf(ctx context.Context, s *store.Store, there name.OID, commits ...name.OID) (*Private, error) {
	p := &Private{}
	if c, err := s.Repo.Commits.Read(ctx, string(there)); there != "" && err == nil {
		p.there = c.Tree
	}
	for _, commit := range commits {
		got, err := s.Stored(ctx, commit)
		if err == nil {
			err = p.add(ctx, s, commit, got)
		}
		if err != nil && ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
	}
	return p, nil
}

// Files returns the paths of one kind, sorted.
func (p *Private) Files(k Kind) []string { return slices.Sorted(maps.Keys(p.files[k])) }

func (p *Private) mark(k Kind, path string) {
	if p.files[k] == nil {
		p.files[k] = map[string]bool{}
	}
	p.files[k][path] = true
}

func (p *Private) add(ctx context.Context, s *store.Store, commit name.OID, got store.Stored) error {
	p.addTalk(got.Record)
	c, head, err := commitOf(ctx, s.Repo, commit)
	if err != nil {
		return err
	}
	index, err := s.IndexTree(ctx, got.Commit)
	if err != nil {
		return err
	}
	if index == "" { // what was staged is not known
		index = head
	}
	skipped, err := s.SkipWorktree(ctx, got.Commit)
	if err != nil {
		return err
	}
	here := map[string]bool{}
	ignored, _ := record.Ignored.Of(got.Record.Snapshot.Extra)
	for _, path := range ignored {
		here[string(path)] = true
		p.mark(Ignored, string(path))
	}
	changes, err := s.Repo.Trees.Diff(ctx, index, c.Tree)
	if err != nil {
		return err
	}
	hidden := HiddenPaths(name.All[string](got.Record.Git.AssumeUnchanged), skipped, name.All[string](got.Record.Git.SparsePresent))
	known := append(name.All[string](got.Record.Git.Unmerged), name.All[string](got.Record.Git.IntentToAdd)...)
	for _, ch := range changes {
		switch {
		case ch.New.Mode == 0 || ch.New.Mode == git.ModeGitlink || here[ch.Path]:
		case hidden[ch.Path]:
			p.mark(Hidden, ch.Path)
		case ch.Old.Mode == 0 && !slices.Contains(known, ch.Path):
			if !slices.ContainsFunc([]name.OID{head, p.there}, func(tree name.OID) bool {
				e, in, err := s.Repo.Trees.Lookup(ctx, tree, ch.Path)
				return err == nil && in && e.OID == ch.New.OID
			}) {
				here[ch.Path] = true
				p.mark(Untracked, ch.Path)
			}
		}
	}
	return p.addFiltered(ctx, s, got.Commit, c.Tree, here)
}

// addTalk counts what a record has of a conversation.
func (p *Private) addTalk(r *record.Record) {
	if r.HasPrompt() {
		p.Prompts++
	}
	a, _ := r.Agent()
	if _, lines := r.Outputs[record.TranscriptOutput]; lines || a.Transcript != nil {
		p.Transcripts++
	}
}

// addFiltered marks the files whose exact bytes the record commit m keeps, if they differ by more than
// line ends from what a commit holds. Those that are private as a whole are left out.
func (p *Private) addFiltered(ctx context.Context, s *store.Store, m, tree name.OID, whole map[string]bool) error {
	raw, err := s.Raw(ctx, m)
	for path, oid := range raw {
		if whole[path] {
			continue
		}
		e, in, err := s.Repo.Trees.Lookup(ctx, tree, path)
		if err != nil {
			return err
		}
		same := in
		if in {
			exact, err := s.Repo.Objects.Batch().Typed(ctx, string(oid), "blob")
			if err != nil {
				return err
			}
			kept, err := s.Repo.Objects.Batch().Typed(ctx, string(e.OID), "blob")
			if err != nil {
				return err
			}
			same = bytes.Equal(asCommitted(exact.Data), asCommitted(kept.Data))
		}
		if !same {
			p.mark(Filtered, path)
		}
	}
	return err
}

var ident = lazy.Pattern(`\$Id:[^$\n]*\$`)

// asCommitted undoes the conversions with which git itself withholds nothing: line ends and $Id$.
func asCommitted(text []byte) []byte {
	return ident().ReplaceAll(bytes.ReplaceAll(text, []byte("\r\n"), []byte("\n")), []byte("$$Id$$"))
}

// commitOf returns a checkpoint's commit, and the tree of the commit that it was made on, or "".
func commitOf(ctx context.Context, repo *git.Repo, commit name.OID) (c git.Commit, head name.OID, err error) {
	if c, err = repo.Commits.Read(ctx, string(commit)); err != nil || len(c.Parents) < 2 {
		return c, "", err
	}
	on, err := repo.Commits.Read(ctx, string(c.Parents[0]))
	return c, on.Tree, err
}

// HiddenPaths returns the files on the disk whose changes git was told not to look at: those that are
// assume-unchanged, and of those that are skip-worktree the ones that are present. A sparse checkout in
// force leaves the bit only where the file is absent.
func HiddenPaths(assumed, skipped, present []string) map[string]bool {
	out := gather.SetOf(assumed)
	for _, path := range present {
		if slices.Contains(skipped, path) {
			out[path] = true
		}
	}
	return out
}

// Among returns only the files that in chooses.
func (p *Private) Among(in func(path string) bool) *Private {
	out := &Private{}
	for k, files := range p.files {
		for path := range files {
			if in(path) {
				out.mark(Kind(k), path)
			}
		}
	}
	return out
}

// Any reports whether there is something private.
func (p *Private) Any() bool { return len(p.keys()) > 0 }

// count returns in words how much there is.
func (p *Private) count() string {
	var parts []string
	add := func(n int, one, many string) {
		if n > 0 {
			parts = append(parts, render.Count(n, one, many))
		}
	}
	for k, said := range kinds {
		add(len(p.files[k]), said.one, said.many)
	}
	add(p.Prompts, "prompt to a coding agent", "messages with prompts to coding agents")
	add(p.Transcripts, "transcript", "transcripts")
	last := len(parts) - 1
	if last < 1 {
		return strings.Join(parts, "")
	}
	return strings.Join(parts[:last], ", ") + " and " + parts[last]
}

// Named returns lines that name the first files of each kind and say how many more there are.
func (p *Private) Named() (lines []string) {
	const maxNamed = 20 // bounds how many files of a kind a refusal or a question lists
	for k, said := range kinds {
		lines = append(lines, render.First(p.Files(Kind(k)), maxNamed, "… and %d more"+said.mark, func(file string) string { return inOneLine(file) + said.mark })...)
	}
	return lines
}

// FirstTime describes what would go to an address for the first time, or into a file.
type FirstTime struct {
	To   string // the remote for messages, with its address, or the file
	File bool
	*Private
}

// String returns the first half of the question. There must be something private.
func (f FirstTime) String() string {
	if f.File {
		return f.count() + " would be in " + f.To
	}
	return f.count() + " would go to " + f.To + " for the first time"
}
