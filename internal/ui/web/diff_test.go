package web

import (
	"cmp"
	"encoding/json"
	"strconv"
	"strings"
	"testing"

	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/format/record"
	"git-checkpoint/internal/test/verbtest"
	"git-checkpoint/internal/verb/inspect"
)

// TestReadPatch checks that quoted names, renames, binary files and changes of mode are assigned to
// the right file.
func TestReadPatch(t *testing.T) {
	list := "1\t1\ta b.txt\x00-\t-\tlogo.png\x000\t0\t\x00old name\x00new\ttab\x002\t0\tadded\x000\t1\tgone\x000\t0\tscript.sh\x00"
	byPath := map[string]*fileDiff{}
	for _, f := range inspect.Counts(list) {
		byPath[f.Path] = newFileDiff(f)
	}
	readPatch(list+"\x00"+`diff --git a/a b.txt b/a b.txt
index 1111111111111111111111111111111111111111..2222222222222222222222222222222222222222 100644
--- a/a b.txt	
+++ b/a b.txt	
@@ -1,2 +1,2 @@ func x()
 same
-one two three
+one zwei three
diff --git a/logo.png b/logo.png
index 3333333333333333333333333333333333333333..4444444444444444444444444444444444444444 100644
Binary files a/logo.png and b/logo.png differ
diff --git "a/old name" "b/new\ttab"
similarity index 100%
rename from old name
rename to "new\ttab"
diff --git a/added b/added
new file mode 100644
index 0000000000000000000000000000000000000000..5555555555555555555555555555555555555555
--- /dev/null
+++ b/added
@@ -0,0 +1,2 @@
+--- a line that looks like a header
+x
diff --git a/gone b/gone
deleted file mode 100644
index 6666666666666666666666666666666666666666..0000000000000000000000000000000000000000
--- a/gone
+++ /dev/null
@@ -1 +0,0 @@
-last words
\ No newline at end of file
diff --git a/script.sh b/script.sh
old mode 100644
new mode 100755
`, byPath)
	for path, check := range map[string]func(*fileDiff) bool{
		"a b.txt": func(f *fileDiff) bool {
			l := f.Hunks[0].Lines
			return len(l) == 3 && l[0].Old == 1 && l[1].Marked == "two" && l[2].Marked == "zwei" && l[2].Before == "one " && l[2].New == 2
		},
		"logo.png": func(f *fileDiff) bool {
			return f.Binary && f.Image && strings.HasPrefix(f.NewID, "444") && len(f.Hunks) == 0
		},
		"new\ttab":  func(f *fileDiff) bool { return f.Op == "renamed" && f.Old == "old name" },
		"added":     func(f *fileDiff) bool { return f.Op == "added" && len(f.Hunks) == 1 && len(f.Hunks[0].Lines) == 2 },
		"gone":      func(f *fileDiff) bool { return f.Op == "deleted" && f.Hunks[0].Lines[0].Before == "last words" },
		"script.sh": func(f *fileDiff) bool { return f.Modes == "100644 → 100755" },
	} {
		if f := byPath[path]; f == nil || !check(f) {
			t.Errorf("%s: %+v", path, f)
		}
	}
}

// TestHeld checks that the lines of a file which is too long are held back beside a renamed file,
// which counts with two paths, and that those of the others are shown.
func TestHeld(t *testing.T) {
	w := verbtest.Unborn(t, "repo")
	w.Write("old", "one\ntwo\nthree\nfour\n")
	w.Write("long", "")
	w.Git("add", ".")
	from := name.OID(w.Git("write-tree"))
	w.Git("mv", "old", "new")
	w.Write("new", "one\ntwo\nthree\nfive\n")
	w.Write("long", strings.Repeat("line\n", longestFile+1))
	w.Git("add", ".")
	to := name.OID(w.Git("write-tree"))
	s := w.Open()
	for _, only := range []string{"", "new", "long"} {
		files, err := filesOf(t.Context(), s, &inspect.Difference{FromTree: from, ToTree: to}, only)
		if err != nil || len(files) != 2 {
			t.Fatalf("%v, %d files", err, len(files))
		}
		for _, f := range files {
			if shown := only == f.Path || only == "" && f.Path == "new"; f.Held == shown || shown != (len(f.Hunks) > 0) {
				t.Errorf("asked for %q: %s is held back: %t, with %d hunks", only, f.Path, f.Held, len(f.Hunks))
			}
		}
	}
}

