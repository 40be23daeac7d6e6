# It runs in bash 3.2, which is what macOS has. COMPREPLY holds what readline replaces:
# the part of the word after the last of its own word breaks.

# Sets kind to that of the value of flag $1; fails for a flag without a value.
__git_checkpoint_kind ()
{
	local flag
	for flag in $flags; do
		case "$flag" in
		"$1="*)
			kind="${flag#*=}"
			return 0
			;;
		esac
	done
	return 1
}

# Offers $1, ended by $2, where it continues what is typed. What a shell would act upon
# is never offered: names may come from somebody else's repository.
__git_checkpoint_offer ()
{
	case "$1" in
	"" | [~]* | *[!A-Za-z0-9@~:+=,._/-]*)
		return
		;;
	"$value"*)
		local whole="$given$1$2"
		COMPREPLY[${#COMPREPLY[@]}]="${whole#"$cut"}"
		;;
	esac
}

# Completes the last of "$@", which are the words after the program's name.
__git_checkpoint_complete ()
{
	local IFS=$' \t\n'
	local commands flags args path= kind= session= ended= count=0 word cur="${!#}"
	COMPREPLY=()
	__git_checkpoint_model ""
	while [ $# -gt 1 ]; do
		word="$1"
		shift
		if [ -n "$kind" ]; then
			[ "$kind" = session ] && session="$word"
			kind=
			continue
		fi
		case "$ended$word" in
		--)
			ended=x
			;;
		-*=*)
			__git_checkpoint_kind "${word%%=*}" && [ "$kind" = session ] && session="${word#*=}"
			kind=
			;;
		-*)
			__git_checkpoint_kind "$word"
			;;
		*)
			case " $commands " in
			*" $word "*)
				path="${path:+$path }$word"
				__git_checkpoint_model "$path"
				;;
			*)
				commands=
				count=$((count + 1))
				;;
			esac
			;;
		esac
	done
	__git_checkpoint_candidates
}

__git_checkpoint_candidates ()
{
	local value="$cur" given= cut=
	if [ -n "$kind" ]; then
		:
	elif [ -n "$ended" ]; then
		kind=file
	else
		case "$cur" in
		-*=*)
			given="${cur%%=*}="
			value="${cur#*=}"
			__git_checkpoint_kind "${cur%%=*}" || kind=none
			;;
		-*)
			kind=flags
			;;
		*)
			kind=none
			for word in $args; do
				kind="${word%...}"
				[ "$kind" = "$word" ] && [ $count -gt 0 ] || break
				count=$((count - 1))
				kind=none
			done
			[ -n "$commands" ] && kind=commands
			;;
		esac
	fi
	for word in : = @; do
		case "$COMP_WORDBREAKS" in
		*"$word"*) ;;
		*) continue ;;
		esac
		case "${cur#"$cut"}" in
		*"$word"*) cut="${cur%"$word"*}${word#@}" ;; # readline keeps an "@" itself
		esac
	done
	case "$kind" in
	file) # readline's own completion goes on
		return
		;;
	flags)
		for word in $flags; do
			case "$word" in
			--*=*) __git_checkpoint_offer "${word%%=*}" = ;;
			--* | "$cur") __git_checkpoint_offer "$word" " " ;;
			esac
		done
		;;
	commands)
		for word in $commands; do
			__git_checkpoint_offer "$word" " "
		done
		;;
	,*)
		for word in ${kind//,/ }; do
			__git_checkpoint_offer "$word" " "
		done
		;;
	none) ;;
	*)
		[ -n "$session" ] && local -x GIT_CHECKPOINT_SESSION="$session"
		while IFS=$'\t' read -r word _; do
			__git_checkpoint_offer "$word" " "
		done <<<"$("${program[@]}" __complete "$kind" -- "$value" 2>/dev/null)"
		;;
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
