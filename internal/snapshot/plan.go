package snapshot

import (
	"context"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"sort"
	"strings"

	"git-checkpoint/internal/git"
	"git-checkpoint/internal/name"
)

// Target is what a restore brings back.
type Target struct {
	Tree    name.OID
	Index   *IndexState // nil: the index stays as it is
	Raw     map[string]name.OID
	Skipped []string               // not captured then: they stay untouched
	Modes   map[string]fs.FileMode // permission bits that differ from git's own

	ModesKnown bool // a file that Modes does not have had none of its own

	Keep []string // paths that stay as they are, whatever the target has there

	Wrote map[string]name.OID // by the move that is undone: these files go, ignored or not
}

// Scope limits a restore. The zero Scope is everything.
type Scope struct {
	Only      func(path string) bool // nil: every path
	SkipIndex bool
}

// Op is what happens to one path. Old is what is there now, New what will be;
// one of them may be zero.
type Op struct {
	Path           string
	Old, New       git.Entry
	OldRaw, NewRaw name.OID    // exact bytes, where git's conversions would give others
	Perm           fs.FileMode // for a regular file to write: its permission bits; 0: as umask says
	Split          bool        // a file of several names, whose mode is to differ: it becomes one of its own
	Same           bool        // the file has these bytes already, only the attributes make other blobs of them
}

// kind tells the three things that a restore does; "" for none.
func (o Op) kind() string {
	switch {
	case o.Same:
		return ""
	case o.New.Mode == 0:
		return "delete"
	case !o.Split && o.Old.OID == o.New.OID && o.OldRaw == o.NewRaw && regular(o.Old.Mode) && regular(o.New.Mode) && o.Old.Mode != o.New.Mode:
		return "mode"
	}
	return "write"
}

func regular(m git.Mode) bool { return m == git.ModeFile || m == git.ModeExec }

// Collision is something in the way that no capture holds.
type Collision struct {
	Path    string
	Reason  string
	Ignored bool // an ignored file: a forced capture can hold it
}

// Plan is a restore, thought through. Nothing has been written.
type Plan struct {
	Cur        *Capture
	Target     Target
	Scope      Scope
	Ops        []Op
	Collisions []Collision
	Kept       []string // paths that stay untouched by rule although the two sides differ
	Risk       []Skip
	IndexTree  name.OID    // the staged tree afterwards; empty when the index stays
	Index      *IndexState // what else the index holds afterwards; nil when it stays

	seen  map[string]fs.FileInfo // what planning saw at the paths of Ops
	large map[name.OID]bool      // content that is not to be held in memory
}

// Paths lists the paths of one kind of operation: "write", "delete" or "mode".
func (p *Plan) Paths(kind string) []string {
	out := []string{}
	for _, o := range p.Ops {
		if o.kind() == kind {
			out = append(out, o.Path)
		}
	}
	return out
}

// Plan compares what is there now with the target. It checks that every object
// is present and that nothing uncaptured is in the way.
func (s *Shot) Plan(ctx context.Context, cur *Capture, t Target, scope Scope) (*Plan, error) {
	p := &Plan{Cur: cur, Target: t, Scope: scope, seen: map[string]fs.FileInfo{}}
	changes, err := s.repo.DiffTrees(ctx, cur.Tree, t.Tree)
	if err != nil {
		return nil, err
	}
	if err := s.addOps(ctx, p, changes); err != nil {
		return nil, err
	}
	if err := s.spareIgnored(ctx, p, changes); err != nil {
		return nil, err
	}
	if err := s.verifyObjects(ctx, p); err != nil {
		return nil, err
	}
	if err := s.findCollisions(ctx, p); err != nil {
		return nil, err
	}
	if err := s.permissions(p); err != nil {
		return nil, err
	}
	p.findRisks()
	if err := s.planIndex(ctx, p); err != nil {
		return nil, err
	}
	return p, s.verifyStaged(ctx, p)
}

