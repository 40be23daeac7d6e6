package repair_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/core/clearance"
	"git-checkpoint/internal/core/linked"
	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/test/verbtest"
	"git-checkpoint/internal/verb/background"
	"git-checkpoint/internal/verb/create"
	"git-checkpoint/internal/verb/repair"
)

// doctor returns the lines of a doctor by kind and object, without those about space.
func (w *world) doctor(fix bool) map[string]repair.Problem {
	w.Helper()
	found := map[string]repair.Problem{}
	w.Must(func(ctx context.Context, s *checkpoint.Service) error {
		return repair.Doctor(ctx, s, repair.DoctorRequest{Fix: fix}, func(a repair.Problem) error {
			if a.Message == "" {
				w.Errorf("says nothing: %+v", a)
			}
			if a.Kind != "space" {
				found[a.Kind+" "+a.Object] = a
			}
			return nil
		})
	})
	return found
}

// aged writes a file of .git/checkpoint, or one of .git if its path begins with "../", that was last
// changed this long ago.
func (w *world) aged(file string, ago time.Duration) {
	w.Helper()
	w.Write(filepath.Join(".git/checkpoint", file), "x\n")
	at := time.Now().Add(-ago)
	if err := os.Chtimes(filepath.Join(w.Dir, ".git/checkpoint", file), at, at); err != nil {
		w.Fatal(err)
	}
}

// own is the path of a file of .git/checkpoint.
func (w *world) own(file string) string { return filepath.Join(w.Dir, ".git/checkpoint", file) }

// ailment is what is laid out for doctor and what it has to say of it.
type ailment struct {
	lay    func(w *world)
	kind   string // empty: nothing
	object func(w *world) string
	level  repair.Level
	fixed  bool // --fix mends it
}

// at is an object with the same name in each world.
func at(object string) func(*world) string { return func(*world) string { return object } }

// check lays all out in one repository. Doctor has to find each, and nothing else; to mend those that
// it may, and those alone; and to find the others again.
func check(t *testing.T, w *world, all []ailment) {
	t.Helper()
	if found := w.doctor(true); len(found) > 0 {
		t.Fatalf("in a repository that is well: %+v", found)
	}
	for _, a := range all {
		a.lay(w)
	}
	for _, c := range []struct {
		when string
		fix  bool
	}{{"looking", false}, {"looking again", false}, {"mending", true}, {"after it", true}} {
		found := w.doctor(c.fix)
		for _, a := range all {
			if a.kind == "" || a.fixed && c.when == "after it" {
				continue
			}
			key := a.kind + " " + a.object(w)
			got, there := found[key]
			if !there || got.Level != a.level || got.Fixed != (a.fixed && c.fix) || got.Fixed != (got.Done != "") || got.Hint == "" {
				t.Errorf("%s: %s: %v %+v", c.when, key, there, got)
			}
			delete(found, key)
		}
		for _, a := range found {
			t.Errorf("%s: found beside what is there: %+v", c.when, a)
		}
	}
}

