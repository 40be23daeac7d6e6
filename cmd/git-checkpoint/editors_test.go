//go:build unix

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// The recipes of docs/editors.md work in the programs that they are for. Each script gets the file with
// the recipe as $1, in a repository whose second step is cp-02.
func TestEditors(t *testing.T) {
	t.Parallel()
	_, blocks := document(t, "editors.md")
	scripts := map[string]struct{ program, script string }{
		"bash":     {"bash", `bash -c '. "$1"; cd ..; printf "%s\n" "${PS1@P}"; cd "$OLDPWD"; printf "%s\n" "${PS1@P}"' - "$1" | tr '\n' , | grep -x '[^[]*,[^[]*repo \[2\][#$] ,'`},
		"zsh":      {"zsh", `zsh -fc '. "$1"; print -P "$PROMPT"' - "$1" | grep -x '[^[]*repo \[2\][#%] '`},
		"starship": {"starship", `STARSHIP_CONFIG=$1 starship module custom.checkpoint | grep 2`},
		// Its commands run only for a client, which needs a terminal: that of another tmux. Their output is
		// there a while later.
		"tmux": {"tmux", `unset TMUX
			trap 'tmux -L "in-$$" kill-server || :; tmux -L "out-$$" kill-server || :' EXIT
			tmux -L "out-$$" -f /dev/null new-session -d -x 80 -y 24 "env -u TMUX tmux -L in-$$ -f '$1' new-session cat"
			i=0; until tmux -L "out-$$" capture-pane -p | grep ' 2$'
			do i=$((i + 1)); test $i -lt 300; sleep 0.1; done
			tmux -L "in-$$" list-keys | grep 'C *display-popup -E -d "#{pane_current_path}" "git checkpoint rollback"'`},
		"neovim": {"nvim", `nvim --headless -u "$1" file -c 'CheckpointDiff 1' -c 'w! ../left' -c 'wincmd l' -c 'w! ../right' -c 'qa!'
			test "$(cat ../left ../right | tr '\n' ,)" = one,two,
			nvim --headless -u "$1" file -c 'lua vim.ui.select = function(all, o, done) vim.fn.writefile({o.format_item(all[1])}, "../item"); done(all[1]) end' \
				-c CheckpointDiff -c 'w! ../left' -c 'qa!'
			test "$(cat ../item ../left | tr '\n' ,)" = 'cp-01  first,one,'
			nvim --headless -u "$1" file -c 'normal Athird' -c 'CheckpointSave the third' -c 'qa!'
			test "$(git checkpoint show 3:file)" = twothird`},
	}
	for _, b := range blocks {
		t.Run(b.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.write("file", "one\n")
			w.run("git", "checkpoint", "save", "-q", "first")
			w.write("file", "two\n")
			w.run("git", "checkpoint", "save", "-q", "second")
			recipe := filepath.Join(t.TempDir(), b.name+".lua")
			if err := os.WriteFile(recipe, []byte(b.text), 0o666); err != nil {
				t.Fatal(err)
			}
			s, known := scripts[b.name]
			if _, err := exec.LookPath(s.program); !known || err != nil {
				commands(t, w, b.text)
				t.Skipf("NOT TESTED: %s is not installed; only the commands of its recipe were run", b.name)
			}
			if out, code := w.try("sh", "-ec", s.script, "sh", recipe); code != 0 {
				t.Errorf("exit code %d\n%s", code, out)
			}
		})
	}
}

// commands runs those lines of a recipe that name a command of ours and nothing else, without a terminal.
func commands(t *testing.T, w *world, recipe string) {
	t.Helper()
	for line := range strings.Lines(recipe) {
		before, command, found := strings.Cut(strings.TrimSpace(line), "git checkpoint ")
		whole := strings.HasSuffix(before, `"`) || strings.HasSuffix(before, "'")
		if !found || !whole || strings.Contains(command, "rollback") { // which asks
			continue
		}
		command = strings.ReplaceAll(strings.Trim(command, `"'`), "{{.Form.Message | quote}}", `"a message"`)
		if out, code := w.try("sh", "-c", "git checkpoint "+command); code != 0 {
			t.Errorf("%s: exit code %d\n%s", line, code, out)
		}
	}
}
