package clearance

import (
	"math/rand/v2"
	"strings"
	"testing"

	"git-checkpoint/internal/core/guard"
)

// No secret is left in a text, whether the built-in rules or the user's scanner know it.
func TestTexts(t *testing.T) {
	// Made here, because other scanners would report them in this file.
	random := rand.New(rand.NewPCG(1, 2))
	draw := func(letters string, n int) string {
		var b strings.Builder
		for range n {
			b.WriteByte(letters[random.IntN(len(letters))])
		}
		return b.String()
	}
	const lower, upper, digits = "abcdefghijklmnopqrstuvwxyz", "ABCDEFGHIJKLMNOPQRSTUVWXYZ", "0123456789"
	var secrets, texts []string
	for n := range 100 {
		secret := []string{
			"AKIA" + draw(upper+"234567", 16), "sk_live_" + draw(lower+upper+digits, 24), "glpat-" + draw(lower+upper+digits, 20),
			"dop_v1_" + draw("abcdef"+digits, 64), "xoxb-" + draw(digits, 12) + "-" + draw(digits, 13) + "-" + draw(lower+upper+digits, 24),
		}[n%5]
		secrets, texts = append(secrets, secret), append(texts, "please use "+secret+" here")
	}
	gate := &Texts{&Scanner{rules: guard.New(nil, nil), off: true}}
	if err := gate.Clean(t.Context(), texts); err != nil {
		t.Fatal(err)
	}
	for i, text := range texts {
		if strings.Contains(text, secrets[i]) || !strings.Contains(text, "[secret: ") {
			t.Errorf("%q", text)
		}
	}
	// What is found in one text is replaced in all; a text that does not have it as it is said goes.
	gate.scanner = &Scanner{rules: guard.New(nil, nil), external: &external{patience: patience, command: `echo '[{"RuleID":"ours","File":"0/content","Secret":"swordfish"},{"RuleID":"ours","File":"2/content","Secret":"other"}]'`}}
	texts = []string{"say swordfish", "dir/swordfish.txt", "r e h t o", "good"}
	if err := gate.Clean(t.Context(), texts); err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(texts, "|"); got != "say [secret: ours]|dir/[secret: ours].txt|[secret: ours]|good" {
		t.Error(got)
	}
	gate.scanner.external.command = "exit 3"
	if err := gate.Clean(t.Context(), texts); err == nil {
		t.Error("a scanner that fails lets everything go")
	}
}
