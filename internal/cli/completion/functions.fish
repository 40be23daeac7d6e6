# The command on the line and the number of arguments after it.
function __git_checkpoint_line
    set -l words (commandline -opc)
    set -e words[1]
    set -l path ''
    set -l count 0
    set -l value 0
    for word in $words
        if test $value = 1
            set value 0
            continue
        end
        switch $word
            case --
                printf '%s\n' -- 0
                return
            case '-*'
                contains -- $word $__git_checkpoint_valued; and set value 1
            case '*'
                set -l longer (string trim -- "$path $word")
                if test $count = 0; and contains -- $longer $__git_checkpoint_paths
                    set path $longer
                else
                    set count (math $count + 1)
                end
        end
    end
    printf '%s\n' "$path" $count
end

# Whether the line is at argument $argv[1] ("any", "2", "2+") of one of the commands $argv[2..].
function __git_checkpoint_at
    set -l line (__git_checkpoint_line)
    contains -- "$line[1]" $argv[2..]
    or return
    switch $argv[1]
        case any
        case '*+'
            test $line[2] -ge (string trim -rc + -- $argv[1])
        case '*'
            test $line[2] = $argv[1]
    end
end

# Asks the program for candidates of a kind.
function __git_checkpoint_values
    set -l words (commandline -opc)
    for i in (seq (count $words))
        switch $words[$i]
            case '--session=*'
                set -fx GIT_CHECKPOINT_SESSION (string replace -- --session= '' $words[$i])
            case --session
                set -q words[(math $i + 1)]; and set -fx GIT_CHECKPOINT_SESSION $words[(math $i + 1)]
        end
    end
    git-checkpoint __complete $argv[1] -- (commandline -ct | string replace -r -- '^--?[a-z-]+=' '') 2>/dev/null
end

complete -c git-checkpoint -f
complete -c git-checkpoint -n '__git_checkpoint_at any --' -F

# fish means to hand "git checkpoint" on by itself, but 3.6 looks for git-git-checkpoint.
function __git_checkpoint_of_git
    set -l words (commandline -opc)
    set -l at (contains -i -- checkpoint $words)
    or return
    set -e words[1..$at]
    complete -C "git-checkpoint "(string join ' ' -- (string escape -- $words) '')(commandline -ct)
end
complete -c git -f -n 'functions -q __fish_git_using_command; and __fish_git_using_command checkpoint' -a '(__git_checkpoint_of_git)'
