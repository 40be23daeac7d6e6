package snapshot

// A plan compares two trees: that of a capture that was just taken, and that of the target. Each
// path that differs becomes an Op, except where a rule keeps it as it is. Then the plan is
// checked for everything that could make the restore fail or lose data: missing objects, files in
// the way that no capture holds, and content that cannot be brought back exactly.

import (
	"cmp"
	"context"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"sort"
	"strings"

	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/git"
	"git-checkpoint/internal/storage/worktree"
	"git-checkpoint/internal/sys/gather"
)

// Target describes what a restore brings back. For a rollback it comes from a checkpoint.
type Target struct {
	Tree    name.OID               // of all files; see Capture.Tree
	Index   *IndexState            // what was staged. If it is nil, the index stays as it is
	Heads   *Heads                 // nil if HEAD stays, and is where it was when Index was recorded
	Raw     map[string]name.OID    // has the exact bytes of files, as Capture.Raw does
	Skipped []string               // paths that were not captured; a restore leaves them alone
	Modes   map[string]fs.FileMode // permission bits, as Capture.Modes has them

	ModesKnown bool // a file that is not in Modes had usual bits

	Keep []string // paths to leave as they are, whatever the target has there

	// Wrote is for an undo: the files that the rollback made, with their content. The undo
	// deletes them even if they are ignored, as long as they still have that content.
	Wrote map[string]name.OID
}

// Scope limits a restore to some paths, or to the files without the index. The zero Scope is
// everything.
type Scope struct {
	Only      func(path string) bool // nil: every path
	SkipIndex bool                   // leave the index as it is
	KeepAway  bool                   // write no file that the rules of a sparse checkout keep away now, and the index has
}

// Op is what happens to one path. Old is what is there now, New what will be there. An entry with
// mode 0 means no file.
type Op struct {
	Path     string
	Old, New git.Entry
	// OldRaw and NewRaw are blobs with the exact bytes, for content that git's conversions would
	// not give back. If NewRaw is empty, the file is a checkout of New.
	OldRaw, NewRaw name.OID
	Perm           fs.FileMode // the permission bits of a regular file to write
	// Split says that only the mode differs in git, but that the file is replaced by a new one:
	// it has several hard links, and chmod would change the mode under its other names too, or the
	// target's attributes make other bytes of its blob.
	Split bool
	// Same says that the file already has the wanted bytes, and only the blobs differ, because
	// other attributes were in force. Nothing is written then.
	Same bool
}

// OpKind is what a restore does with a path.
type OpKind int

// The kinds of operations.
const (
	OpNone   OpKind = iota // nothing
	OpDelete               // removes the file
	OpWrite                // puts a new file there
	OpMode                 // changes the executable bit only
)

// kind returns what the restore does with the path.
func (o Op) kind() OpKind {
	switch {
	case o.Same:
		return OpNone
	case o.New.Mode == 0:
		return OpDelete
	case !o.Split && o.Old.OID == o.New.OID && o.OldRaw == o.NewRaw && regular(o.Old.Mode) && regular(o.New.Mode) && o.Old.Mode != o.New.Mode:
		return OpMode
	}
	return OpWrite
}

// regular reports whether m is the mode of a file rather than a link, tree or submodule.
func regular(m git.Mode) bool { return m == git.ModeFile || m == git.ModeExec }

// Collision is something in the way of the restore that the capture does not hold, so that it
// would be lost.
type Collision struct {
	Path    string
	Reason  string
	Ignored bool // an ignored file; Rules.Force can capture it
	Same    bool // an ignored file that is what the target wants
}

// Plan says what a restore would do. Nothing has been written yet, so it can be shown and
// dropped.
type Plan struct {
	Cur        *Capture // what is there now
	Target     Target
	Scope      Scope
	Ops        []Op
	Dirs       []string    // directories to make that hold no captured file, with those above them; sorted
	Collisions []Collision // a caller must not go on to Stage while there are any
	Locked     []Skip      // what the system would not let this process replace or remove; as with Collisions
	Kept       []string    // paths that differ but stay untouched because of a rule
	Risk       []Skip      // paths that change and that no checkpoint can bring back exactly
	IndexTree  name.OID    // the staged tree afterwards; empty if the index stays
	Index      *IndexState // the rest of the index afterwards; nil if the index stays
	Carried    *Carried    // nil if Index is that of the target, or the index stays because it is out of scope

	// seen is what lstat said of the paths in Ops. Later steps refuse if a file differs from it.
	seen         map[string]fs.FileInfo
	forgotten    map[string]bool   // see forgetSparse
	reattributed bool              // attributes files differ between the sides, even if Scope leaves them out
	large        map[name.OID]bool // blobs of LargeFile bytes or more, which are streamed
	databases    map[string]string // the database that each path of Ops belongs to
	open         []string          // the databases that nobody may have open
	// contents are those of blobs that the plan has read to verify them, so that they are not read
	// again when they are written. They have keptContents bytes at most.
	contents map[name.OID][]byte
}

