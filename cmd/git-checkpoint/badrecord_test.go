package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

// A record that nobody can make anything of, at the place of a real one and named by a
// journal that fits: each command answers with a clear error or the rest, soon, and
// nothing that a terminal would obey reaches it.
func TestBadRecords(t *testing.T) {
	w := newWorld(t)
	for _, name := range []string{"one", "two", "three"} {
		w.write("file", name)
		w.run("git", "checkpoint", "create", "-q", "--name", name, "--set", "phase="+name)
	}
	refs := w.run("git", "for-each-ref", "--format=update %(refname) %(objectname)")
	good := w.run("git", "cat-file", "blob", "refs/tags/checkpoint/main/step-2^1:checkpoint.json")
	escape := "\x1b]0;t\x07\x1b[31m\u009b\u202e\r"
	for name, bad := range map[string]string{
		"nothing": "", "null": "null", "array": "[]", "number": "42", "zeros": strings.Repeat("\x00", 64),
		"5 MB": `{"format":1,"x":"` + strings.Repeat("a", 5_000_000) + `"}`, "brackets": strings.Repeat("[", 200_000) + strings.Repeat("]", 200_000),
		"open brackets": strings.Repeat(`{"a":`, 200_000), "no UTF-8": `{"format":1,"id":"` + "\xff\xfe" + `"}`, "twice": `{"format":1,"format":1}`,
		"half a pair": `{"format":1,"id":"\ud800"}`, "huge number": `{"format":1e999999999}`, "later": strings.Replace(good, `"format": 1`, `"format": 7`, 1),
		"raw escapes": strings.ReplaceAll(good, `"two"`, `"`+escape+`"`), "escapes": strings.ReplaceAll(good, `"two"`, `"\u001b[31m\u009b\u202e"`),
		"names with escapes": strings.ReplaceAll(good, `"phase"`, `"\u001b[31m"`), "cut off": good[:len(good)/2],
	} {
		if testing.Short() && !slices.Contains([]string{"brackets", "cut off"}, name) {
			continue
		}
		t.Run(name, func(t *testing.T) {
			w := &world{t: t, dir: w.dir, env: w.env}
			w.pipe(refs, "git", "update-ref", "--stdin")
			w.forge(bad)
			for _, args := range []string{
				"list", "list --json", "show 2", "show 2 --json", "diff 1 2", "diff 2 3 --json", "session show", "session show --json",
				"resume 2", "resume --json", "rollback 2 -n", "rollback 3 -n --json", "validate", "validate 2 --json", "rebuild 2",
			} {
				began := time.Now()
				out, code := w.try(append([]string{"git", "checkpoint"}, strings.Fields(args)...)...)
				if took := time.Since(began); took > 30*time.Second {
					t.Errorf("%s took %s", args, took)
				}
				if hostileBytes().MatchString(out) || strings.Contains(out, "goroutine ") {
					t.Errorf("%s answers %q", args, out[:min(len(out), 2000)])
				}
				switch of2 := strings.Contains(args, "2"); {
				case of2 && code != 5 && args != "rebuild 2":
					t.Errorf("%s: exit code %d, not 5\n%s", args, code, out[:min(len(out), 2000)])
				case !of2 && args != "validate" && code != 0:
					t.Errorf("%s: exit code %d\n%s", args, code, out[:min(len(out), 2000)])
				case name == "later" && code == 5 && !strings.HasPrefix(args, "validate") && !strings.HasPrefix(args, "rebuild") && (!strings.Contains(out, "use a git-checkpoint that knows format 7") || strings.Contains(out, "is damaged") || strings.Contains(out, "delete")):
					t.Errorf("%s does not say what is needed: %s", args, out)
				case strings.HasPrefix(args, "list") && !strings.Contains(out, "three") && !strings.Contains(out, "\n3\t"):
					t.Errorf("%s does not go on: %s", args, out)
				}
			}
		})
	}
}

func hostileBytes() *regexp.Regexp {
	return regexp.MustCompile(`[\x00-\x08\x0b-\x1f\x7f]|\x{80}|[\x{81}-\x{9f}\x{202a}-\x{202e}\x{2066}-\x{2069}]`)
}

// forge puts a record into checkpoint 2, with commits and a journal that fit it. edits are options of
// sed that change all messages.
func (w *world) forge(record string, edits ...string) {
	w.t.Helper()
	const forging = `
C=$(git rev-parse refs/tags/checkpoint/main/step-2)
M=$(git rev-parse "$C^@" | tail -n 1)
eval "$FORGING"
B=$(git hash-object -w ../record)
T=$(git ls-tree "$M" | sed "s/ [0-9a-f]*	checkpoint.json$/ $B	checkpoint.json/" | git mktree)
N=$(echo record | git commit-tree "$T")
F=$(git show -s --format=%B "$C" | sed -e '' "$@" | git commit-tree "$C^{tree}" -p "$N")
ref=$(git for-each-ref --format='%(refname)' --points-at="$C" 'refs/checkpoints/main/cp-*')
parent=
for e in $(git rev-list --reverse refs/checkpoints/main/journal); do
	at=$(git show -s --format=%at "$e")
	parent=$(git show -s --format=%B "$e" | sed -e "s/$C/$F/" "$@" | GIT_AUTHOR_DATE=$at GIT_COMMITTER_DATE=$at git commit-tree "$e^{tree}" ${parent:+-p $parent})
done
git update-ref "$ref" "$F"
git update-ref refs/tags/checkpoint/main/step-2 "$F"
git update-ref refs/checkpoints/main/journal "$parent"
rm -f .git/checkpoint/journal-* .git/checkpoint/left-* .git/checkpoint/broken-*
`
	if err := os.WriteFile(filepath.Join(filepath.Dir(w.dir), "record"), []byte(record), 0o666); err != nil {
		w.t.Fatal(err)
	}
	w.run(append([]string{"sh", "-ec", forging, "forge"}, edits...)...)
}

func (w *world) pipe(in string, args ...string) {
	w.t.Helper()
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Dir, cmd.Env, cmd.Stdin = w.dir, w.env, strings.NewReader(in)
	if out, err := cmd.CombinedOutput(); err != nil {
		w.t.Fatalf("%v: %v\n%s", args, err, out)
	}
}
