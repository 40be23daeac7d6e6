package bench

import (
	"context"
	"fmt"
	"math"
	"os"
	"runtime"
	"strings"
)

// Report is what a run found.
type Report struct {
	Program    string `json:"program"`
	Git        string `json:"git"`
	System     string `json:"system"`
	Processors int    `json:"processors"`
	Effort     string `json:"effort"`
	Rounds     int    `json:"rounds"`
	Load       string `json:"load"`
	LoadAtEnd  string `json:"load_at_end"`
	Rows       []Row  `json:"rows"`
}

// Row is one line of the table: a time beside another's, or something counted.
type Row struct {
	Name   string  `json:"name"` // part/what/size, what ROW= is matched with
	Work   string  `json:"work"`
	Files  int     `json:"files,omitempty"`
	Unit   string  `json:"unit"`
	Ours   Spread  `json:"ours"`
	Theirs *Spread `json:"theirs,omitempty"`
	Ratio  *Spread `json:"ratio,omitempty"`
	First  float64 `json:"first,omitempty"` // budget that is owed; 0: none
	Then   float64 `json:"then,omitempty"`  // budget that is aimed at
}

// Judged is what a budget is about: the ratio, or what was counted.
func (r Row) Judged() Spread {
	if r.Ratio != nil {
		return *r.Ratio
	}
	return r.Ours
}

// Kept names the hardest budget that the median keeps.
func (r Row) Kept() string {
	// As it is printed, or 1.204 over 1.2 would be a riddle to the reader.
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

// with is the row with what was measured.
func (r Row) with(found samples) Row {
	if r.Unit == "" {
		r.Unit = "ms"
	}
	r.Ours = spreadOf(found.ours)
	if len(found.theirs) > 0 {
		theirs, ratio := spreadOf(found.theirs), spreadOf(found.ratios())
		r.Theirs, r.Ratio = &theirs, &ratio
	}
	return r
}

// about says what the numbers are measured with.
func (b *bench) about(ctx context.Context) (*Report, error) {
	git, err := b.start(ctx, b.root, nil, "git", "version")
	if err != nil {
		return nil, err
	}
	ours, err := b.start(ctx, b.root, nil, b.Program, "version")
	if err != nil {
		return nil, err
	}
	return &Report{
		Program: ours, Git: git, System: runtime.GOOS + "/" + runtime.GOARCH, Processors: runtime.NumCPU(),
		Effort: b.Effort.Name, Rounds: b.Effort.Rounds, Load: load(),
	}, nil
}

// About is the line above the table.
func (r *Report) About() string {
	return fmt.Sprintf("%s, %s, %s, %d processors, load %s, %s run: median (middle half) of %d rounds.",
		r.Program, r.Git, r.System, r.Processors, r.Load, r.Effort, r.Rounds)
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
