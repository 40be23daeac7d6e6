# bash completion of git-checkpoint, and of "git checkpoint" for git's own completion.
# It runs in bash 3.2, which is what macOS has.

# Completes the last of "$@", which are the words after the program's name. COMPREPLY holds
# what readline replaces: the part of the word after the last of its own word breaks.
__git_checkpoint_complete ()
{
	local IFS=$' \t\n'
	local cur="${!#}" cut= word help
	local -a plain
	COMPREPLY=()
	compopt -o nosort 2>/dev/null # the newest first
	for word in : = @; do
		case "$COMP_WORDBREAKS" in
		*"$word"*) ;;
		*) continue ;;
		esac
		case "${cur#"$cut"}" in
		*"$word"*) cut="${cur%"$word"*}${word#@}" ;; # readline keeps an "@" itself
		esac
	done
	while IFS=$'\t' read -r word help; do
		case "$word" in
		:files) # readline's own completion goes on
			return
			;;
		# What a shell would act upon is never offered: names may come from somebody
		# else's repository.
		"" | [~]* | *[!A-Za-z0-9@~:+=,._/-]*) ;;
		"$cur"*)
			[ "${word%=}" = "$word" ] && word="$word "
			word="${word#"$cut"}"
			plain[${#plain[@]}]="$word"
			case "$help" in
			[\"\(]*) word="$word $help" ;; # the message of a checkpoint
			esac
			COMPREPLY[${#COMPREPLY[@]}]="$word"
			;;
		esac
	done <<<"$("${program[@]}" __complete line -- "$@" 2>/dev/null)"
	# Messages are only shown: no word alone has one, nor does what readline inserts (% and *).
	case "${#plain[@]} $COMP_TYPE" in
	1\ * | *\ 37 | *\ 42) COMPREPLY=("${plain[@]}") ;;
	esac
	# Nothing is nothing: no names of files in place of it.
	[ ${#COMPREPLY[@]} -gt 0 ] || compopt +o default +o bashdefault 2>/dev/null
}

# Sets joined to the words before the cursor. readline breaks words at ":", "=" and "@";
# what has no blank between is one.
__git_checkpoint_join ()
{
	local rest="$COMP_LINE" blank last=-1 i over
	joined=()
	for ((i = 0; i <= COMP_CWORD; i++)); do
		blank="${rest%%[![:space:]]*}"
		rest="${rest#"$blank"}"
		[ $i = 0 ] || [ -n "$blank" ] && last=$((last + 1))
		joined[last]="${joined[last]}${COMP_WORDS[i]}"
		rest="${rest#"${COMP_WORDS[i]}"}"
	done
	over=$((${#COMP_LINE} - ${#rest} - COMP_POINT))
	if [ $over -gt 0 ] && [ $over -le ${#joined[last]} ]; then
		joined[last]="${joined[last]:0:${#joined[last]} - over}"
	fi
}

# git's completion calls this one. It knows which of its words is the command, an alias
# too, but leaves words broken at "@"; __git passes -C and --git-dir on.
_git_checkpoint ()
{
	local program joined first
	program=(__git checkpoint)
	__git_checkpoint_join
	first=${__git_cmd_idx:-1}
	while [ "${joined[first]}" != "${words[${__git_cmd_idx:-1}]}" ] && [ $first -gt 1 ]; do
		first=$((first - 1))
	done
	__git_checkpoint_complete "${joined[@]:first + 1}"
}

__git_checkpoint_main ()
{
	local program joined
	program=(git-checkpoint)
	__git_checkpoint_join
	__git_checkpoint_complete "${joined[@]:1}"
}

complete -o bashdefault -o default -o nospace -F __git_checkpoint_main git-checkpoint
