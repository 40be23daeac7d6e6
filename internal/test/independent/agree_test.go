package independent

import (
	"encoding/json"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/object"
	"github.com/go-git/go-git/v5/utils/merkletrie"
	"github.com/google/go-cmp/cmp"
)

// job works in the world: four steps, a rollback, an undo, a delete and a pin. It returns
// what stood on the disk and in the index at each checkpoint.
type job struct {
	world
	disk   map[string]map[string]file   // by the id of the checkpoint
	staged map[string]map[string]string // path → object id
}

func newJob(t *testing.T) job {
	j := job{newWorld(t), map[string]map[string]file{}, map[string]map[string]string{}}
	j.write(".gitattributes", "*.txt text\n")
	j.write("docs/spec.md", "# Spec\n")
	j.write("docs/crlf.txt", "one\r\ntwo\r\n")
	j.write("übung.go", "package p\n")
	j.run("git", "add", "-A")
	j.run("git", "commit", "-qm", "one")
	j.checkpoint("session", "start", session)
	return j
}

// save makes a checkpoint and remembers the world of that moment.
func (j job) save(args ...string) string {
	j.t.Helper()
	var made struct {
		ID string `json:"id"`
	}
	staged := map[string]string{}
	for line := range strings.SplitSeq(strings.TrimSuffix(j.run("git", "ls-files", "-s", "-z"), "\x00"), "\x00") {
		entry, path, _ := strings.Cut(line, "\t")
		staged[path] = strings.Fields(entry)[1]
	}
	answer := j.checkpoint(append([]string{"create", "--json"}, args...)...)
	if err := json.Unmarshal([]byte(answer), &made); err != nil || made.ID == "" {
		j.t.Fatalf("%v: %s", err, answer)
	}
	j.disk[made.ID], j.staged[made.ID] = j.files(), staged
	return made.ID
}

// work does the whole job; look is called after each step of it.
func (j job) work(look func()) {
	j.t.Helper()
	j.save("--name", "spec", "--set", "phase=spec", "--set", "n=1.50", "--output", "spec=docs/spec.md", "-m", "first: words\n\nCheckpoint-Id: no")
	look()
	j.write("new/deep/file", "new\n")
	j.write("docs/spec.md", "# Spec\n\nlonger\n")
	j.run("git", "add", "docs/spec.md")
	j.write("docs/spec.md", "# Spec\n\nlonger still\n")
	if runtime.GOOS != "windows" {
		j.write("run.sh", "#!/bin/sh\n")
		j.must(os.Chmod(filepath.Join(j.dir, "run.sh"), 0o755))
		j.must(os.Symlink("../docs/spec.md", filepath.Join(j.dir, "new", "link")))
	}
	second := j.save("--name", "design", "--pin")
	look()
	j.must(os.Remove(filepath.Join(j.dir, "übung.go")))
	third := j.save("--name", "build", "--set", "phase=build")
	look()
	j.checkpoint("rollback", "1", "-y")
	look()
	j.checkpoint("undo", "-y")
	look()
	j.checkpoint("rollback", second, "-y")
	j.write("other", "other\n")
	j.save("--name", "build", "--status", "completed")
	look()
	j.checkpoint("delete", third, "-y")
	look()
}

func (j job) must(err error) {
	j.t.Helper()
	if err != nil {
		j.t.Fatal(err)
	}
}

// After each step of a job go-git finds the checkpoints that the program lists, and again
// when git has packed everything.
func TestLists(t *testing.T) {
	j := newJob(t)
	look := func() {
		t.Helper()
		if diff := cmp.Diff(j.list(), j.open().list()); diff != "" {
			t.Errorf("lists (-program +go-git):\n%s", diff)
		}
	}
	j.work(look)
	j.run("git", "gc", "-q")
	look()
	if n := len(j.list()); n < 5 {
		t.Errorf("only %d checkpoints were compared", n)
	}
}

