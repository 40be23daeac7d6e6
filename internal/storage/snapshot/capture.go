package snapshot

// A capture is made in these steps (Worktree.Take):
//
// 1. Link the index under a private name, so that every git process sees the same version and
// none writes the user's index (index.go). 2. Scan for paths that differ from the index (scan.go,
// native.go), and in parallel find the tree of what is staged. 3. Apply the rules to what the
// scan found (choose). 4. Hash the files and collect their new tree entries as edits (hash.go),
// and keep exact bytes where git's conversions would lose them (raw.go, exact.go). 5. Apply the
// edits to the staged tree. The result is the tree of the worktree.

import (
	"context"
	"fmt"
	"slices"
	"sort"
	"time"

	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/git"
	"git-checkpoint/internal/sys/gather"
)

// capturer makes captures.
type capturer struct {
	converter
	hash    hasher
	chooser chooser
	scanner Scanner
}

// captureOnce makes one attempt of a capture; Take repeats it if a rollback moved files meanwhile.
func (s *capturer) captureOnce(ctx context.Context, rules Rules) (*Capture, error) {
	const packFrom = 500 // the number of changed files from which a capture writes one pack instead of a loose object for each
	began := time.Now()
	hashes := s.openHashCache(began)
	private, err := s.openIndex(ctx)
	if err != nil {
		return nil, err
	}
	defer private.remove()
	if err := s.postdateIndex(private); err != nil {
		return nil, err
	}
	scan, state, err := s.scanAndStage(ctx, private)
	if err != nil {
		return nil, err
	}
	lowerGOGC(len(scan.Tracked)+len(scan.Untracked), 100)
	if rules.Ready != nil {
		if err := rules.Ready(); err != nil {
			return nil, err
		}
	}
	c := &Capture{Began: began, hashes: hashes, TrackedOnly: s.trackedOnly, Index: state, index: private.was, Raw: map[string]name.OID{}, Touched: map[string]bool{}, Modes: scan.Modes, edits: map[string]git.Entry{}, look: rules.Look, forced: rules.Force}
	files, err := s.chooser.choose(ctx, private, scan, rules, c)
	if err != nil {
		return nil, err
	}
	if err := s.guardSize(ctx, files, rules); err != nil {
		return nil, err
	}
	keep := func() error { return s.writeTree(ctx, private, files, c) }
	unseen := gather.Count(files, func(f candidate) bool { return f.seen.oid == "" })
	lowerGOGC(unseen/20, 20) // among fewer, collecting so often takes a fifth of the time
	if unseen >= packFrom {
		err = s.repo.Objects.InPacks(ctx, keep)
	} else {
		err = keep()
	}
	if err != nil {
		for key, seen := range c.hashes.previous() { // the next one has less to read
			c.hashes.keep(key, seen)
		}
	}
	c.hashes.save()
	return c, err
}

// writeTree writes the files and the tree of the capture.
//
// keepUnchanged must come after hash, because only then does the private index have the
// .gitattributes that were captured. Trees that HEAD has too are not added to New: HEAD's commit
// keeps them alive.
func (s *capturer) writeTree(ctx context.Context, private *privateIndex, files []candidate, c *Capture) error {
	converts := s.mayConvert(private, files)
	var err error
	if converts {
		err = s.hash.hashConverting(ctx, private, files, c)
	} else {
		_, err = s.hash.hashPlain(ctx, files, c)
	}
	if err != nil {
		return err
	}
	private.hashed = true
	if len(private.lost) > 0 { // some of their blobs may have been written again
		if c.Index.Tree, err = s.rewriteStaged(ctx, private); err != nil {
			return err
		}
		for _, t := range private.lost {
			c.AtRisk = append(c.AtRisk, Skip{Path: t.Path, Reason: ReasonLost})
		}
	}
	s.addSides(c, converts)
	if converts || s.hash.convertedBefore() {
		// The private index has the captured attributes only after hash.
		if err := s.hash.keepUnchanged(ctx, private, c); err != nil {
			return err
		}
	}
	beyond, err := s.writeTrees(ctx, c)
	if Damaged(err) {
		// A directory that the index names is lost or damaged. If the directories cannot be written again,
		// the first error says more.
		if staged, failed := s.rewriteStaged(ctx, private); failed == nil {
			c.Index.Tree = staged
			beyond, err = s.writeTrees(ctx, c)
		}
	}
	// If trees cannot be compared, HEAD is damaged already, and the checkpoint is no worse than HEAD.
	if c.Tree == "" {
		return fmt.Errorf("write the tree of the worktree: %w", err)
	}
	for i := range c.Skipped {
		if c.Skipped[i].Reason != ReasonMirror {
			c.Skipped[i].Sight = s.Sight(c.Skipped[i].Path)
		}
	}
	sort.Slice(c.Skipped, func(i, j int) bool { return c.Skipped[i].Path < c.Skipped[j].Path })
	c.New = append(append(c.New, c.Tree, c.Index.Tree), beyond...)
	return nil
}