// Paths returns the paths of one kind of operation. Those of directories to make end in "/".
func (p *Plan) Paths(kind OpKind) []string {
	out := pathsTo(p.Ops, kind)
	for _, d := range p.Dirs {
		if kind == OpWrite {
			out = append(out, d+"/")
		}
	}
	return out
}

func pathsTo(ops []Op, kind OpKind) []string {
	out := []string{}
	for _, o := range ops {
		if o.kind() == kind {
			out = append(out, o.Path)
		}
	}
	return out
}

// planner makes the plan of a restore.
type planner struct {
	converter
	rules   ignoreRules
	carrier indexCarrier
}

// Plan compares the capture cur with the target. It fails with a MissingError or a HostileError if
// the target cannot be restored. Files in the way are not an error, but Plan.Collisions.
func (s *planner) Plan(ctx context.Context, cur *Capture, t Target, scope Scope) (*Plan, error) {
	p := &Plan{Cur: cur, Target: t, Scope: scope, seen: map[string]fs.FileInfo{}}
	changes, err := s.repo.Trees.Diff(ctx, cur.Tree, t.Tree)
	if err == nil {
		err = Refuse(changes)
	}
	if err != nil {
		return nil, err
	}
	for _, step := range []func(context.Context, *Plan, []git.Change) error{s.forgetSparse, s.planIndex, s.addOps, s.addDirs, s.verifyObjects, s.findDatabases, s.keepIgnored, s.refuseTwins, s.findCollisions, s.refuseOpen, s.permissions, s.findRisks, s.verifyStaged} {
		if err := step(ctx, p, changes); err != nil {
			return nil, err
		}
	}
	return p, nil
}

// addOps turns the differences between the trees into operations. Gitlinks and paths that either
// side left out stay as they are, unless the target wants a file where something uncaptured is;
// then blocked decides. The operations are sorted by path.
func (s *planner) addOps(ctx context.Context, p *Plan, changes []git.Change) error {
	changes, err := s.sparseChanges(ctx, p, changes)
	if err != nil {
		return err
	}
	// An older version of this program may have captured files of the git directory.
	changes = slices.DeleteFunc(changes, func(c git.Change) bool { return s.files.InGit(path.Dir(c.Path)) })
	nested, err := s.becomeNested(changes)
	if err != nil {
		return err
	}
	untouched := untouchedPaths(p, nested)
	p.Ops = make([]Op, 0, len(changes))
	at := make(map[string]bool, len(changes))
	for _, c := range changes {
		at[c.Path] = true
		base := s.databaseOf(ctx, p, c.Path)
		if p.Scope.Only != nil && !p.Scope.Only(cmp.Or(base, c.Path)) || base != "" && s.isLoose(ctx, p, c.Path) {
			continue
		}
		if c.Old.Mode == git.ModeGitlink || c.New.Mode == git.ModeGitlink || untouched(c.Path) || s.isHalf(ctx, p, c.Path, untouched) {
			s.leave(p, c)
			continue
		}
		if s.trackedOnly && c.Old.Mode == 0 && s.holds(c.Path, c.New, p.Target.Raw[c.Path]) {
			continue // an untracked file, which the capture did not look for
		}
		p.Ops = append(p.Ops, Op{
			Path: c.Path, Old: c.Old, New: c.New, OldRaw: p.Cur.Raw[c.Path], NewRaw: p.Target.Raw[c.Path],
		})
	}
	if err := s.addRaw(ctx, p, at, untouched); err != nil {
		return err
	}
	if err := s.addConverted(ctx, p, changes, untouched); err != nil {
		return err
	}
	sort.Slice(p.Ops, func(i, j int) bool { return p.Ops[i].Path < p.Ops[j].Path })
	if err := s.splitLinked(p); err != nil {
		return err
	}
	return s.addSkipped(ctx, p, at)
}

// splitLinked sets Split for files whose mode changes and that have more than one name, and Same where the
// index alone has modes.
func (s *planner) splitLinked(p *Plan) error {
	for i := range p.Ops {
		o := &p.Ops[i]
		if o.kind() != OpMode {
			continue
		} else if o.Same = s.noModes; o.Same {
			continue
		}
		info, err := s.files.Lstat(o.Path)
		if err != nil {
			return fmt.Errorf("look at %q: %w", o.Path, err)
		}
		o.Split = info != nil && info.Mode().IsRegular() && worktree.Links(info) > 1
	}
	return nil
}

