package why

import (
	"context"
	"slices"

	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/format/journal"
	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/format/record"
	"git-checkpoint/internal/git"
)

// asker answers questions about lines. It remembers what it has read.
type asker struct {
	s     *checkpoint.Service
	x     *index
	loose bool // white space does not count

	oldest   int64 // a day before the first checkpoint, in seconds since 1970
	worktree string

	commits  map[name.OID]*git.Commit
	moments  map[name.Session][]moment
	heads    map[name.Session]map[name.OID]int // by HEAD of a checkpoint: the first of its moments
	states   map[name.Session]*journal.State
	leading  map[name.OID]map[name.OID]bool
	tips     map[string]name.OID
	halves   map[[2]string]bool
	texts    map[name.OID]content
	only     map[name.OID][]bool // by line: the file has it once
	recent   recent
	records  map[name.OID]*record.Record // by commit of the checkpoint; nil: it cannot be read
	owners   []int                       // by checkpoint: its session
	lines    numbering
	matches  map[[2]name.OID][]int
	files    map[fileOf]git.Entry
	*chained          // the one of the next two that is used now
	own      *chained // each session by itself
	across   *chained // the sessions of a worktree together
	turns    *turns
	having   map[entry][]entry
	trunk    *trunk
	authored map[authoring]Claim
	aims     map[name.OID]*aim
	blames   map[fileOf][]blamedLine // by commit and path
	diffs    int                     // how many were made
}

// fileOf is a path in a tree.
type fileOf struct {
	tree name.OID
	path string
}

// aim is a commit that lines came with, or the worktree.
type aim struct {
	git.Commit
	oid      name.OID // empty for the worktree
	here     bool     // it is the worktree
	people   map[string]bool
	named    map[string]bool // the ids of checkpoints in its message
	changes  []git.Change
	compared bool
	from     map[name.Session][]standing
	parted   map[name.OID]parting
}

// parent returns the first parent, or "".
func (c *aim) parent() name.OID {
	if len(c.Parents) == 0 {
		return ""
	}
	return c.Parents[0]
}

// newAsker opens the index, which it brings up to date.
func newAsker(ctx context.Context, s *checkpoint.Service, progress func(int)) (*asker, error) {
	x, err := open(ctx, s, progress)
	if err != nil {
		return nil, err
	}
	a := &asker{
		s: s, x: x, commits: map[name.OID]*git.Commit{}, moments: map[name.Session][]moment{}, heads: map[name.Session]map[name.OID]int{}, states: map[name.Session]*journal.State{},
		leading: map[name.OID]map[name.OID]bool{}, tips: map[string]name.OID{}, halves: map[[2]string]bool{}, texts: map[name.OID]content{}, only: map[name.OID][]bool{},
		records: map[name.OID]*record.Record{}, matches: map[[2]name.OID][]int{}, files: map[fileOf]git.Entry{},
		own: newChained(), across: newChained(), having: map[entry][]entry{}, authored: map[authoring]Claim{}, aims: map[name.OID]*aim{},
		blames: map[fileOf][]blamedLine{},
	}
	a.chained, a.across.wide = a.own, true
	a.worktree, _ = s.Store.WorktreeID() //nolint:errcheck // in a read-only repository no checkpoint was made here
	for i := range x.Checkpoints {
		if at := x.Checkpoints[i].At; a.oldest == 0 || at < a.oldest {
			a.oldest = at
		}
	}
	a.oldest -= 24 * 60 * 60
	for n, of := range x.Sessions {
		a.owners = append(a.owners, slices.Repeat([]int{n}, int(of.To-of.From))...)
	}
	return a, nil
}

// sessionOf returns the session of a checkpoint.
func (a *asker) sessionOf(point int32) *session { return &a.x.Sessions[a.sessionAt(point)] }

func (a *asker) sessionAt(point int32) int { return a.owners[point] }

// sessionNamed returns a session, or nil.
func (a *asker) sessionNamed(of name.Session) *session {
	for i := range a.x.Sessions {
		if a.x.Sessions[i].Name == of {
			return &a.x.Sessions[i]
		}
	}
	return nil
}

// content returns the lines of a file; nil if it has none or is not text.
func (a *asker) content(ctx context.Context, e git.Entry) text {
	if !isFile(e) {
		return nil
	}
	return a.read(ctx, e).text
}

// read reads a file once. Without regard to white space, its lines have none.
func (a *asker) read(ctx context.Context, e git.Entry) content {
	c, known := a.texts[e.OID]
	if !known {
		if !isFile(e) {
			c.known = true
		} else if a.x.lacks[e.OID] {
			return c
		} else if o, err := a.s.Repo.Objects.Batch().Typed(ctx, string(e.OID), "blob"); err == nil && isText(o.Data) {
			c = a.readNext(o.Data)
		}
		a.texts[e.OID] = c
	}
	return c
}

// recent is the file that was read last. Mostly the next one is another version of it, and only the lines
// between those that both begin and end with are new.
type recent struct {
	data []byte
	content
}

// readNext splits a file into lines and numbers them.
func (a *asker) readNext(data []byte) content {
	was := a.recent
	from, behind := sameLines(was.data, data)
	first, last := linesIn(data[:from]), len(was.text)-linesIn(data[len(data)-behind:])
	c := a.numbered(split(string(data[from : len(data)-behind])))
	c.text = slices.Concat(was.text[:first], c.text, was.text[last:])
	c.numbers = slices.Concat(was.numbers[:first], c.numbers, was.numbers[last:])
	a.recent = recent{data, c}
	return c
}

