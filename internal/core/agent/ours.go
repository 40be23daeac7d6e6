package agent

import (
	"bytes"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tailscale/hujson"
)

// Calls are the hooks of a settings file that call this program, by their events. Whoever commits
// the file may have written anything into it, so only the text of a whole command line makes it
// ours.
type Calls struct {
	Ours    []string // this program writes this command line, or wrote it formerly
	Changed []string // another command line that mentions the program
}

// Any reports whether there is one.
func (c Calls) Any() bool { return len(c.Ours)+len(c.Changed) > 0 }

// Has reports whether there is one for an event.
func (c Calls) Has(event string) bool {
	return slices.Contains(c.Ours, event) || slices.Contains(c.Changed, event)
}

// Calls reads them from a file. There are none in one that cannot be read.
func (d *Definition) Calls(file string) (c Calls) {
	data, err := readRegular(file)
	if err != nil || !mentioned(string(data)) {
		return c
	}
	if d.Hooks.Plugin == "" {
		if s, err := ParseSettings(data); err == nil {
			return d.calls(s)
		}
	}
	own, _ := d.ownHooks() //nolint:errcheck // it is embedded
	var found []string
	for _, h := range d.Hooks.Events {
		if bytes.Contains(data, []byte(strings.TrimPrefix(h.Event, "event:"))) {
			found = append(found, h.Event)
		}
	}
	if t := (target{own: own, formers: d.Hooks.Former}); d.Hooks.Plugin != "" && (bytes.Equal(data, own) || t.former(data)) {
		return Calls{Ours: found}
	}
	if len(found) == 0 {
		found = []string{""} // it does not say which
	}
	return Calls{Changed: found}
}

// calls is Calls for settings that are parsed. The name that Gemini shows of an entry is no command line.
func (d *Definition) calls(s *Settings) (c Calls) {
	at := s.find([]string{"hooks"})
	if at == nil {
		return c
	}
	events, is := at.Value.(*hujson.Object)
	if !is {
		return c
	}
	for _, member := range events.Members {
		event := member.Name.Value.(hujson.Literal).String()
		for v := range member.Value.All() {
			switch text, is := v.Value.(hujson.Literal); {
			case !is || text.Kind() != '"' || text.String() == d.Hooks.Entry["name"]:
			case d.ours(event, text.String()):
				c.Ours = append(c.Ours, event)
			case mentioned(text.String()):
				c.Changed = append(c.Changed, event)
			}
		}
	}
	return c
}

func mentioned(text string) bool {
	return strings.Contains(text, "git-checkpoint") || strings.Contains(text, "git checkpoint")
}

// Command returns the shell command of a hook. Codex trusts a hook by its text, so a change of it makes
// people trust the hooks again. It succeeds where this program is missing, is too old or crashes, so
// that a hook never disturbs the agent.
//
// known is the directory of this program, absolute; empty: a committed file must not name it. The
// command looks there first, and then where the link leads that agent add makes in the user's state
// directory. Only if both are gone does it look in PATH and the usual places, because a window manager
// gives an agent a short PATH. It leaves out relative directories and those in the worktree, such as
// node_modules/.bin, whose content comes with a clone. The agent may run the command in any shell, such
// as fish, which is why sh reads it. If the program is not found, the first hook of a conversation says so to
// a person who agreed to it, where the agent shows such a line.
func (d *Definition) Command(event, known string) string {
	f := d.forms(event)[0]
	return f.before + quoted(known) + f.after
}

// form is what is before and after the directory in a hook's command.
type form struct{ before, after string }

