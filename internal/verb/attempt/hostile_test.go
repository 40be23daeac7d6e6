package attempt

import (
	"context"
	"encoding/hex"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/format/journal"
	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/format/record"
	"git-checkpoint/internal/storage/store"
	"git-checkpoint/internal/verb/create"
	"git-checkpoint/internal/verb/land"
	"git-checkpoint/internal/verb/repair"
	"git-checkpoint/internal/verb/revert"
	"git-checkpoint/internal/verb/rollback"
)

// A checkpoint whose tree has a name that no file can have, or that leads into .git, is refused by all that
// would write it, before anything is there; what only looks at it ends; and the next checkpoint is made.
func TestHostileNames(t *testing.T) {
	for _, hostile := range []string{"/x", "x/", "//", "a/../../x", "..", ".", "./x", ".git", ".GIT", "git~1", "a/b"} {
		for _, deep := range []bool{false, true} {
			for i, mode := range []string{"100644", "40000", "160000", "120000"} {
				if testing.Short() && deep != (i%2 == 0) {
					continue
				}
				t.Run(fmt.Sprintf("%q %s deep=%v", hostile, mode, deep), func(t *testing.T) { hostileWorld(t, hostile, mode, deep) })
			}
		}
	}
}

// hostileTree writes a tree with a file or directory of this name, and a plain file.
func hostileTree(w world, called, mode string, deep bool) name.OID {
	plain := w.Git("hash-object", "-w", "file")
	write := func(mode, name, oid string) string {
		id, err := hex.DecodeString(oid)
		if err != nil {
			w.Fatal(err)
		}
		put := exec.CommandContext(w.Context(), "git", "hash-object", "-t", "tree", "-w", "--literally", "--stdin")
		put.Dir, put.Env, put.Stdin = w.Dir, w.Env, strings.NewReader(mode+" "+name+"\x00"+string(id))
		out, err := put.Output()
		if err != nil {
			w.Fatal(err)
		}
		return strings.TrimSpace(string(out))
	}
	oid := plain
	switch mode {
	case "40000":
		oid = write("100644", "file", plain)
	case "160000":
		oid = w.Git("rev-parse", "HEAD")
	}
	tree := write(mode, called, oid)
	if deep {
		tree = write("40000", "sub", tree)
	}
	return name.OID(tree)
}

// forge makes a checkpoint with this tree, as somebody else could.
func forge(w world, tree name.OID) (id name.ID) {
	w.Must(func(ctx context.Context, s *checkpoint.Service) error {
		_, err := s.Store.Transact(ctx, "main", func(ctx context.Context, v store.View) (change store.Change, err error) {
			e, err := checkpoint.NewEvent(s.Store, journal.KindCreate, "main")
			if err != nil {
				return change, err
			}
			r := &record.Record{Format: record.Format, Session: "main", CreatedAt: e.Time, Trigger: "manual", Status: "in_progress", Milestone: true, Step: 2, Label: "cp-02",
				Workflow: record.Workflow{Name: "default", Version: "1"}, State: []byte("{}"), Outputs: map[string]record.Output{}, Previous: v.State.Current,
				Git:      record.Git{Branch: "refs/heads/main", Head: s.Repo.Head.OID, Worktree: "main"},
				Snapshot: record.Snapshot{Tree: tree, Complete: true, Modes: map[record.Path]string{}}}
			if r.Git.Index, err = s.Repo.Commits.TreeOf(ctx, s.Repo.Head.OID); err != nil {
				return change, err
			}
			if r.ID, err = checkpoint.FreeID(s.Store, v.State, 2, e.Time); err != nil {
				return change, err
			}
			author, committer := s.Repo.Commits.Identity(e.Time)
			written, err := s.Store.WriteCheckpoint(ctx, store.Draft{Record: r, Tree: tree, Head: r.Git.Head, IndexTree: r.Git.Index, Author: author, Committer: committer, Limits: record.Limits{Size: 1 << 20}})
			id = r.ID
			checkpoint.NameIn(&e, r, written.Commit)
			return store.Change{Events: []journal.Event{e}, Create: []store.NewCheckpoint{{ID: r.ID, Commit: written.Commit, RecordBlob: written.RecordBlob}}}, err
		})
		return err
	})
	return id
}

func hostileWorld(t *testing.T, hostile, mode string, deep bool) {
	w := newWorld(t)
	w.Save("one")
	tree := hostileTree(w, hostile, mode, deep)
	made := string(forge(w, tree))
	w.Write("file", "mine\n")
	refused := func(verb string, do func(context.Context, *checkpoint.Service) error) {
		t.Helper()
		if err := w.Do(do); err == nil {
			t.Errorf("%s did what it must refuse", verb)
		}
		w.Has("file", "mine\n")
		if entries, err := os.ReadDir(w.Root); err != nil || len(entries) != 1 {
			t.Errorf("after %s there is %v, %v", verb, entries, err)
		}
	}
	refused("rollback", func(ctx context.Context, s *checkpoint.Service) error {
		_, err := rollback.Prepare(ctx, s, rollback.Request{Ref: made})
		return err
	})
	refused("restore", func(ctx context.Context, s *checkpoint.Service) error {
		_, err := rollback.Prepare(ctx, s, rollback.Request{Ref: made, Mode: rollback.ModeWorktree})
		return err
	})
	refused("fork", func(ctx context.Context, s *checkpoint.Service) error {
		_, err := Fork(ctx, s, ForkRequest{Ref: made, Count: 1, Jobs: 1})
		return err
	})
	refused("land", func(ctx context.Context, s *checkpoint.Service) error {
		_, err := land.Prepare(ctx, s, land.Request{})
		return err
	})
	w.Do(func(ctx context.Context, s *checkpoint.Service) error { //nolint:errcheck // it may find nothing to take back
		_, err := revert.Prepare(ctx, s, revert.Request{Refs: []string{made}})
		return err
	})
	w.Must(func(ctx context.Context, s *checkpoint.Service) error {
		return repair.Validate(ctx, s.Sessions, repair.ValidateRequest{All: true, Deep: true}, func(v repair.Validated) error {
			if string(v.Checkpoint) == made && v.OK {
				t.Error("validate --deep calls it whole")
			} else if string(v.Checkpoint) == made {
				t.Log(v.Findings)
			}
			return nil
		})
	})
	w.Create(create.Request{Message: "three"})
	w.Must(func(ctx context.Context, s *checkpoint.Service) error {
		p, err := rollback.Prepare(ctx, s, rollback.Request{Ref: "1"})
		if err == nil {
			_, err = p.Apply(ctx)
		}
		return err
	})
	w.Has("file", "one\n")
}