// What killed runs left is removed when it is too old to be in use. What another program may hold,
// and what somebody may still want, is named and stays.
func TestDoctorFiles(t *testing.T) {
	t.Parallel()
	own := func(file string) func(w *world) string { return func(w *world) string { return w.own(file) } }
	aged := func(file string, ago time.Duration) func(w *world) { return func(w *world) { w.aged(file, ago) } }
	w := newWorld(t)
	check(t, w, []ailment{
		{aged("tmp-old", 25*time.Hour), "stale_temporary", own("tmp-old"), repair.LevelProblem, true},
		{aged("tmp-young", 2*time.Hour), "young_temporary", own(""), repair.LevelInfo, false},
		{lay: aged("tmp-new", 0)}, {lay: aged("kept", 99*time.Hour)},
		{aged("../../.git-checkpoint-staging-0123456789ab", 25*time.Hour), "stale_staging", func(w *world) string {
			return filepath.Join(w.Dir, ".git-checkpoint-staging-0123456789ab")
		}, repair.LevelProblem, true},
		{lay: aged("../../.git-checkpoint-staging-0123456789cd", time.Hour)},
		{lay: aged(background.PushLock, time.Hour)}, {lay: aged(background.PackLock, time.Minute)},
		{aged("../HEAD.lock", time.Hour), "foreign_lock", own("../HEAD.lock"), repair.LevelAdvice, false},
		{aged("../index.lock", time.Hour), "foreign_lock", own("../index.lock"), repair.LevelAdvice, false},
		{aged("../refs/checkpoints/demo/journal.lock", time.Hour), "foreign_lock", own("../refs/checkpoints/demo/journal.lock"), repair.LevelAdvice, false},
		{aged("../refs/remotes/origin/HEAD.lock", time.Hour), "foreign_lock", own("../refs/remotes/origin/HEAD.lock"), repair.LevelAdvice, false},
		{aged("../gc.pid.lock", time.Hour), "foreign_lock", own("../gc.pid.lock"), repair.LevelAdvice, false},
		{lay: aged("../config.lock", time.Minute)}, {lay: aged("../refs/heads/main.lock", time.Minute)},
		{aged(background.PackFailed, time.Hour), "packing_failed", own(background.PackFailed), repair.LevelAdvice, false},
		{func(w *world) { w.Write(".git/checkpoint/session", "no-such\n") }, "active_session", at("main"), repair.LevelProblem, true},
	})
	if young := w.doctor(false)["young_temporary "+w.own("")]; !strings.HasPrefix(young.Message, "1 temporary file is ") || !strings.HasSuffix(young.Message, ": tmp-young") {
		t.Errorf("of young files: %s", young.Message)
	}
}

// While a rollback can be finished, nothing that it may need is removed: its temporary files are left,
// however old.
func TestDoctorUnfinishedRollback(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	check(t, w, []ailment{
		{func(w *world) { w.Write(".git/checkpoint/rollback", "half of") }, "unfinished_rollback", at("main"), repair.LevelProblem, false},
		{lay: func(w *world) { w.aged("tmp-old", 99*time.Hour) }},
	})
	if !w.Exists(".git/checkpoint/tmp-old") {
		t.Error("a file of the rollback is gone")
	}
}

// A name of a session that is none is forgotten like a session that is not there.
func TestDoctorActiveSession(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	check(t, w, []ailment{{func(w *world) { w.Write(".git/checkpoint/session", "../../x\n") }, "active_session", at("main"), repair.LevelProblem, true}})
	if w.Exists(".git/checkpoint/session") {
		t.Error("it is not forgotten")
	}
}

