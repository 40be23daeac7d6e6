package bench

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"strings"
)

// row is one line of the table.
type row struct {
	work   string
	size   int // files; 0: it has none
	found  samples
	budget string
}

func header() string {
	return "| work | files | ours, ms | the other, ms | ratio | budget |\n|---|---|---|---|---|---|\n"
}

func (r row) String() string {
	size := ""
	if r.size > 0 {
		size = fmt.Sprint(r.size)
	}
	return fmt.Sprintf("| %s | %s | %s | %s | %s | %s |\n", r.work, size,
		spreadOf(r.found.ours).in(1), spreadOf(r.found.theirs).in(1), spreadOf(r.found.ratios()).in(2), r.budget)
}

func (s spread) in(digits int) string {
	return fmt.Sprintf("%.*f (%.*f–%.*f)", digits, s.median, digits, s.low, digits, s.high)
}

// about says what the numbers were measured with.
func (b *bench) about(ctx context.Context) (string, error) {
	git, err := b.start(ctx, b.root, nil, "git", "version")
	if err != nil {
		return "", err
	}
	ours, err := b.start(ctx, b.root, nil, b.Program, "version")
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("%s, %s, %s/%s, %d processors, load %s. Median (middle half) of %d rounds.",
		ours, git, runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), load(), b.Effort.Rounds), nil
}

// load is how busy the machine is, where it says so.
func load() string {
	content, err := os.ReadFile("/proc/loadavg")
	first, _, found := strings.Cut(string(content), " ")
	if err != nil || !found {
		return "unknown"
	}
	return first
}
