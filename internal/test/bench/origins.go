package bench

// Rows for why and blame after months of work: many sessions, and commits between their checkpoints.

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/format/record"
	"git-checkpoint/internal/verb/create"
)

// The work behind the lines: a turn of an agent is so many checkpoints and ends with a commit, and a
// session is so many turns. One file in so many edits is the long one, which keeps about blamedLines lines.
const (
	perTurn    = 10
	perSession = 500
	longEvery  = 3
	longFile   = "src/long.go"
)

// origins measures why and blame of lines that came from many sessions.
func (b *bench) origins() []job {
	n := b.Effort.Origins
	return []job{
		{
			Row{Name: fmt.Sprintf("why/%d", n), Work: fmt.Sprintf("milliseconds of `why` of a line, with %d checkpoints and %d commits", n, n/perTurn), First: 300},
			func(ctx context.Context) (samples, error) { return b.whys(ctx, func(string) error { return nil }) },
		},
		{
			Row{Name: fmt.Sprintf("why/first/%d", n), Work: "the same, with the making of the index", First: 10_000},
			func(ctx context.Context) (samples, error) {
				return b.whys(ctx, os.RemoveAll)
			},
		},
		{
			Row{Name: fmt.Sprintf("why/size/%d", n), Work: "bytes of the index for a line that a checkpoint added", Unit: "bytes"},
			func(ctx context.Context) (samples, error) { return b.indexed(ctx) },
		},
		{
			Row{Name: fmt.Sprintf("blame/beyond/%d", blamedLines), Work: fmt.Sprintf("`blame` of %d lines from %d sessions ÷ `git blame`", blamedLines, max(1, n/perSession)), First: 2},
			func(ctx context.Context) (samples, error) {
				r, err := b.played(ctx)
				if err != nil {
					return samples{}, err
				}
				return compare(ctx, b.Effort.Rounds, r.checkpoint("blame", "--session", fmt.Sprintf("agent-%d", (n-1)/perSession+1), longFile), step{run: func(ctx context.Context) error {
					_, err := r.git(ctx, nil, "blame", longFile)
					return err
				}})
			},
		},
	}
}

// whys measures why of some line of the long file, another one each time.
// ready is given the path of the index.
func (b *bench) whys(ctx context.Context, ready func(string) error) (samples, error) {
	r, err := b.played(ctx)
	if err != nil {
		return samples{}, err
	}
	line := 0
	return alone(ctx, b.Effort.Rounds, step{
		func(context.Context) error {
			line = line%1000 + 37
			return ready(r.lineIndex())
		},
		func(ctx context.Context) error {
			_, err := r.git(ctx, nil, "checkpoint", "why", fmt.Sprintf("%s:%d", longFile, line))
			return err
		},
	})
}

func (r *repository) lineIndex() string {
	return filepath.Join(r.dir, ".git", "checkpoint", "lines.idx")
}

// indexed counts the bytes of the index for each line that is in it.
func (b *bench) indexed(ctx context.Context) (samples, error) {
	r, err := b.played(ctx)
	if err == nil {
		err = r.checkpoint("why", longFile+":1").run(ctx)
	}
	if err != nil {
		return samples{}, err
	}
	info, err := os.Stat(r.lineIndex())
	if err != nil {
		return samples{}, err
	}
	added, err := os.ReadFile(filepath.Join(r.dir, ".git", "added"))
	if err != nil {
		return samples{}, err
	}
	var lines float64
	_, err = fmt.Sscan(string(added), &lines)
	return samples{ours: []float64{float64(info.Size()) / lines}}, err
}

// played returns a repository in which agents have worked.
func (b *bench) played(ctx context.Context) (*repository, error) {
	const called = "origins"
	if r := b.made[called]; r != nil {
		return r, nil
	}
	n := b.Effort.Origins
	from, err := b.kept(fmt.Sprintf("origins-%d", n), func(dir string) error {
		fmt.Fprintf(b.Log, "  sessions of %d checkpoints\n", n)
		p := player{repository: b.blank(called+"-growing", 0), at: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), files: map[string][]string{}}
		defer os.RemoveAll(p.dir) //nolint:errcheck // it is below the directory for temporary files
		if err := p.play(ctx, n); err != nil {
			return err
		}
		return copyTree(p.dir, dir)
	})
	if err != nil {
		return nil, err
	}
	r := b.blank(called, 0)
	if err := copyTree(from, r.dir); err != nil {
		return nil, fmt.Errorf("copy the sessions: %w", err)
	}
	b.made[called] = r
	return r, r.settle(ctx)
}

// player plays agents in a repository, in this process: starting the program for each checkpoint takes
// three times as long.
type player struct {
	*repository
	at    time.Time
	files map[string][]string
	made  int // lines
}

