package checkpoint_test

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/format/journal"
	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/format/record"
	"git-checkpoint/internal/sys/mapped"
	"git-checkpoint/internal/verb/create"
	"git-checkpoint/internal/verb/inspect"
	"git-checkpoint/internal/verb/land"
	"git-checkpoint/internal/verb/repair"
	"git-checkpoint/internal/verb/resume"
	"git-checkpoint/internal/verb/retain"
	"git-checkpoint/internal/verb/rollback"
)

// lined is a schedule of worktrees that edit, save, go back and sync in one session.
type lined struct {
	*clones
	random *rand.Rand
	at     []*spot
	twins  map[string]name.ID // what each name with the end of an id meant
	story  []string
}

// spot is a worktree with what its files were at its last checkpoint or move.
type spot struct {
	*clone
	dir   string
	saved map[string]string // nil: it stands nowhere
	place name.ID
}

// Whatever worktrees of several clones do in any order, what a checkpoint says changed is what was edited in its
// worktree since its last checkpoint or move; no rollback and no undo takes what another head is built on; one
// worktree alone has one head; a name that was shown never means another checkpoint; where nothing was edited
// nothing has changed; a prune takes no head and no place of a worktree here; and what is landed are the files of the place.
// LINES_OPERATIONS runs more than a few.
func TestLinesOfWorktrees(t *testing.T) {
	operations := 120
	if testing.Short() {
		operations = 30
	}
	if n, err := strconv.Atoi(os.Getenv("LINES_OPERATIONS")); err == nil {
		operations = n
		mapped.Never() // one process has no room for the mappings of so many commands
	}
	const each = 60
	for seed := *firstSeed; operations > 0; seed, operations = seed+1, operations-each {
		t.Run(fmt.Sprintf("seed=%d", seed), func(t *testing.T) {
			random := rand.New(rand.NewPCG(seed, 7)) // it has to come again
			l := &lined{clones: newClones(t, 1+random.IntN(4), 1), random: random, twins: map[string]name.ID{}}
			for _, c := range l.all {
				l.at = append(l.at, &spot{clone: c, dir: c.dir})
				if random.IntN(3) == 0 {
					c.other = c.dir + "-other"
					l.git(c.dir, "worktree", "add", "-q", "-b", "other", c.other)
					l.at = append(l.at, &spot{clone: c, dir: c.other})
				}
			}
			defer func() {
				if t.Failed() {
					t.Log(strings.Join(l.story, "\n"))
				}
			}()
			for range min(operations, each) {
				l.step()
			}
			for _, c := range l.all {
				c.at = ""
				c.must(func(ctx context.Context, s *checkpoint.Service) error {
					return repair.Validate(ctx, s.Sessions, repair.ValidateRequest{All: true}, func(v repair.Validated) error {
						if !v.OK {
							t.Errorf("%s: %+v", filepath.Base(c.dir), v.Findings)
						}
						return nil
					})
				})
			}
		})
	}
}

