// Command torture runs cases of package torture until all are done or enough have failed.
// The exit code is 1 if a promise was broken, and 2 if the test itself failed.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"strings"

	"git-checkpoint/internal/test/torture"
)

func main() {
	o := torture.Options{Log: os.Stderr}
	flag.StringVar(&o.Program, "program", "", "the built git-checkpoint; empty: build it")
	flag.StringVar(&o.Dir, "dir", "", "where cases are made")
	flag.IntVar(&o.Cases, "cases", 1000, "how many cases")
	flag.IntVar(&o.Most, "most", 1, "stop after so many findings")
	flag.Uint64Var(&o.Seed, "seed", 1, "the first seed")
	kind := flag.String("kind", "", "only these kinds of worlds, separated by commas: "+strings.Join(torture.Kinds(), ", "))
	config := flag.String("config", "", "settings of git's for all of them, as section.key=value, separated by commas")
	flag.Parse()
	// Several kinds and settings are given as one flag with commas.
	comma := func(r rune) bool { return r == ',' }
	o.Kinds, o.Config = strings.FieldsFunc(*kind, comma), strings.FieldsFunc(*config, comma)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	report, err := torture.Main(ctx, o)
	// The report has what was run so far, also after an error.
	fmt.Fprint(os.Stdout, report)
	if err != nil {
		fmt.Fprintln(os.Stderr, "torture:", err)
		os.Exit(2)
	}
	// Findings were printed already, with a script for each.
	if len(report.Findings) > 0 {
		os.Exit(1)
	}
}
