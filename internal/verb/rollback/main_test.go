package rollback_test

import (
	"context"
	"testing"

	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/test/verbtest"
	"git-checkpoint/internal/verb/rollback"
)

// world is a repository with one commit, of the file "file" with "one".
type world struct{ *verbtest.World }

func newWorld(t *testing.T) *world {
	w := &world{verbtest.Unborn(t, "repo")}
	w.commit("one")
	return w
}

// refs returns all refs and HEAD.
func (w *world) refs() string {
	w.Helper()
	return w.Git("for-each-ref") + "\n" + w.Read(".git/HEAD")
}

// commit commits the content in the file "file" and returns the commit.
func (w *world) commit(content string) string {
	w.Helper()
	w.Write("file", content)
	w.Git("add", "-A")
	w.Git("commit", "-qm", content)
	return w.Git("rev-parse", "HEAD")
}

// create makes a checkpoint.
func (w *world) create() {
	w.Helper()
	w.Save("")
}

// rollBack goes to the first checkpoint. Planned is called when the plan is there and nothing has
// been changed.
func (w *world) rollBack(req rollback.Request, planned func(), between func(step string)) error {
	w.Helper()
	w.Between = between
	defer func() { w.Between = nil }()
	return w.Do(func(ctx context.Context, s *checkpoint.Service) error {
		req.Ref = "1"
		r, err := rollback.Prepare(ctx, s, req)
		if err != nil {
			return err
		}
		planned()
		_, err = r.Apply(ctx)
		return err
	})
}
