package clearance

import (
	"crypto/sha1"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/core/guard"
	"git-checkpoint/internal/format/name"
)

// The outermost directory counts, and a file of such a name does not.
func TestUsuallyIgnored(t *testing.T) {
	for file, want := range map[string]string{
		"node_modules/a/b": "node_modules", "a/.venv/node_modules/b": "a/.venv", "a/b/target/c": "a/b/target",
		"target": "", "a/target": "", "targets/a": "", "a/my.next/b": "", "a": "",
	} {
		if got := usuallyIgnored(file); got != want {
			t.Errorf("%q: %q instead of %q", file, got, want)
		}
	}
}

// What one process saved is known to the next, whether it asks for one object or for all, and a
// torn line is as if it had never been written.
func TestVerdicts(t *testing.T) {
	file := filepath.Join(t.TempDir(), "guard")
	oid := func(n int) name.OID { return name.OID(fmt.Sprintf("%x", sha1.Sum(fmt.Append(nil, n)))) }
	leak := guard.Result{Findings: []guard.Finding{{Line: 3, Rule: "aws", Fingerprint: "f00d", Guess: true}, {Line: 9, Rule: "key", Fingerprint: "beef", User: "cafe"}}, Gap: "too large"}
	const all = 24
	first := openVerdicts(file, "scanner", []byte("key"))
	for n := range all {
		one := guard.Result{}
		if n%7 == 0 {
			one = leak
		}
		first.add(oid(n), one)
	}
	forged := "a\n" + string(oid(all+1)) + " {}\n/node_modules" // not a verdict
	for _, dir := range []string{"a dir", forged} {
		if !first.isFirst(dir) || first.isFirst(dir) {
			t.Errorf("tell %q: not once", dir)
		}
	}
	if err := first.save(); err != nil {
		t.Fatal(err)
	}
	// A process was killed while it wrote of this one; another one appended the whole line later.
	f, err := os.OpenFile(file, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	told, err := json.Marshal(leak)
	if err != nil {
		t.Fatal(err)
	}
	fmt.Fprintf(f, "%s %s\n%s %s\n%s %s", oid(all), told[:len(told)/2], oid(all), told, oid(all+1), told[:50])
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	for _, ask := range [][2]int{{all, all + 2}, {0, all + 2}, {7, 8}} {
		next := openVerdicts(file, "scanner", []byte("key"))
		for n := ask[0]; n < ask[1]; n++ {
			want := guard.Result{}
			if n%7 == 0 || n == all {
				want = leak
			}
			got, known := next.verdictOf(oid(n))
			if known != (n != all+1) || known && !reflect.DeepEqual(got, want) {
				t.Errorf("asked for %v: %d is %+v, %v", ask, n, got, known)
			}
		}
		if next.isFirst("a dir") || next.isFirst(forged) || !next.isFirst("a") {
			t.Errorf("asked for %v: told directories are forgotten", ask)
		}
	}
	for _, other := range []*verdicts{openVerdicts(file, "scanner", []byte("another")), openVerdicts(file, "scanner 2", []byte("key"))} {
		if _, known := other.verdictOf(oid(0)); known {
			t.Error("the verdict of another scanner or key is used")
		}
	}
	own := openVerdicts(file, "scanner", []byte("key"))
	own.made = func(one name.OID) bool { return one == oid(0) }
	if _, known := own.verdictOf(oid(0)); known || own.read {
		t.Error("the file is searched for an object that this process made")
	}
	if _, known := own.verdictOf(oid(1)); !known {
		t.Error("the file is not searched for another object")
	}
	if err := os.Truncate(file, maxVerdicts); err != nil {
		t.Fatal(err)
	}
	again := openVerdicts(file, "scanner", []byte("key"))
	if _, known := again.verdictOf(oid(0)); known {
		t.Error("a file that is too large is used")
	}
	again.add(oid(0), guard.Result{})
	if err := again.save(); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(file); err != nil || info.Size() > 1<<10 {
		t.Errorf("a file that is too large is not started again: %v, %v", info, err)
	}
}

// All scanners of a service share what they know, so that a save and the tag of its step read the file once; another
// key begins anew.
func TestVerdictsAreShared(t *testing.T) {
	one := name.OID(strings.Repeat("1", 40))
	dir := t.TempDir()
	if out, err := exec.Command("git", "init", "-q", dir).CombinedOutput(); err != nil {
		t.Fatalf("git init: %v: %s", err, out)
	}
	s, err := checkpoint.Open(t.Context(), checkpoint.Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	open := func() *Scanner {
		scanner, err := OpenScanner(t.Context(), s)
		if err != nil {
			t.Fatal(err)
		}
		return scanner
	}
	open().verdicts.add(one, guard.Result{})
	again := open().verdicts
	if _, known := again.verdictOf(one); !known {
		t.Error("what one scanner found is not known to the next one")
	}
	if err := os.Remove(filepath.Join(s.Repo.CommonDir, "checkpoint", "guard-key")); err != nil {
		t.Fatal(err)
	}
	if _, known := open().verdicts.verdictOf(one); known {
		t.Error("what was found with another key is used")
	}
}
