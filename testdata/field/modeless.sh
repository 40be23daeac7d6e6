# Where the file system keeps no modes and no links, files have those of the index: nothing becomes executable.
. "$(dirname "$0")/lib.sh"
OUT=$PWD/out
mkdir -p "$OUT"
git init -q --bare "$OUT/remote-$(basename "$1").git"
cd "$1"
git init -q a
cd a
git config core.fileMode false
printf '#!/bin/sh\n' >tool
echo text >text
git add .
git update-index --chmod=+x tool
git commit -qm start
git remote add origin "$OUT/remote-$(basename "$1").git"
trip text
for ref in $(git for-each-ref --format='%(refname)' refs/checkpoints/main/cp-*)
do
	git ls-tree "$ref"
	test "$(git ls-tree "$ref" tool | cut -c1-6)" = 100755
	test "$(git ls-tree "$ref" text | cut -c1-6)" = 100644
done
test "$(git ls-tree "$ref" untracked | cut -c1-6)" = 100644