func (p *player) play(ctx context.Context, n int) error {
	if err := os.MkdirAll(filepath.Join(p.dir, "src"), 0o777); err != nil {
		return err
	}
	for _, args := range [][]string{{"init", "-q", "-b", "main"}, {"config", "checkpoint.autoPack", "false"}, {"config", "gc.auto", "0"}} {
		if _, err := p.git(ctx, nil, args...); err != nil {
			return err
		}
	}
	for len(p.files[longFile]) < blamedLines {
		p.insert(longFile)
	}
	for i := range 30 {
		p.insert(fmt.Sprintf("src/part%02d.go", i))
	}
	for file := range p.files {
		if err := p.save(file); err != nil {
			return err
		}
	}
	if err := p.commit(ctx, "Begin"); err != nil {
		return err
	}
	p.made = 0
	for i := range n {
		if err := p.step(ctx, i); err != nil {
			return err
		}
		if i%packEvery == packEvery-1 || i == n-1 {
			if err := p.pack(ctx); err != nil {
				return err
			}
		}
	}
	return os.WriteFile(filepath.Join(p.dir, ".git", "added"), fmt.Appendln(nil, p.made), 0o666)
}

// step makes checkpoint i: an edit, or the end of a turn, which is committed.
func (p *player) step(ctx context.Context, i int) error {
	p.at = p.at.Add(time.Minute)
	req := create.Request{Session: fmt.Sprintf("agent-%d", i/perSession+1), Agent: &record.Agent{Name: "claude", Session: fmt.Sprint("s", i/perSession), Model: "opus"}}
	ends := i%perTurn == perTurn-1
	if ends {
		req.Trigger, req.Message = "turn", fmt.Sprintf("prompt %d: make it better", i/perTurn+1)
	} else {
		file, err := p.edit()
		if err != nil {
			return err
		}
		req.Trigger, req.Message, req.Agent.Paths = "tool", "Edit "+file, map[string]string{file: record.Named}
	}
	s, err := checkpoint.Open(ctx, checkpoint.Options{Dir: p.dir, Env: p.env(), Now: func() time.Time { return p.at }})
	if err != nil {
		return err
	}
	defer s.Close()
	if _, err := create.Checkpoint(ctx, s, req); err != nil || !ends {
		return err
	}
	return p.commit(ctx, fmt.Sprintf("Work %d", i/perTurn+1))
}

func (p *player) env() []string {
	at := p.at.Format(time.RFC3339)
	return []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + filepath.Join(p.root, "home"), "GIT_CONFIG_NOSYSTEM=1", "GIT_CHECKPOINT_AUTOPACK=false",
		"GIT_AUTHOR_NAME=A U Thor", "GIT_AUTHOR_EMAIL=author@example.com", "GIT_COMMITTER_NAME=C O Mitter", "GIT_COMMITTER_EMAIL=committer@example.com",
		"GIT_AUTHOR_DATE=" + at, "GIT_COMMITTER_DATE=" + at,
	}
}

func (p *player) commit(ctx context.Context, message string) error {
	if _, err := p.git(ctx, nil, "add", "-A"); err != nil {
		return err
	}
	_, err := p.git(ctx, p.env(), "commit", "-q", "-m", message)
	return err
}

// edit changes lines of a file, or replaces a function by a new one. It returns the file.
func (p *player) edit() (string, error) {
	file := longFile
	if p.random.IntN(longEvery) > 0 {
		file = fmt.Sprintf("src/part%02d.go", p.random.IntN(30))
	}
	lines := p.files[file]
	if p.random.IntN(3) == 0 {
		at := slices.Index(lines, "")
		p.files[file] = lines[at+1:]
		p.insert(file)
	} else {
		for range 1 + p.random.IntN(3) {
			at := p.random.IntN(len(lines))
			if strings.HasPrefix(lines[at], "\tx = ") {
				lines[at] = p.line()
			}
		}
		lines[1] = p.line()
	}
	return file, p.save(file)
}

// line returns a line that is nowhere else.
func (p *player) line() string {
	p.made++
	return fmt.Sprintf("\tx = compute(x, %d)", p.made)
}

// insert adds a function at the end of another one.
func (p *player) insert(file string) {
	lines := p.files[file]
	at := 0
	for i := range lines {
		if lines[i] == "" && p.random.IntN(10) == 0 {
			at = i + 1
		}
	}
	made := p.made
	body := []string{fmt.Sprintf("func name%d(x int) error {", p.made), p.line()}
	for range 2 + p.random.IntN(6) {
		if p.random.IntN(4) == 0 {
			body = append(body, "\tif err != nil {", "\t\treturn err", "\t}")
		} else {
			body = append(body, p.line())
		}
	}
	body = append(body, "\treturn nil", "}", "")
	p.made = made + len(body) // with the lines that are like others
	p.files[file] = slices.Insert(slices.Clone(lines), at, body...)
}

func (p *player) save(file string) error {
	return os.WriteFile(filepath.Join(p.dir, file), []byte(strings.Join(p.files[file], "\n")+"\n"), 0o666)
}
