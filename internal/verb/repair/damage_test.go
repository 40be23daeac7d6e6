package repair_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/verb/inspect"
	"git-checkpoint/internal/verb/repair"
)

const journal = "refs/checkpoints/demo/journal"

// harm is one kind of damage, mostly to step 2, and what is said of it.
type harm struct {
	do       func(w *world)
	validate []string // what validate says
	deep     []string // and a deep one, if it says something else
	rebuild  []string
	left     []string // what a validation says after the rebuild; none: all is as it was before the damage
}

func harms() map[string]harm {
	return map[string]harm{
		"note removed": {
			do:       func(w *world) { w.Git("notes", "--ref=checkpoints", "remove", string(w.made[2].commit)) },
			validate: []string{"2: note_missing, restorable, after 1"}, rebuild: []string{"2: note_missing"},
		},
		"note edited": {
			do: func(w *world) {
				w.Git("notes", "--ref=checkpoints", "add", "-f", "-m", "mine", string(w.made[2].commit))
			},
			validate: []string{"2: note_edited, restorable, after 1"}, rebuild: []string{"2: note_edited"},
		},
		"note of another": {
			do: func(w *world) {
				w.Git("notes", "--ref=checkpoints", "add", "-f", "-C", string(w.oid(w.made[1].ref+"^2:checkpoint.json")), string(w.made[2].commit))
			},
			validate: []string{"2: note_swapped, restorable, after 1"}, rebuild: []string{"2: note_swapped"},
		},
		"all notes removed": {
			do:       func(w *world) { w.Git("update-ref", "-d", string(name.NotesRef)) },
			validate: []string{"1: note_missing, restorable", "2: note_missing, restorable", "3: note_missing, restorable"},
			rebuild:  []string{"1: note_missing", "2: note_missing", "3: note_missing"},
		},
		"ref removed": {
			do:       func(w *world) { w.Git("update-ref", "-d", w.made[2].ref) },
			validate: []string{"2: ref_missing, restorable, after 1"}, rebuild: []string{"2: ref_missing"},
		},
		"ref at a commit": {
			do:       func(w *world) { w.Git("update-ref", w.made[2].ref, "HEAD") },
			validate: []string{"2: ref_foreign, restorable, after 1"}, rebuild: []string{"2: ref_foreign"},
		},
		"ref at another checkpoint": {
			do:       func(w *world) { w.Git("update-ref", w.made[2].ref, string(w.made[1].commit)) },
			validate: []string{"2: record_id record_other ref_id, restorable, after 1"}, rebuild: []string{"2: ref_id"},
		},
		"tag at a commit": {
			do:       func(w *world) { w.Git("update-ref", string(name.TagRef(demo, 2, "")), "HEAD") },
			validate: []string{"2: tag_moved, restorable, after 1"}, rebuild: []string{"2: tag_moved"},
		},
		"record lost": { // the note has the same object
			do:       func(w *world) { w.lose(w.oid(w.made[2].ref + "^2:checkpoint.json")) },
			validate: []string{"2: record_missing, after 1"},
			rebuild:  []string{"2: ; new checkpoint; left record_missing; without error git.branch snapshot.modes snapshot.skipped state workflow.version"},
			left:     []string{"2: record_missing, after 1"},
		},
		"commit of the record lost": {
			do:       func(w *world) { w.lose(w.oid(w.made[2].ref + "^2")) },
			validate: []string{"2: record_commit_missing, after 1"}, rebuild: []string{"2: record_commit_missing"},
		},
		"commit lost": {
			do:       func(w *world) { w.lose(w.made[2].commit) },
			validate: []string{"2: commit_missing, after 1"}, rebuild: []string{"2: ; new checkpoint; left commit_missing"}, left: []string{"2: commit_missing, after 1"},
		},
		"two commits lost": {
			do:       func(w *world) { w.lose(w.made[2].commit); w.lose(w.made[3].commit) },
			validate: []string{"2: commit_missing, after 1", "3: commit_missing, after 1"},
			rebuild:  []string{"2: ; new checkpoint; left commit_missing", "3: ; new checkpoint; left commit_missing"},
			left:     []string{"2: commit_missing, after 1", "3: commit_missing, after 1"},
		},
		"file lost": {
			do:   func(w *world) { w.lose(w.made[2].file) },
			deep: []string{"2: blob_missing, after 1"}, rebuild: []string{"2: ; left blob_missing"}, left: []string{"2: blob_missing, after 1"},
		},
		"file lost that is in the worktree": {
			do:   func(w *world) { w.lose(w.made[3].file) },
			deep: []string{"3: blob_missing, after 2"}, rebuild: []string{"3: blob_missing"},
		},
		"journal removed": {
			do:       func(w *world) { w.Git("update-ref", "-d", journal) },
			validate: []string{"session: journal_deleted"}, rebuild: []string{"session: journal_deleted"},
		},
		"journal set back": {
			do:       func(w *world) { w.Git("update-ref", journal, journal+"~1") },
			validate: []string{"session: journal_rewound, restorable", "3: event_missing, restorable, after 2"}, rebuild: []string{"session: journal_rewound"},
		},
		"journal removed and forgotten": {
			do:       func(w *world) { w.Git("update-ref", "-d", journal); w.Remove(".git/checkpoint") },
			validate: []string{"session: journal_deleted"},
			rebuild:  []string{"session: ", "1: event_missing", "2: event_missing", "3: event_missing"},
		},
		"commit of the journal lost": {
			do:       func(w *world) { w.lose(w.oid(journal + "~1")) },
			validate: []string{"session: journal_commit_missing"}, rebuild: []string{"session: journal_commit_missing"},
		},
	}
}

