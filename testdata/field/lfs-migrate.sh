# After `git lfs migrate import --everything` has rewritten all refs, doctor says so, and what it names brings everything back.
git init -q a
cd a
git lfs install --local >/dev/null
head -c 100000 /dev/urandom >a.bin
cp a.bin ../first
git add .
git commit -qm start
git checkpoint save one
head -c 100000 /dev/urandom >a.bin
git checkpoint save two
git lfs migrate import --everything --include='*.bin' --yes
! git checkpoint list
! git checkpoint doctor >../said
grep -q 'rebuild --all' ../said
git checkpoint rebuild --all
git checkpoint list | grep 'two$'
git checkpoint rollback 1 -y
cmp a.bin ../first
git checkpoint save three
git checkpoint validate
