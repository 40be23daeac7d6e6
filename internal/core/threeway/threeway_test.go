package threeway

import (
	"context"
	"fmt"
	"maps"
	"strings"
	"testing"

	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/git"
	"git-checkpoint/internal/test/gittest"
)

// files are the files of a tree by path. A content that begins with "->" is a link, one that begins with
// "+x " is executable, and one that begins with "sub " is a submodule.
type files map[string]string

// world is a repository to merge in.
type world struct {
	*gittest.Repository
	repo *git.Repo
}

func newWorld(t *testing.T, format string) world {
	r := gittest.New(t, "--object-format="+format)
	repo, err := git.Open(t.Context(), git.Options{Dir: r.Dir, Env: r.Env})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { repo.Close() })
	return world{r, repo}
}

// tree writes a tree.
func (w world) tree(of files) name.OID {
	w.Helper()
	edits := map[string]git.Entry{}
	for path, content := range of {
		mode := git.ModeFile
		switch {
		case strings.HasPrefix(content, "->"):
			mode = git.ModeSymlink
		case strings.HasPrefix(content, "+x "):
			mode, content = git.ModeExec, content[3:]
		case strings.HasPrefix(content, "sub "):
			edits[path] = git.Entry{Mode: git.ModeGitlink, OID: w.Blob(content)}
			continue
		}
		edits[path] = git.Entry{Mode: mode, OID: w.Blob(content)}
	}
	oid, err := w.repo.Trees.Edit(w.Context(), "", edits)
	if err != nil {
		w.Fatal(err)
	}
	return oid
}

// files reads a tree.
func (w world) files(tree name.OID) files {
	w.Helper()
	out := files{}
	err := w.repo.Trees.Walk(w.Context(), tree, func(path string, e git.Entry) error {
		if e.Mode == git.ModeGitlink {
			out[path] = "sub"
			return nil
		}
		o, err := w.repo.Objects.Batch().Typed(w.Context(), string(e.OID), "blob")
		out[path] = map[git.Mode]string{git.ModeExec: "+x "}[e.Mode] + string(o.Data)
		return err
	})
	if err != nil {
		w.Fatal(err)
	}
	return out
}

// merge merges the changes that lead from each tree to the next one into ours.
func (w world) merge(ours files, markers bool, steps ...[2]files) (files, string) {
	w.Helper()
	m := Begin(w.repo, Side{Tree: w.tree(ours)}, markers)
	for _, step := range steps {
		base := Side{Tree: w.tree(step[0])}
		changes, err := Diff(w.Context(), w.repo, base, Side{Tree: w.tree(step[1])}, Names{"now", "step 4", "before step 4"})
		if err == nil {
			err = m.Apply(w.Context(), base.Tree, changes)
		}
		if err != nil {
			w.Fatal(err)
		}
	}
	got, err := m.Done(w.Context())
	if err != nil {
		w.Fatal(err)
	}
	said := []string{}
	for _, o := range m.Outcomes() {
		said = append(said, fmt.Sprintf("%s %s", o.Path, o.How))
	}
	return w.files(got.Tree), strings.Join(said, ", ")
}

const (
	text  = "1\n2\n3\n4\n5\n6\n7\n"
	first = "one\n2\n3\n4\n5\n6\n7\n"
	last  = "1\n2\n3\n4\n5\n6\nseven\n"
	both  = "one\n2\n3\n4\n5\n6\nseven\n"
	other = "eins\n2\n3\n4\n5\n6\n7\n"
)