// lookup ends with the directories of a hook's command; run ends it as soon as one has the program.
const lookup = `run "$1"; run "${XDG_STATE_HOME:-$HOME/.local/state}/git-checkpoint/bin"; ` +
	`w=//; t=$(pwd -P); while test "$t"; do test -e "$t/.git" && ! test "$t" -ef "$HOME" && w=$t; t=${t%/*}; done; IFS=:; set -f; ` +
	`for d in $PATH /usr/local/bin "$HOME/.local/bin" /opt/homebrew/bin; do ` +
	`case $d in /*) test -x "$d/git-checkpoint" && d=$(cd -P "$d" && pwd) && case $d/ in "$w"/*) ;; *) run "$d";; esac;; esac; done; `

// plainWorktree ends a hook's command for which no program has made a worktree.
const plainWorktree = `t=$(git rev-parse --show-toplevel) && d=$(mktemp -d "$t-XXXXXX") && git worktree add -q --detach "$d" >&2 && ` +
	`echo "begins at HEAD: git-checkpoint was not found or failed" >&2 && printf "%s\n" "$d"; exit; `

// forms returns the form of a hook's command, and then former ones.
func (d *Definition) forms(event string) []form {
	tried := fmt.Sprintf(`"$1/git-checkpoint" hook %s %s`, d.Name, event)
	now := form{`sh -c 'exec 2>/dev/null; run() { case $1 in /*) test -x "$1/git-checkpoint" && { ` + tried + "; exit 0; };; esac; }; " + lookup, "; exit 0"}
	was := form{`sh -c 'PATH="$PATH:/usr/local/bin:$HOME/.local/bin:/opt/homebrew/bin${1:+:$1}"; ` +
		fmt.Sprintf("if command -v git-checkpoint >/dev/null 2>&1; then git-checkpoint hook %s %s 2>/dev/null; ", d.Name, event), "; exit 0"}
	if d.Events[event].Kind == KindSessionStart && d.Answers.Tell.Fits(event) {
		agreed := fmt.Sprintf(`test "$(git config --bool checkpoint.agent.%s.enabled 2>/dev/null)" = true`, d.Name)
		tell, _ := json.Marshal(d.Answers.Tell.JSON) //nolint:errcheck // it is valid JSON, which this puts on one line
		said := strings.Replace(string(tell), "$text", `git-checkpoint is not on this program\u0027s PATH: no checkpoints`, 1)
		now = form{now.before + agreed + ` && printf %s "$2"; `, " " + quoted(said) + now.after}
		was = form{was.before + "elif " + agreed + `; then printf %s "$2"; `, " " + quoted(said) + was.after}
	}
	switch d.Events[event].Kind {
	case KindWorktreeCreate: // the agent has no other way to a worktree, so there is one even without this program
		now.after, now.before = "", strings.NewReplacer("exec 2>/dev/null; ", "", "{ "+tried+"; exit 0; }", "r=$("+tried+`) && test "$r" && { printf "%s\n" "$r"; exit; }`).Replace(now.before)+plainWorktree
	case KindWorktreeRemove:
		now.after, now.before = "", strings.NewReplacer("exec 2>/dev/null; ", "", "exit 0", "exit").Replace(now.before)+"echo git-checkpoint was not found >&2; exit 1; "
	}
	now.before += "exit 0' sh "
	was.before += "fi' sh "
	return []form{now, was}
}

// ours reports whether this program writes a hook's command line, or wrote it in another version or at
// another place.
func (d *Definition) ours(event, command string) bool {
	if command == fmt.Sprintf("command -v git-checkpoint >/dev/null 2>&1 && git-checkpoint hook %s %s 2>/dev/null; exit 0", d.Name, event) {
		return true
	}
	return slices.ContainsFunc(d.forms(event), func(f form) bool {
		rest, begins := strings.CutPrefix(command, f.before)
		word, ends := strings.CutSuffix(rest, f.after)
		known, _ := strings.CutPrefix(strings.TrimSuffix(word, "'"), "'")
		known = strings.ReplaceAll(known, `'\''`, "'")
		return begins && ends && word == quoted(known) && (known == "" || filepath.IsAbs(known))
	})
}

// quoted returns a text as one word of a shell.
func quoted(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }
