package torture

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// Build builds git-checkpoint and the stand-in for filter programs into dir. The current
// directory has to be inside the module.
func Build(ctx context.Context, dir string) error {
	out, err := exec.CommandContext(ctx, "go", "build", "-ldflags=-s -w", "-o", dir+string(os.PathSeparator),
		"git-checkpoint/cmd/git-checkpoint", "git-checkpoint/internal/test/torture/stand-in").CombinedOutput()
	if err != nil {
		return fmt.Errorf("build git-checkpoint: %w\n%s", err, out)
	}
	return nil
}

// Main is Run, but builds the programs first if the options name none.
func Main(ctx context.Context, o Options) (*Report, error) {
	if o.Program == "" {
		dir, err := os.MkdirTemp("", "torture-program-")
		if err != nil {
			return nil, err
		}
		defer remove(dir)
		if err := Build(ctx, dir); err != nil {
			return nil, err
		}
		o.Program = filepath.Join(dir, "git-checkpoint")
	}
	return Run(ctx, o)
}
