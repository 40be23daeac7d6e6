package journal

// This file says where a worktree stands in a session, and which lines the session has. Worktrees that
// do not know of each other each go on from their own last checkpoint, so a session is a tree: a line
// is a checkpoint and what is before it, and a head is a live checkpoint that nothing live goes on from.

import (
	"slices"
	"time"

	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/sys/gather"
)

// Former is an id that a worktree had before, and the tip that the journal had when it got another one.
type Former struct {
	ID  string
	Tip name.OID
}

// FoldAt is Fold for a worktree: the State also says where that stands. An empty id stands nowhere. Until the
// worktree moves, it stands where the newest of its former ids that moved stood by then.
func (l *Log) FoldAt(worktreeID string, former ...Former) *State {
	s := l.Fold()
	s.worktree, s.former = worktreeID, former
	var moved bool
	s.fold.standing, moved = s.fold.lastMove(worktreeID, int32(len(s.fold.named)), nil)
	for i := 0; i < len(former) && !moved; i++ {
		tip := int32(len(s.fold.named)) - 1 // from the end, where it mostly is
		for tip >= 0 && l.oid(l.position(int(tip))) != former[i].Tip {
			tip--
		}
		if tip >= 0 {
			s.fold.standing, moved = s.fold.lastMove(former[i].ID, tip+1, s.fold.graph().ancestors(tip))
		}
	}
	if x := s.fold.alive(s.fold.standing); x != none {
		s.Place = s.fold.id(x)
		s.Current = s.Place
	}
	return s
}

// lastMove returns the entry that the worktree's last moving event made or went to, dead or not: a
// create, but for those of safety checkpoints, or a rollback or undo that did not stay. Only events before
// the position end count, and if knew is not nil those that it knows, and the last one.
func (f *fold) lastMove(worktreeID string, end int32, knew func(int32) bool) (x int32, moved bool) {
	for i := end - 1; i >= 0 && worktreeID != ""; i-- {
		if knew != nil && i != end-1 && !knew(i) {
			continue
		}
		at := f.log.position(int(i))
		n := &f.log.nodes[at]
		switch e := n.special(); {
		case n.class == classCreate && !n.safety && f.firstCreate(i) && n.worktree == worktreeID:
			return f.named[i], true
		case e == nil || !e.moves() || e.Stays() || e.WorktreeID != worktreeID:
		case e.To == "":
			return none, true
		default:
			if x := f.entry(e.To); x >= 0 && !f.node(int(x)).safety {
				return x, true
			}
		}
	}
	return none, false
}

// firstCreate reports whether the create at a position is the first one of its checkpoint, which an adopt may have named before.
func (f *fold) firstCreate(i int32) bool {
	return !slices.ContainsFunc(f.namings(f.named[i]), func(p int32) bool { return p < i && f.at(p).class == classCreate })
}

// HasOwn reports whether the journal has an event of a worktree that other, which may be nil, lacks.
func (l *Log) HasOwn(worktreeID string, other *Log) bool {
	for at, n := range l.events() {
		if n.worktree == worktreeID && (other == nil || !other.Contains(l.oid(at))) {
			return true
		}
	}
	return false
}

// alive returns what stands for an entry now: its replacement if it was rebuilt or expunged, and the
// nearest one before it that was not pruned if it was. It is none if there is none.
func (f *fold) alive(x int32) int32 {
	for range len(f.first) + 1 { // a forged journal may have a cycle
		if x == none {
			break
		}
		if x = f.replaced(x); f.marks[x] != markDead {
			return x
		}
		x = f.previous(x)
	}
	return none
}

// replaced returns the last checkpoint that was rebuilt from x and is not dead, else x.
func (f *fold) replaced(x int32) int32 {
	for y := x; ; {
		next, rebuilt := f.later()[y]
		if !rebuilt {
			return x
		}
		if y = next; f.marks[y] != markDead {
			x = y
		}
	}
}

