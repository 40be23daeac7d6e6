# After git filter-repo has rewritten history, what it left can be read, and a new checkpoint can be made.
git init -q a
cd a
echo word >pw
echo text >kept
git add .
git commit -qm start
git checkpoint save one
echo more >>kept
git checkpoint save two
git filter-repo --force --invert-paths --path pw >/dev/null 2>&1
git checkpoint list
! git checkpoint status # the newest checkpoint is not what the journal names
git checkpoint doctor | grep -q 'rebuild --all'
git checkpoint rebuild --all
git checkpoint status
git checkpoint rollback 1 -y
git checkpoint undo -y
test -z "$(git rev-list --objects --all | grep ' pw$')"
git checkpoint save --session after three
git checkpoint validate --session after
git cat-file -e HEAD:kept
