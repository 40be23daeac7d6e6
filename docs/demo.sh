#!/bin/sh
# The main job of git-checkpoint in a scratch repository of its own, each command with
# its output. `make demo` runs it with the program that was just built; nothing outside
# the scratch directory is read or written, and in the end that is gone.
set -eu

scratch=$(mktemp -d)
trap 'cd / && rm -rf "$scratch"' EXIT
trap 'exit 130' INT TERM
cd "$scratch"

# Nobody's own configuration takes part.
export HOME="$scratch" GIT_CONFIG_NOSYSTEM=1 GIT_PAGER=cat
unset GIT_DIR GIT_WORK_TREE GIT_INDEX_FILE GIT_CHECKPOINT_SESSION XDG_CONFIG_HOME

say() { printf '\n# %s\n' "$*"; }

# Shows a command and runs it.
run() {
	printf '$ %s\n' "$*"
	eval "$*"
}

# Shows a command that has to be refused, and runs it.
refused() {
	printf '$ %s\n' "$*"
	code=0
	eval "$*" 2>&1 || code=$?
	printf '(exit code %d)\n' "$code"
	test "$code" -eq 4
}

say 'A repository with one commit, and a job in it.'
run 'git init -q -b main shop && cd shop'
git config user.name 'A U Thor'
git config user.email author@example.com
run 'echo "# Shop" > README.md && git add . && git commit -q -m "Start"'
run 'git checkpoint session start shop --topic "a small shop"'

say 'Each step of the job leaves a checkpoint: files, tracked or not, and state.'
run 'echo "Sell books." > spec.md && git add spec.md'
run 'git checkpoint create --name requirements --output spec=spec.md -m "what it is for"'
run 'echo "package shop" > shop.go && git add shop.go && echo "secret=1" > notes.txt'
run 'git checkpoint create --name architecture --set phase=architecture --metric build_pass=true'
run 'rm spec.md && echo "package broken" > shop.go'
run 'git checkpoint create --name implementation --set phase=implementation --metric build_pass=false'

say 'Where does it stand, and what happened?'
run 'git checkpoint list'
run 'git checkpoint diff 2 3'
run 'git checkpoint list --where state.metrics.build_pass'

say 'Step 3 went wrong. A rollback says first what it will do; in a pipe it does not ask but stops.'
refused 'git checkpoint rollback 2 </dev/null'
run 'git checkpoint rollback 2 --yes --reason "the build is broken"'
run 'cat shop.go spec.md && git status --short'

say 'Nothing is lost: every rollback can be undone, to the byte.'
run 'git checkpoint undo --yes'
run 'cat shop.go && git status --short'
run 'git checkpoint history'

say 'All of it is plain git. A step with nothing private in it has a tag.'
run 'git for-each-ref --format="%(refname)" refs/tags/checkpoint'
run 'git show checkpoint/shop/step-1:spec.md'