// Refs that say nothing, or that only hold what was pruned, are dropped. Refs of somebody, or that
// somebody has to decide about, are named and stay.
func TestDoctorRefs(t *testing.T) {
	t.Parallel()
	set := func(ref, to string) func(w *world) { return func(w *world) { w.Git("update-ref", ref, to) } }
	check(t, newWorld(t), []ailment{
		{set("refs/checkpoints/demo/mine", "HEAD"), "stray_ref", at("refs/checkpoints/demo/mine"), repair.LevelAdvice, false},
		{func(w *world) { w.Write(".git/refs/checkpoints/demo/cp-09-20261120T090200000Z-8119", "") }, "broken_ref", at("refs/checkpoints/demo/cp-09-20261120T090200000Z-8119"), repair.LevelProblem, true},
		{func(w *world) {
			w.Write(".git/refs/checkpoints/demo/cp-08-20261120T090200000Z-8119", strings.Repeat("0", 40)+"\n")
		}, "broken_ref", at("refs/checkpoints/demo/cp-08-20261120T090200000Z-8119"), repair.LevelProblem, true},
		{func(w *world) { w.Git("symbolic-ref", "refs/tags/checkpoint/demo/step-9", "refs/heads/main") }, "symbolic_ref", at("refs/tags/checkpoint/demo/step-9"), repair.LevelProblem, true},
		{func(w *world) {
			w.Must(func(ctx context.Context, s *checkpoint.Service) error {
				_, err := verbtest.Delete(ctx, s, string(demo), []string{"2"})
				return err
			})
			w.Git("update-ref", w.made[2].ref, string(w.made[2].commit))
		}, "dead_ref", func(w *world) string { return w.made[2].ref }, repair.LevelAdvice, true},
		{set("refs/checkpoint-incoming/1-2/x", "HEAD"), "stale_incoming", at(name.IncomingRoot), repair.LevelAdvice, true},
		{set("refs/checkpoint-remotes/gone/demo/journal", journal), "tracking_journal", at("refs/checkpoint-remotes/gone/demo/journal"), repair.LevelAdvice, true},
		{func(w *world) {
			w.Git("config", "remote.a/b.url", "../none")
			w.Git("update-ref", "refs/checkpoint-remotes/a/b/demo/journal", "HEAD")
		}, "tracking_journal", at("refs/checkpoint-remotes/a/b/demo/journal"), repair.LevelProblem, true},
		{lay: set("refs/checkpoint-remotes/a/b/well/journal", journal)},
		{func(w *world) {
			w.Git("-c", "core.logAllRefUpdates=always", "update-ref", "refs/checkpoint-remotes/a/b/well/journal", journal+"~1")
		}, "reflog", at("refs/checkpoint-remotes/a/b/well/journal"), repair.LevelAdvice, false},
		{set("refs/tags/checkpoint/other", "HEAD"), "ref_in_the_way", at("refs/tags/checkpoint/other"), repair.LevelAdvice, false},
		{set("refs/replace/"+"1111111111111111111111111111111111111111", "HEAD:file"), "", nil, "", false},
		{func(w *world) { w.Git("replace", string(w.made[1].file), string(w.made[3].file)) }, "replaced", func(w *world) string { return "refs/replace/" + string(w.made[1].file) }, repair.LevelProblem, false},
	})
}

// A ref below the one of the notes is in the way of all notes.
func TestDoctorNames(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	check(t, w, []ailment{
		{func(w *world) {
			w.Git("update-ref", "-d", string(name.NotesRef))
			w.Git("-c", "core.logAllRefUpdates=false", "update-ref", string(name.NotesRef)+"/mine", "HEAD")
		}, "ref_in_the_way", at(string(name.NotesRef) + "/mine"), repair.LevelProblem, false},
		{func(w *world) { w.Git("update-ref", "refs/checkpoints/Demo/journal", journal) }, "name_twins", at("demo"), repair.LevelAdvice, false},
		{func(w *world) { w.Git("update-ref", "refs/checkpoints/DEMO/journal", journal) }, "name_twins", at("Demo"), repair.LevelAdvice, false},
		// These journals are copies of the one of demo.
		{func(*world) {}, "journal_unreadable", at("Demo"), repair.LevelProblem, false},
		{func(*world) {}, "journal_unreadable", at("DEMO"), repair.LevelProblem, false},
	})
}

