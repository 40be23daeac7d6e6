package journal

import (
	"encoding/binary"
	"slices"
	"testing"

	"git-checkpoint/internal/format/name"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestCacheReadsBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		nodes, tip := drawDAG(t, 30)
		for i := range nodes {
			if nodes[i].Event != nil && rapid.Bool().Draw(t, "full") {
				e := normal(drawFull(t))
				e.OID, e.Parents = nodes[i].OID, nodes[i].Parents
				nodes[i].Event = &e
			}
		}
		l := mustLog(t, nodes, tip)
		back, err := Decode(l.Encode())
		if err != nil {
			t.Fatal(err)
		}
		same(t, l, back)
		for i, st := 0, back.Fold(); i < st.Len(); i++ {
			if got, want := st.IterationOf(i), st.At(i).Event().Iteration; got != want {
				t.Fatalf("iteration %q, not %q", got, want)
			}
		}
	})
}

func same(t reporter, a, b *Log) {
	t.Helper()
	x, y := a.Nodes(), b.Nodes()
	for _, nodes := range [][]Node{x, y} {
		for i := range nodes {
			if len(nodes[i].Parents) == 0 {
				nodes[i].Parents = nil
			}
			if e := nodes[i].Event; e != nil {
				e := normal(*e)
				nodes[i].Event = &e
			}
		}
	}
	if d := cmp.Diff(x, y); d != "" {
		t.Fatal("nodes:", d)
	}
	if d := cmp.Diff(portray(a.Fold()), portray(b.Fold())); d != "" || a.Tip() != b.Tip() {
		t.Fatal("fold:", d, a.Tip(), b.Tip())
	}
}

// A cache that is extended by appending, while the journal grows by lines and merges, is the same
// as one written at once.
func TestCacheGrowsByAppending(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		clones := drawSchedule(t, 10, everything)
		c := clones[0]
		data := c.log.Encode()
		for range rapid.IntRange(1, 10).Draw(t, "rounds") {
			l, err := Decode(data)
			if err != nil {
				t.Fatal(err)
			}
			n := l.Len()
			c.log = l
			if rapid.Bool().Draw(t, "pull") {
				c.pull(clones[rapid.IntRange(0, len(clones)-1).Draw(t, "from")])
			} else {
				c.create(50)
			}
			data = c.log.AppendTo(data, n)
			if !slices.Equal(data, c.log.Encode()) {
				t.Fatal("the appended cache is not the whole one")
			}
			back, err := Decode(data)
			if err != nil {
				t.Fatal(err)
			}
			same(t, mustLog(t, c.log.Nodes(), c.log.Tip().OID), mustLog(t, back.Nodes(), back.Tip().OID))
			same(t, c.log, back)
		}
	})
}

// Every flipped bit is detected, and so is a record that is missing, repeated or moved, and a
// cut-off end.
func TestCacheFindsDamage(t *testing.T) {
	a, b := newClone(t, "a"), newClone(t, "b")
	a.create(1)
	b.pull(a)
	a.create(2)
	b.create(3)
	a.pull(b)
	a.rollback(1)
	data := a.log.Encode()
	for i := range data {
		for bit := range 8 {
			broken := slices.Clone(data)
			broken[i] ^= 1 << bit
			if _, err := Decode(broken); err == nil {
				t.Fatalf("bit %d of byte %d is flipped and nobody minds", bit, i)
			}
		}
	}
	var cuts []int // where records begin
	for at := len(cacheHeader); at < len(data); {
		cuts = append(cuts, at)
		size, n := binary.Uvarint(data[at:])
		at += n + int(size) + 4
	}
	whole := map[int]bool{}
	for _, c := range cuts[1:] {
		whole[c] = true
	}
	for n := range data {
		l, err := Decode(data[:n])
		if err == nil && (!whole[n] || l.Len() == 3) {
			t.Errorf("%d of %d bytes make a journal of %d", n, len(data), l.Len())
		}
	}
	for i, c := range cuts {
		end := append(cuts, len(data))[i+1]
		lost := slices.Concat(data[:c], data[end:])
		if _, err := Decode(lost); err == nil && end != len(data) {
			t.Error("record", i, "is lost and nobody minds")
		}
		if _, err := Decode(slices.Concat(data[:end], data[c:end], data[end:])); err == nil {
			t.Error("record", i, "is there twice and nobody minds")
		}
	}
}

// frame makes a cache of payloads, with correct checksums.
func frame(payloads ...[]byte) []byte {
	data := []byte(cacheHeader)
	for i, p := range payloads {
		data = append(binary.AppendUvarint(data, uint64(len(p))), p...)
		data = binary.LittleEndian.AppendUint32(data, recordSum(int32(i), p))
	}
	return data
}

