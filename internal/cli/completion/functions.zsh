# Asks the program for candidates of the kind that is the last argument; those before it
# are _arguments' own.
__git-checkpoint_values() {
	local kind=$argv[-1] session=${opt_args[--session]} line
	[[ -n $session ]] && local -x GIT_CHECKPOINT_SESSION=$session
	local -a found
	for line in ${(f)"$(_call_program $kind git checkpoint __complete $kind -- ${(q)PREFIX} 2>/dev/null)"}; do
		found+=("${${line%%$'\t'*}//:/\\:}:${${(M)line:#*$'\t'*}#*$'\t'}")
	done
	_describe -t $kind $kind found
}
