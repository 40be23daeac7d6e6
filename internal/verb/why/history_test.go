package why

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/format/record"
	"git-checkpoint/internal/test/verbtest"
	"git-checkpoint/internal/verb/create"
	"git-checkpoint/internal/verb/land"
	"git-checkpoint/internal/verb/rollback"
)

// made is a line, and the checkpoint that added it; nil for nobody whom a checkpoint knows. It is empty
// until the checkpoint is made.
type made struct {
	text string
	by   *name.ID
}

// history plays agents and people in a repository, and knows who made each line.
type history struct {
	*verbtest.World
	random *rand.Rand
	files  map[string][]made
	n      int
	turn   int
	kept   map[string]bool // the contents of files that checkpoints have
	agents int             // how many sessions there are
	active int             // the one that works
}

func newHistory(t *testing.T, seed uint64) *history {
	h := &history{World: verbtest.Unborn(t, "repo"), random: rand.New(rand.NewPCG(seed, 7)), files: map[string][]made{}, kept: map[string]bool{}, agents: 1}
	// What packs in the background would be this test again, and git's own would meet the copy and the removal of the
	// repository.
	h.Env = append(h.Env, "GIT_CHECKPOINT_AUTOPACK=false", "GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=maintenance.auto", "GIT_CONFIG_VALUE_0=false")
	for i := range 3 {
		for range 3 {
			h.insert(fmt.Sprintf("f%d.go", i), nil)
		}
	}
	h.write()
	h.commit("Begin")
	return h
}

// copied returns a copy of the history that goes on by itself.
func (h *history) copied(t testing.TB, seed uint64) *history {
	h.Helper()
	root := t.TempDir()
	w := &verbtest.World{TB: t, Root: root, Dir: filepath.Join(root, "repo"), Env: slices.Clone(h.Env)}
	if err := os.CopyFS(w.Dir, os.DirFS(h.Dir)); err != nil {
		t.Fatal(err)
	}
	out := *h
	out.World, out.random = w, rand.New(rand.NewPCG(seed, 8))
	out.files, out.kept = clone(h.files), maps.Clone(h.kept)
	h.Must(func(_ context.Context, s *checkpoint.Service) error {
		now := s.Store.Now()
		return w.Do(func(_ context.Context, s *checkpoint.Service) error {
			w.Later(now.Sub(s.Store.Now()))
			return nil
		})
	})
	return &out
}

// gitAt runs git at the time of the clock.
func (h *history) gitAt(args ...string) string {
	h.Helper()
	h.dateNow()
	return h.Git(args...)
}

// dateNow lets the next commit have the time of the clock.
func (h *history) dateNow() {
	h.Helper()
	h.Must(func(_ context.Context, s *checkpoint.Service) error {
		at := s.Store.Now().Format(time.RFC3339)
		env := slices.DeleteFunc(slices.Clone(h.Env), func(v string) bool { return strings.Contains(v, "_DATE=") })
		h.Env = append(env, "GIT_AUTHOR_DATE="+at, "GIT_COMMITTER_DATE="+at)
		return nil
	})
}

func clone(files map[string][]made) map[string][]made {
	out := map[string][]made{}
	for path, lines := range files {
		out[path] = slices.Clone(lines)
	}
	return out
}

func (h *history) write() {
	h.Helper()
	for path, lines := range h.files {
		h.Write(path, contentOf(lines))
	}
}

func contentOf(lines []made) string {
	var b strings.Builder
	for _, l := range lines {
		b.WriteString(l.text + "\n")
	}
	return b.String()
}

func (h *history) commit(message string) {
	h.Helper()
	h.gitAt("add", "-A")
	if h.Git("status", "--porcelain") != "" {
		h.gitAt("commit", "-qm", message)
	}
}

// function returns the lines of a new function: some are like those of all others.
func (h *history) function(by *name.ID) (out []made) {
	h.n++
	body := []string{fmt.Sprintf("func name%d(x int) error {", h.n)}
	for range 2 + h.random.IntN(4) {
		switch h.n++; h.random.IntN(4) {
		case 0:
			body = append(body, "\tif err != nil {", "\t\treturn err", "\t}")
		default:
			body = append(body, fmt.Sprintf("\tx = compute(x, %d)", h.n))
		}
	}
	for _, line := range append(body, "\treturn nil", "}", "") {
		out = append(out, made{line, by})
	}
	return out
}