// Settings that cannot be read are problems; those that weaken a promise are named with their value.
// None is changed.
func TestDoctorSettings(t *testing.T) {
	t.Parallel()
	var all []ailment
	for setting, level := range map[string]repair.Level{
		"core.fsync=none": repair.LevelAdvice, "core.fsync=all,-loose-object": repair.LevelAdvice, "core.fsync=committed": "",
		"core.fsyncMethod=writeout-only": repair.LevelAdvice, "core.fsyncMethod=fsync": "",
		"core.logAllRefUpdates=always": repair.LevelAdvice, "gc.pruneExpire=now": repair.LevelAdvice, "gc.pruneExpire=2.weeks.ago": "",
		"notes.displayRef=refs/notes/checkpoints": repair.LevelAdvice, "notes.displayRef=refs/notes/*": "",
		"remote.a.fetch=+refs/checkpoints/*:refs/checkpoints/*": repair.LevelAdvice, "remote.a.fetch=+refs/*:refs/*": repair.LevelAdvice,
		"remote.a.fetch=+refs/notes/checkpoints:refs/notes/checkpoints": repair.LevelAdvice,
		// What docs/travel.md gives.
		"remote.a.fetch=refs/checkpoints/*:refs/checkpoints/*": "", "remote.a.fetch=refs/notes/checkpoints:refs/notes/checkpoints": "",
		"remote.a.fetch=refs/heads/*:refs/remotes/a/*": "", "remote.a.fetch=refs/tags/*:refs/tags/*": "", "remote.a.fetch=refs/notes/*:refs/notes/*": "", "remote.a.fetch=refs/checkpoints/x": "",
		"remote.a.mirror=true": repair.LevelAdvice, "remote.b.mirror=false": "",
		"checkpoint.maxFileSize=lots": repair.LevelProblem, "checkpoint.maxNew=1m": "", "checkpoint.tag=perhaps": repair.LevelProblem,
		"checkpoint.expire=soon": repair.LevelProblem, "checkpoint.failedExpire=never": "", "checkpoint.session=no/name": repair.LevelProblem,
		"checkpoint.workflow=nobody's": repair.LevelProblem, "checkpoint.sign=perhaps": repair.LevelProblem,
	} {
		key, value, _ := strings.Cut(setting, "=")
		a := ailment{lay: func(w *world) { w.Git("config", "--add", key, value) }, object: at(key + " = " + value), level: level}
		if level != "" {
			a.kind = "configuration"
		}
		if key == "checkpoint.sign" {
			a.kind = "signing"
		}
		all = append(all, a)
	}
	w := newWorld(t)
	check(t, w, all)
	if got := strings.Count(w.Read(".git/config"), "\n\tfetch = "); got != 9 {
		t.Errorf("%d fetch lines are left", got)
	}
}

// Signing that would fail at the next create is a problem before it.
func TestDoctorSigning(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		settings []string
		level    repair.Level
		says     string
	}{
		{[]string{"checkpoint.sign=false", "gpg.format=none"}, "", ""},
		{[]string{"checkpoint.sign=true", "gpg.format=none"}, repair.LevelProblem, `"none", which git does not know`},
		{[]string{"checkpoint.sign=true", "gpg.program=/no/such/gpg"}, repair.LevelProblem, "gpg is not installed"},
		{[]string{"checkpoint.sign=ssh", "gpg.ssh.program=sh"}, repair.LevelProblem, "no signing key is set"}, // sh is installed; it is never run
		{[]string{"checkpoint.sign=ssh", "gpg.ssh.program=sh", "user.signingKey=key"}, repair.LevelAdvice, "cannot be checked here"},
		{[]string{"checkpoint.sign=ssh", "gpg.ssh.program=sh", "user.signingKey=key", "gpg.ssh.allowedSignersFile=keys"}, "", ""},
	} {
		w := &world{World: verbtest.Unborn(t, "repo")}
		for _, setting := range c.settings {
			key, value, _ := strings.Cut(setting, "=")
			w.Git("config", key, value)
		}
		found := w.doctor(true)
		var said repair.Problem
		for _, a := range found {
			said = a
		}
		if said.Level != c.level || !strings.Contains(said.Message, c.says) || len(found) > 1 {
			t.Errorf("%q: %+v", c.settings, found)
		}
	}
}

