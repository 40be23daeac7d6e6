# Files of git-crypt come back byte for byte where the repository is unlocked, and no object holds them in the clear.
. "$(dirname "$0")/lib.sh"
OUT=$PWD
git init -q --bare remote.git
git init -q a
cd a
git-crypt init >/dev/null
git-crypt export-key "$OUT/key"
echo 'secret.txt filter=git-crypt diff=git-crypt' >.gitattributes
echo 'the plain words' >secret.txt
git add .
git commit -qm start
git remote add origin ../remote.git
git push -q origin main
trip secret.txt
for ref in $(git for-each-ref --format='%(refname)' refs/checkpoints/main/cp-*)
do
	test "$(git cat-file blob "$ref:secret.txt" | head -c 9 | od -An -c | tr -d ' ')" = '\0GITCRYPT'
done
git clone -q ../remote.git ../b
cd ../b
git-crypt unlock "$OUT/key"
git checkpoint fetch
git checkpoint session switch main
git checkpoint rollback 2 -y
files | cmp - "$OUT/two"
git checkpoint validate --all --deep
