package command

import (
	"context"
	"io"
	"os"
	"os/exec"
)

// Beginning runs a command in the working directory and gives the first bytes of what it says, at most
// limit. One that said nothing and failed is an error.
func Beginning(ctx context.Context, limit int64, env []string, program string, args ...string) (string, error) {
	out, into, err := os.Pipe()
	if err != nil {
		return "", err
	}
	defer out.Close()
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Env, cmd.Stdout, cmd.Stderr = env, into, into
	err = cmd.Start()
	into.Close()
	if err != nil {
		return "", err
	}
	said, err := io.ReadAll(io.LimitReader(out, limit))
	out.Close()
	if end := cmd.Wait(); err == nil && len(said) == 0 {
		err = end
	}
	return string(said), err
}