// scanAndStage runs the scan and, at the same time, finds the tree of what is staged.
func (s *capturer) scanAndStage(ctx context.Context, private *privateIndex) (Scan, IndexState, error) {
	staged := make(chan error, 1)
	state := private.state
	state.Sparse = s.isSparse()
	// git clears these bits itself the next time it reads the index. If a restore put one back after the checkout is
	// no longer sparse, it would hide the file from git.
	if expects, _ := s.repo.Config.Bool("sparse.expectFilesOutsideOfPatterns", false); state.Sparse && !expects { //nolint:errcheck // as good as unset
		state.SkipWorktree = subtract(state.SkipWorktree, state.SparsePresent)
	}
	go func() {
		var err error
		state.Tree, err = s.stagedTree(ctx, private)
		staged <- err
	}()
	scan, err := s.scanner.Scan(ctx, private)
	if stagedErr := <-staged; err == nil {
		err = stagedErr
	}
	// Whatever their stat data say, their files are read.
	scan.Tracked = slices.DeleteFunc(scan.Tracked, func(t Tracked) bool { return slices.Contains(private.lost, t) })
	scan.Tracked = append(scan.Tracked, private.lost...)
	return scan, state, err
}

// Take captures the worktree and what is staged. It writes objects, but no refs, and changes no
// file. If rollbacks keep interfering it fails with ErrMoved, and with ErrBusy if one does not end.
func (s *capturer) Take(ctx context.Context, rules Rules) (*Capture, error) {
	const settleTries = 50 // how often it starts again before it gives up
	for tries := 0; ; tries++ {
		// The mark is read first: a rollback that begins after this line changes it or is seen by
		// Moving.
		mark := s.mark()
		if err := s.settled(ctx); err != nil {
			return nil, err
		}
		half := s.cutOff()
		c, err := s.captureOnce(ctx, rules)
		if !Moving(s.dir) && s.mark() == mark {
			if c != nil {
				c.mark, c.Half = mark, half || s.cutOff()
			}
			return c, err
		}
		if tries == settleTries {
			return nil, fmt.Errorf("capture the worktree: %w", ErrMoved)
		}
	}
}

// writeTrees writes the tree of the worktree: that of what is staged, with c.edits. It returns the trees
// of both that HEAD does not have. After an error, c.Tree is empty if the tree was not written.
func (s *capturer) writeTrees(ctx context.Context, c *Capture) (beyond []name.OID, err error) {
	if c.Tree, err = s.repo.Trees.Edit(ctx, c.Index.Tree, c.edits); err != nil {
		c.Tree = ""
		return nil, err
	}
	head := s.repo.Checkout.HeadTree(ctx)
	for _, tree := range []name.OID{c.Tree, c.Index.Tree} {
		trees, failed := s.repo.Trees.ListNew(ctx, head, tree)
		if failed != nil {
			err = failed
			continue
		}
		beyond = append(beyond, trees...)
	}
	return beyond, err
}