// step lets one worktree do something. Being refused is a valid result.
func (l *lined) step() {
	p := l.at[l.random.IntN(len(l.at))]
	p.clone.at = p.dir
	before := p.state()
	l.stands(p, before)
	what, moves, err := "", false, error(nil)
	switch k := l.random.IntN(14); {
	case k < 4:
		file := "f" + strconv.Itoa(l.random.IntN(4))
		if what = "edit " + file; l.random.IntN(4) == 0 {
			_ = os.Remove(filepath.Join(p.dir, file))
		} else if err = os.WriteFile(filepath.Join(p.dir, file), []byte(fmt.Sprint(len(l.story))), 0o666); err != nil {
			l.t.Fatal(err)
		}
	case k < 7:
		what, err = l.save(p)
	case k < 9:
		what, err = "sync", p.sync("r0")
	case k < 10 && before != nil && before.Len() > 0:
		e := before.At(l.random.IntN(before.Len()))
		what, moves = "rollback "+string(e.Checkpoint), true
		err = p.do(func(ctx context.Context, s *checkpoint.Service) error {
			r, err := rollback.Prepare(ctx, s, rollback.Request{Session: string(demo), Ref: string(e.Checkpoint)})
			if err == nil {
				_, err = r.Apply(ctx)
			}
			return err
		})
	case k < 11:
		what, moves, err = "undo", true, p.undo()
	case k < 12 && before != nil:
		what, err = "land", l.land(p, before)
	case k < 13:
		what, err = "prune", l.prune(p)
	case before != nil:
		what, moves = "resume", true
		err = p.do(func(ctx context.Context, s *checkpoint.Service) error {
			_, err := resume.Do(ctx, s, resume.Request{Target: string(demo), Choice: resume.Accept})
			return err
		})
	}
	l.story = append(l.story, fmt.Sprintf("%s: %s %v", filepath.Base(p.dir), what, err))
	after := p.state()
	if after == nil {
		return
	}
	if moves && err == nil && (before == nil || after.Count() > before.Count()) {
		l.kept(p, before, after, what)
		p.saved, p.place = l.filesOf(p, after), after.Place // an undo brings back what was not saved, too
	}
	l.stands(p, after)
	l.names(p, after)
	if len(l.at) == 1 && len(after.Heads()) > 1 {
		l.t.Errorf("%s: one worktree alone has %d heads", what, len(after.Heads()))
	}
	if p.saved != nil && after.Place != "" && len(l.edited(p)) == 0 {
		p.must(func(ctx context.Context, s *checkpoint.Service) error {
			d, err := inspect.Diff(ctx, s, inspect.DiffRequest{Session: string(demo), A: "@"})
			if err == nil && len(d.Files) > 0 {
				l.t.Errorf("%s in %s: nothing was edited, but changed are %v", what, filepath.Base(p.dir), d.Files)
			}
			return err
		})
	}
}

// save makes a checkpoint and compares what it says with what was edited.
func (l *lined) save(p *spot) (string, error) {
	var made *record.Record
	err := p.do(func(ctx context.Context, s *checkpoint.Service) error {
		d, err := create.Checkpoint(ctx, s, create.Request{Session: string(demo)})
		if err == nil {
			made = d.Record
		}
		return err
	})
	if err != nil {
		return "save", err
	}
	var said []string
	for _, path := range slices.Concat(made.Files.Created, made.Files.Modified, made.Files.Deleted) {
		said = append(said, string(path))
	}
	slices.Sort(said)
	if edited := l.edited(p); p.saved != nil && !slices.Equal(said, edited) {
		l.t.Errorf("%s in %s: it says that %v changed, and %v were edited", made.ID, filepath.Base(p.dir), said, edited)
	}
	p.saved, p.place = l.files(p), made.ID
	return "save " + string(made.ID), nil
}

// stands checks that what others do moves no worktree, unless the checkpoint where it stood was pruned.
func (l *lined) stands(p *spot, st *journal.State) {
	if st == nil || st.Place == p.place {
		return
	}
	if p.place != "" && !st.Dead(p.place) {
		l.t.Errorf("%s stood at %s, and stands at %q", filepath.Base(p.dir), p.place, st.Place)
	}
	p.saved, p.place = l.filesOf(p, st), st.Place
}

// land commits the line here and checks that the commit has the files of the place, and that those on the disk stay.
func (l *lined) land(p *spot, before *journal.State) error {
	disk, saved := l.files(p), l.filesOf(p, before)
	err := p.do(func(ctx context.Context, s *checkpoint.Service) error {
		plan, err := land.Prepare(ctx, s, land.Request{Session: string(demo)})
		if err == nil {
			_, err = plan.Apply(ctx)
		}
		return err
	})
	if err != nil {
		return err
	}
	if now := l.files(p); !maps.Equal(disk, now) {
		l.t.Errorf("land in %s changed %v to %v", filepath.Base(p.dir), disk, now)
	}
	if landed := l.filesAt(p, "HEAD"); before.Place != "" && !maps.Equal(saved, landed) {
		l.t.Errorf("land in %s: %v was saved, and %v is committed", filepath.Base(p.dir), saved, landed)
	}
	p.saved, p.place = disk, p.state().Place
	return nil
}

