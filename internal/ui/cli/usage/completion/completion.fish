# Asks the program for what may follow. "git checkpoint" may have flags of git's before the command.
function __git_checkpoint_candidates
    set -l words (commandline -opc)
    set -l last (commandline -ct)
    set -l program git-checkpoint
    set -l at 1
    if test "$words[1]" = git
        set at (contains -i -- checkpoint $words)
        or return
        set program $words[1..$at]
    end
    set -e words[1..$at]
    set -l found ($program __complete line -- $words (string unescape -- $last; or echo -- $last) 2>/dev/null)
    if test "$found[1]" = :files
        set -l given (string match -r -- '^-[^=]*=' $last)
        set found $given(__fish_complete_path (string replace -- "$given" '' $last))
    end
    printf '%s\n' $found
end

complete -c git-checkpoint -f -k -a '(__git_checkpoint_candidates)'
complete -c git -f -n 'functions -q __fish_git_using_command; and __fish_git_using_command checkpoint' -k -a '(__git_checkpoint_candidates)'