// The worktree of a bisect that was killed is removed. That of a fork may hold somebody's work, and is
// named alone.
func TestDoctorWorktrees(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	place := func(kind string) string { return filepath.Join(w.Root, kind) }
	half := func(kind string) func(w *world) {
		return func(w *world) {
			w.Must(func(ctx context.Context, s *checkpoint.Service) error {
				n, err := linked.Begin(s.Repo, linked.Note{Kind: kind, Name: "x", Dir: place(kind), Session: "x"})
				if err != nil {
					return err
				}
				if err := linked.Add(ctx, s.Repo, linked.Place{Dir: place(kind), At: s.Repo.Head.OID}); err != nil {
					return err
				}
				n.Process = "0 0" // of no process that runs
				data, err := json.Marshal(n)
				w.Write(".git/checkpoint/worktrees/"+kind+"-x.json", string(data))
				return err
			})
		}
	}
	check(t, w, []ailment{
		{half(linked.KindFork), "worktree_unfinished", at(place(linked.KindFork)), repair.LevelProblem, false},
		{half(linked.KindBisect), "worktree_unfinished", at(place(linked.KindBisect)), repair.LevelProblem, true},
	})
	if w.Exists("../"+linked.KindBisect) || !w.Exists("../"+linked.KindFork) {
		t.Error("the worktree of the bisect is there, or that of the fork is not")
	}
}

// Objects that were expunged are named while they can be read.
func TestDoctorExpunged(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	file := w.made[2].file
	check(t, w, []ailment{{func(w *world) {
		w.Must(func(_ context.Context, s *checkpoint.Service) error {
			list, err := clearance.ReadExpunged(s.Repo)
			if err != nil {
				return err
			}
			return list.Add(demo, nil, []name.OID{file})
		})
	}, "expunged_objects", at(string(file)), repair.LevelAdvice, false}})
	w.lose(file)
	if found := w.doctor(false); len(found) > 0 {
		t.Errorf("when it is gone: %+v", found)
	}
}

// A check that fails becomes a line, and those after it are made. What the caller returns ends it.
func TestDoctorGoesOn(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.Remove(".git/checkpoint/worktrees")
	w.Write(".git/checkpoint/worktrees", "no directory")
	w.Git("config", "core.fsync", "none")
	found := w.doctor(false)
	if a := found["unreadable "]; a.Level != repair.LevelProblem || found["configuration core.fsync = none"].Kind == "" {
		t.Errorf("%+v", found)
	}
	enough, lines := errors.New("enough"), 0
	err := w.Do(func(ctx context.Context, s *checkpoint.Service) error {
		return repair.Doctor(ctx, s, repair.DoctorRequest{}, func(repair.Problem) error { lines++; return enough })
	})
	if !errors.Is(err, enough) || lines != 1 {
		t.Errorf("%d lines, %v", lines, err)
	}
}

// Of space, each session has a line, with what a prune would free. Of many sessions, the longest ten
// have one, and the last line counts the others: the time must not grow with the square of their number.
func TestDoctorSpace(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	look := func(ctx context.Context, s *checkpoint.Service) (space []repair.Problem, err error) {
		return space, repair.Doctor(ctx, s, repair.DoctorRequest{}, func(a repair.Problem) error {
			if a.Kind == "space" {
				space = append(space, a)
			}
			return nil
		})
	}
	w.Must(func(ctx context.Context, s *checkpoint.Service) error {
		space, err := look(ctx, s)
		if len(space) != 1 || space[0].Object != "demo" || space[0].Level != repair.LevelInfo || space[0].Bytes <= 0 || !strings.HasPrefix(space[0].Message, "3 checkpoints hold ") {
			t.Errorf("%+v", space)
		}
		return err
	})
	for i := range 12 {
		w.Must(func(ctx context.Context, s *checkpoint.Service) error {
			_, err := create.Checkpoint(ctx, s, create.Request{Session: fmt.Sprintf("short-%d", i)})
			return err
		})
	}
	w.Must(func(ctx context.Context, s *checkpoint.Service) error {
		space, err := look(ctx, s)
		if len(space) != 11 || !slices.ContainsFunc(space, func(a repair.Problem) bool { return a.Object == "demo" }) || space[10].Message != "3 sessions with fewer checkpoints were not measured" {
			t.Errorf("%+v", space)
		}
		return err
	})
}
