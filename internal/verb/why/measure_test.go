package why

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"git-checkpoint/internal/core/author"
	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/test/scripttest"
)

// score is how often an answer was right, wrong or missing, of the lines that have one.
type score struct {
	asked                 int // all lines
	right, wrong, unknown int
	kept, lost            int // right or unknown, where a checkpoint has the file exactly so
	its, missed           int // right or unknown, of the lines of commits that the rewriting made
}

func (s *score) add(o score) {
	s.asked, s.right, s.wrong, s.unknown = s.asked+o.asked, s.right+o.right, s.wrong+o.wrong, s.unknown+o.unknown
	s.kept, s.lost, s.its, s.missed = s.kept+o.kept, s.lost+o.lost, s.its+o.its, s.missed+o.missed
}

// share is a share in percent.
func share(of, rest int) float64 { return 100 * float64(of) / float64(max(1, of+rest)) }

// check asks about every line of HEAD's files. old are the commits from before the rewriting.
func (h *history) check(old string, options ...string) (got score) {
	h.Helper()
	h.write()
	h.Must(func(ctx context.Context, s *checkpoint.Service) error {
		for _, path := range slices.Sorted(func(yield func(string) bool) {
			for p := range h.files {
				if !yield(p) {
					return
				}
			}
		}) {
			if len(h.files[path]) == 0 {
				continue
			}
			lines, err := Lines(ctx, s.Rules, Request{File: filepath.Join(h.Dir, path), Options: options, Loose: slices.Contains(options, "-w")})
			if err != nil {
				return err
			}
			if len(lines) != len(h.files[path]) {
				h.Fatalf("%s has %d lines, not %d", path, len(lines), len(h.files[path]))
			}
			h.agrees(ctx, s, path, lines, options)
			for i, l := range lines {
				want, c := h.files[path][i], l.Claim()
				got.asked++
				kept, new := h.kept[contentOf(h.files[path])], !strings.Contains(old, string(l.Commit))
				switch known := c.By != author.Unknown; {
				case known && want.by != nil && c.Checkpoint == *want.by:
					got.right++
					if kept {
						got.kept++
					}
					if new {
						got.its++
					}
				case known:
					got.wrong++
					owner := "nobody"
					if want.by != nil {
						owner = string(*want.by)
					}
					h.Errorf("%s:%d %q of commit %s: %s by %s, not %s", path, i+1, l.Text, l.Commit.Short(), c.Checkpoint, c.By, owner)
				case want.by != nil && bare(want.text) != "":
					got.unknown++
					if kept {
						got.lost++
					}
					if new {
						got.missed++
					}
				}
			}
		}
		return nil
	})
	return got
}

// agrees reports an error where the answer that blame gives for the same file of the current checkpoint names somebody
// else.
func (h *history) agrees(ctx context.Context, s *checkpoint.Service, path string, lines []Line, options []string) {
	h.Helper()
	found, err := s.Sessions.Resolve(ctx, h.session(), "@")
	if err != nil {
		return // there is no checkpoint in this clone
	}
	tree, err := s.Repo.Commits.TreeOf(ctx, found.Entry.Event().Commit)
	if err != nil {
		h.Fatal(err)
	}
	if data, err := s.Repo.Output(ctx, "cat-file", "blob", string(tree)+":"+path); err != nil || strings.TrimRight(data, "\n") != strings.TrimRight(contentOf(h.files[path]), "\n") {
		return
	}
	places := make([]Place, len(lines))
	for i, l := range lines {
		places[i] = Place{Commit: l.Commit, Path: path, From: l.Line, Line: l.Line, Text: l.Text}
	}
	claims, err := ExplainLines(ctx, s.Rules, found, tree, path, places, Request{Loose: slices.Contains(options, "-w")})
	if err != nil {
		h.Fatal(err)
	}
	for i, c := range claims {
		if w := lines[i].Claim(); c.By != author.Unknown && w.By != author.Unknown && c.Checkpoint != w.Checkpoint {
			h.Errorf("%s:%d %q: why names %s, blame %s", path, i+1, lines[i].Text, w.Checkpoint, c.Checkpoint)
		}
	}
}