// TestMark checks that marks begin and end between words, and never within a character.
func TestMark(t *testing.T) {
	for _, c := range []struct{ a, b, marked string }{
		{"return foo(bar)", "return foo(baz)", "baz"},
		{"return foo(bar)", "return foo(bar, qux)", ", qux"},
		{"grün und gut", "grau und gut", "grau"},
		{"nothing alike", "XYZ", ""},
		{"a", "a b c d", ""},
	} {
		lines := []line{{Kind: "del", Before: c.a}, {Kind: "add", Before: c.b}}
		markWords(lines)
		if got := lines[1].Before + lines[1].Marked + lines[1].Rest; got != c.b {
			t.Errorf("%q became %q", c.b, got)
		}
		if c.marked != "" && lines[1].Marked != c.marked {
			t.Errorf("%q → %q: %q is marked", c.a, c.b, lines[1].Marked)
		}
	}
}

// TestTreeOf checks that numbers keep their digits, and that changed values are marked.
func TestTreeOf(t *testing.T) {
	tree := treeOf([]byte(`{"n":9007199254740993,"deep":{"list":[1,{"a":"b"}],"x":true}}`), []inspect.StateChange{{Path: "deep.x", Op: "changed", New: []byte("true")}})
	if tree[0].Value != "9007199254740993" || tree[1].Count != "2 members" || !tree[1].Open || tree[1].Below[1].Changed != "changed" || tree[1].Below[0].Open {
		t.Errorf("%+v", tree)
	}
}

// TestTreeOfDiff checks that each change of a real diff is marked where it is, and only there: in
// members with a dot in the name, and in lists by id and by place.
func TestTreeOfDiff(t *testing.T) {
	old := `{"a.b":1,"a":{"b":1},"by id":[{"id":"x","v":1},{"id":"y","v":1}],"plain":[{"k":1},{"k":2}],"same":[1,2],"l.":{"":0,"*":1}}`
	now := `{"a.b":2,"a":{"b":1},"by id":[{"id":"y","v":2},{"id":"x","v":1}],"plain":[{"k":1},{"k":3}],"same":[1,2],"l.":{"":0,"*":2}}`
	var changes []inspect.StateChange
	for _, c := range record.Diff(json.RawMessage(old), json.RawMessage(now), func(string) []string { return []string{"id"} }) {
		changes = append(changes, inspect.StateChange{Path: c.Path, Op: string(c.Op), Old: c.Old, New: c.New})
	}
	var marked func(leaves []leaf, at string) []string
	marked = func(leaves []leaf, at string) (found []string) {
		for i, l := range leaves {
			here := at + "/" + cmp.Or(l.Key, strconv.Itoa(i))
			below := marked(l.Below, here)
			if l.Open != (l.Changed != "" || len(below) > 0) {
				t.Errorf("%s: open is %t", here, l.Open)
			}
			if l.Changed != "" {
				found = append(found, here)
			}
			found = append(found, below...)
		}
		return found
	}
	got := strings.Join(marked(treeOf([]byte(" "+now), changes), ""), " ")
	if want := "/a.b /by id/0/v /plain/1/k /l./*"; got != want {
		t.Errorf("marked %s, want %s, of %+v", got, want, changes)
	}
}

// TestPlain checks that characters which are invisible or reverse the direction of writing are
// shown as numbers.
func TestPlain(t *testing.T) {
	if got := plain("a\u202eb\x1bc\td\xff"); got != "a⟨U+202E⟩b⟨U+001B⟩c\td\ufffd" {
		t.Errorf("%q", got)
	}
}