// Each checkpoint holds what was on the disk and in the index, its record has the right
// checksum and agrees with the message, its note is the record, and tags lead to it.
func TestCheckpoints(t *testing.T) {
	j := newJob(t)
	j.work(func() {})
	r := j.open()
	notes := r.notes()
	compared := 0
	for id, c := range r.checkpoints() {
		if got := r.checksum(c.json); got != c.record.Checksum || c.trailers["Checkpoint-Record"][0] != got {
			t.Errorf("%s: checksum %s, and the record says %s", id, got, c.record.Checksum)
		}
		for key, want := range map[string]string{
			"Checkpoint-Id": id, "Checkpoint-Session": session, "Checkpoint-Label": c.record.Label, "Checkpoint-Step": strconv.Itoa(c.record.Step),
			"Checkpoint-Milestone": strconv.FormatBool(c.record.Milestone), "Checkpoint-Created-At": c.record.CreatedAt, "Checkpoint-Trigger": c.record.Trigger,
		} {
			if got := c.trailers[key]; len(got) != 1 || got[0] != want {
				t.Errorf("%s: %s is %q, and the record says %q", id, key, got, want)
			}
		}
		if notes[c.commit.Hash.String()] != string(c.json) {
			t.Errorf("%s: its note is not its record", id)
		}
		if *c.record.Snapshot.Tree != c.commit.TreeHash.String() || !c.record.Snapshot.Complete {
			t.Errorf("%s: snapshot %+v of tree %s", id, c.record.Snapshot, c.commit.TreeHash)
		}
		for name, output := range c.record.Outputs {
			if content := r.blob(c.holder, output.Path); int64(len(content)) != output.Size || output.Path != "outputs/"+name {
				t.Errorf("%s: output %s is %+v, and has %d bytes", id, name, output, len(content))
			}
		}
		if disk, known := j.disk[id]; known {
			compared++
			if diff := cmp.Diff(disk, r.snapshot(c), cmp.AllowUnexported(file{})); diff != "" {
				t.Errorf("%s (-disk +go-git):\n%s", id, diff)
			}
			if diff := cmp.Diff(j.staged[id], ids(r.tree(c.holder, "index"))); diff != "" {
				t.Errorf("%s: what was staged (-git +go-git):\n%s", id, diff)
			}
		}
	}
	if compared != 3 {
		t.Errorf("%d snapshots were compared", compared)
	}
	r.checkTags()
}

func ids(entries map[string]object.TreeEntry) map[string]string {
	found := map[string]string{}
	for path, entry := range entries {
		found[path] = entry.Hash.String()
	}
	return found
}

// notes are those of refs/notes/checkpoints by the commit that they are of.
func (r reader) notes() map[string]string {
	r.t.Helper()
	ref, err := r.repo.Reference("refs/notes/checkpoints", true)
	r.must(err)
	commit, err := r.repo.CommitObject(ref.Hash())
	r.must(err)
	found := map[string]string{}
	for path, entry := range r.tree(commit, "") {
		if len(path) != 41 || path[2] != '/' {
			r.t.Errorf("a note stands at %s", path)
		}
		found[strings.ReplaceAll(path, "/", "")] = r.content(entry.Hash)
	}
	return found
}

// checkTags looks for a tag of each step, at the newest live milestone of it.
func (r reader) checkTags() {
	r.t.Helper()
	want := map[string]string{}
	for _, c := range r.list() {
		if c.Milestone && !c.Discarded && c.Trigger != "safety" {
			want["refs/tags/checkpoint/"+session+"/step-"+strconv.Itoa(c.Step)] = c.Commit
		}
	}
	tags, err := r.repo.Tags()
	r.must(err)
	got := map[string]string{}
	r.must(tags.ForEach(func(ref *plumbing.Reference) error {
		got[ref.Name().String()] = ref.Hash().String()
		return nil
	}))
	if diff := cmp.Diff(want, got); diff != "" {
		r.t.Errorf("tags (-wanted +go-git):\n%s", diff)
	}
}

// changed is a line of `diff --json`.
type changed struct {
	Path string `json:"path"`
	Op   string `json:"op"`
}

// Between any two checkpoints both see the same files change.
func TestDiffs(t *testing.T) {
	j := newJob(t)
	j.work(func() {})
	r := j.open()
	all := r.checkpoints()
	for from := range all {
		for to := range all {
			if from >= to { // each pair once, from the older one
				continue
			}
			var said struct {
				Files []changed `json:"files"`
			}
			j.must(json.Unmarshal([]byte(j.checkpoint("diff", from, to, "--json")), &said))
			slices.SortFunc(said.Files, func(a, b changed) int { return strings.Compare(a.Path, b.Path) })
			if diff := cmp.Diff(said.Files, r.diff(all[from], all[to])); diff != "" {
				t.Errorf("%s to %s (-program +go-git):\n%s", from, to, diff)
			}
		}
	}
}

func (r reader) diff(a, b checkpoint) []changed {
	r.t.Helper()
	from, err := a.commit.Tree()
	r.must(err)
	to, err := b.commit.Tree()
	r.must(err)
	changes, err := object.DiffTree(from, to)
	r.must(err)
	found := []changed{}
	for _, c := range changes {
		action, err := c.Action()
		r.must(err)
		found = append(found, map[merkletrie.Action]changed{
			merkletrie.Insert: {c.To.Name, "added"}, merkletrie.Delete: {c.From.Name, "deleted"}, merkletrie.Modify: {c.To.Name, "modified"},
		}[action])
	}
	slices.SortFunc(found, func(a, b changed) int { return strings.Compare(a.Path, b.Path) })
	return found
}