// addOps turns differences into operations. Gitlinks and whatever a rule left out
// on either side stay as they are now.
func (s *Shot) addOps(ctx context.Context, p *Plan, changes []git.Change) error {
	untouched := untouchedPaths(p)
	changes, err := s.sparseChanges(ctx, p, changes)
	if err != nil {
		return err
	}
	for _, c := range changes {
		if c.New.Mode != 0 && refusedName(c.Path, c.New.Mode == git.ModeSymlink) {
			return &HostileError{c.Path}
		}
	}
	at := map[string]bool{}
	for _, c := range changes {
		at[c.Path] = true
		if p.Scope.Only != nil && !p.Scope.Only(c.Path) {
			continue
		}
		if c.Old.Mode == git.ModeGitlink || c.New.Mode == git.ModeGitlink || untouched(c.Path) {
			if c.New.Mode != 0 && c.New.Mode != git.ModeGitlink && !s.holds(c.Path, c.New, p.Target.Raw[c.Path]) {
				p.blocked(c)
			} else {
				p.Kept = append(p.Kept, c.Path)
			}
			continue
		}
		p.Ops = append(p.Ops, Op{
			Path: c.Path, Old: c.Old, New: c.New, OldRaw: p.Cur.Raw[c.Path], NewRaw: p.Target.Raw[c.Path],
		})
	}
	if err := s.addRaw(ctx, p, at, untouched); err != nil {
		return err
	}
	sort.Slice(p.Ops, func(i, j int) bool { return p.Ops[i].Path < p.Ops[j].Path })
	if err := s.splitLinked(p); err != nil {
		return err
	}
	return s.addSkipped(ctx, p, at)
}

// splitLinked finds the files whose mode changes and that have another name: the mode is
// the inode's, so that chmod would change it under that name too.
func (s *Shot) splitLinked(p *Plan) error {
	for i := range p.Ops {
		o := &p.Ops[i]
		if o.kind() != "mode" {
			continue
		}
		info, err := s.tree.lstat(o.Path)
		if err != nil {
			return fmt.Errorf("look at %q: %w", o.Path, err)
		}
		o.Split = info != nil && info.Mode().IsRegular() && links(info) > 1
	}
	return nil
}

// addRaw adds files whose blobs are the same and whose exact bytes are not.
func (s *Shot) addRaw(ctx context.Context, p *Plan, at map[string]bool, untouched func(string) bool) error {
	for _, raw := range []map[string]name.OID{p.Cur.Raw, p.Target.Raw} {
		for path := range raw {
			if at[path] || p.Cur.Raw[path] == p.Target.Raw[path] || p.Scope.Only != nil && !p.Scope.Only(path) || untouched(path) {
				continue
			}
			at[path] = true
			e, ok, err := s.repo.Lookup(ctx, p.Cur.Tree, path)
			if err != nil {
				return err
			}
			if ok {
				p.Ops = append(p.Ops, Op{Path: path, Old: e, New: e, OldRaw: p.Cur.Raw[path], NewRaw: p.Target.Raw[path]})
			}
		}
	}
	return nil
}

// addSkipped finds files that cannot be captured now and that the target has: the
// staged version stands for them in the capture, so the trees need not differ.
func (s *Shot) addSkipped(ctx context.Context, p *Plan, at map[string]bool) error {
	then := map[string]bool{}
	for _, sk := range p.Target.Skipped {
		then[strings.TrimSuffix(sk, "/")] = true
	}
	for _, sk := range p.Cur.Skipped {
		if at[sk.Path] || then[sk.Path] || strings.HasSuffix(sk.Path, "/") || p.Scope.Only != nil && !p.Scope.Only(sk.Path) {
			continue
		}
		e, ok, err := s.repo.Lookup(ctx, p.Target.Tree, sk.Path)
		if err != nil {
			return err
		}
		if ok && !e.IsTree() && e.Mode != git.ModeGitlink && !s.holds(sk.Path, e, p.Target.Raw[sk.Path]) {
			p.Collisions = append(p.Collisions, Collision{Path: sk.Path, Reason: sk.Reason})
		}
	}
	return nil
}

// holds reports whether a file is what the target wants there, so that nothing of it is in
// the way although no capture has it.
func (s *Shot) holds(file string, want git.Entry, raw name.OID) bool {
	if info, err := s.tree.lstat(file); err != nil || info == nil || !info.Mode().IsRegular() || modeOf(info) != want.Mode {
		return false
	}
	got, _, err := s.tree.hashWhole(s.repo.Format, file)
	return err == nil && (got == raw || raw == "" && got == want.OID)
}

// blocked notes that the target wants a file where something uncaptured is.
func (p *Plan) blocked(c git.Change) {
	for _, sk := range p.Target.Skipped {
		if covers(sk, c.Path) {
			p.Kept = append(p.Kept, c.Path) // left out when the target was made: it stays
			return
		}
	}
	if c.Old.Mode == git.ModeGitlink {
		p.Collisions = append(p.Collisions, Collision{Path: c.Path, Reason: ReasonNested})
		return
	}
	for _, sk := range p.Cur.Skipped {
		if covers(sk.Path, c.Path) || covers(c.Path, strings.TrimSuffix(sk.Path, "/")) {
			p.Collisions = append(p.Collisions, Collision{Path: strings.TrimSuffix(sk.Path, "/"), Reason: sk.Reason})
			return
		}
	}
	p.Kept = append(p.Kept, c.Path)
}