// previous returns the entry that x was made on, none for the first one of a line. Imported checkpoints
// name none, and a name may be unknown here; the one before in the order counts then.
func (f *fold) previous(x int32) int32 {
	at := f.naming(int(x))
	if f.log.order == nil && f.log.nodes[at].follows && f.named[at-1] == x-1 { // nearly always, and no id need be read
		return x - 1
	}
	p := f.entry(name.ID(f.log.text(at, textPrevious)))
	if p == unnamed || p == none && f.log.nodes[at].worktree == "" {
		for p = x - 1; p >= 0 && f.node(int(p)).safety; p-- {
		}
	}
	return p
}

// TrailerJoins is an extra trailer of a create: the head of another line of the session that it brought here.
const TrailerJoins = "Joins"

// joins returns the entry of the head that x joined, none if there is none.
func (f *fold) joins(x int32) int32 {
	if at := f.naming(int(x)); f.log.nodes[at].promoted {
		return f.entry(name.ID(f.log.event(at).Trailer(TrailerJoins)))
	}
	return none
}

// TrailerBase is an extra trailer of a create, with any value but an empty one: it does not have the files of the one before it, see record.Base.
const TrailerBase = "Base"

// notHere marks what is before those checkpoints of the line here that do not have the files of the one before them. Only the
// first one of a worktree may be such.
func (f *fold) notHere(marked, here []bool) {
	seen := map[string]bool{}
	for i := range f.first {
		at := f.naming(i)
		id := f.log.nodes[at].worktree
		if id == "" || seen[id] || f.node(i).safety {
			continue
		}
		if seen[id] = true; here[i] && f.log.event(at).Trailer(TrailerBase) != "" {
			f.line(marked, f.previous(int32(i)))
		}
	}
}

// joined is line with the lines that were joined. What a rollback leaves behind does not count these.
func (f *fold) joined(marked []bool, from ...int32) []bool {
	for open := from; len(open) > 0; {
		before := slices.Clone(marked)
		f.line(marked, open...)
		open = nil
		for x, on := range marked {
			if on && !before[x] {
				open = append(open, f.joins(int32(x)))
			}
		}
	}
	return marked
}

// line marks the given entries and all that is before them, with the replacements of those that were rebuilt.
func (f *fold) line(marked []bool, from ...int32) []bool {
	for open := from; len(open) > 0; {
		x := open[len(open)-1]
		if open = open[:len(open)-1]; x < 0 || marked[x] {
			continue
		}
		marked[x] = true
		open = append(open, f.previous(x), f.replaced(x))
		if e := f.node(int(x)).special(); e != nil {
			open = append(open, f.entry(e.RebuiltFrom))
		}
	}
	return marked
}

// findHeads returns the entries of the heads, in order.
func (f *fold) findHeads() (heads []int32) {
	passed := make([]bool, len(f.first))
	isLive := func(x int32) bool { return f.marks[x]&markLive != 0 && f.replaced(x) == x }
	for i := range f.first {
		if x := int32(i); isLive(x) {
			f.line(passed, f.previous(x))
			if y := f.joins(x); y >= 0 {
				f.joined(passed, y)
			}
		}
	}
	for i := range f.first {
		if x := int32(i); isLive(x) && !passed[x] {
			heads = append(heads, x)
		}
	}
	return heads
}

// markHere marks the line on which the worktree stands.
func (f *fold) markHere() []bool { return f.line(make([]bool, len(f.first)), f.standing) }

// markElsewhere marks what other heads are built on, themselves included.
func (f *fold) markElsewhere(here []bool) []bool {
	built := make([]bool, len(f.first))
	for _, head := range f.heads() {
		if !here[head] {
			f.line(built, head)
		}
	}
	return built
}