// numbered numbers lines. Without regard to white space, it removes that.
func (a *asker) numbered(t text) content {
	if a.loose {
		for i, line := range t {
			t[i] = bare(line)
		}
	}
	return content{text: t, numbers: a.lines.numbers(t), known: true}
}

// has reports whether line i of a file is this text: git may have shown a text that differs from
// the file's.
func (a *asker) has(ctx context.Context, e git.Entry, i int, line string) bool {
	if a.loose {
		line = bare(line)
	}
	t := a.content(ctx, e)
	return i >= 0 && i < len(t) && t[i] == line
}

// once reports whether a file has line i only once.
func (a *asker) once(ctx context.Context, e git.Entry, i int) bool {
	only, known := a.only[e.OID]
	if !known {
		numbers := a.read(ctx, e).numbers
		times := make(map[int32]int, len(numbers))
		for _, id := range numbers {
			times[id]++
		}
		only = make([]bool, len(numbers))
		for i, id := range numbers {
			only[i] = times[id] == 1
		}
		a.only[e.OID] = only
	}
	return i < len(only) && only[i]
}

// distinct reports whether a file has line i only once, and no session added more than one such line, at one
// place. A line that is there once may still be another one than the one that was there once before.
func (a *asker) distinct(ctx context.Context, e git.Entry, i int) bool {
	if !a.once(ctx, e, i) {
		return false
	}
	from, to := a.x.with(a.content(ctx, e).entryOf(i).key)
	if to-from > len(a.x.Sessions) {
		return false
	}
	met := map[int]bool{}
	for at := from; at < to; at++ {
		other := a.x.at(at)
		of := a.sessionAt(a.x.change(other.change).point)
		if met[of] || other.context != a.x.at(from).context {
			return false
		}
		met[of] = true
	}
	return true
}

// mostDiffs bounds the work of one command. Beyond it, lines that occur several times are unknown.
const mostDiffs = 20_000

// matched returns for each line of one file its partner in another one, as match does.
func (a *asker) matched(ctx context.Context, from, to git.Entry) []int {
	key := [2]name.OID{from.OID, to.OID}
	if known, is := a.matches[key]; is {
		return known
	}
	if from.OID == to.OID && isFile(from) && isFile(to) {
		m := make([]int, len(a.read(ctx, to).numbers))
		for i := range m {
			m[i] = i
		}
		a.matches[key] = m
		return m
	}
	a.diffs++
	var before, after []int32
	if isFile(from) {
		before = a.read(ctx, from).numbers
	}
	if isFile(to) {
		after = a.read(ctx, to).numbers
	}
	m := a.lines.match(before, after)
	if isFile(from) && !a.read(ctx, from).known {
		for i := range m {
			m[i] = doubtful
		}
	}
	a.matches[key] = m
	return m
}

// file returns the entry at a path in a tree; the zero Entry if nothing is there.
func (a *asker) file(ctx context.Context, tree name.OID, path string) git.Entry {
	key := fileOf{tree, path}
	e, known := a.files[key]
	if !known && tree != "" {
		e, _, _ = a.s.Repo.Trees.Lookup(ctx, tree, path) //nolint:errcheck // what cannot be read is not there
		a.files[key] = e
	}
	return e
}

// entriesOf returns the entries of the index that have line i of a text. For a very common line it
// returns only those with the same lines around it.
func (a *asker) entriesOf(t text, i int) []entry {
	const many = 2000
	want := t.entryOf(i)
	if known, is := a.having[want]; is {
		return known
	}
	var out []entry
	from, to := a.x.with(want.key)
	for at := from; at < to; at++ {
		e := a.x.at(at)
		if (a.loose || e.exact == want.exact) && (to-from <= many || e.context == want.context) {
			out = append(out, e)
		}
	}
	a.having[want] = out
	return out
}

// adding returns for each session whether it may have added line i of a text, itself or through a
// session from which it has its files.
func (a *asker) adding(t text, i int) []bool {
	want := t.entryOf(i)
	if known, is := a.sessions[want]; is {
		return known
	}
	out, more := make([]bool, len(a.x.Sessions)), false
	for _, e := range a.entriesOf(t, i) {
		out[a.sessionAt(a.x.change(e.change).point)], more = true, true
	}
	for more {
		more = false
		for n, from := range a.sources() {
			if !out[n] && slices.ContainsFunc(from, func(other int) bool { return out[other] }) {
				out[n], more = true, true
			}
		}
	}
	a.sessions[want] = out
	return out
}

// sources returns by session the others that its checkpoints have, or may have, their files from.
func (a *asker) sources() [][]int {
	if a.feeds == nil {
		a.feeds = make([][]int, len(a.x.Sessions))
		for n, of := range a.x.Sessions {
			for _, p := range a.x.Checkpoints[of.From:of.To] {
				if p.Via >= 0 {
					a.feeds[n] = append(a.feeds[n], a.sessionAt(p.Via))
				}
			}
			if a.wide {
				a.feeds[n] = append(a.feeds[n], a.neighbours(n)...)
			}
		}
	}
	return a.feeds
}

// chain returns a checkpoint and those that it was made on top of, newest first.
func (a *asker) chain(ctx context.Context, of int32) []int32 {
	if known := a.chains[of]; known != nil {
		return known
	}
	if len(a.chains) > 8 {
		clear(a.chains)
	}
	var out []int32
	for at := of; at >= 0 && len(out) <= len(a.x.Checkpoints); at = a.base(ctx, at) {
		out = append(out, at)
	}
	a.chains[of] = out
	return out
}
