package odb

import (
	"errors"
	"slices"
	"strings"
	"testing"
)

const most = 1 << 20

// Entries of every kind can be read, and a delta has the type of its base.
func TestReadEntries(t *testing.T) {
	copied := append(sizes(10, 14), 0x90, 10, 4, 'm', 'o', 'r', 'e')
	far := strings.Repeat("x", 70_000)
	first := plain(t, 1, "0123456789")
	packs, _ := build(t, first,
		onOffset(t, 2, int64(len(first.raw)), copied),
		onRef(t, 3, 2, append(sizes(14, 5), 0x91, 9, 5)),
		plain(t, 4, far), onRef(t, 5, 4, append(sizes(70_000, 1<<16), 0x80)), plain(t, 6, ""))
	want := map[byte]string{1: "0123456789", 2: "0123456789more", 3: "9more", 4: far, 5: far[:1<<16], 6: ""}
	for range 2 { // from the pack, then from the cache
		var r Reader
		for n, content := range want {
			at, ok := packs.Find(oidOf(n))
			if !ok {
				t.Fatalf("%d is not found", n)
			}
			if o, err := r.Info(at, most); err != nil || o.Type != "blob" || o.Size != int64(len(content)) || o.Data != nil {
				t.Errorf("%d: %+v %v", n, o, err)
			}
			if o, err := r.Read(at, most); err != nil || o.Type != "blob" || string(o.Data) != content || o.Size != int64(len(content)) {
				t.Errorf("%d: %.40q %v", n, o.Data, err)
			}
		}
	}
	if _, ok := packs.Find(oidOf(7)); ok {
		t.Error("what is not there is found")
	}
}

// An entry that git would not write is refused, and so is one that is over the limit.
func TestRefusedEntries(t *testing.T) {
	base := plain(t, 1, "0123456789")
	back := int64(len(base.raw))
	delta := func(d ...byte) item { return onOffset(t, 2, back, append(sizes(10, 4), d...)) }
	cases := map[string]item{
		"a circle":               onRef(t, 2, 2, append(sizes(10, 10), 0x90, 10)),
		"an unknown base":        onRef(t, 2, 9, append(sizes(10, 10), 0x90, 10)),
		"itself":                 onOffset(t, 2, 0, append(sizes(10, 10), 0x90, 10)),
		"before the pack":        onOffset(t, 2, 1<<20, append(sizes(10, 10), 0x90, 10)),
		"the header of the pack": onOffset(t, 2, back+5, append(sizes(10, 10), 0x90, 10)),
		"another base":           onOffset(t, 2, back, append(sizes(11, 4), 0x90, 4)),
		"too little":             delta(0x90, 3),
		"too much":               delta(0x90, 5),
		"behind the base":        delta(0x91, 8, 4),
		"far behind the base":    delta(0xff, 0xff, 0xff, 0xff, 0xff, 4, 0, 0),
		"a cut operation":        delta(0x90),
		"an insert that is cut":  delta(4, 'a', 'b', 'c'),
		"an operation of none":   delta(0x90, 4, 0),
		"no sizes":               onOffset(t, 2, back, []byte{0x80, 0x80, 0x80, 0x80}),
		"too short":              onOffset(t, 2, back, []byte{10, 0, 0}),
		"type 0":                 {id(2), append(begin(0, 4), compress(t, 1, []byte("abcd"))...)},
		"type 5":                 {id(2), append(begin(5, 4), compress(t, 1, []byte("abcd"))...)},
		"another size":           {id(2), append(begin(3, 5), compress(t, 1, []byte("abcd"))...)},
		"an endless size":        {id(2), slices.Concat([]byte{0xbf}, slices.Repeat([]byte{0xff}, 20))},
		"a cut stream":           {id(2), append(begin(3, 4), compress(t, 1, []byte("abcd"))[:6]...)},
		"nothing":                {id(2), nil},
		"over the limit":         plain(t, 2, strings.Repeat("x", most+1)),
		"a result over it":       onOffset(t, 2, back, append(sizes(10, most+1), 0x90, 10)),
		"a delta over it":        {id(2), append(begin(typeOffsetDelta, most+1), byte(back))},
	}
	for what, bad := range cases {
		packs, offsets := build(t, base, bad)
		var r Reader
		at, ok := packs.Find(oidOf(2))
		if !ok || at.offset != offsets[1] {
			t.Fatal("it is not found")
		}
		o, err := r.Read(at, most)
		if !errors.Is(err, ErrUseGit) || errors.Is(err, ErrLarge) != strings.Contains(what, "over") {
			t.Errorf("%s: %.20q %v", what, o.Data, err)
		}
		if at, _ := packs.Find(oidOf(1)); string(mustRead(t, &r, at)) != "0123456789" {
			t.Errorf("%s: what is beside it cannot be read", what)
		}
		r.Info(at, most) //nolint:errcheck // it may say something: the content is not looked at
	}
}

