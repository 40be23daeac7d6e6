package git

import (
	"context"
	"fmt"
	"os/exec"
	"testing"
)

// BenchmarkWriteObject is the cost of one small loose object.
func BenchmarkWriteObject(b *testing.B) {
	dir := b.TempDir()
	if out, err := exec.Command("git", "init", "-q", dir).CombinedOutput(); err != nil {
		b.Fatalf("%v: %s", err, out)
	}
	r, err := Open(context.Background(), Options{Dir: dir})
	if err != nil {
		b.Fatal(err)
	}
	for i := 0; b.Loop(); i++ {
		if _, err := r.Objects.Write(context.Background(), "blob", fmt.Appendf(nil, "%s %d", dir, i)); err != nil {
			b.Fatal(err)
		}
	}
}
