package why

import (
	"cmp"
	"context"
	"os"
	"path/filepath"
	"slices"

	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/core/clearance"
	"git-checkpoint/internal/format/journal"
	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/git"
	"git-checkpoint/internal/storage/store"
	"git-checkpoint/internal/sys/gather"
	"git-checkpoint/internal/sys/wholefile"
)

// build is the making of an index from an older one, which may be empty, and from the journals.
type build struct {
	s        *store.Store
	progress func(int)
	old      *index
	x        *index
	reuse    []int32    // by checkpoint of x: the same one in old, if its difference is the same; else -1
	found    []found    // by checkpoint of x: what was read of it
	records  []name.OID // those of new checkpoints, in a partial clone
}

// found is what one checkpoint added.
type found struct {
	changes []foundChange
	lines   int
}

type foundChange struct {
	path, from string // from: its name before; empty: the same
	entries    []entry
}

// open returns an index that has all checkpoints of the journals as they are now. It writes what it had to
// read, if it can. progress is called with a number of checkpoints that were read; it may be nil.
func open(ctx context.Context, s *checkpoint.Rules, progress func(int)) (*index, error) {
	sessions, err := s.Store.Sessions(ctx)
	if err != nil {
		return nil, err
	}
	if said := s.MayFetch(ctx); said != "" {
		s.Store.Warn(said)
	}
	refs := gather.List(sessions, name.JournalRef)
	tips, err := s.Repo.Refs.ResolveAll(ctx, refs...)
	if err != nil {
		return nil, err
	}
	b := &build{s: s.Store, progress: progress, old: cmp.Or(load(s.Repo), &index{}), x: &index{}}
	for i, of := range sessions {
		if tip := tips[refs[i]]; tip != "" {
			b.x.Sessions = append(b.x.Sessions, session{Name: of, Tip: tip})
		}
	}
	if slices.EqualFunc(b.old.Sessions, b.x.Sessions, func(a, b session) bool { return a.Name == b.Name && a.Tip == b.Tip && !a.Incomplete }) {
		return b.old, nil
	}
	if err = b.points(ctx); err == nil {
		err = b.differences(ctx)
	}
	if err != nil {
		return nil, err
	}
	b.join()
	b.write()
	return b.x, nil
}

// write keeps the index for the next time. In a repository that cannot be written to it is made again
// each time, and so is one that is not complete.
func (b *build) write() {
	if b.x.lacks != nil {
		return
	}
	dir := filepath.Join(b.s.Repo.CommonDir, "checkpoint")
	if os.MkdirAll(dir, 0o777) != nil { //nolint:gosec // as git makes directories
		return
	}
	data, err := b.x.encode()
	if err != nil {
		return
	}
	key, err := clearance.Key(b.s.Repo)
	if err != nil {
		return
	}
	if data, err = sealed(data, key); err == nil {
		_ = wholefile.Bytes(filepath.Join(dir, indexFile), 0o600|b.s.Repo.Settings.SharedBits()&0o066, data) //nolint:errcheck // see above
	}
}

// points collects the checkpoints of all sessions.
func (b *build) points(ctx context.Context) error {
	b.x.numbers = map[place]int32{}
	for i := range b.x.Sessions {
		if err := b.pointsOf(ctx, &b.x.Sessions[i]); err != nil {
			return err
		}
	}
	// An attempt begins with the files of the checkpoint that it was forked from.
	for _, of := range b.x.Sessions {
		if at := b.x.numbered(of.OriginIn, of.OriginPoint); at >= 0 && of.From < of.To && b.x.Checkpoints[of.From].Base < 0 && at != of.From {
			b.x.Checkpoints[of.From].Via = at
		}
	}
	return nil
}

// pointsOf adds the checkpoints of one session that are not dead. A journal that cannot be read has none.
func (b *build) pointsOf(ctx context.Context, of *session) error {
	of.From = int32(len(b.x.Checkpoints)) //nolint:gosec // bounded by the number of refs
	of.To = of.From
	st, err := checkpoint.State(ctx, b.s, of.Name)
	if err != nil {
		return ctx.Err()
	}
	if o, forked := checkpoint.OriginOf(st); forked {
		of.OriginIn, of.OriginPoint = o.Session, o.Checkpoint
	}
	seen := map[string]bool{}
	for i := range st.Len() {
		if st.Standing(i).Dead {
			continue
		}
		e := st.Read(i)
		startsAtHead := checkpoint.StartsAtHead(ctx, b.s, e, seen)
		p := point{Base: -1}
		if at := b.old.numbered(of.Name, e.Checkpoint); at >= 0 && b.old.Checkpoints[at].Tree != "" {
			p = b.old.Checkpoints[at]
		} else if p, err = b.point(ctx, e); err != nil {
			return err
		}
		p.Base, p.Via = -1, -1
		for before := range st.LineTo(e) {
			if at := b.x.numbered(of.Name, before.Checkpoint); at >= 0 && before.Place != e.Place && !startsAtHead {
				p.Base = at
				break
			}
		}
		of.Incomplete = of.Incomplete || p.Tree == ""
		b.x.numbers[place{of.Name, p.ID}] = of.To
		b.x.Checkpoints, of.To = append(b.x.Checkpoints, p), of.To+1
	}
	return nil
}

