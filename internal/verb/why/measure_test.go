package why

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"git-checkpoint/internal/core/author"
	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/test/scripttest"
)

// score is how often an answer was right, wrong or missing, of the lines that have one.
type score struct {
	right, wrong, unknown int
	lost                  int // unknown, though a checkpoint has the file exactly so
}

func (s score) recall() float64 { return float64(s.right) / float64(max(1, s.right+s.wrong+s.unknown)) }

// check asks about every line of HEAD's files.
func (h *history) check(options ...string) (got score) {
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
			lines, err := Lines(ctx, s, Request{File: filepath.Join(h.Dir, path), Options: options, Loose: slices.Contains(options, "-w")})
			if err != nil {
				return err
			}
			if len(lines) != len(h.files[path]) {
				h.Fatalf("%s has %d lines, not %d", path, len(lines), len(h.files[path]))
			}
			for i, l := range lines {
				want, c := h.files[path][i], l.Claim()
				known := c.By != author.Unknown
				switch right := want.by != nil && c.Checkpoint == *want.by; {
				case known && right:
					got.right++
				case known:
					got.wrong++
					owner := "nobody"
					if want.by != nil {
						owner = string(*want.by)
					}
					h.Errorf("%s:%d %q of commit %s: %s by %s, not %s", path, i+1, l.Text, l.Commit.Short(), c.Checkpoint, c.By, owner)
					if os.Getenv("WHY_DEBUG") != "" {
						h.debug(path, string(c.Checkpoint), owner)
					}
				case want.by != nil && bare(want.text) != "":
					if got.unknown++; h.kept[contentOf(h.files[path])] {
						got.lost++
						if os.Getenv("WHY_DEBUG") != "" {
							h.Logf("LOST %s:%d %q of %s by %s", path, i+1, l.Text, l.Commit.Short(), *want.by)
						}
					}
				}
			}
		}
		return nil
	})
	return got
}

