package bench

import (
	"context"
	"fmt"
	"math"
	"os"
	"runtime"
	"strings"
)

// Report is the result of a run.
type Report struct {
	Program    string `json:"program"`
	Git        string `json:"git"`
	Entire     string `json:"entire,omitempty"` // its version, if it was measured
	System     string `json:"system"`
	Processors int    `json:"processors"`
	Effort     string `json:"effort"`
	Rounds     int    `json:"rounds"`
	Load       string `json:"load"`
	LoadAtEnd  string `json:"load_at_end"`
	Rows       []Row  `json:"rows"`
}

// Row is one line of the table: a comparison of times, or something that was counted.
type Row struct {
	Name string `json:"name"` // part/what/size; ROW= selects by it
	// Work describes the row in the table.
	Work   string  `json:"work"`
	Files  int     `json:"files,omitempty"`
	Unit   string  `json:"unit"`
	Ours   Spread  `json:"ours"`
	Theirs *Spread `json:"theirs,omitempty"`
	Ratio  *Spread `json:"ratio,omitempty"`
	First  float64 `json:"first,omitempty"` // budget that has to be met; 0: none
	Then   float64 `json:"then,omitempty"`  // budget to aim for
}

// Judged returns what the budget is about: the ratio, or the counted value.
func (r Row) Judged() Spread {
	if r.Ratio != nil {
		return *r.Ratio
	}
	return r.Ours
}

// Kept returns the hardest budget that the median meets: "then", "first", "no" for neither,
// or "" if the row has none.
func (r Row) Kept() string {
	// Round as the table does, or a row would show 1.20 and miss a budget of 1.2.
	median := math.Round(r.Judged().Median*100) / 100
	switch {
	case r.First == 0 && r.Then == 0:
		return ""
	case r.Then > 0 && median <= r.Then:
		return "then"
	case r.First > 0 && median <= r.First:
		return "first"
	}
	return "no"
}

// with returns the row with its measured values.
func (r Row) with(found samples) Row {
	if r.Unit == "" {
		r.Unit = "ms"
	}
	r.Ours = spreadOf(found.ours)
	// A row without another side has no ratio, and its budget is about the counted value.
	if len(found.theirs) > 0 {
		theirs, ratio := spreadOf(found.theirs), spreadOf(found.ratios())
		r.Theirs, r.Ratio = &theirs, &ratio
	}
	return r
}

// about returns a report with the versions and the machine, and without rows.
func (b *bench) about(ctx context.Context) (*Report, error) {
	git, err := b.start(ctx, b.root, nil, "git", "version")
	if err != nil {
		return nil, err
	}
	ours, err := b.start(ctx, b.root, nil, b.Program, "version")
	if err != nil {
		return nil, err
	}
	entire := ""
	if b.Entire != "" {
		// Lines about Go and the system follow.
		if entire, err = b.start(ctx, b.root, nil, b.Entire, "version"); err != nil {
			return nil, err
		}
		entire, _, _ = strings.Cut(entire, "\n")
	}
	return &Report{
		Program: ours, Git: git, Entire: entire, System: runtime.GOOS + "/" + runtime.GOARCH, Processors: runtime.NumCPU(),
		Effort: b.Effort.Name, Rounds: b.Effort.Rounds, Load: load(),
	}, nil
}

// About returns the line above the table.
func (r *Report) About() string {
	programs := r.Program + ", " + r.Git
	if r.Entire != "" {
		programs += ", " + r.Entire
	}
	return fmt.Sprintf("%s, %s, %d processors, load %s, %s run: median (middle half) of %d rounds.",
		programs, r.System, r.Processors, r.Load, r.Effort, r.Rounds)
}

// load returns the load of the machine, or "unknown".
func load() string {
	content, err := os.ReadFile("/proc/loadavg")
	first, _, found := strings.Cut(string(content), " ")
	if err != nil || !found {
		return "unknown"
	}
	return first
}
