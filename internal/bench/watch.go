package bench

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// watched is the same program, which also tells its memory and writes profiles: the one
// that people have holds no profiler.
func (b *bench) watched() string { return filepath.Join(b.root, "watched", "git-checkpoint") }

// profiled is how many rounds a profile takes at least.
const profiled = 100

// watch builds it and has it run in place of the program, when profiles are wanted.
func (b *bench) watch(ctx context.Context) error {
	if b.Profile == "" {
		return nil
	}
	if err := b.build(ctx, "watched", b.watched()); err != nil {
		return err
	}
	b.traces = filepath.Join(b.root, "profiles")
	b.Program = b.watched()
	b.Effort.Rounds = max(b.Effort.Rounds, profiled)
	return os.Mkdir(b.traces, 0o777)
}

// mergeProfiles makes one of those of all runs: a single run is too short to be sampled
// more than a few times.
func (b *bench) mergeProfiles(ctx context.Context) error {
	if b.traces == "" {
		return nil
	}
	parts, err := filepath.Glob(filepath.Join(b.traces, "*.cpu"))
	if err != nil || len(parts) == 0 {
		return errors.Join(err, errors.New("no run of the program wrote a profile"))
	}
	c := exec.CommandContext(ctx, "go", append([]string{"tool", "pprof", "-proto", "-output", b.Profile}, parts...)...)
	if out, err := c.CombinedOutput(); err != nil {
		return fmt.Errorf("merge %d profiles: %w: %s", len(parts), err, out)
	}
	fmt.Fprintf(b.Log, "the profile of %d runs is in %s\n", len(parts), b.Profile)
	return nil
}
