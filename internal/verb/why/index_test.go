package why

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"git-checkpoint/internal/format/name"
)

// grown returns an index of so many checkpoints that each changed one file and added so many lines.
func grown(checkpoints, lines int) *index {
	random := rand.New(rand.NewPCG(1, 2))
	x := &index{}
	x.Sessions = []session{{Name: "agent", Tip: name.OID(strings.Repeat("a", 40)), To: int32(checkpoints)}} //nolint:gosec // few
	var all []entry
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	head := ""
	for i := range checkpoints {
		at = at.Add(time.Duration(1+random.IntN(600)) * time.Second)
		if i%10 == 0 {
			head = fmt.Sprintf("%016x%016x%08x", random.Uint64(), random.Uint64(), random.Uint32())
		}
		x.Checkpoints = append(x.Checkpoints, point{
			ID: name.ID(fmt.Sprintf("cp-%02d-%s-%04x", i/10, at.Format("20060102T150405000Z"), random.IntN(1<<16))), Tree: name.OID(fmt.Sprintf("%040x", random.Uint64())),
			Head: name.OID(head), At: at.Unix(), Person: "author@example.com", Worktree: "0123456789abcdef", Base: int32(i - 1), Via: -1, //nolint:gosec // few
		})
		c := x.addChange(int32(i), fmt.Sprintf("internal/part/file%04d.go", random.IntN(500)), "") //nolint:gosec // few
		for range lines {
			all = append(all, entry{random.Uint32(), uint16(random.Uint32()), uint8(random.Uint32()), c}) //nolint:gosec // parts of them
		}
	}
	x.setEntries(all)
	return x
}

// A line takes at most 24 bytes of the index, also where checkpoints add few of them: 500,000 lines have 12 MB.
func TestIndexIsSmall(t *testing.T) {
	for _, lines := range []int{5, 50} {
		x := grown(10_000, lines)
		data, err := x.encode()
		if err != nil {
			t.Fatal(err)
		}
		each := float64(len(data)+sealSize) / float64(10_000*lines)
		t.Logf("%d lines: %d bytes, %.1f each", 10_000*lines, len(data), each)
		if each > 24 {
			t.Errorf("with %d lines in a checkpoint one has %.1f bytes", lines, each)
		}
	}
}

// What is written is read again, whatever the checkpoints are called and wherever they begin. What does not fit
// together is not read.
func TestIndexRoundTrip(t *testing.T) {
	x := grown(40, 3)
	for i, p := range []point{
		{ID: "x", At: -1 << 40, Base: -1, Via: -1},
		{ID: "xy", Tree: name.OID(strings.Repeat("f", 40)), At: 1 << 60, Person: "a\nb\xff", Base: 39, Via: 0},
		{ID: "", Head: "h", Base: 0, Via: 39},
	} {
		x.Checkpoints[10+i] = p
	}
	x.Changes[3].From = x.addPath("caf\xe9\nnew")
	data, err := x.encode()
	if err != nil {
		t.Fatal(err)
	}
	got := decode(data)
	if got == nil {
		t.Fatal("it is not read")
	}
	if !slices.Equal(got.Checkpoints, x.Checkpoints) || !slices.Equal(got.Changes, x.Changes) || !slices.Equal(got.entries, x.entries) || !reflect.DeepEqual(got.Paths, x.Paths) || !reflect.DeepEqual(got.Sessions, x.Sessions) {
		t.Errorf("it is read as %+v", got)
	}
	for i := range x.Entries {
		if e := got.at(i); i > 0 && e.key < got.at(i-1).key {
			t.Errorf("entry %d is out of order", i)
		} else if from, to := got.rangeOf(e.key); from > i || to <= i {
			t.Errorf("entry %d is not found at %d to %d", i, from, to)
		}
	}
	for i := range data {
		for _, bit := range []byte{1, 0x80} {
			changed := slices.Clone(data)
			changed[i] ^= bit
			decode(changed) // it may be read or not, but it ends
		}
		if decode(data[:i]) != nil {
			t.Errorf("its first %d bytes are read", i)
		}
	}
}

// However many files checkpoints change, the index has so many changes and no more.
func TestIndexIsBounded(t *testing.T) {
	b := &build{old: &index{}, x: &index{}}
	var all found
	for i := range mostIn {
		all.changes = append(all.changes, foundChange{path: fmt.Sprint("file", i)})
	}
	for range mostChanges/mostIn + 10 {
		b.x.Checkpoints = append(b.x.Checkpoints, point{Base: -1, Via: -1})
		b.found, b.reuse = append(b.found, all), append(b.reuse, -1)
	}
	b.join()
	if n := len(b.x.Changes); n > mostChanges || n < mostChanges-2*mostIn {
		t.Errorf("it has %d changes, and %d are the most", n, mostChanges)
	}
}
