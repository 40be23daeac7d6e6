package bench

// Entire (github.com/entireio/cli) makes a checkpoint with two hooks of Claude Code: one looks at
// the worktree when a prompt begins, and one stores what has changed when the agent stops.

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// entire is a repository in which Entire is enabled.
type entire struct {
	*repository
	// How many checkpoints of Entire's have to be there.
	turns int
	// How long the hook at each prompt took, in milliseconds.
	asked []float64
}

// besideEntire compares checkpoints and rollbacks with those of the program in Options.Entire.
func (b *bench) besideEntire() []job {
	if b.Entire == "" {
		return nil
	}
	against := func(what, work string, size int, compared func(*entire, context.Context, *repository) (samples, error)) job {
		name := fmt.Sprintf("%s/%d", what, size)
		return job{
			Row{Name: "beside/" + name, Work: work, Files: size},
			func(ctx context.Context) (samples, error) {
				r, err := b.sized(ctx, size)
				if err != nil {
					return samples{}, err
				}
				e, err := b.entire(ctx, name, size)
				if err != nil {
					return samples{}, err
				}
				found, err := compared(e, ctx, r)
				if err == nil {
					_, err = e.last(ctx)
				}
				return found, err
			},
		}
	}
	var jobs []job
	sizes := b.Effort.beside()
	for _, size := range sizes {
		jobs = append(jobs, against("entire", "`create` ÷ Entire's hooks at the prompt and at the stop", size, (*entire).besideCreate))
	}
	return append(jobs, against("entire/rewind", "`rollback` ÷ `entire rewind` to the checkpoint before", sizes[len(sizes)-1], (*entire).besideRollback))
}

// entire makes a repository in which Entire has made its first checkpoint.
func (b *bench) entire(ctx context.Context, name string, size int) (*entire, error) {
	r, err := b.repository(ctx, name, size)
	if err != nil {
		return nil, err
	}
	e := &entire{repository: r}
	if err := e.run(ctx, "", "enable", "--agent", "claude-code", "--telemetry=false"); err != nil {
		return nil, err
	}
	return e, e.turn(ctx)
}

// besideCreate compares what an agent waits for: the time of both hooks. The files change between
// them, off the clock.
func (e *entire) besideCreate(ctx context.Context, r *repository) (samples, error) {
	found, err := compare(ctx, min(e.Effort.Rounds, 9), step{r.change, r.create}, step{e.ask, e.stop})
	for i, took := range e.asked[len(e.asked)-len(found.theirs):] {
		found.theirs[i] += took
	}
	return found, err
}

func (e *entire) besideRollback(ctx context.Context, r *repository) (samples, error) {
	if err := r.target(ctx); err != nil {
		return samples{}, err
	}
	before, err := e.last(ctx)
	if err != nil {
		return samples{}, err
	}
	return compare(ctx, e.firstRounds(len(e.paths)), step{r.change, r.rollback}, step{e.turn, func(ctx context.Context) error {
		e.turns--
		return e.run(ctx, "", "rewind", "--to", before)
	}})
}

// run runs Entire with an input. It reaches nobody: the proxy that it would ask for a newer
// version is not there.
func (e *entire) run(ctx context.Context, input string, args ...string) error {
	env := []string{"ENTIRE_TELEMETRY_OPTOUT=1", "HTTPS_PROXY=http://127.0.0.1:9"}
	_, err := e.feed(ctx, e.dir, env, strings.NewReader(input), append([]string{e.Entire}, args...)...)
	return err
}

// hook runs one of Entire's hooks for Claude Code.
func (e *entire) hook(ctx context.Context, name string) error {
	event := fmt.Sprintf(`{"session_id":"bench","transcript_path":%q,"prompt":"change something"}`, e.transcript())
	return e.run(ctx, event, "hooks", "claude-code", name)
}

// ask begins a turn with a prompt, and answers it by changing files.
func (e *entire) ask(ctx context.Context) error {
	began := time.Now()
	if err := e.hook(ctx, "user-prompt-submit"); err != nil {
		return err
	}
	e.asked = append(e.asked, float64(time.Since(began).Microseconds())/1000)
	if err := e.change(ctx); err != nil {
		return err
	}
	return e.say()
}

// stop ends a turn, which makes a checkpoint.
func (e *entire) stop(ctx context.Context) error {
	e.turns++
	return e.hook(ctx, "stop")
}

// turn asks and stops.
func (e *entire) turn(ctx context.Context) error {
	if err := e.ask(ctx); err != nil {
		return err
	}
	return e.stop(ctx)
}

func (e *entire) transcript() string { return e.dir + ".jsonl" }

// say adds a turn to the transcript of Claude Code. Entire takes the names of changed files from it.
// The last line says that the hook at the stop has begun; without it the hook waits three seconds.
func (e *entire) say() error {
	var lines strings.Builder
	fmt.Fprintf(&lines, `{"type":"user","uuid":"user-%d","message":{"content":"change something"}}`+"\n", e.turns)
	for i, path := range e.touched() {
		fmt.Fprintf(&lines, `{"type":"assistant","uuid":"tool-%d-%d","message":{"content":[{"type":"tool_use","name":"Write","input":{"file_path":%q}}]}}`+"\n", e.turns, i, filepath.Join(e.dir, path))
	}
	fmt.Fprintf(&lines, `{"type":"progress","timestamp":%q,"data":{"type":"hook_progress","command":"entire hooks claude-code stop"}}`+"\n", time.Now().UTC().Format(time.RFC3339Nano))
	file, err := os.OpenFile(e.transcript(), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o666)
	if err != nil {
		return err
	}
	defer file.Close()
	_, err = file.WriteString(lines.String())
	return err
}

// last returns the commit of Entire's last checkpoint. It fails unless each turn has one, and the
// last one has the files as they are.
func (e *entire) last(ctx context.Context) (string, error) {
	out, err := e.git(ctx, nil, "rev-list", "--exclude=entire/checkpoints/*", "--branches=entire/*")
	if err != nil {
		return "", err
	}
	commits := strings.Fields(out)
	if len(commits) != e.turns {
		return "", fmt.Errorf("there are %d checkpoints of Entire's after %d turns", len(commits), e.turns)
	}
	differ, err := e.git(ctx, nil, "diff", "--name-only", commits[0], "--", "part*")
	if err == nil && differ != "" {
		err = fmt.Errorf("the last checkpoint of Entire's has other contents of %q", differ)
	}
	return commits[0], err
}