// Heads returns the live checkpoints that nothing live goes on from, in the order of the fold.
func (s *State) Heads() (heads []*Entry) {
	if s.fold == nil {
		return nil
	}
	return gather.List(s.fold.heads(), func(x int32) *Entry { return s.At(int(x)) })
}

// Held returns, by place, what no prune takes: the heads of a session, and where worktrees stand that wrote an event since a time.
// The head of a session with one line is not among them: whoever says how many to keep may mean none.
func (s *State) Held(since time.Time) map[int]bool {
	held, seen, l, heads := map[int]bool{}, map[string]bool{}, &s.fold.log, s.Heads()
	for _, n := range l.events() {
		if time.UnixMilli(n.time).After(since) {
			seen[n.worktree] = true
		}
	}
	for _, e := range heads {
		if len(heads) > 1 && seen[e.Event().WorktreeID] {
			held[e.Place] = true
		}
	}
	for id := range seen {
		x, _ := s.fold.lastMove(id, int32(len(s.fold.named)), nil)
		if x = s.fold.alive(x); x != none && (len(heads) != 1 || heads[0].Place != int(x)) {
			held[int(x)] = true
		}
	}
	return held
}

// GoOn returns the event that a create needs before it which goes on from a checkpoint other than the newest,
// and else nil. That one, and what others left behind of what is before it, are live and newest again then,
// as every reader expects of a create. It is no worktree's, so it is no undo level.
func (s *State) GoOn(at *Entry) *Event {
	if at == nil || at.Checkpoint == s.Newest {
		return nil
	}
	id, f := at.Checkpoint, s.fold
	e := &Event{Kind: KindRollback, From: id, FromLabel: at.Label, To: id, ToLabel: at.Label, Reason: "work goes on here"}
	for i, on := range f.line(make([]bool, s.Len()), int32(at.Place)) {
		if on && f.marks[i]&markDiscarded != 0 && f.replaced(int32(i)) == int32(i) {
			e.Restore = append(e.Restore, f.id(int32(i)))
		}
	}
	return e
}

// CurrentLine returns, by place, which checkpoints are on the line on which the worktree stands. Numbers mean those, so it leaves
// out lines that were joined.
func (s *State) CurrentLine() []bool { return s.fold.markHere() }

// OnLine returns, by place, which checkpoints are on the line of one, itself and joined lines included.
func (s *State) OnLine(e *Entry) []bool {
	marked := make([]bool, s.Len())
	if e == nil {
		return marked
	}
	return s.fold.joined(marked, int32(e.Place))
}

// listsTo returns what a rollback to an entry leaves behind and what it brings back. What comes after it
// on the line here is left, or all of that line which is not before the entry, if that was left behind
// itself; but nothing that another head is built on, and nothing whose files were never here. The entry comes
// back with what is before it. Where the worktree stands nowhere, it leaves only what no worktree made: imported
// checkpoints.
func (f *fold) listsTo(chosen int32) (discard, restore []name.ID) {
	now, back := f.replay(), f.line(make([]bool, len(f.first)), chosen)
	here := f.markHere()
	if f.standing == none {
		for i := range here {
			here[i] = f.node(i).worktree == ""
		}
	}
	keep := f.markElsewhere(here)
	f.notHere(keep, here)
	leaves := here[chosen] || !now.live[chosen]
	for i := range f.first {
		switch x := int32(i); {
		case f.node(i).safety:
		case leaves && here[x] && !back[x] && !keep[x] && now.live[x]:
			discard = append(discard, f.id(x))
		case back[x] && !now.live[x]:
			restore = append(restore, f.id(x))
		}
	}
	return discard, restore
}

// spare unmarks in out, which an undo that goes to target leaves behind, what another head is built on.
func (f *fold) spare(out []bool, target int32) {
	own := f.line(make([]bool, len(f.first)), f.standing, target)
	for x, leaves := range out {
		own[x] = own[x] || leaves
	}
	for x, built := range f.markElsewhere(own) {
		out[x] = out[x] && !built
	}
}
