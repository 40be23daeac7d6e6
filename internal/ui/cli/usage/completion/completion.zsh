#compdef git-checkpoint

# zsh's completion of git calls _git-checkpoint for "git checkpoint", with words that start at
# "checkpoint". ${(Q)…} takes the quotes away that were typed.
_git-checkpoint() {
	local line
	local -a typed=("${(@Q)words[2,CURRENT-1]}" "${(Q)PREFIX}") lines whole open
	lines=(${(f)"$(_call_program candidates git checkpoint __complete line -- "${(@q)typed}" 2>/dev/null)"})
	if [[ $lines[1] = :files ]]; then
		compset -P '-*='
		_files
		return
	fi
	for line in $lines; do
		local word=${line%%$'\t'*} help=${${(M)line:#*$'\t'*}#*$'\t'}
		if [[ $word = *= ]]; then
			open+=("${word//:/\\:}:$help")
		else
			whole+=("${word//:/\\:}:$help")
		fi
	done
	local ret=1
	_describe -V -t values value whole && ret=0
	_describe -t flags flag open -S '' && ret=0
	return ret
}

# As a file in fpath, this is the body of the function _git-checkpoint, so it must call it. If it
# is sourced, it only has to register the function.
if [[ $funcstack[1] = _git-checkpoint ]]; then
	_git-checkpoint
else
	compdef _git-checkpoint git-checkpoint
fi
