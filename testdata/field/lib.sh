# What all field tests do. files prints the checksum of each file of the worktree.
files() { find . -path ./.git -prune -o -type f -print0 | sort -z | xargs -0 sha256sum; }

# trip makes two checkpoints with an edit in between, goes back, undoes that, and fetches both in another
# clone. $1 is the file to edit.
trip() {
	git checkpoint save one
	files >"$OUT/one"
	printf 'changed \000 %s\n' "$(seq 1 1000)" >"$1"
	echo new >untracked
	git checkpoint save two
	files >"$OUT/two"
	git checkpoint rollback 1 -y
	files | cmp - "$OUT/one"
	git checkpoint undo -y
	files | cmp - "$OUT/two"
	git checkpoint validate --all --deep
	git checkpoint push -y
}
