package git

import (
	"context"
	"os"
	"testing"

	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/test/gittest"
)

// fixture is a repository that is opened here and by plain git.
type fixture struct{ *gittest.Repository }

func newFixture(t *testing.T, initArgs ...string) *fixture {
	t.Helper()
	return &fixture{gittest.New(t, initArgs...)}
}

func (f *fixture) open(env ...string) *Repo {
	f.Helper()
	r, err := Open(context.Background(), Options{Dir: f.Dir, Env: append(f.Env[:len(f.Env):len(f.Env)], env...)})
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { r.Close() })
	return r
}

// rewrite replaces a loose object's file.
func (f *fixture) rewrite(oid name.OID, content string) {
	f.Helper()
	path := f.Loose(oid)
	if err := os.Remove(path); err != nil {
		f.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o444); err != nil {
		f.Fatal(err)
	}
}

func ctx(t testing.TB) context.Context {
	t.Helper()
	return t.Context()
}

func (f *fixture) must(err error) {
	f.Helper()
	if err != nil {
		f.Fatal(err)
	}
}
