package checkpoint_test

import (
	"bytes"
	"compress/zlib"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/test/scripttest"
	"git-checkpoint/internal/verb/create"
	"git-checkpoint/internal/verb/inspect"
	"git-checkpoint/internal/verb/repair"
	"git-checkpoint/internal/verb/rollback"
	"git-checkpoint/internal/verb/session"
)

// validate --deep finds every flipped bit in the objects and refs of a session that changes what is
// restored or shown. FLIPS says how many flips are tried, SEED selects them. In one half the
// repository is loose, in the other it is packed.
func TestFlippedBits(t *testing.T) {
	flips, seed := number(t, "FLIPS", 24), number(t, "SEED", 1)
	if testing.Short() {
		flips = min(flips, 5)
	}
	for i, form := range []string{"loose", "packed"} {
		t.Run(form, func(t *testing.T) {
			scripttest.OneIn(t, 2, i)
			f := newFlipping(t, form)
			random := rand.New(rand.NewPCG(uint64(seed), uint64(i)))
			seen := map[string]int{}
			for n := range (flips + i) / 2 {
				seen[f.try(n, random)]++
			}
			t.Logf("%d flips of seed %d: %v", (flips+i)/2, seed, seen)
			if seen["changed"] == 0 {
				t.Error("no flip changed anything: this cannot fail")
			}
		})
	}
}

