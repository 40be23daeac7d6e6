package command

import (
	"context"
	"io"
	"os"
	"os/exec"
)

// Beginning runs a program in the working directory and returns the first bytes of its output
// (stdout and stderr together), at most limit. A program that prints more gets SIGPIPE or a write
// error. It returns an error if the program fails without any output.
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
