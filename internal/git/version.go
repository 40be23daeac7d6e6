package git

import (
	"context"
	"fmt"
	"os/exec"
	"strconv"
	"strings"
)

// Version returns the version of git, for example "2.39.5".
func (l *Location) Version(ctx context.Context) (string, error) {
	out, err := l.Output(ctx, "version")
	if err != nil {
		return "", fmt.Errorf("ask for the version of git: %w", err)
	}
	version, _, _ := strings.Cut(strings.TrimPrefix(out, "git version "), " ")
	return version, nil
}

// Older reports whether version a comes before version b. A part that is not a number, and a part
// that one of them does not have, counts as 0.
func Older(a, b string) bool {
	for as, bs := strings.Split(a, "."), strings.Split(b, "."); len(as) > 0 || len(bs) > 0; {
		var x, y int
		if len(as) > 0 {
			x, _ = strconv.Atoi(as[0]) //nolint:errcheck // 0 then
			as = as[1:]
		}
		if len(bs) > 0 {
			y, _ = strconv.Atoi(bs[0]) //nolint:errcheck // 0 then
			bs = bs[1:]
		}
		if x != y {
			return x < y
		}
	}
	return false
}

// IsInstalled reports whether a program that git would start is on PATH.
func IsInstalled(program string) bool {
	_, err := exec.LookPath(program)
	return err == nil
}