func number(t *testing.T, variable string, def int) int {
	t.Helper()
	text := os.Getenv(variable)
	if text == "" {
		return def
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// flipping is a session of 30 checkpoints, and all the files that hold it.
type flipping struct {
	*clones
	c       *clone
	ids     []name.ID
	files   []string            // of refs and objects
	types   map[string][]string // loose objects by their type
	objects []string            // ids of all objects below the session
	refs    string
	shown   string
	content map[string]string
}

func newFlipping(t *testing.T, form string) *flipping {
	t.Helper()
	f := &flipping{clones: newClones(t, 1, 0), types: map[string][]string{}}
	f.c = f.all[0]
	f.work()
	if form == "packed" {
		f.git(f.c.dir, "gc", "-q")
	}
	f.objects = f.below()
	typed := map[string]string{}
	for line := range strings.Lines(f.git(f.c.dir, "cat-file", "--batch-all-objects", "--batch-check=%(objectname) %(objecttype)")) {
		oid, typ, _ := strings.Cut(strings.TrimSpace(line), " ")
		typed[oid] = typ
	}
	gitDir := filepath.Join(f.c.dir, ".git")
	err := filepath.Walk(gitDir, func(path string, info os.FileInfo, err error) error {
		rel := strings.TrimPrefix(path, gitDir+"/")
		ours := strings.HasPrefix(rel, "refs/checkpoints/") || strings.HasPrefix(rel, "refs/notes/") || strings.HasPrefix(rel, "refs/tags/") || rel == "packed-refs" ||
			strings.HasPrefix(rel, "objects/pack/")
		if loose := strings.ReplaceAll(strings.TrimPrefix(rel, "objects/"), "/", ""); slices.Contains(f.objects, loose) {
			f.types[typed[loose]], ours = append(f.types[typed[loose]], path), true
		}
		if err == nil && info.Mode().IsRegular() && ours {
			f.files = append(f.files, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	f.refs, f.shown, f.content = f.listRefs(), f.look(), f.read()
	if findings := f.validate(); findings != "" {
		t.Fatalf("damaged from the start: %s", findings)
	}
	return f
}

// below lists all objects of the session: commits, their trees and what is in them, and
// the commit that HEAD was at, but not what is below that one.
func (f *flipping) below() []string {
	f.t.Helper()
	lines := func(args ...string) []string { return strings.Fields(f.git(f.c.dir, args...)) }
	head := f.git(f.c.dir, "rev-parse", "HEAD")
	commits := lines("rev-list", "--glob=refs/checkpoints", "--glob=refs/notes/checkpoints", "^"+head)
	all := append(lines(append([]string{"rev-list", "--no-walk", "--objects", "--no-object-names"}, commits...)...), head)
	slices.Sort(all)
	return slices.Compact(all)
}

// work makes the session: files that come, change and go, outputs, what is staged, a
// rollback, its undo, pins.
func (f *flipping) work() {
	f.t.Helper()
	must := func(err error) {
		if err != nil {
			f.t.Helper()
			f.t.Fatal(err)
		}
	}
	write := func(path, content string) {
		must(os.MkdirAll(filepath.Dir(filepath.Join(f.c.dir, path)), 0o777))
		must(os.WriteFile(filepath.Join(f.c.dir, path), []byte(content), 0o666))
	}
	write(".gitattributes", "*.crlf text eol=crlf\n")
	for i := range 28 {
		write("file", strings.Repeat(fmt.Sprintf("line %d\n", i), 40))
		write(fmt.Sprintf("dir/%d/deep", i%5), fmt.Sprintf("%d", i))
		write("mixed.crlf", fmt.Sprintf("a\r\nb\n%d", i))
		if i%3 == 0 {
			f.git(f.c.dir, "add", "file")
		}
		f.c.must(func(ctx context.Context, s *checkpoint.Service) error {
			req := create.Request{Session: string(demo), Message: fmt.Sprintf("message %d", i), Numbering: create.Numbering{Name: fmt.Sprintf("step %d", i)}, Edits: create.Edits{Set: []create.Assign{{Path: "phase", Value: strconv.Itoa(i)}}}}
			if i%4 == 0 {
				req.Outputs = []create.Output{{Name: "spec", File: "file"}}
			}
			if i%5 == 0 {
				req.Trigger = "session_end"
			}
			d, err := create.Checkpoint(ctx, s, req)
			if err == nil {
				f.ids = append(f.ids, d.Record.ID)
			}
			return err
		})
	}
	f.c.must(func(ctx context.Context, s *checkpoint.Service) error {
		r, err := rollback.Prepare(ctx, s, rollback.Request{Session: string(demo), Ref: string(f.ids[20])})
		if err == nil {
			_, err = r.Apply(ctx)
		}
		return err
	})
	must(f.c.undo())
	must(f.c.pin(f.ids[3]))
	must(f.c.unpin(f.ids[3]))
	must(f.c.pin(f.ids[4]))
}

// try flips one bit, and puts it back.
func (f *flipping) try(n int, random *rand.Rand) string {
	f.t.Helper()
	path := f.files[random.IntN(len(f.files))]
	if typ := []string{"commit", "tree", "blob", ""}[n%4]; typ != "" && len(f.types[typ]) > 0 {
		path = f.types[typ][random.IntN(len(f.types[typ]))]
	}
	before, err := os.ReadFile(path)
	if err != nil {
		f.t.Fatal(err)
	}
	after, what := flip(before, strings.Contains(path, "/objects/") && !strings.Contains(path, "/pack/") && n%8 < 4, random)
	f.replace(path, after)
	caches, restore := filepath.Join(f.c.dir, ".git", "checkpoint"), filepath.Join(f.root, "caches")
	f.run("cp", "-a", caches, restore)
	if n%3 == 0 { // as another worktree would see it
		f.run("sh", "-c", `rm -f "$1"/journal-* "$1"/left-*`, "sh", caches)
	}
	changed := f.changes()
	findings := f.validate()
	f.replace(path, before)
	f.run("sh", "-c", `rm -rf "$1" && mv "$2" "$1"`, "sh", caches, restore)
	switch where := strings.TrimPrefix(path, f.c.dir); {
	case changed != "" && findings == "":
		f.t.Errorf("flip %d of %s, %s: %s; validate --deep found nothing", n, where, what, changed)
		return "missed"
	case changed != "":
		return "changed"
	case findings != "":
		return "found all the same"
	}
	return "without effect"
}

// flip turns one bit over, of the bytes or of the content that they compress.
func flip(data []byte, inContent bool, random *rand.Rand) ([]byte, string) {
	out := slices.Clone(data)
	if inContent {
		if r, err := zlib.NewReader(bytes.NewReader(data)); err == nil {
			if content, err := io.ReadAll(r); err == nil {
				at := random.IntN(8 * len(content))
				content[at/8] ^= 1 << (at % 8)
				var b bytes.Buffer
				w := zlib.NewWriter(&b)
				w.Write(content) //nolint:errcheck // into memory
				w.Close()        //nolint:errcheck // as above
				return b.Bytes(), fmt.Sprintf("bit %d of the content", at)
			}
		}
	}
	at := random.IntN(8 * len(out))
	out[at/8] ^= 1 << (at % 8)
	return out, fmt.Sprintf("bit %d", at)
}

func (f *flipping) replace(path string, data []byte) {
	f.t.Helper()
	if err := os.Remove(path); err != nil {
		f.t.Fatal(err)
	}
	if err := os.WriteFile(path, data, 0o444); err != nil {
		f.t.Fatal(err)
	}
}

func (f *flipping) run(args ...string) {
	f.t.Helper()
	if out, err := exec.Command(args[0], args[1:]...).CombinedOutput(); err != nil {
		f.t.Fatalf("%v: %v\n%s", args, err, out)
	}
}

// changes says what is different now: refs, an object as git reads it, or what commands
// show. A tag that is missing is no damage.
func (f *flipping) changes() string {
	if refs := f.listRefs(); refs != f.refs {
		for line := range strings.Lines(f.refs) {
			if !strings.Contains(refs, line) && (!strings.Contains(line, "refs/tags/") || strings.Contains(refs, strings.Fields(line)[0]+" ")) {
				return "refs differ: " + strings.TrimSpace(line)
			}
		}
	}
	content := f.read()
	for _, oid := range f.objects {
		if content[oid] != f.content[oid] {
			return "object " + oid + " is read otherwise"
		}
	}
	if shown := f.look(); shown != f.shown {
		return "something else is shown"
	}
	return ""
}

// look is what commands show of the session.
func (f *flipping) look() string {
	var b strings.Builder
	tell := func(v any, err error) {
		if err != nil {
			fmt.Fprintf(&b, "error: %v\n", err)
			return
		}
		data, err := json.Marshal(v)
		fmt.Fprintf(&b, "%s %v\n", data, err)
	}
	err := f.do(func(ctx context.Context, s *checkpoint.Service) error {
		lists, err := inspect.List(ctx, s.Sessions, inspect.ListRequest{All: true})
		tell(lists, err)
		for _, id := range f.ids {
			d, err := inspect.Show(ctx, s.Sessions, string(demo), string(id))
			if d != nil {
				d.Tag = ""
			}
			tell(d, err)
		}
		history, err := inspect.History(ctx, s.Sessions, string(demo), inspect.DetailNone)
		tell(history, err)
		manifest, err := session.Show(ctx, s.Sessions, string(demo))
		tell(manifest, err)
		diff, err := inspect.Diff(ctx, s, inspect.DiffRequest{Session: string(demo), A: string(f.ids[2]), B: string(f.ids[25])})
		tell(diff, err)
		return nil
	})
	tell(nil, err)
	return b.String()
}

// do is one run of the program; a repository that git does not take any more is an error.
func (f *flipping) do(run func(context.Context, *checkpoint.Service) error) error {
	s, err := checkpoint.Open(context.Background(), checkpoint.Options{Dir: f.c.dir, Env: f.env})
	if err != nil {
		return err
	}
	defer s.Close()
	return run(context.Background(), s)
}

// listRefs are the refs of ours as git lists them; branches in packed-refs are not.
func (f *flipping) listRefs() string {
	cmd := exec.Command("git", "for-each-ref", "--format=%(refname) %(objectname)", "refs/checkpoints", "refs/notes/checkpoints", "refs/tags/checkpoint")
	cmd.Dir, cmd.Env = f.c.dir, f.env
	out, err := cmd.Output()
	return fmt.Sprintf("%s%v", out, err)
}

// read is every object as git reads it; git ends at one that it cannot.
func (f *flipping) read() map[string]string {
	out := map[string]string{}
	for rest := f.objects; len(rest) > 0; {
		cmd := exec.Command("git", "cat-file", "--batch")
		cmd.Dir, cmd.Env, cmd.Stdin = f.c.dir, f.env, strings.NewReader(strings.Join(rest, "\n")+"\n")
		data, _ := cmd.Output() //nolint:errcheck // what is missing in the answer tells
		n := 0
		for n < len(rest) {
			header, body, ok := bytes.Cut(data, []byte("\n"))
			fields := strings.Fields(string(header))
			if ok && len(fields) == 2 {
				out[rest[n]], data, n = "missing", body, n+1
				continue
			}
			if !ok || len(fields) != 3 {
				break
			}
			size, err := strconv.Atoi(fields[2])
			if err != nil || size+1 > len(body) {
				break
			}
			out[rest[n]], data, n = fields[1]+string(body[:size]), body[size+1:], n+1
		}
		if n < len(rest) {
			out[rest[n]] = "unreadable"
			n++
		}
		rest = rest[n:]
	}
	return out
}

// validate gives what validate --deep finds, "" for nothing.
func (f *flipping) validate() string {
	var found []string
	err := f.do(func(ctx context.Context, s *checkpoint.Service) error {
		return repair.Validate(ctx, s.Sessions, repair.ValidateRequest{All: true, Deep: true}, func(v repair.Validated) error {
			for _, k := range v.Findings {
				found = append(found, fmt.Sprintf("%s %s", v.Checkpoint, k.Kind))
			}
			return nil
		})
	})
	if err != nil {
		found = append(found, err.Error())
	}
	return strings.Join(found, ", ")
}
