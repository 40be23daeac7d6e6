package author_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"git-checkpoint/internal/core/author"
	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/format/record"
	"git-checkpoint/internal/test/verbtest"
	"git-checkpoint/internal/verb/create"
)

const session = "work"

// saved makes a checkpoint of one changed file, and returns its id.
func saved(ctx context.Context, t *testing.T, s *checkpoint.Service, req create.Request) name.ID {
	t.Helper()
	req.Session = session
	made, err := create.Checkpoint(ctx, s, req)
	if err != nil {
		t.Fatal(err)
	}
	return made.Record.ID
}

// The author of each path is what the record claims of it. A claim that nobody knows, or of which there
// is none, is unknown; and what a claim says is unknown once the checkpoint before was pruned, unless
// the checkpoint says it of the whole turn.
func TestWho(t *testing.T) {
	w := verbtest.New(t)
	agent := func(paths map[string]string, whole *record.Whole) *record.Agent {
		return &record.Agent{Name: "claude", Session: "c1", Paths: paths, Whole: whole}
	}
	var first, tool, turn, after name.ID
	do := func(f func(ctx context.Context, s *checkpoint.Service) error) {
		t.Helper()
		if err := w.Do(f); err != nil {
			t.Fatal(err)
		}
	}
	do(func(ctx context.Context, s *checkpoint.Service) error {
		first = saved(ctx, t, s, create.Request{Trigger: "manual"})
		w.Write("a", "1\n")
		tool = saved(ctx, t, s, create.Request{Trigger: "tool", Agent: agent(map[string]string{"a": record.Named}, nil)})
		w.Write("b", "1\n")
		paths := map[string]string{"b": record.During, "c": record.OutsideAgents, "d": "claude-2", "e": "no such word"}
		turn = saved(ctx, t, s, create.Request{Trigger: "turn", Agent: agent(paths, &record.Whole{Since: first, Paths: map[string]string{"a": record.Named}})})
		w.Write("f", "1\n")
		after = saved(ctx, t, s, create.Request{Trigger: "tool", Agent: agent(map[string]string{"f": record.Named}, nil)})
		return nil
	})
	of := func(id name.ID) (step author.Step) {
		t.Helper()
		do(func(ctx context.Context, s *checkpoint.Service) error {
			st, err := checkpoint.State(ctx, s.Store, session)
			if err == nil {
				step, err = author.StepOf(ctx, s.Store, st, st.Entry(id))
			}
			return err
		})
		return step
	}
	check := func(step author.Step, base name.ID, want map[record.Path]author.Who) {
		t.Helper()
		if step.Base == nil || step.Base.Checkpoint != base {
			t.Errorf("the base is %v, want %s", step.Base, base)
		}
		for path, who := range want {
			if got := step.Who(path); got != who {
				t.Errorf("%s: %+v, want %+v", path, got, who)
			}
		}
	}
	mine := func(by author.By) author.Who {
		return author.Who{By: by, Session: session, Agent: "claude", Conversation: "c1"}
	}
	unknown := author.Who{By: author.Unknown}
	check(of(tool), first, map[record.Path]author.Who{"a": mine(author.Agent), "b": unknown})
	check(of(turn), tool, map[record.Path]author.Who{
		"a": unknown, "b": mine(author.During), "c": {By: author.Outside}, "d": {By: author.Unknown, Session: "claude-2"}, "e": unknown,
	})
	if got := of(first).Who("file"); got != (author.Who{By: author.Outside}) {
		t.Errorf("what was saved while no agent worked: %+v", got)
	}
	// While an agent works, what somebody else saves is nobody's.
	do(func(ctx context.Context, s *checkpoint.Service) error {
		work := author.Load(s.Repo.GitDir)
		work.Begin("c1", author.Worker{Session: "claude-1", At: s.Store.Now()}).Busy = true
		if err := os.MkdirAll(filepath.Join(s.Repo.GitDir, "checkpoint", "agents"), 0o700); err != nil {
			return err
		}
		if err := work.Save(s.Repo.GitDir); err != nil {
			return err
		}
		w.Write("g", "1\n")
		if got := of(saved(ctx, t, s, create.Request{Trigger: "manual"})).Who("g"); got != unknown {
			t.Errorf("saved amid a turn: %+v", got)
		}
		return nil
	})
	do(func(ctx context.Context, s *checkpoint.Service) error {
		_, err := verbtest.Delete(ctx, s, session, []string{string(tool)})
		return err
	})
	check(of(turn), first, map[record.Path]author.Who{"a": mine(author.Agent), "b": unknown, "c": unknown})
	do(func(ctx context.Context, s *checkpoint.Service) error {
		_, err := verbtest.Delete(ctx, s, session, []string{string(turn)})
		return err
	})
	check(of(after), first, map[record.Path]author.Who{"f": unknown, "a": unknown})
}
