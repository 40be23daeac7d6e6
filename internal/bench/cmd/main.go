// Command bench prints how long this program takes beside plain git.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"

	"git-checkpoint/internal/bench"
)

func main() {
	program := flag.String("program", filepath.Join("bin", "git-checkpoint"), "the built git-checkpoint")
	dir := flag.String("dir", "", "where repositories are made")
	quick := flag.Bool("quick", false, "fewer rounds: under two minutes")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	o := bench.Options{Dir: *dir, Effort: bench.Full(), Out: os.Stdout, Log: os.Stderr}
	if *quick {
		o.Effort = bench.Quick()
	}
	var err error
	if o.Program, err = filepath.Abs(*program); err == nil {
		err = bench.Run(ctx, o)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}