// kinds of rewriting, each with the least share of lines that must be answered, in percent: of all, and of those
// in commits that the rewriting made.
var kinds = []struct {
	name    string
	least   [2]float64
	branch  bool // it begins on a branch, while main has gone on
	options []string
	rewrite func(*history)
}{
	{"commits", [2]float64{97, 0}, false, nil, func(*history) {}},
	{"amend", [2]float64{97, 95}, false, nil, func(h *history) {
		for range 5 {
			h.agent()
			h.commit("To amend")
			h.Later(time.Minute)
			h.agent()
			h.gitAt("add", "-A")
			h.gitAt("commit", "-q", "--amend", "-m", "Amended")
		}
	}},
	{"rebase", [2]float64{97, 95}, true, nil, func(h *history) { h.gitAt("rebase", "-q", "main") }},
	{"squash", [2]float64{97, 95}, true, nil, func(h *history) {
		h.gitAt("reset", "-q", "--soft", h.Git("merge-base", "HEAD", "main"))
		h.gitAt("commit", "-qm", "All in one")
	}},
	{"squash elsewhere", [2]float64{97, 95}, true, nil, (*history).squashElsewhere},
	{"cherry-pick", [2]float64{97, 95}, true, nil, func(h *history) {
		picked := strings.Fields(h.Git("rev-list", "--reverse", "main..HEAD"))
		h.gitAt("checkout", "-q", "-b", "release", "main")
		if len(picked) > 0 {
			h.gitAt(append([]string{"cherry-pick"}, picked...)...)
		}
	}},
	{"merge", [2]float64{97, 0}, true, nil, func(h *history) {
		h.gitAt("checkout", "-q", "main")
		h.gitAt("merge", "-q", "--no-ff", "-m", "Merge", "topic")
	}},
	{"rename", [2]float64{97, 0}, false, nil, func(h *history) {
		h.agent()
		for _, path := range []string{"f0.go", "f1.go", "f2.go"} {
			h.Git("mv", "-f", path, "g"+path)
			h.files["g"+path] = h.files[path]
			delete(h.files, path)
		}
		h.commit("Renamed")
	}},
	{"move", [2]float64{94, 85}, false, nil, func(h *history) {
		for range 10 {
			h.agent()
			h.moved()
		}
	}},
	{"formatter", [2]float64{97, 0}, false, []string{"-w"}, func(h *history) {
		for range 3 {
			h.agent()
		}
		for path, lines := range h.files {
			for i, l := range lines {
				lines[i].text = strings.ReplaceAll(l.text, "\t", "    ")
			}
			h.files[path] = lines
		}
		h.write()
		h.commit("Formatted")
	}},
}

// moved moves a function from one file to the end of another one and commits that.
func (h *history) moved() {
	h.Helper()
	from, to := h.path(), h.path()
	all := starts(h.files[from])
	if from == to || len(all) < 3 {
		return
	}
	i := h.random.IntN(len(all) - 1)
	block := slices.Clone(h.files[from][all[i]:all[i+1]])
	h.files[from] = slices.Delete(slices.Clone(h.files[from]), all[i], all[i+1])
	h.files[to] = append(slices.Clone(h.files[to]), block...)
	h.write()
	h.commit("Moved")
}

// branch works on a branch while a colleague works on main, in another file.
func (h *history) branch(steps int) {
	h.Helper()
	h.commit("Before the branch")
	h.gitAt("checkout", "-q", "-b", "topic")
	h.work(steps)
	h.commit("End of the branch")
	h.gitAt("checkout", "-q", "main")
	h.colleague(func() {
		h.Write("theirs.go", "package theirs\n")
		h.gitAt("add", "-A")
		h.gitAt("commit", "-qm", "Theirs")
	})
	h.gitAt("checkout", "-q", "topic")
	h.Later(time.Hour)
}

// ended returns a copy that worked to the end, as a kind of rewriting needs it.
func (h *history) ended(kind, steps int) *history {
	h.Helper()
	c := h.copied(h.TB, 100)
	if kinds[kind].branch {
		c.branch(steps)
	} else {
		c.work(steps)
		c.commit("Now")
	}
	return c
}

