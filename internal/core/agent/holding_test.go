package agent

import (
	"strings"
	"testing"
)

// A plan names every file in a worktree from which a supported agent runs what we write there, without
// a list of its own.
func TestCommandingFiles(t *testing.T) {
	commanding := CommandingFiles()
	for _, d := range All() {
		files := map[string]string{"hooks": d.Hooks.Files[ScopeProject], "local hooks": d.Hooks.Files[ScopeLocal], "MCP server": d.Server.Files[ScopeProject]}
		var alone Commanding // an agent that has no directory of its own
		bare := *d
		bare.Folder = ""
		alone.add(&bare)
		for what, file := range files {
			if file != "" && (!alone.Has(file) || !alone.Has("sub/dir/"+file)) {
				t.Errorf("%s: the file for its %s, %s, is not one from which commands are run", d.Name, what, file)
			}
		}
		if d.Folder != "" && !commanding.Has(d.Folder+"/anything/at/all") {
			t.Errorf("%s: %s does not count as a whole", d.Name, d.Folder)
		}
	}
	for _, file := range strings.Fields("claude/settings.json src/a.claude/x .github/workflows/ci.yml notmcp.json .envrc.example") {
		if commanding.Has(file) {
			t.Errorf("%s is named, but nothing runs commands from it", file)
		}
	}
}
