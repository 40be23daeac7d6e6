package attempt_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"git-checkpoint/internal/attempt"
	"git-checkpoint/internal/checkpoint"
	"git-checkpoint/internal/create"
	"git-checkpoint/internal/inspect"
)

// interrupting cancels a context at the first output.
type interrupting struct{ cancel func() }

func (i interrupting) Write(p []byte) (int, error) {
	i.cancel()
	return len(p), nil
}

// A fork that is interrupted says so when a command did not run in one of the attempts.
func TestForkInterrupted(t *testing.T) {
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	dir, env := filepath.Join(root, "work"), []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + root, "GIT_CONFIG_NOSYSTEM=1",
		"GIT_AUTHOR_NAME=Ann", "GIT_AUTHOR_EMAIL=ann@example.com", "GIT_COMMITTER_NAME=Ann", "GIT_COMMITTER_EMAIL=ann@example.com",
	}
	for _, args := range [][]string{{"init", "-q", dir}, {"-C", dir, "commit", "-q", "--allow-empty", "-m", "first"}} {
		cmd := exec.Command("git", args...)
		cmd.Env = env
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %q: %v\n%s", args, err, out)
		}
	}
	s, err := checkpoint.Open(t.Context(), checkpoint.Options{Dir: dir, Env: env})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close() //nolint:errcheck // only a test
	if _, err := create.Checkpoint(t.Context(), s, create.Request{}); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	made, err := attempt.Fork(ctx, s, attempt.ForkRequest{
		Count: 3, Jobs: 1, Command: []string{"echo", "said"}, IO: inspect.IO{In: strings.NewReader(""), Out: interrupting{cancel}, Err: t.Output()},
	})
	if len(made) != 3 || made[1].Run != nil || made[2].Run != nil {
		t.Fatalf("%d attempts: %+v", len(made), made)
	}
	if checkpoint.KindOf(err) != checkpoint.KindInterrupt {
		t.Errorf("the error is %v", err)
	}
}
