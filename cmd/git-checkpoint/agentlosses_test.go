package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// destructive are commands that destroy what somebody typed, in the repository that typing makes.
const destructive = `git checkout -- .
git checkout HEAD~1 -- .
git checkout -f other
git switch -f other
git switch --discard-changes other
git restore .
git restore --source=HEAD~1 --worktree --staged .
git reset --hard
git reset --hard HEAD~0
git clean -fd
git clean -fdx
git stash
git stash -u
git add -A; git commit -q -m x; git reset --hard HEAD~1
git commit -q -a -m x; git rebase -f HEAD~1; git reset --hard HEAD~1
git rm -rf a dir
rm -rf a dir untracked
find . -name "[a-e]" -not -path "./.git/*" -delete
mv b a; mv untracked c
cp b a
sed -i s/typed/gone/ a b c dir/d
echo x >a; : >b; >c
truncate -s 0 a b dir/e
dd if=/dev/null of=a; dd if=/dev/null of=untracked
tr a-z A-Z <a >tmp; mv tmp a
echo new >.a.swp; mv -f .a.swp a
ln -sf b a; ln -sf b untracked
rm -rf dir; echo file >dir
rm a; mkdir a; git clean -fd
for f in a b c dir/*; do sort -u "$f" | head -n 1 >"$f.tmp"; mv "$f.tmp" "$f"; done`

// typing puts everything back as it was committed, and then somebody types $1 into each file.
const typing = `git rebase --abort 2>/dev/null
git checkout -q -f work && git reset -q --hard first && git clean -q -fd
for f in a b c dir/d dir/e untracked dir/new; do echo "typed $1 in $f" >>"$f"; done`

// The real Claude Code runs commands that destroy what a person typed a moment before; the hook before
// each of them has it in a checkpoint.
func TestAgentsLoseNothing(t *testing.T) {
	dir := os.Getenv("AGENTS")
	if dir == "" {
		t.Skip("AGENTS is not set: `make test-agents` runs it")
	}
	a := drivenAgents()[0]
	program := filepath.Join(dir, a.name, "node_modules", ".bin", a.program)
	if _, err := os.Stat(program); err != nil {
		t.Skipf("NOT TESTED: %s is not installed", a.name)
	}
	d := newDrive(t, a, dir, program)
	d.run("git-checkpoint", "agent", "add", a.name, "-y")
	d.run("sh", "-ec", `git checkout -q -b work; mkdir dir; for f in a b c dir/d dir/e; do echo "first $f" >"$f"; done
		git add -A; git commit -q -m one; echo second >>a; git commit -q -a -m two; git tag first; git branch other HEAD~1`)
	commands := strings.Split(destructive, "\n")
	// Old ones of these checkpoints are pruned, so each is read before the next command.
	var kept []string
	read := func() {
		found, _ := d.try("sh", "-c", `git for-each-ref --sort=-refname --count=3 --format='%(refname)' 'refs/checkpoints/claude-*/cp-*' | xargs git grep -h '^typed'`)
		kept = append(kept, strings.Split(found, "\n")...)
	}
	turn := modelTurn{words: "destroy it"}
	for i, command := range commands {
		turn.steps = append(turn.steps, modelStep{command: command, before: func() {
			read()
			if said, code := d.try("sh", "-c", typing, "sh", fmt.Sprint(i)); code != 0 {
				t.Errorf("typing: %s", said)
			}
		}})
	}
	turn.steps = append(turn.steps, modelStep{before: read, text: "Done."})
	d.model.script = append(d.model.script, turn)
	d.prompt("destroy it")
	for i, command := range commands {
		for _, f := range []string{"a", "b", "c", "dir/d", "dir/e", "untracked", "dir/new"} {
			if !slices.Contains(kept, fmt.Sprintf("typed %d in %s", i, f)) {
				t.Errorf("%s is lost before %s", f, command)
			}
		}
	}
}
