package repair_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/storage/proof"
	"git-checkpoint/internal/verb/create"
	"git-checkpoint/internal/verb/inspect"
	"git-checkpoint/internal/verb/repair"
)

// run is one validation, as lines in words and as list marks checkpoints afterwards.
func (w *world) run(req repair.ValidateRequest) (lines, marked []string) {
	w.Helper()
	w.Must(func(ctx context.Context, s *checkpoint.Service) error {
		err := repair.Validate(ctx, s.Sessions, req, func(v repair.Validated) error {
			lines = append(lines, string(v.Session)+"/"+w.say(v))
			return nil
		})
		for id := range inspect.ReadBroken(s.Repo, demo) {
			marked = append(marked, w.called(id))
		}
		slices.Sort(marked)
		return err
	})
	return lines, marked
}

// What a deep validation found is found by each later one too, and marked in list, until it is there
// again: else a quick one would call the checkpoint whole.
func TestDeepIsRemembered(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.lose(w.made[2].file)
	shallow := func(when string, want ...string) {
		t.Helper()
		lines, marked := w.run(repair.ValidateRequest{Session: string(demo)})
		if bad := slices.Contains(lines, "demo/2: blob_missing, after 1"); bad != (len(want) > 0) || !slices.Equal(marked, want) {
			t.Errorf("%s: %q, marked %q", when, lines, marked)
		}
	}
	shallow("before")
	w.validate(true)
	shallow("after a deep one", "2")
	shallow("after another", "2")
	w.Write("again", "of step 2\n")
	w.Git("hash-object", "-w", "again")
	shallow("when it is there again")
}

// One checkpoint can be validated by each of its names, also without a journal that has them. Only
// its mark in list changes, and the last valid one is looked for as far as needed.
func TestValidateOne(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.lose(w.oid(w.made[2].ref + "^2:checkpoint.json"))
	w.lose(w.oid(w.made[3].ref + "^2:checkpoint.json"))
	_, marked := w.run(repair.ValidateRequest{Session: string(demo)})
	if !slices.Equal(marked, []string{"2", "3"}) {
		t.Errorf("marked at first: %q", marked)
	}
	three := w.made[3]
	names := []string{string(three.id), "demo:" + string(three.id), three.ref, strings.TrimPrefix(three.ref, "refs/"), string(three.commit)}
	for _, ref := range append(names, "3", "cp-03", "@") {
		lines, marked := w.run(repair.ValidateRequest{Session: string(demo), Ref: ref})
		if !slices.Equal(lines, []string{"demo/3: record_missing, after 1"}) || !slices.Equal(marked, []string{"2", "3"}) {
			t.Errorf("%s: %q, marked %q", ref, lines, marked)
		}
	}
	if lines, marked := w.run(repair.ValidateRequest{Session: string(demo), Ref: "1"}); !slices.Equal(lines, []string{"demo/1: , restorable"}) || !slices.Equal(marked, []string{"2", "3"}) {
		t.Errorf("a whole one: %q, marked %q", lines, marked)
	}
	w.Git("update-ref", "-d", journal)
	for _, ref := range names {
		if lines, _ := w.run(repair.ValidateRequest{Session: string(demo), Ref: ref}); len(lines) != 1 || !strings.HasPrefix(lines[0], "demo/3: ") || !strings.Contains(lines[0], "record_missing") {
			t.Errorf("%s without a journal: %q", ref, lines)
		}
	}
	for _, ref := range []string{"3", "no-such"} {
		err := w.Do(func(ctx context.Context, s *checkpoint.Service) error {
			return repair.Validate(ctx, s.Sessions, repair.ValidateRequest{Session: string(demo), Ref: ref}, func(repair.Validated) error { return nil })
		})
		if err == nil {
			t.Errorf("%s without a journal is found", ref)
		}
	}
}