// squashElsewhere squashes the branch in a fresh clone, with a title only.
func (h *history) squashElsewhere() {
	h.Helper()
	from := h.Dir
	h.Dir = filepath.Join(filepath.Dir(from), "clone")
	if err := os.Mkdir(h.Dir, 0o777); err != nil {
		h.Fatal(err)
	}
	h.Git("init", "-q", "-b", "main")
	h.Git("fetch", "-q", from, "+refs/heads/*:refs/heads/*", "+refs/checkpoints/*:refs/checkpoints/*", "--update-head-ok")
	h.Git("reset", "-q", "--hard", "main")
	h.Later(24 * time.Hour)
	h.gitAt("merge", "-q", "--squash", "topic")
	h.gitAt("commit", "-qm", "A title (#7)")
	h.Git("branch", "-q", "-D", "topic")
}

// rewritten rewrites a copy of the history in one way, and asks who made each line.
func (h *history) rewritten(t *testing.T, kind int) score {
	c := h.copied(t, uint64(kind)) //nolint:gosec // not negative
	old := c.Git("rev-list", "--all")
	kinds[kind].rewrite(c)
	if c.Exists("theirs.go") {
		c.files["theirs.go"] = []made{{"package theirs", nil}}
	}
	return c.check(old, kinds[kind].options...)
}

// No answer is wrong in histories of which it is known who made each line, after any rewriting, and most
// lines have one. There are WHY_SEEDS histories, from WHY_FIRST on, of WHY_STEPS steps each. Each is rewritten in
// WHY_WAYS ways, which is all of them unless it is given.
func TestHistories(t *testing.T) {
	first, seeds, steps := number("WHY_FIRST", 0), number("WHY_SEEDS", 1), number("WHY_STEPS", 36)
	ways := number("WHY_WAYS", len(kinds))
	sums, mu := make([]score, len(kinds)), sync.Mutex{}
	t.Run("seed", func(t *testing.T) {
		for seed := first; seed < first+seeds; seed++ {
			t.Run(fmt.Sprint(seed), func(t *testing.T) {
				t.Parallel()
				h := newHistory(t, uint64(seed)) //nolint:gosec // not negative
				h.work(steps / 3)
				h.licence()
				h.undone()
				h.work(steps / 3)
				ends := map[bool]*history{} // whether it is on a branch
				for n := range ways {
					i := (seed*ways + n) % len(kinds)
					t.Run(strings.ReplaceAll(kinds[i].name, " ", "-"), func(t *testing.T) {
						scripttest.OneIn(t, 3, i)
						from := ends[kinds[i].branch]
						if from == nil {
							from = h.ended(i, steps-2*(steps/3))
							ends[kinds[i].branch] = from
						}
						got := from.rewritten(t, i)
						mu.Lock()
						defer mu.Unlock()
						sums[i].add(got)
					})
				}
			})
		}
	})
	for i, kind := range kinds {
		sums[i].judge(t, kind.name, kind.least)
	}
}

// judge says how many lines have an answer, and reports an error if they are fewer than these shares.
func (s *score) judge(t *testing.T, kind string, least [2]float64) {
	t.Helper()
	if s.asked == 0 {
		return // it was not in the sample
	}
	recall, kept, its := share(s.right, s.unknown), share(s.kept, s.lost), share(s.its, s.missed)
	t.Logf("%-17s asked %6d, right %6d, wrong %d, unknown %4d: %.1f %%; where a checkpoint has the file %.1f %%; in rewritten commits %.1f %% of %d", kind, s.asked, s.right, s.wrong, s.unknown, recall, kept, its, s.its+s.missed)
	slack := 0.0
	if s.right < 10_000 { // too few lines for a share of them to say much
		slack = 5
	}
	if recall+slack < least[0] || kept+slack < least[0] && s.kept > 0 || its+slack < least[1] && s.its > 0 {
		t.Errorf("%s: too few lines have an answer", kind)
	}
}

// number reads a number from the environment.
func number(variable string, otherwise int) int {
	n := otherwise
	if text := os.Getenv(variable); text != "" {
		if _, err := fmt.Sscan(text, &n); err != nil {
			return otherwise
		}
	}
	return n
}
