package checkpoint_test

import (
	"context"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/format/journal"
	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/test/verbtest"
	"git-checkpoint/internal/verb/repair"
	"git-checkpoint/internal/verb/retain"
	"git-checkpoint/internal/verb/session"
	"git-checkpoint/internal/verb/transfer"
	"git-checkpoint/internal/verb/travel"
)

var (
	schedules = flag.Int("schedules", 4, "how many random schedules of clones to run")
	firstSeed = flag.Uint64("first-seed", 1, "seed of the first of them")
)

// schedule is one random sequence of actions of several clones, with a model of what must be there
// at the end.
type schedule struct {
	*clones
	random *rand.Rand
	story  []string
	made   map[name.ID]bool
	// prunes lists, for each prune that was carried out, what it removed and the pins that the
	// clone knew at that time. pins are all pins that were made.
	prunes []struct {
		id    name.ID
		knows map[name.OID]bool
	}
	pins map[name.ID][]name.OID
	// only are checkpoints whose last copy was with the clone that removed them. A later pin keeps
	// the id of such a checkpoint alive, but nothing has its objects.
	only map[name.ID]bool
	gone map[*clone]bool
}

// Whatever clones do in any order, and wherever a push or fetch is interrupted, in the end they
// have the same journal, refs and notes. Nothing is lost that any of them still had, and nothing
// comes back that was pruned, except what was pinned.
func TestClonesConverge(t *testing.T) {
	count := *schedules
	if testing.Short() {
		count = min(count, 1)
	}
	for n := range count {
		seed := *firstSeed + uint64(n)
		t.Run(fmt.Sprintf("seed=%d", seed), func(t *testing.T) {
			random := rand.New(rand.NewPCG(seed, 42)) // it has to come again
			s := &schedule{
				clones: newClones(t, 2+random.IntN(4), 1+random.IntN(2)), random: random,
				made: map[name.ID]bool{}, pins: map[name.ID][]name.OID{}, only: map[name.ID]bool{}, gone: map[*clone]bool{},
			}
			defer func() {
				if t.Failed() {
					t.Logf("%s", strings.Join(s.story, "\n"))
				}
			}()
			for _, c := range s.all {
				c.skew = time.Duration(random.IntN(241)-120) * time.Second
				if random.IntN(4) == 0 {
					c.other = c.dir + "-other"
					s.git(c.dir, "worktree", "add", "-q", "-b", "other", c.other)
				}
			}
			for range 10 + random.IntN(25) {
				s.step()
			}
			s.settle()
			s.check()
		})
	}
}

func (s *schedule) pick() *clone {
	for {
		if c := s.all[s.random.IntN(len(s.all))]; !s.gone[c] {
			return c
		}
	}
}

// anID is one of the checkpoints that a clone knows.
func (s *schedule) anID(st *journal.State) name.ID {
	if st == nil || len(st.Checkpoints()) == 0 {
		return ""
	}
	return st.Checkpoints()[s.random.IntN(len(st.Checkpoints()))].Checkpoint
}

