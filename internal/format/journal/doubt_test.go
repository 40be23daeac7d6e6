package journal

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// In a journal that clones wrote by the plans, every create follows the checkpoint that was current.
func TestNoDoubtOfHonestClones(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		for _, c := range drawSchedule(t, 40, everything) {
			for _, d := range c.state().Doubts() {
				if strings.HasPrefix(d.Text, "it follows") {
					t.Fatalf("%+v: %s", d.Event, d.Text)
				}
			}
		}
	})
}