func (h *history) path() string {
	var paths []string
	for path := range h.files {
		if strings.HasPrefix(path, "f") {
			paths = append(paths, path)
		}
	}
	slices.Sort(paths)
	return paths[h.random.IntN(len(paths))]
}

// starts returns where functions begin, and the end.
func starts(lines []made) (out []int) {
	for i, l := range lines {
		if strings.HasPrefix(l.text, "func ") {
			out = append(out, i)
		}
	}
	return append(out, len(lines))
}

func (h *history) insert(path string, by *name.ID) {
	lines := h.files[path]
	all := starts(lines)
	h.files[path] = slices.Insert(slices.Clone(lines), all[h.random.IntN(len(all))], h.function(by)...)
}

// edit changes a file as somebody, and returns the file.
func (h *history) edit(by *name.ID) string {
	path := h.path()
	lines := slices.Clone(h.files[path])
	all := starts(lines)
	defer h.write()
	switch kind := h.random.IntN(10); {
	case kind == 0 && len(all) > 4: // a function goes
		i := h.random.IntN(len(all) - 1)
		h.files[path] = slices.Delete(lines, all[i], all[i+1])
		return path
	case kind < 5 && len(lines) > 0: // a line changes
		i := h.random.IntN(len(lines))
		if !strings.Contains(lines[i].text, "compute") {
			break
		}
		h.n++
		lines[i] = made{fmt.Sprintf("\tx = compute(x, %d)", h.n), by}
		h.files[path] = lines
		return path
	case kind == 6 && h.random.IntN(3) == 0 && len(lines) > 0: // one of several equal lines changes, and an equal one comes elsewhere
		i := h.random.IntN(len(lines))
		if slices.Index(texts(lines), lines[i].text) == i && !slices.Contains(texts(lines)[i+1:], lines[i].text) {
			break // nobody could tell that from an insertion
		}
		was := lines[i].text
		h.n++
		old, changed := h.files[path], made{fmt.Sprintf("\tx = compute(x, %d)", h.n), by}
		lines[i] = changed
		if h.files[path] = lines; h.random.IntN(2) == 0 {
			break // a new function, too
		}
		at := h.random.IntN(len(lines) + 1)
		if lines = slices.Insert(lines, at, made{was, by}); at <= i {
			i++
		}
		if slices.Equal(texts(slices.Delete(slices.Clone(lines), i, i+1)), texts(old)) {
			lines = slices.Insert(slices.Clone(old), i, changed) // it is one, before or after an equal line
		}
		h.files[path] = lines
		return path
	case kind == 5: // a file is new
		h.n++
		path = fmt.Sprintf("f%d.go", h.n)
		h.files[path] = h.function(by)
		return path
	}
	h.insert(path, by)
	return path
}

func texts(lines []made) (t text) {
	for _, l := range lines {
		t = append(t, l.text)
	}
	return t
}

// create makes a checkpoint as an agent's event does. What each path is, is as in a record.
func (h *history) create(trigger, message string, id *name.ID, paths map[string]string) {
	h.Helper()
	req := create.Request{Session: h.session(), Trigger: trigger, Message: message, Agent: &record.Agent{Name: "claude", Session: h.session(), Model: "opus", Paths: paths}}
	if trigger == "tool" || trigger == "prompt" {
		req.SkipUnchanged = true
	}
	for _, lines := range h.files {
		h.kept[contentOf(lines)] = true
	}
	h.Must(func(ctx context.Context, s *checkpoint.Service) error {
		got, err := create.Checkpoint(ctx, s, req)
		if checkpoint.KindOf(err) == checkpoint.KindNothing {
			return nil
		}
		if err == nil && id != nil {
			*id = got.Record.ID
		}
		return err
	})
}

// session is the name of the session that works.
func (h *history) session() string { return fmt.Sprintf("agent%d", h.active) }

// change lets another session work, a new one or one from before. It sees what happened until then.
func (h *history) change() {
	h.Helper()
	if h.random.IntN(2) == 0 {
		h.commit(fmt.Sprintf("Before the next session %d", h.n))
	}
	if h.active = h.random.IntN(h.agents + 1); h.active == h.agents {
		h.agents++
	}
	paths := map[string]string{}
	for path := range h.files {
		paths[path] = record.OutsideAgents
	}
	h.create("prompt", "before: more", nil, paths)
}

