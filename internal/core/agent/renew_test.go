package agent

import (
	"bytes"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
)

// inJSON returns a text as a string of a settings file.
func inJSON(t *testing.T, text string) string {
	t.Helper()
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(text); err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(b.String())
}

// Hooks that an earlier version added, or the program at another place, stay as they are until agent add
// is run again, which changes nothing but their command lines. A removal takes them out in either form,
// and every other byte is as it was.
func TestFormerCommands(t *testing.T) {
	for _, agent := range []string{"claude", "cursor"} {
		for name, content := range settingsFiles() {
			for _, renewed := range []bool{false, true} {
				t.Run(fmt.Sprint(agent, "/", name, "/", renewed), func(t *testing.T) {
					d, place := worktree(t, agent)
					file := filepath.Join(place.Worktree, d.Hooks.Files[ScopeProject])
					write(t, file, content, 0o600)
					receipt := addAll(t, d, place)
					old := readFile(t, file)
					for _, h := range d.Hooks.Events {
						before := fmt.Sprintf("command -v git-checkpoint >/dev/null 2>&1 && git-checkpoint hook %s %s 2>/dev/null; exit 0", d.Name, h.Event)
						if h.Seconds == 20 { // some by the program at another place
							before = d.Command(h.Event, "/opt/it's here/bin")
						}
						from, to := inJSON(t, d.Command(h.Event, "")), inJSON(t, before)
						old = strings.ReplaceAll(old, from, to)
						for _, written := range receipt {
							for i := range written.Inserted {
								written.Inserted[i].Text = strings.ReplaceAll(written.Inserted[i].Text, from, to)
							}
						}
					}
					added := readFile(t, file)
					write(t, file, old, 0o600)
					if renewed {
						changes, err := d.Add(place, Wanted{})
						if err == nil {
							err = changes[0].Apply(receipt)
						}
						if got := readFile(t, file); err != nil || got != added {
							t.Errorf("%v, and it became\n%s\nnot\n%s", err, got, added)
						}
					}
					removeAll(t, d, place, receipt)
					if got := readFile(t, file); got != content {
						t.Errorf("after the removal\n%q\nbefore\n%q", got, content)
					}
				})
			}
		}
	}
}

// A committed file carries nobody's directory along, and neither does a command that it would cut in two.
func TestAlso(t *testing.T) {
	for _, c := range []struct {
		scope Scope
		dir   string
		want  bool
	}{{ScopeProject, "/home/me/bin", false}, {ScopeLocal, "/home/me/bin", true}, {ScopeUser, "/home/m'e/b in", true}, {ScopeUser, "/a:b", true}, {ScopeUser, "/a\nb", false}} {
		d, place := worktree(t, "claude")
		place.Scope, place.Program = c.scope, c.dir
		changes, err := d.Add(place, Wanted{})
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Contains(string(changes[0].After), strings.Trim(inJSON(t, quoted(c.dir)), `"`)); got != c.want {
			t.Errorf("%s %q: %v\n%s", c.scope, c.dir, got, changes[0].After)
		}
	}
}