// payloads are those of a journal's cache.
func payloads(l *Log) (all [][]byte) {
	kept, err := Decode(l.Encode())
	if err != nil {
		panic(err)
	}
	for i := range kept.nodes {
		all = append(all, kept.record(int32(i)))
	}
	return all
}

func TestDecodeRefuses(t *testing.T) {
	oid := appendText(nil, string(oid(1, 1)))
	record := func(kind byte, rest ...byte) []byte { return append(append([]byte{kind, 0}, oid...), rest...) }
	for what, data := range map[string][]byte{
		"nothing":            nil,
		"another version":    []byte("checkpoint journal cache 7\n\x05\x00\x04abcd\x00\x00\x00\x00"),
		"no record":          frame(),
		"empty record":       frame(nil),
		"type":               frame(record(7, 0)),
		"parent of the root": frame(record(recordMerge, 1, 1)),
		"itself as parent":   frame(record(recordMerge, 0), record(recordMerge, 1, 0)),
		"far parent":         frame(record(recordMerge, 0), record(recordMerge, 1, 2)),
		"many parents":       frame(record(recordMerge, 0xff, 0xff, 0xff, 0xff, 1)),
		"two tips":           frame(record(recordMerge, 0), record(recordMerge, 0)),
		"too short":          frame(record(recordMerge)),
		"too long":           frame(record(recordMerge, 0, 0)),
		"text past the end":  frame([]byte{recordMerge, 0, 0xfc, 0xff, 0xff, 0xff, 0x0f}),
		"endless number":     frame([]byte{recordMerge, 0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff}),
		"long list":          frame(record(recordEvent, append(make([]byte, 1+3+textCount+2), 0xff, 0xff, 0xff, 0x7f)...)),
		"no create":          frame(record(recordCreate, make([]byte, 1+3+textCount+2+4+1)...)),
		"no format":          frame(record(recordEvent, make([]byte, 1+3+textCount+2+4)...)),
		"more than an event": frame(record(recordEvent, make([]byte, 1+3+textCount+2+4+2)...)),
	} {
		if l, err := Decode(data); err == nil {
			t.Errorf("%s: a journal of %d", what, l.Len())
		}
	}
	if _, err := Decode(frame(record(recordMerge, 0))); err != nil {
		t.Error("the smallest cache:", err)
	}
}

func FuzzDecode(f *testing.F) {
	e := Event{Format: Format, Kind: KindPrune, Session: "demo", Time: epoch, Actor: actor, Step: 3, Milestone: true, Discard: []name.ID{id(1)},
		Restore: []name.ID{id(2)}, Tombstones: []Tombstone{{ID: id(1)}}, Extra: []Trailer{{"X", "y"}}}
	l, err := NewLog([]Node{{OID: oid(1, 1), Event: &e}, {OID: oid(1, 2), Parents: []name.OID{oid(1, 1)}}}, oid(1, 2))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(l.Encode(), payloads(l)[0], payloads(l)[1])
	nodes := braid(12, 2, 2)
	l, err = NewLog(nodes, nodes[len(nodes)-1].OID)
	if err != nil {
		f.Fatal(err)
	}
	for i := range 10 {
		f.Add(l.Encode(), payloads(l)[i], payloads(l)[i+1])
	}
	f.Fuzz(func(t *testing.T, data, first, second []byte) {
		// Decode the data as it is, and once more with correct checksums, to get past that check.
		for _, d := range [][]byte{data, frame(first), frame(first, second), frame(first, second, second)} {
			l, err := Decode(d)
			if err != nil {
				continue
			}
			s := l.Fold()
			for _, c := range s.Checkpoints() {
				s.RollbackPlan(c.Checkpoint)
				if e := c.Event(); e.Checkpoint != c.Checkpoint || e.Label != c.Label || e.Step != c.Step || e.Milestone != c.Milestone ||
					(e.Trigger == TriggerSafety) != c.Safety || s.Entry(c.Checkpoint) != c {
					t.Fatalf("%+v is found as %+v", e, c)
				}
			}
			again, err := Decode(l.Encode())
			if err != nil {
				t.Fatal(err)
			}
			same(t, l, again)
		}
	})
}

// A long cache of a journal with merges is the same journal.
func TestLongCache(t *testing.T) {
	nodes := braid(5000, 3, 2)
	l, err := NewLog(nodes, nodes[len(nodes)-1].OID)
	if err != nil {
		t.Fatal(err)
	}
	back, err := Decode(l.Encode())
	if err != nil {
		t.Fatal(err)
	}
	same(t, l, back)
}