// step does one random thing in a random clone. Being refused is a valid result.
func (s *schedule) step() {
	c := s.pick()
	if c.at = ""; c.other != "" && s.random.IntN(2) == 0 {
		c.at = c.other
	}
	remote := "r" + string(rune('0'+s.random.IntN(len(s.remotes))))
	var what string
	var err error
	switch k := s.random.IntN(24); {
	case k < 5:
		var id name.ID
		if id, err = c.tryCreate(); err == nil {
			s.made[id] = true
		} else if e := c.state().CurrentEntry(); e == nil || s.held(c.dir)[string(e.Checkpoint)] != "" {
			s.t.Errorf("%s: create: %v", filepath.Base(c.dir), err) // only a current one that never came stops it
		}
		what = "create " + string(id)
	case k < 8:
		what, err = s.move(c)
	case k < 10:
		what, err = s.hold(c)
	case k < 12:
		what, err = s.prune(c)
	case k < 13 && s.random.IntN(4) == 0 && len(s.gone) < len(s.all)-2:
		s.gone[c], what = true, "dies"
	case k < 14:
		what, err = "hook "+remote, s.hook(s.remotes[int(remote[1]-'0')])
	case k < 15:
		what, err = "close", c.do(func(ctx context.Context, v *checkpoint.Service) error {
			_, err := session.Close(ctx, v, string(demo), "complete")
			return err
		})
	case k < 20:
		what, err = s.travel(c, remote)
	case k < 21:
		what, err = "rebuild", c.do(func(ctx context.Context, v *checkpoint.Service) error {
			return repair.Rebuild(ctx, v, repair.RebuildRequest{All: true}, func(repair.Rebuilt) error { return nil })
		})
	case k < 22:
		what, err = "archive", s.archive(c)
	case k < 23 && s.random.IntN(4) == 0:
		what, err = "session delete", s.bury(c, func(ctx context.Context, v *checkpoint.Service) error {
			plan, err := retain.WholeSession(ctx, v.Sessions, string(demo))
			if err == nil {
				_, err = plan.Apply(ctx, v)
			}
			return err
		})
	case k < 23:
		what, err = "prune", s.bury(c, func(ctx context.Context, v *checkpoint.Service) error {
			keep := s.random.IntN(4)
			_, err := retain.Prune(ctx, v, retain.PruneRequest{Session: string(demo), Keep: &keep})
			return err
		})
	default:
		what, err = s.carry(c)
	}
	s.story = append(s.story, fmt.Sprintf("%s %s: %v", filepath.Base(c.dir), what, err))
}

func (s *schedule) move(c *clone) (string, error) {
	if s.random.IntN(3) == 0 {
		return "undo", c.undo()
	}
	id := s.anID(c.state())
	if id == "" {
		return "rollback to nothing", nil
	}
	return "rollback " + string(id), c.rollback(id)
}

func (s *schedule) hold(c *clone) (string, error) {
	id := s.anID(c.state())
	if id == "" {
		return "pin nothing", nil
	}
	if s.random.IntN(3) == 0 {
		return "unpin " + string(id), c.unpin(id)
	}
	if err := c.pin(id); err != nil {
		return "pin " + string(id), err
	}
	for _, e := range c.state().Pins[id] {
		if !slices.Contains(s.pins[id], e.OID) {
			s.pins[id] = append(s.pins[id], e.OID)
		}
	}
	return "pin " + string(id), nil
}

func (s *schedule) prune(c *clone) (string, error) {
	before := c.state()
	id := s.anID(before)
	if id == "" {
		return "delete nothing", nil
	}
	return "delete " + string(id), s.bury(c, func(ctx context.Context, v *checkpoint.Service) error {
		_, err := verbtest.Delete(ctx, v, string(demo), []string{string(id)})
		return err
	})
}

// bury runs an action that removes checkpoints, and notes which ones, and what the clone knew then.
func (s *schedule) bury(c *clone, drop func(context.Context, *checkpoint.Service) error) error {
	before := c.state()
	if before == nil {
		return nil
	}
	if err := c.do(drop); err != nil {
		return err
	}
	knows := map[name.OID]bool{}
	for _, e := range before.Events() {
		knows[e.OID] = true
	}
	after := c.state()
	others := map[string]bool{}
	for _, dir := range append(s.dirs(), s.remotes...) {
		for id := range s.held(dir) {
			others[id] = others[id] || dir != c.dir
		}
	}
	for _, e := range before.Checkpoints() {
		if !e.Dead && after.Dead(e.Checkpoint) {
			s.only[e.Checkpoint] = !others[string(e.Checkpoint)]
			s.prunes = append(s.prunes, struct {
				id    name.ID
				knows map[name.OID]bool
			}{e.Checkpoint, knows})
		}
	}
	return nil
}

// archive closes the session and folds its refs.
func (s *schedule) archive(c *clone) error {
	return c.do(func(ctx context.Context, v *checkpoint.Service) error {
		if _, err := session.Close(ctx, v, string(demo), "complete"); err != nil {
			return err
		}
		_, err := session.Archive(ctx, v.Sessions, string(demo))
		return err
	})
}

