package travel_test

import (
	"testing"

	"git-checkpoint/internal/verb/travel"
)

// TestAddress checks how people see the address of a remote: without scheme, user and ".git".
func TestAddress(t *testing.T) {
	for url, want := range map[string]string{
		"https://github.com/a/b.git": " (github.com/a/b)", "ssh://git@host:22/a/b/": " (host:22/a/b)",
		"git@github.com:a/b.git": " (github.com/a/b)", "git@host:/srv/x.git": " (host/srv/x)",
		"../remote.git": " (../remote.git)", "a@b/x:y.git": " (a@b/x:y.git)", "/srv/x.git": " (/srv/x.git)",
		"file:///srv/x.git": " (/srv/x.git)", `C:\x.git`: ` (C:\x.git)`, "": "",
	} {
		a := travel.Answer{Remote: "origin", URL: url}
		if got := a.Address("origin"); got != want {
			t.Errorf("%q: %q, not %q", url, got, want)
		}
		if got := a.Address("../other"); got != "" {
			t.Errorf("%q for another remote: %q", url, got)
		}
	}
}