// Each path is decided by its three versions: base is what a step left, theirs what was there before,
// ours what is there now.
func TestPaths(t *testing.T) {
	for _, format := range gittest.Formats() {
		w := newWorld(t, format)
		for _, c := range []struct {
			what               string
			base, theirs, ours files
			want               files
			said               string
		}{
			{"nobody since", files{"a": first}, files{"a": text}, files{"a": first, "b": "b"}, files{"a": text, "b": "b"}, "a restored"},
			{"others elsewhere in the file", files{"a": first}, files{"a": text}, files{"a": both}, files{"a": last}, "a merged"},
			{"the same lines", files{"a": first}, files{"a": text}, files{"a": other}, files{"a": other}, "a conflict"},
			{"taken back already", files{"a": first}, files{"a": text}, files{"a": text}, files{"a": text}, "a same"},
			{"taken back beside other lines", files{"a": first}, files{"a": text}, files{"a": last}, files{"a": last}, "a same"},
			{"a new file", files{"a": text}, files{}, files{"a": text, "b": "b"}, files{"b": "b"}, "a restored"},
			{"a new file, changed since", files{"a": text}, files{}, files{"a": first}, files{"a": first}, "a conflict"},
			{"a new file, deleted since", files{"a": text}, files{}, files{"b": "b"}, files{"b": "b"}, "a same"},
			{"a new file, renamed since", files{"a": text}, files{}, files{"b": text}, files{"b": text}, "a conflict"},
			{"a new file, renamed and changed since", files{"a": text}, files{}, files{"b": first}, files{"b": first}, "a conflict"},
			{"a deleted file", files{}, files{"a": text}, files{}, files{"a": text}, "a restored"},
			{"a deleted file, made again", files{}, files{"a": text}, files{"a": first}, files{"a": first}, "a conflict"},
			{"a changed file, deleted since", files{"a": first}, files{"a": text}, files{}, files{}, "a conflict"},
			{"a changed file, renamed since", files{"a": first}, files{"a": text}, files{"b": first}, files{"b": text}, "a restored"},
			{"a rename", files{"b": text}, files{"a": text}, files{"b": text}, files{"a": text}, "a restored, b restored"},
			{"a rename, changed since", files{"b": text}, files{"a": text}, files{"b": first}, files{"a": first}, "a merged, b merged"},
			{"a rename, renamed since", files{"b": text}, files{"a": text}, files{"c": text}, files{"c": text}, "a conflict, b conflict"},
			{"a rename and an edit, deleted since", files{"b": first}, files{"a": text}, files{}, files{}, "a conflict, b conflict"},
			{"a rename and an edit, changed since", files{"b": first}, files{"a": text}, files{"b": text + "8\n"}, files{"b": text + "8\n"}, "a conflict, b conflict"},
			{"a rename, renamed back", files{"b": text}, files{"a": text}, files{"a": text}, files{"a": text}, "a same, b same"},
			{"a rename, the old name is taken", files{"b": text}, files{"a": text}, files{"a": "new", "b": text}, files{"a": "new", "b": text}, "a conflict, b conflict"},
			{"a rename, deleted since", files{"b": text}, files{"a": text}, files{}, files{}, "a conflict, b conflict"},
			{"empty files are no renames", files{"b": ""}, files{"a": ""}, files{"b": "new"}, files{"a": "", "b": "new"}, "a restored, b conflict"},
			{"not text", files{"a": "\x00 1"}, files{"a": "\x00 2"}, files{"a": "\x00 3"}, files{"a": "\x00 3"}, "a conflict"},
			{"not text, nobody since", files{"a": "\x00 1"}, files{"a": "\x00 2"}, files{"a": "\x00 1"}, files{"a": "\x00 2"}, "a restored"},
			{"a mode", files{"a": "+x " + text}, files{"a": text}, files{"a": "+x " + first}, files{"a": first}, "a merged"},
			{"a mode of others", files{"a": first}, files{"a": text}, files{"a": "+x " + first}, files{"a": "+x " + text}, "a merged"},
			{"a link", files{"a": "->1"}, files{"a": "->2"}, files{"a": "->1"}, files{"a": "->2"}, "a restored"},
			{"a link, changed since", files{"a": "->1"}, files{"a": "->2"}, files{"a": "->3"}, files{"a": "->3"}, "a conflict"},
			{"a link for a file", files{"a": "->1"}, files{"a": text}, files{"a": first}, files{"a": first}, "a conflict"},
			{"a submodule", files{"a": "sub 1"}, files{"a": "sub 2"}, files{"a": "sub 1"}, files{"a": "sub"}, "a conflict"},
			{"a directory is there now", files{}, files{"a": text}, files{"a/b": "b"}, files{"a/b": "b"}, "a conflict"},
			{"a directory above is a file now", files{}, files{"a/b": text}, files{"a": "a"}, files{"a": "a"}, "a/b conflict"},
			{"a file for a directory", files{"a/b": first}, files{"a": text}, files{"a/b": first}, files{"a": text}, "a restored, a/b restored"},
			{"a file for a directory that others use", files{"a/b": first}, files{"a": text}, files{"a/b": first, "a/c": "c"}, files{"a/c": "c"}, "a conflict, a/b restored"},
			{"odd names", files{"-n\n\xff": first}, files{"-n\n\xff": text}, files{"-n\n\xff": both}, files{"-n\n\xff": last}, "-n\n\xff merged"},
		} {
			got, said := w.merge(c.ours, false, [2]files{c.base, c.theirs})
			if !maps.Equal(got, c.want) || said != c.said {
				t.Errorf("%s, %s:\n got %q (%s)\nwant %q (%s)", format, c.what, got, said, c.want, c.said)
			}
		}
	}
}

