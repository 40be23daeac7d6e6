package store

import (
	"context"
	"fmt"
	"testing"
	"time"

	"git-checkpoint/internal/format/journal"
	"git-checkpoint/internal/format/name"
)

// BenchmarkCreate measures the n-th create of a session. Its cost must not grow with n.
func BenchmarkCreate(b *testing.B) {
	for _, n := range []int{10, 1000, 5000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			f := newFixture(b)
			at := time.Date(2026, 11, 20, 9, 0, 0, 0, time.UTC)
			var c Change
			blob := f.blob("{}\n")
			for i := range n {
				id := name.NewID(i+1, at.Add(time.Duration(i)*time.Second), uint16(i))
				commit, err := f.Repo.Objects.Write(b.Context(), "commit", fmt.Appendf(nil, "tree %s\nauthor A <a> %d +0000\ncommitter A <a> %d +0000\n\nx\n", journal.EmptyTreeSHA1, i, i))
				if err != nil {
					b.Fatal(err)
				}
				c.Events = append(c.Events, journal.Event{
					Kind: journal.KindCreate, Time: at.Add(time.Duration(i) * time.Second), Actor: "Ann <ann@example.com>",
					Checkpoint: id, Label: name.Label(i+1, "step", ""), Step: i + 1, Milestone: true, Trigger: "manual", CheckpointStatus: "in_progress",
					Commit: commit, Record: "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855", WorktreeID: "0123456789abcdef0123456789abcdef",
				})
				c.Create = append(c.Create, NewCheckpoint{ID: id, Commit: commit, RecordBlob: blob})
			}
			if _, err := f.Transact(b.Context(), "demo", func(context.Context, View) (Change, error) { return c, nil }); err != nil {
				b.Fatal(err)
			}
			f.Git("gc", "-q")
			if _, err := f.Store.Log(b.Context(), "demo"); err != nil {
				b.Fatal(err)
			}
			b.ResetTimer()
			for b.Loop() {
				if _, _, err := create(b.Context(), f.Store, "demo", milestone{}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
