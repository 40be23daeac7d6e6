#!/bin/sh
# Makes format1.bundle and what is expected of it, with the git-checkpoint in PATH. It was
# run once, by the version that wrote format 1 first; later versions have to read what it
# made, so it is not run again.
set -e
here=$(cd "$(dirname "$0")" && pwd)
dir=$(mktemp -d)
cd "$dir"
export HOME="$dir" GIT_CONFIG_NOSYSTEM=1 TZ=UTC
export GIT_AUTHOR_NAME=Ann GIT_AUTHOR_EMAIL=ann@example.com GIT_COMMITTER_NAME=Ann GIT_COMMITTER_EMAIL=ann@example.com
export GIT_AUTHOR_DATE='2026-11-20T09:00:00Z' GIT_COMMITTER_DATE='2026-11-20T09:00:00Z'
minute=0
at() { minute=$((minute + 1)); export GIT_CHECKPOINT_NOW="2026-11-20T09:$(printf %02d $minute):00.250Z"; }
git init -q -b main repo
cd repo
printf '*.txt text eol=crlf\n' >.gitattributes
printf 'ignored\n' >.gitignore
printf 'one\r\n' >dos.txt
mkdir src
printf 'package src\n' >src/a.go
git add .
git commit -q -m Start
at; git checkpoint session start demo --topic 'todo service' -q
at; printf 'mixed\r\nends\n' >mixed.txt; printf 'spec\nof it\n' >spec.md; chmod 600 spec.md
git checkpoint create -q --name spec -m 'Spec
agreed' --set phase=spec --set 'big=12345678901234567890.10' --metric tests=3 --output spec=spec.md
at; printf 'package src\n\nfunc A() {}\n' >src/a.go; git add src/a.go; printf 'x\n' >"$(printf 'bad\377name')"; ln -s spec.md link; git add -N link
git checkpoint create -q --name design --set phase=design --error '{"code":7}'
at; git checkpoint create -q --trigger session_end -m 'Out for lunch' --pin
at; git checkout -q -b side; printf 'side\n' >dos.txt; git commit -q -a -m Side; git checkout -q main -- 2>/dev/null || git checkout -q -f main
printf 'package src\n\nfunc A() {}\n' >src/a.go
git checkpoint create -q --name review --iteration 2 --status blocked
at; git checkpoint rollback -q -y 1 --reason 'another
API'
at; git checkpoint undo -q -y
at; git checkpoint rollback -q -y 2
at; git checkpoint create -q --name build --output plan=spec.md
at; git checkpoint delete -q -y "$(git checkpoint list --json | sed -n 's/.*"id":"\([^"]*\)".*"label":"cp-03-review-2".*/\1/p')"
at; git checkpoint session close -q --status complete
at; git checkpoint session start other -q
git checkpoint create -q --session other -m 'One more'
git update-ref -d refs/notes/checkpoints
at; git checkpoint rebuild -q --all
git checkpoint validate -q --all --deep
git repack -q -a -d
git bundle create -q "$here/format1.bundle" --all
git bundle verify -q "$here/format1.bundle"
rm -rf "$dir"