// carry takes a bundle of one clone to another.
func (s *schedule) carry(c *clone) (string, error) {
	file := filepath.Join(s.root, "carried.bundle")
	err := c.do(func(ctx context.Context, v *checkpoint.Service) error {
		_, err := transfer.Export(ctx, v, transfer.ExportRequest{Destination: transfer.Destination{Path: file}, Agree: agrees}, "bundle")
		return err
	})
	if err != nil {
		return "export", err
	}
	to := s.pick()
	return "export to " + filepath.Base(to.dir), to.do(func(ctx context.Context, v *checkpoint.Service) error {
		_, err := travel.ImportBundle(ctx, v, file)
		return err
	})
}

// hook makes a remote refuse journals, checkpoints, or nothing.
func (s *schedule) hook(remote string) error {
	pattern := []string{"none", "none", "*/journal", "*/cp-*", "refs/notes/*", "*/cp-*[0-7]", "*/archive"}[s.random.IntN(7)]
	script := "#!/bin/sh\ncase \"$1\" in " + pattern + ") echo no >&2; exit 1;; esac\n"
	return os.WriteFile(filepath.Join(remote, "hooks", "update"), []byte(script), 0o777) // it has to run
}

// travel pushes, fetches or syncs, and sometimes is cut off after any step.
func (s *schedule) travel(c *clone, remote string) (string, error) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	v := c.open(context.Background())
	defer v.Close() //nolint:errcheck // only a test
	left := s.random.IntN(12)
	v.Between = func(string) {
		if left--; left == 0 {
			cancel()
		}
	}
	req := travel.Request{Remote: remote, Agree: agrees}
	var err error
	verb := []string{"push", "fetch", "sync", "sync"}[s.random.IntN(4)]
	switch verb {
	case "push":
		_, err = travel.Push(ctx, v, req)
	case "fetch":
		_, err = travel.Fetch(ctx, v, req)
	default:
		_, err = travel.Sync(ctx, v, req)
	}
	return verb + " " + remote, err
}

// settle makes every remaining clone sync with every remote until nothing changes.
func (s *schedule) settle() {
	for _, r := range s.remotes {
		if err := os.RemoveAll(filepath.Join(r, "hooks", "update")); err != nil {
			s.t.Fatal(err)
		}
	}
	for _, c := range s.all {
		c.at = ""
	}
	var before string
	for round := range 12 {
		for _, c := range s.all {
			for i := range s.remotes {
				if s.gone[c] {
					continue
				}
				if err := c.sync("r" + string(rune('0'+i))); err != nil {
					s.t.Fatalf("round %d, %s: %v", round, filepath.Base(c.dir), err)
				}
			}
		}
		now := ""
		for _, dir := range append(slices.Clone(s.remotes), s.dirs()...) {
			now += s.git(dir, "for-each-ref", "refs/checkpoints", "refs/notes")
		}
		if now == before {
			return
		}
		before = now
	}
	s.t.Fatal("they never agree: each sync writes something new")
}

func (s *schedule) dirs() []string {
	var dirs []string
	for _, c := range s.all {
		if !s.gone[c] {
			dirs = append(dirs, c.dir)
		}
	}
	return dirs
}

// check compares the clones and remotes with each other and with the model.
func (s *schedule) check() {
	s.t.Helper()
	first := s.refs(s.dirs()[0])
	for _, dir := range s.dirs()[1:] {
		if got := s.refs(dir); !maps.Equal(got, first) {
			s.t.Logf("archives are\n%s\n\n%s", s.archiveOf(dir), s.archiveOf(s.dirs()[0]))
			s.t.Fatalf("%s has\n%v\nand %s\n%v", filepath.Base(dir), got, filepath.Base(s.dirs()[0]), first)
		}
		if a, b := s.notes(dir), s.notes(s.dirs()[0]); a != b {
			s.t.Fatalf("notes are %s and %s", a, b)
		}
	}
	var st *journal.State
	for _, c := range s.all {
		if !s.gone[c] {
			st = c.state()
			break
		}
	}
	if st == nil {
		return
	}
	held := s.held(s.dirs()[0])
	for _, r := range s.remotes {
		there := s.held(r)
		for leaf, oid := range held {
			if there[leaf] != oid {
				s.t.Errorf("%s has %q for %s, not %s", filepath.Base(r), there[leaf], leaf, oid)
			}
		}
		if a, b := s.notes(r), s.notes(s.dirs()[0]); a != b && !s.deadLeft(there, st) && !lost(held, st) {
			s.t.Errorf("the notes of %s are %s, not %s", filepath.Base(r), a, b)
		}
	}
	s.checkModel(st, held)
	s.checkSound()
	for _, dir := range append(s.dirs(), s.remotes...) {
		s.git(dir, "fsck", "--strict", "--no-dangling")
	}
}

