package why

import (
	"context"
	"slices"

	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/format/journal"
	"git-checkpoint/internal/format/name"
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
	states   map[name.Session]*journal.State
	leading  map[name.OID]map[name.OID]bool
	tips     map[string]name.OID
	halves   map[[2]string]bool
	texts    map[name.OID]content
	matches  map[[2]name.OID][]int
	files    map[fileOf]git.Entry
	chains   map[int32][]int32
	origins  map[origin]*walk
	authored map[authoring]Claim
	aims     map[name.OID]*aim
	diffs    int // how many were made
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
		s: s, x: x, commits: map[name.OID]*git.Commit{}, moments: map[name.Session][]moment{}, states: map[name.Session]*journal.State{},
		leading: map[name.OID]map[name.OID]bool{}, tips: map[string]name.OID{}, halves: map[[2]string]bool{}, texts: map[name.OID]content{},
		matches: map[[2]name.OID][]int{}, files: map[fileOf]git.Entry{}, chains: map[int32][]int32{}, origins: map[origin]*walk{}, authored: map[authoring]Claim{}, aims: map[name.OID]*aim{},
	}
	a.worktree, _ = s.Store.WorktreeID() //nolint:errcheck // in a read-only repository no checkpoint was made here
	for i := range x.Checkpoints {
		if at := x.Checkpoints[i].At; a.oldest == 0 || at < a.oldest {
			a.oldest = at
		}
	}
	a.oldest -= 24 * 60 * 60
	return a, nil
}

// sessionOf returns the session of a checkpoint.
func (a *asker) sessionOf(point int32) *session {
	at, _ := slices.BinarySearchFunc(a.x.Sessions, point, func(s session, p int32) int {
		if s.To <= p {
			return -1
		}
		return 1
	})
	return &a.x.Sessions[at]
}

// sessionNamed returns a session, or nil.
func (a *asker) sessionNamed(of name.Session) *session {
	for i := range a.x.Sessions {
		if a.x.Sessions[i].Name == of {
			return &a.x.Sessions[i]
		}
	}
	return nil
}

// content returns the lines of a file; nil if it has none or is no text.
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
		c = readLines(ctx, a.s.Repo, e)
		if a.loose {
			for i, line := range c.text {
				c.text[i] = bare(line)
			}
		}
		a.texts[e.OID] = c
	}
	return c
}

// mostDiffs bounds the work of one command. Beyond it, lines that occur several times are unknown.
const mostDiffs = 20_000

// matched returns for each line of one file its partner in another one, as match does.
func (a *asker) matched(ctx context.Context, from, to git.Entry) []int {
	key := [2]name.OID{from.OID, to.OID}
	if known, is := a.matches[key]; is {
		return known
	}
	a.diffs++
	m := match(a.content(ctx, from), a.content(ctx, to))
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
		e, _, _ = a.s.Repo.Lookup(ctx, tree, path) //nolint:errcheck // what cannot be read is not there
		a.files[key] = e
	}
	return e
}

// entriesOf returns the entries of the index that have line i of a text. Of a line that is everywhere
// only those with the same lines around it.
func (a *asker) entriesOf(t text, i int) (out []entry) {
	const many = 2000
	want := t.entryOf(i)
	from, to := a.x.with(want.key)
	for at := from; at < to; at++ {
		e := a.x.at(at)
		if (a.loose || e.exact == want.exact) && (to-from <= many || e.context == want.context) {
			out = append(out, e)
		}
	}
	return out
}

// chain returns a checkpoint and those that it was made on top of, newest first.
func (a *asker) chain(of int32) []int32 {
	if known := a.chains[of]; known != nil {
		return known
	}
	if len(a.chains) > 8 {
		clear(a.chains)
	}
	var out []int32
	for at := of; at >= 0 && len(out) <= len(a.x.Checkpoints); at = a.x.base(at) {
		out = append(out, at)
	}
	a.chains[of] = out
	return out
}
