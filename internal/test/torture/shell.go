package torture

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// prelude has the shell functions of which the lines of a case consist. They are also at
// the start of the script that reproduces a failure.
const prelude = `
room() { # makes the parents of $1, and takes away whatever is at $1 or stands in their way
	p=$1 at=.
	while :; do
		case $p in */*) ;; *) break ;; esac
		at="$at/${p%%/*}" p=${p#*/}
		if [ -L "$at" ] || { [ -e "$at" ] && [ ! -d "$at" ]; }; then rm -f -- "$at"; fi
	done
	case ./$1 in */*) mkdir -p -- "$(dirname -- "./$1")" ;; esac
	if [ -d "./$1" ] && [ ! -L "./$1" ]; then rm -rf -- "./$1"; fi
}
put() { # path format: a file, written in place; what stands in its way goes
	room "$1"
	if [ -L "./$1" ] || [ -p "./$1" ] || [ -S "./$1" ]; then rm -f -- "./$1"; fi
	printf -- "$2" >"./$1"
}
same() { # path format: another content with the time of the old one
	if [ -f "./$1" ] && [ ! -L "./$1" ]; then
		# Not in the tick of the system's clock in which git last looked: nothing of
		# the file would tell, and an index written after that hides it for good.
		sleep 0.02
		touch -r "./$1" "$TORTURE/stamp"; printf -- "$2" >"./$1"; touch -r "$TORTURE/stamp" "./$1"
	fi
}
link() { # path target; an absolute one that exists is a directory of the case
	room "$1"
	if [ "$2" = "` + outside + `" ]; then set -- "$1" "$TORTURE"; fi
	ln -sfn -- "$2" "./$1"
}
bits() { # what chmod takes; never what a link leads to
	for last; do :; done
	if [ ! -L "$last" ]; then chmod "$@"; fi
}
shown() { find . -name .git -prune -o -type f ! -perm 0777 -exec chmod 0777 {} +; } # all files as a disk without modes shows them
renew() { if [ ! -L "$1" ]; then touch -- "$1"; fi; } # path
move() { if [ -e "./$1" ] || [ -L "./$1" ]; then room "$2"; mv -- "./$1" "./$2"; fi; } # from to
promised() { # whether what is missing may be missing: packs made anew of such ones do not say so
	packs=$(git rev-parse --git-common-dir)/objects/pack
	[ -n "$(find "$packs" -name "*.promisor")" ]
}
fold() { # several packs become one
	if ! promised; then git multi-pack-index write; git multi-pack-index repack --no-progress; git multi-pack-index expire --no-progress; fi
}
loosen() { # every packed object gets a file of its own
	if ! promised; then
		mkdir -p "$TORTURE/packs"; mv "$packs"/* "$TORTURE/packs/"
		for p in "$TORTURE"/packs/*.pack; do git unpack-objects -q <"$p"; done
		rm -rf "$TORTURE/packs"
	fi
}
rewrite() { # path: the commits of HEAD are made anew without it
	made=
	for c in $(git rev-list --reverse --first-parent HEAD); do
		tree=$(GIT_INDEX_FILE=$TORTURE/rewrite sh -c 'rm -f "$GIT_INDEX_FILE"; git read-tree "$1"; git rm -rq --cached --ignore-unmatch -- "$2"; git write-tree' sh "$c" "$1")
		made=$(git commit-tree ${made:+-p $made} -m again "$tree")
	done
	rm -f "$TORTURE/rewrite"
	if [ -n "$made" ]; then git update-ref HEAD "$made"; fi
}
fifo() { room "$1"; rm -f -- "./$1"; mkfifo -- "./$1"; } # path
socket() { room "$1"; rm -f -- "./$1"; stand-in socket "./$1"; } # path
hook() { # conversation event members: a hook of an agent
	printf '{"session_id":"%s","cwd":"%s",%s}' "$1" "$PWD" "$3" | git-checkpoint hook claude "$2"
}
session() { # conversation: its session
	sed -n "s/.*\"id\":\"$1\",\"session\":\"\([^\"]*\)\".*/\1/p" .git/checkpoint/agents/claude-*.json
}
step() { # conversation turn: the number of its step
	git-checkpoint list --session "$(session "$1")" --json |
		sed -n "s/.*\"step\":\([0-9]*\),.*\"milestone\":true,.*\"message\":\"turn $1 $2\..*/\1/p" | tail -n 1
}
nest() { # dir commits: a repository of its own
	room "$1"; rm -f -- "./$1"; git init -q -- "./$1"; printf nested >"./$1/inner"
	if [ "$2" != 0 ]; then git -C "./$1" add inner; git -C "./$1" commit -qm nested; fi
}
`

