package git

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/test/gittest"
)

// writesHere skips a test if git writes the refs, as it does outside Linux.
func writesHere(t *testing.T, r *Repo) {
	t.Helper()
	if !r.Refs.files().Writable(r.Head.Branch) {
		t.Skip("refs are git's here")
	}
}

func (f *fixture) leftovers() []string { return f.Proofs(RefTempPrefix) }

// A transaction that is written in this process leaves the same files as git, or fails where git
// fails. One that is left to git has changed nothing.
func TestWriteRefsAsGit(t *testing.T) {
	for _, format := range gittest.Formats() {
		ours, theirs := newFixture(t, "--object-format="+format), newFixture(t, "--object-format="+format)
		var oids []name.OID
		for i := range 4 {
			oids = append(oids, ours.Blob(fmt.Sprint(i)))
			theirs.Blob(fmt.Sprint(i))
		}
		absent := HashObject(format, "blob", []byte("absent"))
		r, other := ours.open(), theirs.open()
		writesHere(t, r)
		here, failed, asked := 0, 0, 0
		compare := func(tb rapid.TB, updates []Update) {
			before := ours.LooseRefs()
			err := r.Refs.writeRefs(ctx(t), updates)
			if left := ours.leftovers(); len(left) > 0 {
				tb.Fatalf("%v leave %v", updates, left)
			}
			if errors.Is(err, errUseGit) {
				asked++
				if now := ours.LooseRefs(); now != before {
					tb.Fatalf("%v are for git, and changed\n%s to\n%s", updates, before, now)
				}
				err = r.Refs.updateRefs(ctx(t), updates)
			} else if here++; err != nil {
				failed++
			}
			wrong := other.Refs.updateRefs(ctx(t), updates)
			if (err == nil) != (wrong == nil) || errors.Is(err, ErrRaced) != errors.Is(wrong, ErrRaced) {
				tb.Fatalf("%v:\nhere %v\ngit  %v\n%s", updates, err, wrong, before)
			}
			if a, b := ours.LooseRefs(), theirs.LooseRefs(); a != b {
				tb.Fatalf("%v:\nhere\n%s\ngit\n%s", updates, a, b)
			}
			all := "for-each-ref"
			if a, b := ours.Git(all), theirs.Git(all); a != b {
				tb.Fatalf("%v:\nhere\n%s\ngit\n%s", updates, a, b)
			}
		}
		// One that succeeds and one that fails, whatever is drawn below.
		compare(t, []Update{{Ref: gittest.Refs()[0], New: oids[0]}})
		compare(t, []Update{{Ref: gittest.Refs()[0], New: oids[1], Old: oids[2]}})
		rapid.Check(t, func(rt *rapid.T) {
			ours.RemoveRefs()
			theirs.RemoveRefs()
			for range rapid.IntRange(1, 4).Draw(rt, "steps") {
				if pack := rapid.SampledFrom([]string{"", "", "", "--all", "--no-all"}).Draw(rt, "pack"); pack != "" {
					ours.Git("pack-refs", pack)
					theirs.Git("pack-refs", pack)
				}
				compare(rt, drawUpdates(rt, other, oids, absent))
			}
		})
		t.Logf("%s: %d here, of which %d failed; %d by git", format, here, failed, asked)
		if here < asked/4 || failed == 0 || failed == here {
			t.Errorf("%d were written here, of which %d failed, %d by git", here, failed, asked)
		}
	}
}

// drawUpdates returns updates whose expected values are mostly the present ones.
func drawUpdates(rt *rapid.T, r *Repo, oids []name.OID, absent name.OID) []Update {
	var out []Update
	refs := rapid.SliceOfNDistinct(rapid.SampledFrom(gittest.Refs()), 1, 4, rapid.ID).Draw(rt, "refs")
	for _, ref := range refs {
		have, err := r.Refs.ResolveAll(rt.Context(), ref)
		if err != nil {
			rt.Fatal(err)
		}
		u := Update{Ref: ref, New: rapid.SampledFrom(oids).Draw(rt, "new"), Old: have[ref]}
		switch rapid.IntRange(0, 29).Draw(rt, "what") {
		case 0:
			u.Old = rapid.SampledFrom(oids).Draw(rt, "old")
		case 1:
			u.Old = ""
		case 2:
			u.New = absent
		case 3, 4, 5:
			if u.Old != "" {
				u.New = ""
			}
		}
		out = append(out, u)
	}
	return out
}

// Writers in this process, writers with git, and packing run at the same time and lose no update:
// each update that succeeded was based on the one before it.
func TestWriteRefsRace(t *testing.T) {
	f := newFixture(t)
	writesHere(t, f.open())
	const rounds, writers = 25, 4
	refs := []name.Ref{"refs/checkpoints/s/journal", "refs/notes/checkpoints"}
	type step struct{ from, to name.OID }
	var mu sync.Mutex
	var steps []step
	var group sync.WaitGroup
	done := make(chan struct{})
	for w := range writers {
		r := f.open()
		write := func(u []Update) error { return r.Refs.writeRefs(ctx(t), u) }
		if w == 0 {
			write = func(u []Update) error { return r.Refs.updateRefs(ctx(t), u) }
		}
		group.Go(func() {
			for i := range rounds {
				oid, err := r.Objects.Write(ctx(t), "blob", fmt.Appendf(nil, "%d %d", w, i))
				if err != nil {
					t.Error(err)
					return
				}
				for {
					have, err := r.Refs.ResolveAll(ctx(t), refs[0])
					if err != nil {
						t.Error(err)
						return
					}
					updates := []Update{{Ref: name.Ref(fmt.Sprintf("refs/checkpoints/s/%d-%d", w, i)), New: oid}, {Ref: refs[0], New: oid, Old: have[refs[0]]}, {Ref: refs[1], New: oid, Old: have[refs[0]]}}
					if err = write(updates); err == nil {
						mu.Lock()
						steps = append(steps, step{have[refs[0]], oid})
						mu.Unlock()
						break
					}
					if !errors.Is(err, ErrRaced) && !errors.Is(err, errUseGit) {
						t.Errorf("%v", err)
						return
					}
				}
			}
		})
	}
	packing := make(chan struct{})
	go func() {
		defer close(packing)
		for {
			select {
			case <-done:
				return
			default:
				f.Try("", "pack-refs", "--all", "--prune") //nolint:errcheck // it may meet a lock
			}
		}
	}()
	group.Wait()
	close(done)
	<-packing
	next := map[name.OID]name.OID{}
	for _, s := range steps {
		if other, twice := next[s.from]; twice {
			t.Fatalf("both %s and %s come after %q", other, s.to, s.from)
		}
		next[s.from] = s.to
	}
	at, n := name.OID(""), 0
	for ; next[at] != ""; n++ {
		at = next[at]
	}
	for _, ref := range refs {
		if got := f.Git("rev-parse", string(ref)); n != rounds*writers || got != string(at) {
			t.Errorf("%d steps end at %s, and %s is %s", n, at, ref, got)
		}
	}
	if got := strings.Count(f.Git("for-each-ref", "refs/checkpoints/s"), "\n"); got != rounds*writers {
		t.Errorf("%d refs", got)
	}
	if left := append(f.leftovers(), f.RefLocks()...); len(left) > 0 {
		t.Errorf("left are %v", left)
	}
}