// Steps are taken back one after the other. After its first conflict a path is not merged any more, and
// nothing of it is taken back.
func TestSteps(t *testing.T) {
	w := newWorld(t, "sha1")
	start := files{"a": text, "b": text}
	four := files{"a": first, "b": first}
	five := files{"a": both, "b": both}
	got, said := w.merge(files{"a": both, "b": strings.Replace(both, "seven", "sept", 1)}, false, [2]files{five, four}, [2]files{four, start})
	want := files{"a": text, "b": strings.Replace(both, "seven", "sept", 1)}
	if !maps.Equal(got, want) || said != "a restored, b conflict" {
		t.Errorf("got %q (%s)", got, said)
	}
	got, said = w.merge(files{"a": strings.Replace(both, "one", "un", 1)}, false, [2]files{{"a": both}, {"a": first}}, [2]files{{"a": first}, {"a": text}})
	if !maps.Equal(got, files{"a": strings.Replace(both, "one", "un", 1)}) || said != "a conflict" {
		t.Errorf("got %q (%s)", got, said)
	}
}

// Markers name both sides, whatever style the user has chosen for merges. What has no lines stays.
func TestMarkers(t *testing.T) {
	w := newWorld(t, "sha1")
	w.Git("config", "merge.conflictStyle", "diff3")
	got, said := w.merge(files{"a": other, "b": first}, true, [2]files{{"a": first, "b": text}, {"a": text}})
	want := "<<<<<<< now\neins\n=======\n1\n>>>>>>> before step 4\n" + text[2:]
	if got["a"] != want || got["b"] != first || said != "a conflict, b conflict" {
		t.Errorf("got %q (%s)", got, said)
	}
}

// Exact bytes decide, too: a file whose bytes on disk are not those in git goes back with them, and is
// not merged by lines.
func TestRaw(t *testing.T) {
	w := newWorld(t, "sha1")
	crlf := w.Blob(strings.ReplaceAll(text, "\n", "\r\n"))
	tree := w.tree(files{"a": text})
	merge := func(ours Side) (Side, How) {
		t.Helper()
		base, theirs := Side{Tree: tree}, Side{Tree: tree, Raw: map[string]name.OID{"a": crlf}}
		changes, err := Diff(context.Background(), w.repo, base, theirs, Names{})
		if err != nil || len(changes) != 1 {
			t.Fatalf("%v %v", changes, err)
		}
		m := Begin(w.repo, ours, false)
		if err := m.Apply(w.Context(), tree, changes); err != nil {
			t.Fatal(err)
		}
		got, err := m.Done(w.Context())
		if err != nil {
			t.Fatal(err)
		}
		return got, m.Outcomes()[0].How
	}
	if got, how := merge(Side{Tree: tree}); got.Raw["a"] != crlf || how != Restored {
		t.Errorf("%v %s", got, how)
	}
	if got, how := merge(Side{Tree: w.tree(files{"a": first})}); len(got.Raw) > 0 || how != Conflict {
		t.Errorf("%v %s", got, how)
	}
}