// All sessions are validated, also one of which nothing is left but the memory of this worktree.
func TestValidateAll(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.Create(create.Request{Session: "other"})
	if lines, _ := w.run(repair.ValidateRequest{All: true}); !slices.Equal(lines, []string{"demo/1: , restorable", "demo/2: , restorable, after 1", "demo/3: , restorable, after 2", "other/new: , restorable"}) {
		t.Errorf("%q", lines)
	}
	for ref := range strings.FieldsSeq(w.Git("for-each-ref", "--format=%(refname)", "refs/checkpoints/other", "refs/tags/checkpoint/other")) {
		w.Git("update-ref", "-d", ref)
	}
	if lines, _ := w.run(repair.ValidateRequest{All: true}); len(lines) != 4 || !strings.HasPrefix(lines[3], "other/session: journal_deleted") {
		t.Errorf("without its refs: %q", lines)
	}
}

// A missing signature is a finding only where one is required, of the checkpoints and once of the
// events, and never marks a checkpoint as broken.
func TestUnsigned(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	lines, marked := w.run(repair.ValidateRequest{Session: string(demo), RequireSigned: true})
	if want := []string{"demo/session: unsigned, restorable", "demo/1: unsigned, restorable", "demo/2: unsigned, restorable", "demo/3: unsigned, restorable"}; !slices.Equal(lines, want) || len(marked) > 0 {
		t.Errorf("%q, marked %q", lines, marked)
	}
	if lines := w.validate(false); len(lines) > 0 {
		t.Errorf("not required: %q", lines)
	}
}

// A rebuild of one checkpoint mends that one and leaves the others damaged.
func TestRebuildOne(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, step := range []int{2, 3} {
		w.Git("notes", "--ref=checkpoints", "remove", string(w.made[step].commit))
		w.Git("update-ref", "-d", w.made[step].ref)
	}
	if got := w.rebuild(repair.RebuildRequest{Ref: "2"}); !slices.Equal(got, []string{"2: note_missing ref_missing"}) && !slices.Equal(got, []string{"2: ref_missing note_missing"}) {
		t.Errorf("rebuild: %q", got)
	}
	if got := w.validate(false); !slices.Equal(got, []string{"3: note_missing ref_missing, restorable, after 2"}) {
		t.Errorf("after it: %q", got)
	}
}

// Who keeps the tip of the journal finds out when the history was set back or replaced since, also
// where this worktree has no memory of it.
func TestVerifyHistory(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	verify := func(since name.OID) (v *repair.Verified, err error) {
		err = w.Do(func(ctx context.Context, s *checkpoint.Service) (err error) {
			v, err = repair.VerifyHistory(ctx, s.Sessions, string(demo), string(since))
			return err
		})
		return v, err
	}
	tip := w.oid(journal)
	for _, since := range []name.OID{"", tip, tip[:7], w.oid(journal + "~1")} {
		if v, err := verify(since); err != nil || !v.OK || v.Break != nil || v.Tip != tip || v.Events != 4 {
			t.Errorf("since %s: %+v, %v", since, v, err)
		}
	}
	for _, since := range []name.OID{"abc", "main", tip[:6]} {
		if _, err := verify(since); checkpoint.KindOf(err) != checkpoint.KindUsage {
			t.Errorf("since %s: %v", since, err)
		}
	}
	w.Git("update-ref", journal, journal+"~1")
	if v, err := verify(""); err != nil || v.OK || v.Break == nil || v.Break.Kind != proof.JournalRewound {
		t.Errorf("set back: %+v, %v", v, err)
	}
	w.Remove(".git/checkpoint")
	if v, err := verify(""); err != nil || !v.OK || v.Events != 3 {
		t.Errorf("set back and forgotten: %+v, %v", v, err)
	}
	for _, since := range []name.OID{tip, tip[:7]} {
		if v, err := verify(since); err != nil || v.OK || v.Break == nil || v.Break.Kind != proof.JournalReplaced {
			t.Errorf("set back and forgotten, since %s: %+v, %v", since, v, err)
		}
	}
}
