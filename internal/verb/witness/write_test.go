package witness

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/format/record"
	"git-checkpoint/internal/test/verbtest"
	"git-checkpoint/internal/verb/create"
)

// Writers at the same time lose none of their notes: each looks again at what the others wrote.
func TestTogether(t *testing.T) {
	w := verbtest.New(t)
	w.Env = append(w.Env, "GIT_CHECKPOINT_AUTOPACK=false")
	const commits = 4
	for i := range commits {
		file := fmt.Sprintf("f%d", i)
		w.Write(file, "a line of "+file+"\n")
		w.Create(create.Request{Session: "one", Trigger: "tool", Message: "Edit " + file, Agent: &record.Agent{Name: "claude", Session: "one", Paths: map[string]string{file: record.Named}}})
		w.Later(time.Hour)
		w.Must(func(_ context.Context, s *checkpoint.Service) error {
			at := s.Store.Now().Format(time.RFC3339)
			w.Env = append(w.Env, "GIT_AUTHOR_DATE="+at, "GIT_COMMITTER_DATE="+at)
			return nil
		})
		w.Git("add", "-A")
		w.Git("commit", "-q", "-m", file)
	}
	var all sync.WaitGroup
	errs := make(chan error, commits)
	for i := range commits {
		all.Go(func() {
			w.Must(func(ctx context.Context, s *checkpoint.Service) error {
				_, err := Write(ctx, s, Request{Format: "git-ai", Range: fmt.Sprintf("HEAD~%d..HEAD~%d", i+1, i), Version: "1"})
				errs <- err
				return nil
			})
		})
	}
	all.Wait()
	for range commits {
		if err := <-errs; err != nil {
			t.Error(err)
		}
	}
	if n := len(strings.Fields(w.Git("ls-tree", "-r", "--name-only", "refs/notes/ai"))); n != commits {
		t.Errorf("%d notes of %d are left", n, commits)
	}
}