// Validate names each damage and changes nothing. Rebuild mends what can be derived, and all is as it
// was before then; what cannot be is left and named. Neither touches what is the user's, and a second
// rebuild has nothing more to mend.
func TestDamage(t *testing.T) {
	t.Parallel()
	for what, h := range harms() {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			before, mine := w.kept(), w.mine()
			h.do(w)
			refs := w.refs()
			if h.deep == nil {
				h.deep = h.validate
			}
			if got := w.validate(false); !slices.Equal(got, h.validate) {
				t.Errorf("validate: %q, want %q", got, h.validate)
			}
			if got := w.validate(true); !slices.Equal(got, h.deep) {
				t.Errorf("a deep validate: %q, want %q", got, h.deep)
			}
			if got := w.refs(); got != refs {
				t.Errorf("validate changed refs from\n%s\nto\n%s", refs, got)
			}
			if got := w.rebuild(repair.RebuildRequest{}); !slices.Equal(got, h.rebuild) {
				t.Errorf("rebuild: %q, want %q", got, h.rebuild)
			}
			if got := w.validate(true); !slices.Equal(got, h.left) {
				t.Errorf("after the rebuild: %q, want %q", got, h.left)
			}
			if w.mine() != mine {
				t.Errorf("of the user's it changed\n%s\nto\n%s", mine, w.mine())
			}
			if h.left != nil {
				return
			}
			if got := w.kept(); got != before {
				t.Errorf("before:\n%s\nafter:\n%s", before, got)
			}
			tip := w.oid(journal)
			if got := w.rebuild(repair.RebuildRequest{}); len(got) > 0 || w.oid(journal) != tip {
				t.Errorf("a second rebuild: %q", got)
			}
		})
	}
}

// A checkpoint whose record or commit is lost gets another one beside it: of the same step, label and
// files, which says what it was made from. With the record in the note it has the state too. A second
// rebuild makes no third one.
func TestStandIn(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		what  string
		do    func(w *world)
		state string
	}{
		{"commit", func(w *world) { w.lose(w.made[2].commit) }, `{"n":2}`},
		{"record", func(w *world) { w.lose(w.oid(w.made[2].ref + "^2:checkpoint.json")) }, `{}`},
	} {
		w := newWorld(t)
		c.do(w)
		w.rebuild(repair.RebuildRequest{})
		w.rebuild(repair.RebuildRequest{})
		var found []*checkpoint.Detail
		w.Must(func(ctx context.Context, s *checkpoint.Service) error {
			st, err := checkpoint.State(ctx, s.Store, demo)
			if err != nil {
				return err
			}
			for _, e := range st.Checkpoints() {
				if w.called(e.Checkpoint) != "new" {
					continue
				}
				d, err := inspect.Show(ctx, s.Sessions, string(demo), string(e.Checkpoint))
				if err != nil {
					return err
				}
				found = append(found, d)
			}
			return nil
		})
		if len(found) != 1 {
			t.Errorf("%s lost: %d new checkpoints", c.what, len(found))
			continue
		}
		r := found[0].Record
		if r.RebuiltFrom != w.made[2].id || r.Step != 2 || r.Label != "cp-02" || strings.Join(strings.Fields(string(r.State)), "") != c.state {
			t.Errorf("%s lost: %+v", c.what, r)
		}
		if got := w.Git("show", string(found[0].Commit)+":file"); got != "of step 2" {
			t.Errorf("%s lost: the file has %q", c.what, got)
		}
	}
}
