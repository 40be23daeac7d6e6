package bench

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// watched returns the path of the watched build. It is the same program, and also reports
// its memory and writes profiles. The released program contains no profiler.
func (b *bench) watched() string { return filepath.Join(b.root, "watched", "git-checkpoint") }

// profiled is the least number of rounds for a profile.
const profiled = 100

// watch builds the watched program and uses it, if a profile is wanted.
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

// mergeProfiles merges the profiles of all runs. A single run is too short for more than a
// few samples.
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
