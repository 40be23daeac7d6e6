package clearance

import (
	"path/filepath"
	"testing"
)

// What a rule has read of the verdicts serves the next tags, unless the scanner or its keys are others now.
func TestSeenVerdicts(t *testing.T) {
	path := filepath.Join(t.TempDir(), "verdicts")
	open := func(scanner string) *verdicts { return openVerdicts(path, scanner) }
	var seen *verdicts
	first := open("a").orThose(&seen)
	first.isFirst("below x")
	if err := first.save(); err != nil {
		t.Fatal(err)
	}
	if again := open("a").orThose(&seen); again != first || !again.has("below x") {
		t.Error("the file is read again")
	}
	if other := open("b").orThose(&seen); other == first || other.has("below x") {
		t.Error("another scanner has the same verdicts")
	}
}