func (s *schedule) archiveOf(dir string) string {
	if s.refs(dir)["archive"] == "" {
		return "none"
	}
	return s.git(dir, "show", "--no-abbrev", "refs/checkpoints/demo/archive") + "\n" + s.git(dir, "show", "refs/checkpoints/demo/archive:checkpoints")
}

// checkSound has each clone check its journal: none may have been rewound or replaced.
func (s *schedule) checkSound() {
	for _, c := range s.all {
		if s.gone[c] {
			continue
		}
		c.must(func(ctx context.Context, v *checkpoint.Service) error {
			return repair.Validate(ctx, v.Sessions, repair.ValidateRequest{All: true}, func(l repair.Validated) error {
				for _, f := range l.Findings {
					if l.Checkpoint == "" {
						s.t.Errorf("%s: %s", filepath.Base(c.dir), f.Message)
					}
				}
				return nil
			})
		})
	}
}

// lost reports whether no clone or remote has a live checkpoint any more: the clone that made it
// was deleted before a remote got it. The remote may have its note.
func lost(held map[string]string, st *journal.State) bool {
	return slices.ContainsFunc(st.Checkpoints(), func(e *journal.Entry) bool { return !e.Dead && held[string(e.Checkpoint)] == "" })
}

// deadLeft reports whether a remote keeps refs of dead ones.
func (s *schedule) deadLeft(there map[string]string, st *journal.State) bool {
	for leaf := range there { // its archive, too
		if st.Dead(name.ID(leaf)) {
			return true
		}
	}
	return false
}

// checkModel compares the fold with the model: a checkpoint is gone if a clone removed it that knew
// all its pins, and every other one that a journal names is there.
func (s *schedule) checkModel(st *journal.State, refs map[string]string) {
	s.t.Helper()
	known := map[name.OID]bool{}
	for _, e := range st.Events() {
		known[e.OID] = true
	}
	for _, e := range st.Checkpoints() {
		id := e.Checkpoint
		dead := false
		for _, p := range s.prunes {
			if p.id != id || !s.prunedIn(st, p.id, p.knows) {
				continue
			}
			all := true
			for _, pin := range s.pins[id] {
				all = all && (p.knows[pin] || !known[pin])
			}
			dead = dead || all
		}
		if dead != st.Dead(id) {
			s.t.Errorf("%s is dead: %v, and the story says %v", id, st.Dead(id), dead)
		}
		_, here := refs[string(id)]
		switch {
		case st.Dead(id) && here:
			s.t.Errorf("%s was pruned and is there", id)
		case !st.Dead(id) && !here && s.somebodyHad(id):
			s.t.Errorf("%s is lost", id)
		}
	}
	if c := st.CurrentEntry(); c != nil && !c.Live {
		s.t.Errorf("%s is current and not live", c.Checkpoint)
	}
}

// prunedIn reports whether the prune reached the joined journal: its clone may have died.
func (s *schedule) prunedIn(st *journal.State, id name.ID, knows map[name.OID]bool) bool {
	for _, e := range st.Events() {
		for _, t := range e.Tombstones {
			if t.ID == id && len(e.Parents) > 0 && (knows[e.Parents[0]] || !s.isEvent(st, e.Parents[0])) {
				return true
			}
		}
	}
	return false
}

func (s *schedule) isEvent(st *journal.State, oid name.OID) bool {
	return slices.ContainsFunc(st.Events(), func(e *journal.Event) bool { return e.OID == oid })
}

// somebodyHad reports whether a clone that still exists had the checkpoint. It is false if only
// deleted clones had it, or the clone that removed it.
func (s *schedule) somebodyHad(id name.ID) bool {
	if s.only[id] {
		return false
	}
	for c := range s.gone {
		if _, had := s.held(c.dir)[string(id)]; had {
			return false
		}
	}
	return true
}
