package git

import (
	"bytes"
	"compress/zlib"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/test/gittest"
)

func TestBatchReads(t *testing.T) {
	for _, format := range gittest.Formats() {
		t.Run(format, func(t *testing.T) {
			f := newFixture(t, "--object-format="+format)
			r := f.open()
			small, empty := f.Blob("hello\n"), f.Blob("")
			large := strings.Repeat("0123456789abcdef", 200_000)
			big := f.Blob(large)
			f.Git("update-ref", "refs/x/y", string(small))
			missing := strings.Repeat("1", len(small))
			specs := []string{string(small), missing, string(big), "refs/x/y", "no such ref", string(empty), "a missing"}
			want := []string{"hello\n", "", large, "hello\n", "", "", ""}
			absent := []bool{false, true, false, false, true, false, true}
			seen := 0
			err := r.Objects.Batch().Objects(ctx(t), specs, func(i int, o Object, err error) error {
				seen++
				if errors.Is(err, ErrMissing) != absent[i] || string(o.Data) != want[i] {
					t.Errorf("%d: %v, %d bytes", i, err, len(o.Data))
				}
				return nil
			})
			if err != nil || seen != len(specs) {
				t.Errorf("%v after %d", err, seen)
			}
			err = r.Objects.Batch().Info(ctx(t), specs, func(i int, o Object, err error) error {
				if errors.Is(err, ErrMissing) != absent[i] || o.Size != int64(len(want[i])) || o.Data != nil || err == nil && o.Type != "blob" {
					t.Errorf("%d: %v, %+v", i, err, o)
				}
				return nil
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
}

// A caller that stops early leaves no answers behind that the next caller would get.
func TestBatchStopsEarly(t *testing.T) {
	f := newFixture(t)
	r := f.open()
	var paths strings.Builder
	for i := range 300 {
		f.Write(fmt.Sprint(i), fmt.Sprint(i, strings.Repeat("x", 3000)))
		fmt.Fprintln(&paths, i)
	}
	specs := strings.Fields(f.GitIn(paths.String(), "hash-object", "-w", "--stdin-paths"))
	enough := errors.New("enough")
	for stop := range 3 {
		err := r.Objects.Batch().Objects(ctx(t), specs, func(i int, _ Object, _ error) error {
			if i == stop {
				return enough
			}
			return nil
		})
		if !errors.Is(err, enough) {
			t.Fatal(err)
		}
		o, err := r.Objects.Batch().Object(ctx(t), specs[299])
		if err != nil || !strings.HasPrefix(string(o.Data), "299") {
			t.Fatalf("%v %.10q", err, o.Data)
		}
	}
}

func TestBatchConcurrently(t *testing.T) {
	f := newFixture(t)
	r := f.open()
	var oids []name.OID
	for i := range 20 {
		oids = append(oids, f.Blob(fmt.Sprint(i)))
	}
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for i, oid := range oids {
				if o, err := r.Objects.Batch().Object(ctx(t), string(oid)); err != nil || string(o.Data) != fmt.Sprint(i) {
					t.Errorf("%v %q", err, o.Data)
				}
			}
		})
	}
	wg.Wait()
}

func deflate(t *testing.T, content string) string {
	t.Helper()
	var b bytes.Buffer
	w := zlib.NewWriter(&b)
	if _, err := w.Write([]byte(content)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// One damaged object is an error of its own; the objects before and after it are read.
func TestBatchDamaged(t *testing.T) {
	garbled := map[string]string{
		"empty":     "",
		"no zlib":   "this is no zlib stream",
		"cut":       "",
		"no header": deflate(t, "nothing of git's"),
		"long":      deflate(t, "blob 99999999999999\x00short"),
		"huge":      deflate(t, "blob 5000000000\x00short"),
		"negative":  deflate(t, "blob -5\x00short"),
		"bad type":  deflate(t, "blot 5\x00short"),
		// git prints these two without an error.
		"too little": deflate(t, "blob 500\x00short"),
		"too much":   deflate(t, "blob 2\x00too long"),
	}
	whole := deflate(t, "blob 300000\x00"+strings.Repeat("abc", 100_000))
	garbled["cut"] = whole[:len(whole)-20]
	for what, content := range garbled {
		t.Run(what, func(t *testing.T) {
			f := newFixture(t)
			before, bad, after := f.Blob("before"), f.Blob("to be damaged"), f.Blob("after")
			f.rewrite(bad, content)
			r := f.open()
			var got []string
			specs := []string{string(before), string(bad), string(after)}
			err := r.Objects.Batch().Objects(ctx(t), specs, func(i int, o Object, err error) error {
				if i == 1 && err == nil {
					t.Errorf("the damaged one was read: %.20q", o.Data)
				}
				if i != 1 {
					got = append(got, string(o.Data))
				}
				return nil
			})
			if err != nil || len(got) != 2 || got[0] != "before" || got[1] != "after" {
				t.Errorf("%v %q", err, got)
			}
			proven := map[int]string{}
			err = r.Objects.Batch().Prove(ctx(t), specs, 100, func(i int, o Object, err error) error {
				if proven[i] = string(o.Data); err != nil {
					proven[i] = "damaged"
				}
				return nil
			})
			if err != nil || proven[0] != "before" || proven[1] != "damaged" || proven[2] != "after" {
				t.Errorf("%v %v", err, proven)
			}
			if err := r.Objects.Batch().Info(ctx(t), specs, func(int, Object, error) error { return nil }); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestReadSized(t *testing.T) {
	if _, err := readSized(strings.NewReader("x"), MaxObject+1); !errors.Is(err, ErrTooLarge) {
		t.Error(err)
	}
	if _, err := readSized(strings.NewReader("x"), MaxObject); !errors.Is(err, errEnded) {
		t.Error(err)
	}
}

// A cat-file that died between two requests is started again.
func TestBatchRestarts(t *testing.T) {
	f := newFixture(t)
	r := f.open()
	f.Git("update-ref", "refs/x/y", string(f.Blob("x")))
	for range 2 {
		if _, err := r.Objects.Batch().Object(ctx(t), "refs/x/y"); err != nil {
			t.Fatal(err)
		}
		if err := r.Objects.Batch().contents.cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
	}
}

func TestBatchContext(t *testing.T) {
	f := newFixture(t)
	r := f.open()
	oid := string(f.Blob("x"))
	c, cancel := context.WithCancel(ctx(t))
	specs := make([]string, 50_000)
	for i := range specs {
		specs[i] = oid
	}
	err := r.Objects.Batch().Objects(c, specs, func(i int, _ Object, _ error) error {
		if i == 10 {
			cancel()
		}
		return nil
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	if _, err := r.Objects.Batch().Object(ctx(t), oid); err != nil {
		t.Error(err)
	}
}

// A tag whose name looks like a full ref does not answer for that ref.
func TestResolve(t *testing.T) {
	f := newFixture(t)
	one, two := f.Blob("one"), f.Blob("two")
	f.Git("update-ref", "refs/checkpoints/s/journal", string(one))
	for _, shadow := range []string{"refs/tags/", "refs/heads/", "refs/", "refs/remotes/"} {
		for _, ref := range []string{"refs/checkpoints/s/journal", "refs/checkpoints/t/journal"} {
			if shadow != "refs/heads/" { // only a commit may be there
				f.Git("update-ref", shadow+ref, string(two))
			}
		}
	}
	r := f.open()
	if oid, err := r.Refs.Resolve(ctx(t), "refs/checkpoints/s/journal"); oid != one || err != nil {
		t.Errorf("%q %v", oid, err)
	}
	if oid, err := r.Refs.Resolve(ctx(t), "refs/checkpoints/t/journal"); !errors.Is(err, ErrMissing) {
		t.Errorf("%q %v", oid, err)
	}
	got, err := r.Refs.ResolveAll(ctx(t), "refs/no/such", "refs/checkpoints/s/journal", "refs/tags/refs/checkpoints/s/journal")
	if err != nil || len(got) != 2 || got["refs/tags/refs/checkpoints/s/journal"] != two {
		t.Errorf("%v %v", got, err)
	}
}