// point reads the commit of a checkpoint. Where it is missing, the tree is empty.
func (b *build) point(ctx context.Context, e *journal.Entry) (point, error) {
	event := e.Event()
	p := point{ID: e.Checkpoint, At: event.Time.Unix(), Worktree: event.WorktreeID}
	c, err := b.s.Repo.Commits.Read(ctx, string(event.Commit))
	if err != nil {
		return p, ctx.Err()
	}
	if b.s.Repo.Promisor() != "" {
		if oid, err := b.s.RecordBlob(ctx, event.Commit); err == nil {
			b.records = append(b.records, oid)
		}
	}
	p.Tree, p.Person = c.Tree, personOf(c.Author)
	if len(c.Parents) > 1 { // the last one is the record
		p.Head = c.Parents[0]
	}
	return p, nil
}

// differences reads the difference of each checkpoint that old does not have.
func (b *build) differences(ctx context.Context) error {
	all := b.x.Checkpoints
	b.reuse, b.found = make([]int32, len(all)), make([]found, len(all))
	var fresh []int
	for _, of := range b.x.Sessions {
		for i := int(of.From); i < int(of.To); i++ {
			b.reuse[i] = -1
			at := b.old.numbered(of.Name, all[i].ID)
			if at >= 0 && b.old.Checkpoints[at].Tree == all[i].Tree && idOf(b.old, at) == idOf(b.x, int32(i)) { //nolint:gosec // bounded by the number of refs
				b.reuse[i] = at
			} else if all[i].Tree != "" {
				fresh = append(fresh, i)
			}
		}
	}
	b.complete(ctx, fresh)
	return b.s.Repo.Objects.ParallelChunks(len(fresh), func(_ *git.Batch, from, to int) error {
		for _, i := range fresh[from:to] {
			if err := ctx.Err(); err != nil {
				return err
			}
			b.found[i] = b.difference(ctx, int32(i)) //nolint:gosec // bounded by the number of refs
			if b.progress != nil {
				b.progress(1)
			}
		}
		return nil
	})
}

// idOf returns the id of the checkpoint that the difference of another one starts from.
func idOf(x *index, i int32) name.ID {
	if base := x.base(i); base >= 0 {
		return x.Checkpoints[base].ID
	}
	return ""
}

// join puts together what old has and what was read.
func (b *build) join() {
	var all []entry
	was := slices.Repeat([]int32{-1}, len(b.old.Changes)) // by change of old: that of x, or -1
	byPoint := map[int32][]int32{}
	for i, c := range b.old.Changes {
		byPoint[c.Point] = append(byPoint[c.Point], int32(i)) //nolint:gosec // at most mostChanges
	}
	for i := range b.x.Checkpoints {
		if len(b.x.Changes)+mostIn > mostChanges {
			break
		}
		at := int32(i) //nolint:gosec // bounded by the number of refs
		if of := b.reuse[i]; of >= 0 {
			for _, old := range byPoint[of] {
				c := b.old.Changes[old]
				was[old] = b.x.addChange(at, b.old.pathOf(c.Path), b.old.pathOf(c.From))
			}
			continue
		}
		for _, f := range b.found[i].changes {
			number := b.x.addChange(at, f.path, f.from)
			for _, e := range f.entries {
				e.change = number
				all = append(all, e)
			}
		}
	}
	for i := range b.old.Entries {
		e := b.old.at(i)
		if e.change = was[e.change]; e.change >= 0 {
			all = append(all, e)
		}
	}
	// The newest ones are asked about most.
	if len(all) > mostEntries {
		at := func(e entry) int64 { return b.x.Checkpoints[b.x.pointOf(e)].At }
		slices.SortFunc(all, func(a, b entry) int { return cmp.Or(cmp.Compare(at(b), at(a)), cmp.Compare(b.change, a.change)) })
		all = all[:mostEntries]
	}
	b.x.setEntries(all)
}
