package git

import "testing"

// Every spelling that some file system takes for .git is refused, and no other name.
func TestRefusedName(t *testing.T) {
	for p, refused := range map[string]bool{
		"": true, ".": true, "..": true, "a//b": true, "a/../b": true, ".git": true, ".GIT/config": true, "a/.gIt": true,
		".git ": true, ".git. .": true, ".git:x": true, `.git\x`: true, "git~1": true, "GIT~1/hooks": true, "Git~1::x": true,
		"\u200c.git": true, ".g\u206eit": true, "\ufeff.git": true, ".git\u202a": true,
		"git": false, "git~2": false, ".gitignore": false, "a.git": false, ".github/x": false, "Gi": false, "\u200cgi": false, "\u00e9": false,
	} {
		if RefusedName(p, false) != refused {
			t.Errorf("%q: refused is %v", p, !refused)
		}
	}
}
