# Files of git-lfs come back byte for byte, here and in another clone.
. "$(dirname "$0")/lib.sh"
OUT=$PWD
git init -q --bare remote.git
git init -q a
cd a
git lfs install --local >/dev/null
git lfs track '*.bin' >/dev/null
seq 1 20000 >big.bin
git add .
git commit -qm start
git remote add origin "file://$OUT/remote.git"
git push -q origin main
trip big.bin
git clone -q "file://$OUT/remote.git" ../b
cd ../b
git lfs install --local >/dev/null
git checkpoint fetch
git lfs fetch --all >/dev/null 2>&1 || :
git checkpoint session switch main
git checkpoint rollback 2 -y
files | cmp - "$OUT/two"
git checkpoint validate --all --deep