// agent plays a turn: a prompt, some tools, the end.
func (h *history) agent() {
	h.Helper()
	h.turn++
	prompt := fmt.Sprintf("prompt %d", h.turn)
	for range 1 + h.random.IntN(3) {
		id := new(name.ID)
		path := h.edit(id)
		h.create("tool", "Edit "+path, id, map[string]string{path: record.Named})
	}
	h.create("turn", prompt, nil, nil)
}

// person edits a file, and the next prompt of the agent captures that.
func (h *history) person() {
	h.Helper()
	id := new(name.ID)
	path := h.edit(id)
	h.create("prompt", "before: more", id, map[string]string{path: record.OutsideAgents})
}

// byHand commits all, after a change that no checkpoint has.
func (h *history) byHand() {
	h.Helper()
	h.edit(nil)
	h.commit(fmt.Sprintf("By hand %d", h.n))
}

// as runs what another person does.
func (h *history) colleague(do func()) {
	was := h.Env
	h.Env = append(slices.Clone(h.Env), "GIT_AUTHOR_NAME=Bob", "GIT_AUTHOR_EMAIL=bob@example.com")
	do()
	h.Env = was
}

func (h *history) land() {
	h.Helper()
	h.dateNow()
	err := h.Do(func(ctx context.Context, s *checkpoint.Service) error {
		plan, err := land.Prepare(ctx, s, land.Request{Session: h.session(), Each: h.random.IntN(2) == 0})
		if err == nil {
			_, err = plan.Apply(ctx)
		}
		return err
	})
	if err != nil {
		h.commit("After all") // the worktree has moved on
		return
	}
}

// licence is a trap: the agent adds a file, it is removed, and somebody commits the same text.
func (h *history) licence() {
	h.Helper()
	h.n++
	path := fmt.Sprintf("LICENSE%d", h.n)
	text := fmt.Sprintf("Everybody may use this in the year %d.\nNo warranty.\n", h.n)
	h.Write(path, text)
	id := new(name.ID)
	h.create("tool", "Write "+path, id, map[string]string{path: record.Named})
	h.Remove(path)
	h.create("prompt", "before: gone", nil, map[string]string{path: record.OutsideAgents})
	h.Later(time.Hour)
	h.files[path] = nil
	for line := range strings.Lines(text) {
		h.files[path] = append(h.files[path], made{strings.TrimSuffix(line, "\n"), nil})
	}
	h.write()
	h.commit("License")
}

// undone is a trap: the agent's step is rolled back, and a person types one of its lines again.
func (h *history) undone() {
	h.Helper()
	h.create("turn", "start", nil, nil)
	before := clone(h.files)
	var from name.ID
	h.Must(func(ctx context.Context, s *checkpoint.Service) error {
		f, err := s.Sessions.Resolve(ctx, h.session(), "@")
		if err == nil {
			from = f.Entry.Checkpoint
		}
		return err
	})
	h.n++
	line := fmt.Sprintf("\tx = compute(x, %d)", h.n)
	path := h.path()
	h.files[path] = append(slices.Clone(h.files[path]), made{line, nil})
	h.write()
	h.create("tool", "Edit "+path, nil, map[string]string{path: record.Named})
	h.Must(func(ctx context.Context, s *checkpoint.Service) error {
		plan, err := rollback.Prepare(ctx, s, rollback.Request{Session: h.session(), Ref: string(from)})
		if err == nil {
			_, err = plan.Apply(ctx)
		}
		return err
	})
	h.Later(time.Hour)
	h.files = before
	h.files[path] = append(slices.Clone(h.files[path]), made{line, nil})
	h.write()
	h.commit("Typed again")
}

// work plays some steps, with commits between them.
func (h *history) work(steps int) {
	h.Helper()
	for range steps {
		h.Later(time.Minute)
		if h.random.IntN(25) == 0 {
			h.change()
		}
		switch h.random.IntN(12) {
		case 0, 1:
			h.person()
		case 2, 3:
			h.commit(fmt.Sprintf("Work %d", h.n))
		case 4:
			h.land()
		case 5:
			if h.random.IntN(3) == 0 {
				h.byHand()
			} else {
				h.agent()
			}
		default:
			h.agent()
		}
	}
}
