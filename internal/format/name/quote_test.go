package name_test

import (
	"os/exec"
	"testing"

	"git-checkpoint/internal/format/name"
)

// TestQuoted gives words to a shell, which has to see each as it was, and leaves plain ones alone.
func TestQuoted(t *testing.T) {
	for _, plain := range []string{"a", "@~1", "cp-03+2", "../shop-4a", "src/api.go", "50%"} {
		if got := name.Quoted(plain); got != plain {
			t.Errorf("%q became %s", plain, got)
		}
	}
	for _, word := range []string{"", "a b", "it's", "~root", "$HOME", "a\nb", "`id`", "é", "*", "a;b"} {
		out, err := exec.Command("sh", "-c", "printf %s "+name.Quoted(word)).Output()
		if err != nil || string(out) != word {
			t.Errorf("the shell reads %s as %q (%v), not %q", name.Quoted(word), out, err, word)
		}
	}
}
