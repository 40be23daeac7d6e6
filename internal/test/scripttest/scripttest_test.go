package scripttest_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"git-checkpoint/internal/test/scripttest"
)

// The verbs do what they say, and fail where they should.
func TestVerbs(t *testing.T) { scripttest.Run(t, "testdata") }

// A verb whose requirement is not met fails its script.
func TestVerbsFail(t *testing.T) {
	for name, line := range map[string]string{
		"exit": "exit 0 git nonsense", "jsonpath": "jsonpath a.json x 2", "absent": "jsonpath a.json z", "negated": "! jsonpath a.json x 1",
		"nojson": "jsonpath text x", "world": "sameworld never", "changed": "world w repo\ncp a.json repo/new\nsameworld w repo",
		"unchanged": "world w repo\n! sameworld w repo", "part": "world w repo\nsameworld -nonsense w repo",
		"mode": "world w repo\nchmod 755 repo/file\nsameworld -worktree w repo", "head": "world w repo\nexec git -C repo checkout -q -b other\nsameworld -heads w repo",
		"staged": "world w repo\nexec git -C repo add file\nsameworld -index w repo", "bytes": "world w repo\nexec git -C repo add file\nsameworld -indexfile w repo",
		"config": "world w repo\nexec git -C repo config a.b c\nsameworld -config w repo",
	} {
		t.Run(name, func(t *testing.T) {
			if !fails(t, "exec git init -q repo\ncp a.json repo/file\n"+line) {
				t.Errorf("it holds: %s", line)
			}
		})
	}
}

// Scrubbed takes out what no two runs share, and nothing else.
func TestScrubbed(t *testing.T) {
	const given = "cp-03-20261120T094311123Z-4f2a cp-03-build 1a2b3c4d5e6f708192a3b4c5d6e7f8091a2b3c4d Git: 1a2b3c4 1a2b3c4 6efb8664ba2ef7cb89227c2c3df6b012"
	const want = "cp-03-20261120T094311123Z-<id> cp-03-build <oid> Git: <short> 1a2b3c4 <worktree>"
	if got := scripttest.Scrubbed(given); got != want {
		t.Errorf("%s", got)
	}
}

// recorder is a testing.T for a script that is to fail.
type recorder struct{ *testing.T }

type failed struct{}

func (r recorder) Fatal(...any)                       { panic(failed{}) }
func (r recorder) FailNow()                           { panic(failed{}) }
func (r recorder) Parallel()                          {}
func (r recorder) Log(...any)                         {}
func (r recorder) Verbose() bool                      { return false }
func (r recorder) Run(_ string, f func(testscript.T)) { f(r) }

func fails(t *testing.T, script string) (found bool) {
	t.Helper()
	dir := t.TempDir()
	script += "\n-- a.json --\n{\"x\": 1}\n-- text --\nno JSON\n"
	if err := os.WriteFile(filepath.Join(dir, "script.txtar"), []byte(script), 0o666); err != nil {
		t.Fatal(err)
	}
	defer func() {
		if r := recover(); r != nil {
			if _, is := r.(failed); !is {
				panic(r)
			}
			found = true
		}
	}()
	testscript.RunT(recorder{t}, scripttest.Params(dir))
	return false
}