func mustRead(t testing.TB, r *Reader, at Place) []byte {
	t.Helper()
	o, err := r.Read(at, most)
	if err != nil {
		t.Fatal(err)
	}
	return o.Data
}

// A chain of deltas as long as git allows can be read, a longer one is refused, and neither
// exceeds the limits of the cache.
func TestDeepChain(t *testing.T) {
	var items []item
	items = append(items, plain(t, 1, strings.Repeat("0123456789", 1000)))
	same := append(sizes(10_000, 10_000), 0xb0, 0x10, 0x27)
	for len(items) < maxChain+3 {
		back := len(items[len(items)-1].raw)
		if n := len(items); n > 2 && back == len(items[n-2].raw) {
			items = append(items, items[n-1])
			continue
		}
		items = append(items, onOffset(t, 2, int64(back), same))
	}
	for k, n := range map[int]error{maxChain: nil, maxChain + 2: ErrUseGit} {
		some := append(slices.Clone(items[:k]), items[k])
		for i := range some[:k] {
			some[i].id = id(1)
		}
		packs, _ := build(t, some...)
		var r Reader
		at, ok := packs.Find(oidOf(2))
		if !ok {
			t.Fatal("it is not found")
		}
		if o, err := r.Read(at, most); !errors.Is(err, n) || n == nil && len(o.Data) != 10_000 {
			t.Errorf("%d deltas: %v", k, err)
		}
		if r.bases.bytes > maxKeptBytes {
			t.Errorf("%d bytes are kept", r.bases.bytes)
		}
	}
}

// FuzzRead checks that any entry is either read within the limits or refused.
func FuzzRead(f *testing.F) {
	f.Add(plain(f, 2, "content").raw)
	f.Add(onRef(f, 2, 1, append(sizes(10, 4), 0x90, 4)).raw)
	f.Add(onOffset(f, 2, 30, append(sizes(10, 4), 0x90, 4)).raw)
	f.Add(onRef(f, 2, 2, append(sizes(10, 10), 0x90, 10)).raw)
	f.Fuzz(func(t *testing.T, raw []byte) {
		packs, offsets := build(t, plain(t, 1, "0123456789"), item{id(2), raw}, item{id(3), nil})
		var r Reader
		at, ok := packs.Find(oidOf(2))
		if !ok {
			t.Fatal("it is not found")
		}
		for offset := offsets[0]; offset < offsets[2]; offset++ {
			at.offset = offset
			if o, err := r.Read(at, 4096); err == nil && (int64(len(o.Data)) != o.Size || o.Size > 4096 || o.Type == "") {
				t.Fatalf("%+v", o)
			}
			if o, err := r.Info(at, 4096); err == nil && (o.Type == "" || o.Size < 0) {
				t.Fatalf("%+v", o)
			}
		}
	})
}

// FuzzPatch checks that any delta is either applied within the limit or refused.
func FuzzPatch(f *testing.F) {
	f.Add([]byte("0123456789"), append(sizes(10, 14), 0x90, 10, 4, 'm', 'o', 'r', 'e'))
	f.Add([]byte("0123456789"), append(sizes(10, 1), 0x91, 9, 1))
	f.Fuzz(func(t *testing.T, base, delta []byte) {
		out, err := patch(base, delta, 1<<16)
		if err == nil && len(out) > 1<<16 {
			t.Fatalf("%d bytes", len(out))
		}
	})
}