// covers reports whether a skipped path is p or a directory above it.
func covers(skipped, p string) bool {
	skipped = strings.TrimSuffix(skipped, "/")
	return p == skipped || strings.HasPrefix(p, skipped+"/")
}

// untouchedPaths is the test for what a rule left out of either side.
func untouchedPaths(p *Plan) func(string) bool {
	skipped := map[string]bool{}
	for _, sk := range p.Cur.Skipped {
		skipped[strings.TrimSuffix(sk.Path, "/")] = true
	}
	for _, sk := range p.Target.Skipped {
		skipped[strings.TrimSuffix(sk, "/")] = true
	}
	for _, kept := range p.Target.Keep {
		skipped[kept] = true
	}
	return func(q string) bool {
		for d := q; len(skipped) > 0 && d != "."; d = path.Dir(d) {
			if skipped[d] {
				return true
			}
		}
		return false
	}
}

// HostileError names a path that no checkpoint of this program holds and that a
// restore must never write.
type HostileError struct{ Path string }

func (e *HostileError) Error() string {
	return fmt.Sprintf("the tree of the checkpoint holds %q, a name that git refuses", e.Path)
}

// content is the blob that holds what is written.
func (o Op) content() name.OID {
	if o.NewRaw != "" {
		return o.NewRaw
	}
	return o.New.OID
}

// permissions settles the bits beyond git's: those that the target had, else, where
// nothing is known of it, those that the file has now.
func (s *Shot) permissions(p *Plan) error {
	plain, exec, err := s.defaultModes()
	if err != nil {
		return err
	}
	for i := range p.Ops {
		o := &p.Ops[i]
		if !regular(o.New.Mode) {
			continue
		}
		usual := plain
		if o.New.Mode == git.ModeExec {
			usual = exec
		}
		info := p.seen[o.Path]
		perm, known := p.Target.Modes[o.Path]
		switch {
		case known:
			o.Perm = perm
		case info == nil || !info.Mode().IsRegular(), p.Target.ModesKnown && unusual(info.Mode().Perm()):
			o.Perm = usual
		default:
			o.Perm = info.Mode().Perm() &^ 0o111
			if o.New.Mode == git.ModeExec {
				o.Perm |= o.Perm & 0o444 >> 2
			}
		}
	}
	return nil
}

// findRisks lists what the restore changes and no checkpoint can bring back exactly.
func (p *Plan) findRisks() {
	atRisk := map[string]string{}
	for _, sk := range p.Cur.AtRisk {
		atRisk[sk.Path] = sk.Reason
	}
	for _, o := range p.Ops {
		if reason, ok := atRisk[o.Path]; ok {
			p.Risk = append(p.Risk, Skip{Path: o.Path, Reason: reason})
		}
		if info := p.seen[o.Path]; info != nil && info.Mode().IsRegular() && links(info) > 1 {
			p.Risk = append(p.Risk, Skip{Path: o.Path, Reason: "hard link: it becomes a file of its own"})
		}
	}
}

// planIndex works out the staged tree that there will be.
func (s *Shot) planIndex(ctx context.Context, p *Plan) error {
	if p.Scope.SkipIndex || p.Target.Index == nil {
		return nil
	}
	p.IndexTree, p.Index = p.Target.Index.Tree, p.Target.Index
	if p.Scope.Only == nil {
		return nil
	}
	p.Index = mixed(p.Cur.Index, *p.Target.Index, p.Scope.Only)
	changes, err := s.repo.DiffTrees(ctx, p.Cur.Index.Tree, p.Target.Index.Tree)
	if err != nil {
		return err
	}
	var stay []string // a file and a path below it do not fit into one index: what is out of scope wins
	for _, c := range changes {
		if c.New.Mode == 0 && !p.Scope.Only(c.Path) {
			stay = append(stay, c.Path)
		}
	}
	edits := map[string]git.Entry{}
	for _, c := range changes {
		if p.Scope.Only(c.Path) && (c.New.Mode == 0 || !slices.ContainsFunc(stay, func(q string) bool { return covers(q, c.Path) || covers(c.Path, q) })) {
			edits[c.Path] = c.New
		}
	}
	p.IndexTree, err = s.repo.EditTree(ctx, p.Cur.Index.Tree, edits)
	return err
}
