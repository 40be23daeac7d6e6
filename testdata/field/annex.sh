# Locked and unlocked files of git-annex come back as they were.
. "$(dirname "$0")/lib.sh"
OUT=$PWD
git init -q --bare remote.git
git init -q a
cd a
git annex init field >/dev/null
seq 1 20000 >locked.dat
git annex add -q locked.dat
echo plain >plain.txt
git add plain.txt
git commit -qm start
git remote add origin ../remote.git
git push -q origin main
readlink locked.dat >"$OUT/link"
trip plain.txt
readlink locked.dat | cmp - "$OUT/link"
seq 1 20000 | cmp - locked.dat
