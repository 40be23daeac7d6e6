package git

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// A process that was started ahead of time sees the refs as they are when it gets its transaction,
// serves one transaction, and leaves nothing behind if it gets none.
func TestReadyRefs(t *testing.T) {
	f := newFixture(t)
	f.git("config", "core.filesRefLockTimeout", "100") // or refs are written without it
	f.git("commit", "-q", "--allow-empty", "-m", "a")
	r := f.open()
	ctx := t.Context()
	head := r.Head.OID
	r.ReadyRefs(ctx)
	f.git("update-ref", "refs/x/a", string(head))
	f.git("pack-refs", "--all", "--prune")
	if err := r.UpdateRefs(ctx, []Update{{Ref: "refs/x/a", New: head}}); !errors.Is(err, ErrRaced) {
		t.Errorf("a ref that was made since then: %v", err)
	}
	if r.refs.Load() != nil {
		t.Error("the process waits for a second transaction")
	}
	if err := r.UpdateRefs(ctx, []Update{{Ref: "refs/x/b", New: head}}); err != nil { // a new one
		t.Error(err)
	}
	r.ReadyRefs(ctx)
	if err := r.UpdateRefs(ctx, []Update{{Ref: "refs/x/b", Old: head}, {Ref: "refs/x/c", New: head}}); err != nil {
		t.Error(err)
	}
	if refs, err := r.Refs(ctx, "refs/x/"); err != nil || len(refs) != 2 || refs[1].Ref != "refs/x/c" {
		t.Errorf("%v, %v", refs, err)
	}
	r.ReadyRefs(ctx)
	p := r.refs.Load()
	if err := r.Close(); err != nil || p.cmd.ProcessState == nil || !p.cmd.ProcessState.Success() {
		t.Errorf("closed: %v, %v", err, p.cmd.ProcessState)
	}
	if left, _ := filepath.Glob(filepath.Join(r.GitDir, "refs", "x", "*.lock")); len(left) > 0 { //nolint:errcheck // the pattern is right
		t.Errorf("left are %v", left)
	}
}

// A process that has been killed meanwhile changes nothing, and the error says so.
func TestReadyRefsEnded(t *testing.T) {
	f := newFixture(t)
	f.git("config", "core.filesRefLockTimeout", "100")
	f.git("commit", "-q", "--allow-empty", "-m", "a")
	r := f.open()
	ctx, cancel := context.WithCancel(t.Context())
	r.ReadyRefs(ctx)
	cancel() // a transaction is not cut off
	<-r.refs.Load().tried
	if r.refs.Load().cmd.ProcessState != nil {
		t.Fatal("ended with its context")
	}
	if err := r.refs.Load().cmd.Process.Signal(os.Kill); err != nil {
		t.Fatal(err)
	}
	if err := r.UpdateRefs(t.Context(), []Update{{Ref: "refs/x/a", New: r.Head.OID}}); err == nil {
		t.Error("no error")
	}
	if oid, err := r.Batch().Resolve(t.Context(), "refs/x/a"); !errors.Is(err, ErrMissing) {
		t.Errorf("%s %v", oid, err)
	}
}