// prune keeps a few checkpoints, and each head and place that is known here.
func (l *lined) prune(p *spot) error {
	before, keep, held := p.state(), 1+l.random.IntN(3), map[name.ID]string{}
	if before == nil {
		return nil
	}
	for _, head := range before.Heads() {
		held[head.Checkpoint] = "a head"
	}
	for _, other := range l.at {
		if other.clone == p.clone {
			p.clone.at = other.dir
			held[p.state().Place] = "the place of " + filepath.Base(other.dir)
		}
	}
	p.clone.at = p.dir
	err := p.do(func(ctx context.Context, s *checkpoint.Service) error {
		_, err := retain.Prune(ctx, s, retain.PruneRequest{Session: string(demo), Keep: &keep})
		return err
	})
	after := p.state()
	for id, why := range held {
		if id != "" && after.Dead(id) {
			l.t.Errorf("prune in %s took %s, %s", filepath.Base(p.dir), id, why)
		}
	}
	return err
}

// kept checks that a rollback or an undo left what other heads are built on.
func (l *lined) kept(p *spot, before, after *journal.State, what string) {
	if before == nil {
		return
	}
	here := before.CurrentLine()
	for _, head := range before.Heads() {
		if here[head.Place] {
			continue
		}
		for i, on := range before.OnLine(head) {
			if e := before.At(i); on && e.Live && !after.Entry(e.Checkpoint).Live {
				l.t.Errorf("%s in %s took %s, which %s is built on", what, filepath.Base(p.dir), e.Checkpoint, head.Checkpoint)
			}
		}
	}
}

// names checks that each name with the end of an id means what it meant, in each worktree.
func (l *lined) names(p *spot, st *journal.State) {
	for _, e := range st.Checkpoints() {
		if e.Dead || e.Safety {
			continue
		}
		called := checkpoint.NameTo(st, e)
		p.must(func(ctx context.Context, s *checkpoint.Service) error {
			found, err := s.Sessions.Reach(ctx, string(demo), called)
			if err == nil && found.Entry.Checkpoint != e.Checkpoint {
				l.t.Errorf("%q means %s, not %s", called, found.Entry.Checkpoint, e.Checkpoint)
			}
			return nil
		})
		if strings.Count(called, ".") > 0 && len(called[strings.LastIndexByte(called, '.')+1:]) == 4 {
			if was := l.twins[called]; was != "" && was != e.Checkpoint {
				l.t.Errorf("%q meant %s, and means %s", called, was, e.Checkpoint)
			}
			l.twins[called] = e.Checkpoint
		}
	}
}

// files are the files of a worktree.
func (l *lined) files(p *spot) map[string]string {
	found := map[string]string{}
	for i := range 4 {
		file := "f" + strconv.Itoa(i)
		if data, err := os.ReadFile(filepath.Join(p.dir, file)); err == nil {
			found[file] = string(data)
		}
	}
	return found
}

// filesOf are the files of the place of a worktree, or nil.
func (l *lined) filesOf(p *spot, st *journal.State) map[string]string {
	if st.Place == "" {
		return nil
	}
	return l.filesAt(p, string(st.Entry(st.Place).Event().Commit))
}

// filesAt are the files of a commit.
func (l *lined) filesAt(p *spot, commit string) map[string]string {
	found := map[string]string{}
	for _, file := range strings.Fields(l.git(p.dir, "ls-tree", "--name-only", commit)) {
		if file != "file" {
			found[file] = l.git(p.dir, "show", commit+":"+file)
		}
	}
	return found
}

// edited are the files that differ from those at the last checkpoint or move, sorted.
func (l *lined) edited(p *spot) (edited []string) {
	now := l.files(p)
	for i := range 4 {
		file := "f" + strconv.Itoa(i)
		was, had := p.saved[file]
		is, has := now[file]
		if had != has || was != is {
			edited = append(edited, file)
		}
	}
	return edited
}