// addRaw adds operations for files that have the same blob on both sides but different exact
// bytes, for example because only their line endings differ.
func (s *planner) addRaw(ctx context.Context, p *Plan, at map[string]bool, untouched func(string) bool) error {
	for _, raw := range []map[string]name.OID{p.Cur.Raw, p.Target.Raw} {
		for path := range raw {
			if at[path] || p.Cur.Raw[path] == p.Target.Raw[path] || p.Scope.Only != nil && !p.Scope.Only(path) || untouched(path) {
				continue
			}
			at[path] = true
			e, ok, err := s.repo.Trees.Lookup(ctx, p.Cur.Tree, path)
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

// addSkipped finds files that the target has and that cannot be captured now, for example because
// they are too large. In the tree of the capture the staged version stands for such a file, so
// the trees may be equal although the file differs. It would be lost, so it is a collision.
func (s *planner) addSkipped(ctx context.Context, p *Plan, at map[string]bool) error {
	then := gather.Set(p.Target.Skipped, func(sk string) string { return strings.TrimSuffix(sk, "/") })
	for _, sk := range p.Cur.Skipped {
		path := strings.TrimSuffix(sk.Path, "/")
		if at[path] || then[path] || p.Scope.Only != nil && !p.Scope.Only(path) {
			continue
		}
		switch e, ok, err := s.repo.Trees.Lookup(ctx, p.Target.Tree, path); {
		case err != nil:
			return err
		case !ok && p.Scope.Only == nil || ok && (e.IsTree() || e.Mode == git.ModeGitlink || s.holds(path, e, p.Target.Raw[path])):
		case !ok || sk.Reason == ReasonExcluded: // asked for and not in the target, or it stays as it is, whatever the target has
			p.Kept = append(p.Kept, path)
		default:
			p.Collisions = append(p.Collisions, Collision{Path: path, Reason: sk.Reason})
		}
	}
	return nil
}

// holds reports whether a file already is what the target wants. Then it does not matter that no
// capture holds it.
func (s *planner) holds(file string, want git.Entry, raw name.OID) bool {
	if info, err := s.files.Lstat(file); err != nil || info == nil || info.Mode()&^fs.ModeSymlink&fs.ModeType != 0 || s.modeOf(info, want.Mode) != want.Mode {
		return false
	}
	got, _, err := s.files.HashWhole(s.repo.Format, file)
	return err == nil && (got == raw || raw == "" && got == want.OID)
}

// blocked handles a path where the target has a file and that is to stay untouched. If something
// uncaptured is there now and the target had not left the path out as well, it is a collision.
// Otherwise the path is listed as kept.
func (p *Plan) blocked(c git.Change) {
	for _, sk := range p.Target.Skipped {
		if Covers(sk, c.Path) {
			p.Kept = append(p.Kept, c.Path) // it was left out of the target
			return
		}
	}
	if c.Old.Mode == git.ModeGitlink {
		p.Collisions = append(p.Collisions, Collision{Path: c.Path, Reason: ReasonNested})
		return
	}
	for _, sk := range p.Cur.Skipped {
		if sk.Reason == ReasonExcluded && Covers(sk.Path, c.Path) {
			break // it stays as it is
		}
		if Covers(sk.Path, c.Path) || Covers(c.Path, strings.TrimSuffix(sk.Path, "/")) {
			p.Collisions = append(p.Collisions, Collision{Path: strings.TrimSuffix(sk.Path, "/"), Reason: sk.Reason})
			return
		}
	}
	p.Kept = append(p.Kept, c.Path)
}

// Covers reports whether skipped, with or without a final slash, is p or a directory above it.
func Covers(skipped, p string) bool {
	skipped = strings.TrimSuffix(skipped, "/")
	return p == skipped || strings.HasPrefix(p, skipped+"/")
}

// untouchedPaths returns a function that reports whether a path, or a directory above it, is in
// nested, was left out of either side or is in Target.Keep.
func untouchedPaths(p *Plan, nested []string) func(string) bool {
	all := slices.Concat(nested, p.Target.Keep, p.Target.Skipped, gather.List(p.Cur.Skipped, func(sk Skip) string { return sk.Path }))
	skipped := gather.Set(all, func(path string) string { return strings.TrimSuffix(path, "/") })
	return func(q string) bool {
		for d := range worktree.ParentsOf(q + "/") {
			if skipped[d] {
				return true
			}
		}
		return tooLong(q)
	}
}

// content returns the blob of the bytes to write. git may still convert it unless it is NewRaw.
func (o Op) content() name.OID { return cmp.Or(o.NewRaw, o.New.OID) }

// permissions sets Perm for each file to write. The target's bits are used if they are known;
// next the bits that the file has now, if they are usual or nothing is known about the target;
// and those of a new file otherwise.
func (s *planner) permissions(_ context.Context, p *Plan, _ []git.Change) error {
	usual, err := s.usualModes()
	if err != nil {
		return err
	}
	for i := range p.Ops {
		o := &p.Ops[i]
		if !regular(o.New.Mode) {
			continue
		}
		info := p.seen[o.Path]
		perm, known := p.Target.Modes[o.Path]
		switch {
		case known:
			o.Perm = perm
		case info == nil || !info.Mode().IsRegular(), p.Target.ModesKnown && unusual(info.Mode().Perm()):
			o.Perm = usual(o.New.Mode)
		default:
			o.Perm = info.Mode().Perm() &^ 0o111
			if o.New.Mode == git.ModeExec {
				o.Perm |= o.Perm & 0o444 >> 2
			}
		}
	}
	return nil
}

// findRisks lists the paths that the restore changes and that no checkpoint can bring back
// exactly.
func (s *planner) findRisks(ctx context.Context, p *Plan, _ []git.Change) error {
	atRisk := map[string]string{}
	outside, err := s.outsideRisks(ctx, p)
	maps.Copy(atRisk, outside)
	for _, sk := range p.Cur.AtRisk {
		atRisk[sk.Path] = sk.Reason
	}
	for _, o := range p.Ops {
		if reason, ok := atRisk[o.Path]; ok {
			p.Risk = append(p.Risk, Skip{Path: o.Path, Reason: reason})
		}
		if info := p.seen[o.Path]; info != nil && info.Mode().IsRegular() && worktree.Links(info) > 1 {
			p.Risk = append(p.Risk, Skip{Path: o.Path, Reason: "hard link: it will become a separate file"})
		}
	}
	return err
}

// planIndex computes what will be staged. If HEAD has a different tree from when the target was
// recorded, it carries the staged entries over (carry.go). If only some paths are restored, it is
// the current index with the entries of these paths exchanged.
func (s *planner) planIndex(ctx context.Context, p *Plan, _ []git.Change) (err error) {
	now, then := &p.Cur.Index, p.Target.Index
	if p.Scope.SkipIndex {
		then = nil
	}
	if h := p.Target.Heads; h != nil {
		if then != nil && !h.Exact {
			if then, p.Carried, err = s.carrier.carry(ctx, then, now, *h); err != nil {
				return err
			}
			if c := p.Carried; c != nil && p.Scope.Only != nil {
				c.Staged, c.Over, c.Left = gather.Those(c.Staged, p.Scope.Only), gather.Those(c.Over, p.Scope.Only), gather.Those(c.Left, p.Scope.Only)
			}
		}
		// Wherever HEAD moves, what is staged now is carried along, unless the recorded index
		// replaces it.
		if h.Now != h.After && (then == nil || p.Scope.Only != nil) {
			var said *Carried
			if now, said, err = s.carrier.carry(ctx, now, now, Heads{Then: h.Now, After: h.After}); err != nil {
				return err
			}
			if p.Carried == nil || now == nil {
				p.Carried = said
			}
			if now == nil {
				return nil
			}
		}
	}
	switch {
	case then == nil && now == &p.Cur.Index:
		return nil
	case then == nil:
		p.IndexTree, p.Index = now.Tree, now
		return nil
	case p.Scope.Only == nil:
		p.IndexTree, p.Index = then.Tree, then
		return nil
	}
	return s.mixIndex(ctx, p, now, then)
}

// mixIndex plans an index that has the entries of then where the scope says so, and those of now
// elsewhere.
func (s *planner) mixIndex(ctx context.Context, p *Plan, now, then *IndexState) error {
	p.Index = mixed(*now, *then, p.Scope.Only)
	changes, err := s.repo.Trees.Diff(ctx, now.Tree, then.Tree)
	if err != nil {
		return err
	}
	// A file and a path below it cannot both be in one index. If one of them is out of scope, it
	// stays and the other one is not brought back.
	stay := gather.List(gather.Those(changes, func(c git.Change) bool { return c.New.Mode == 0 && !p.Scope.Only(c.Path) }), func(c git.Change) string { return c.Path })
	edits := map[string]git.Entry{}
	for _, c := range changes {
		if p.Scope.Only(c.Path) && (c.New.Mode == 0 || !slices.ContainsFunc(stay, func(q string) bool { return Covers(q, c.Path) || Covers(c.Path, q) })) {
			edits[c.Path] = c.New
		}
	}
	p.IndexTree, err = s.repo.Trees.Edit(ctx, now.Tree, edits)
	return err
}