// outside stands for a directory outside of the repository, as the target of a link.
const outside = "/outside"

// quote makes one shell word of any bytes.
func quote(s string) string {
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// words returns the arguments as shell words, quoted only if necessary.
func words(args ...string) string {
	quoted := make([]string, len(args))
	for i, a := range args {
		if quoted[i] = a; a == "" || strings.Trim(a, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./=@") != "" {
			quoted[i] = quote(a)
		}
	}
	return strings.Join(quoted, " ")
}

// host starts processes in the environment of one case.
type host struct {
	ctx     context.Context
	root    string // everything of the case is below it
	program string
}

// patience is how long a single process may take before that is a finding.
const patience = 30 * time.Second

// environment returns the environment for the shell, git and the program. It has nothing of
// the machine's own configuration.
func (h *host) environment(extra ...string) []string {
	home := filepath.Join(h.root, "home")
	return append([]string{
		"PATH=" + filepath.Dir(h.program) + string(os.PathListSeparator) + os.Getenv("PATH"),
		"HOME=" + home, "XDG_CONFIG_HOME=" + filepath.Join(home, ".config"), "GIT_CONFIG_NOSYSTEM=1",
		"GIT_CEILING_DIRECTORIES=" + h.root, "GIT_TERMINAL_PROMPT=0", "TORTURE=" + home,
		"GIT_EDITOR=true", "LC_ALL=C.UTF-8", "TZ=UTC", "TMPDIR=" + home,
	}, extra...)
}

// result is the result of a process.
type result struct {
	code     int
	out, err string
}

// start runs a process. A non-zero exit code is not an error.
func (h *host) start(dir string, env []string, argv ...string) (result, error) {
	ctx, cancel := context.WithTimeout(h.ctx, patience)
	defer cancel()
	var out, stderr strings.Builder
	c := exec.CommandContext(ctx, argv[0], argv[1:]...)
	c.Dir, c.Env, c.Stdout, c.Stderr = filepath.Join(h.root, dir), h.environment(env...), &out, &stderr
	// Without this a child that keeps the output open would block for ever.
	c.WaitDelay = time.Second
	err := c.Run()
	r := result{c.ProcessState.ExitCode(), out.String(), stderr.String()}
	var exit *exec.ExitError
	switch {
	case ctx.Err() != nil && h.ctx.Err() == nil:
		return r, broken("%s took over %v", words(argv[1:]...), patience)
	case err != nil && !errors.As(err, &exit):
		return r, fmt.Errorf("run %s: %w", words(argv...), err)
	}
	return r, nil
}

// git runs a reading command of plain git, which has to succeed. Settings of the case about
// the file system are overridden, because the real one is known here.
func (h *host) git(dir, index string, args ...string) (string, error) {
	env := []string{"GIT_OPTIONAL_LOCKS=0"}
	if index != "" {
		env = append(env, "GIT_INDEX_FILE="+index)
	}
	argv := append([]string{
		"git", "-c", "core.untrackedCache=false", "-c", "core.fsmonitor=false", "-c", "core.fileMode=true",
		"-c", "core.ignoreCase=false", "-c", "core.symlinks=true", "-c", "core.hooksPath=/dev/null",
		"-c", "core.trustctime=true", "-c", "core.checkStat=default",
	}, args...)
	r, err := h.start(dir, env, argv...)
	if err == nil && r.code != 0 {
		err = fmt.Errorf("%s in %s: exit %d: %s", words(argv...), dir, r.code, r.err)
	}
	return r.out, err
}

// shell runs lines of a case. A line that finds nothing to do is no error.
func (h *host) shell(dir string, lines []string) error {
	_, err := h.start(dir, nil, "sh", "-c", prelude+strings.Join(lines, "\n")+"\n:")
	return err
}