// kinds of rewriting, each with the least share of lines that must be answered.
var kinds = []struct {
	name    string
	least   float64
	options []string
	rewrite func(*history)
}{
	{"commits", 0.97, nil, func(*history) {}},
	{"amend", 0.97, nil, func(h *history) {
		h.agent()
		h.commit("To amend")
		h.Later(time.Minute)
		h.agent()
		h.gitAt("add", "-A")
		h.gitAt("commit", "-q", "--amend", "-m", "Amended")
	}},
	{"rebase", 0.97, nil, func(h *history) { h.onBranch(func() { h.gitAt("rebase", "-q", "main") }) }},
	{"squash", 0.90, nil, func(h *history) {
		h.onBranch(func() {
			base := h.Git("merge-base", "HEAD", "main")
			h.gitAt("reset", "-q", "--soft", base)
			h.gitAt("commit", "-qm", "All in one")
		})
	}},
	{"squash elsewhere", 0.90, nil, (*history).squashElsewhere},
	{"cherry-pick", 0.97, nil, func(h *history) {
		h.onBranch(func() {
			picked := strings.Fields(h.Git("rev-list", "--reverse", "main..HEAD"))
			h.gitAt("checkout", "-q", "-b", "release", "main")
			if len(picked) > 0 {
				h.gitAt(append([]string{"cherry-pick"}, picked...)...)
			}
		})
	}},
	{"merge", 0.97, nil, func(h *history) {
		h.onBranch(func() {
			h.gitAt("checkout", "-q", "main")
			h.gitAt("merge", "-q", "--no-ff", "-m", "Merge", "topic")
		})
	}},
	{"rename", 0.97, nil, func(h *history) {
		h.agent()
		for _, path := range []string{"f0.go", "f1.go"} {
			h.Git("mv", "-f", path, "g"+path)
			h.files["g"+path] = h.files[path]
			delete(h.files, path)
		}
		h.commit("Renamed")
	}},
	{"move", 0.90, nil, func(h *history) {
		for range 4 {
			h.agent()
			from, to := "f0.go", "f1.go"
			all := starts(h.files[from])
			if len(all) < 3 {
				continue
			}
			block := slices.Clone(h.files[from][all[0]:all[1]])
			h.files[from] = slices.Delete(slices.Clone(h.files[from]), all[0], all[1])
			h.files[to] = append(slices.Clone(h.files[to]), block...)
			h.write()
			h.commit("Moved")
		}
	}},
	{"formatter", 0.80, []string{"-w"}, func(h *history) {
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

// onBranch works on a branch while a colleague works on main, in another file.
func (h *history) onBranch(rewrite func()) {
	h.Helper()
	h.commit("Before the branch")
	h.gitAt("checkout", "-q", "-b", "topic")
	h.work(12)
	h.commit("End of the branch")
	mine := clone(h.files)
	h.gitAt("checkout", "-q", "main")
	h.colleague(func() {
		h.n++
		h.Write("theirs.go", fmt.Sprintf("package theirs%d\n", h.n))
		h.gitAt("add", "-A")
		h.gitAt("commit", "-qm", "Theirs")
	})
	theirs := h.Read("theirs.go")
	h.gitAt("checkout", "-q", "topic")
	h.files = mine
	h.Later(time.Hour)
	rewrite()
	if h.Exists("theirs.go") {
		h.files["theirs.go"] = []made{{strings.TrimSuffix(theirs, "\n"), nil}}
	}
}

// squashElsewhere squashes a branch in a fresh clone, with a title only, and asks there.
func (h *history) squashElsewhere() {
	h.Helper()
	h.onBranch(func() {})
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
	theirs := h.Read("theirs.go")
	h.files["theirs.go"] = []made{{strings.TrimSuffix(theirs, "\n"), nil}}
}

// No answer is wrong in histories of which it is known who made each line, after any rewriting, and most
// lines have one. WHY_SEEDS and WHY_STEPS make more and longer histories.
func TestHistories(t *testing.T) {
	seeds, steps := number("WHY_SEEDS", 1), number("WHY_STEPS", 12)
	for i, kind := range kinds {
		t.Run(strings.ReplaceAll(kind.name, " ", "-"), func(t *testing.T) {
			scripttest.OneIn(t, 3, i)
			t.Parallel()
			var sum score
			for seed := range seeds {
				h := newHistory(t, uint64(seed))
				h.work(steps / 2)
				h.licence()
				h.undone()
				h.work(steps - steps/2)
				h.commit("Now")
				kind.rewrite(h)
				got := h.check(kind.options...)
				sum = score{sum.right + got.right, sum.wrong + got.wrong, sum.unknown + got.unknown, sum.lost + got.lost}
			}
			t.Logf("%-17s right %5d, wrong %d, unknown %4d: %.1f %%; unknown in files that a checkpoint has: %d", kind.name, sum.right, sum.wrong, sum.unknown, 100*sum.recall(), sum.lost)
			least, lost := kind.least, 0.02
			if sum.right < 1000 { // too few lines for a share of them to say much
				least, lost = least-0.15, 0.1
			}
			if float64(sum.lost) > lost*float64(sum.right) && kind.least > 0.9 {
				t.Errorf("%d lines of files that a checkpoint has got no answer", sum.lost)
			}
			if sum.recall() < least {
				t.Errorf("only %.1f %% of the lines have an answer", 100*sum.recall())
			}
		})
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

func (h *history) debug(path string, ids ...string) {
	for _, id := range ids {
		if id == "nobody" {
			continue
		}
		out := h.Git("for-each-ref", "--format=%(refname)", "refs/checkpoints/")
		for _, ref := range strings.Fields(out) {
			if strings.Contains(ref, id) {
				h.Logf("%s\n%s", ref, h.Git("show", "-U3", ref, "--", path))
			}
		}
	}
	h.Logf("NOW\n%s", h.Git("blame", "-s", path))
}
