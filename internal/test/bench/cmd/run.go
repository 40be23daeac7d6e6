package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"git-checkpoint/internal/test/bench"
	"git-checkpoint/internal/test/bench/chart"
)

// wishes are the options of the command line.
type wishes struct {
	program, entire, dir, cache, row, profile, json, last, record, sizes string
	quick                                                                bool
}

// parse reads the flags of the command line.
func parse(args []string, stderr io.Writer) (wishes, error) {
	var w wishes
	f := flag.NewFlagSet("bench", flag.ContinueOnError)
	f.SetOutput(stderr)
	f.StringVar(&w.program, "program", filepath.Join("bin", "git-checkpoint"), "the built git-checkpoint")
	f.StringVar(&w.entire, "entire", "", "a built Entire, for the rows beside it")
	f.StringVar(&w.dir, "dir", "", "where repositories are made")
	f.StringVar(&w.cache, "cache", "", "where those that take minutes to make are kept for the next run")
	f.StringVar(&w.row, "row", "", "only rows whose name matches this pattern")
	f.StringVar(&w.sizes, "sizes", "", "other numbers of files, as 1000,1000000")
	f.StringVar(&w.profile, "profile", "", "write a CPU profile of our program at these rows into this file")
	f.StringVar(&w.json, "json", "", "write what was found into this file")
	f.StringVar(&w.last, "last", filepath.Join("docs", "charts", "measured.json"), "the numbers to compare with")
	f.StringVar(&w.record, "record", "", "put the table and the charts into the documents of this directory")
	f.BoolVar(&w.quick, "quick", false, "fewer rounds, rows and files: under two minutes")
	return w, f.Parse(args)
}

// run measures what the flags ask for, compares the result with the last table, and records
// it if that is wanted. out gets the table, log the progress.
func run(ctx context.Context, args []string, out, log io.Writer) error {
	w, err := parse(args, log)
	if err != nil {
		return err
	}
	o, err := w.options()
	if err != nil {
		return err
	}
	o.Out, o.Log = out, log
	// A partial run would replace the full table in the documents.
	if w.record != "" && (w.row != "" || w.sizes != "" || w.profile != "") {
		return fmt.Errorf("record %q: only a run of all rows is worth keeping", w.record)
	}
	report, err := bench.Run(ctx, o)
	// Without a report nothing was measured. With one, an error may be about single rows
	// only.
	if report == nil {
		return err
	}
	if w.json != "" {
		err = errors.Join(err, writeJSON(w.json, report))
	}
	err = errors.Join(err, w.compare(out, report))
	if w.record == "" || err != nil {
		// A table with missing rows is not recorded.
		return err
	}
	return keep(w.record, report)
}

// options turns the flags into options. Paths become absolute, because the programs that
// are measured run in other directories.
func (w wishes) options() (bench.Options, error) {
	o := bench.Options{Effort: bench.Full(), Dir: w.dir}
	if w.quick {
		o.Effort = bench.Quick()
	}
	var err error
	if o.Program, err = filepath.Abs(w.program); err != nil {
		return o, err
	}
	for _, path := range []struct {
		wish string
		to   *string
	}{{w.entire, &o.Entire}, {w.cache, &o.Cache}, {w.profile, &o.Profile}} {
		if path.wish != "" {
			if *path.to, err = filepath.Abs(path.wish); err != nil {
				return o, err
			}
		}
	}
	if w.row != "" {
		if o.Only, err = regexp.Compile(w.row); err != nil {
			return o, fmt.Errorf("read the pattern of rows: %w", err)
		}
	}
	if w.sizes != "" {
		// The sizes of the command line replace those of the effort.
		o.Effort.Sizes = nil
		for _, word := range strings.Split(w.sizes, ",") {
			size, err := strconv.Atoi(word)
			if err != nil || size < 100 {
				return o, fmt.Errorf("read the sizes %q: a number of files, from 100", w.sizes)
			}
			o.Effort.Sizes = append(o.Effort.Sizes, size)
		}
	}
	return o, nil
}

// compare prints what changed since the numbers in the file w.last. A file that does not exist is no error.
func (w wishes) compare(out io.Writer, report *bench.Report) error {
	text, err := os.ReadFile(w.last)
	if os.IsNotExist(err) {
		return nil
	}
	var last bench.Report
	if err == nil {
		err = json.Unmarshal(text, &last)
	}
	if err != nil {
		return fmt.Errorf("read the last numbers in %q: %w", w.last, err)
	}
	_, err = io.WriteString(out, bench.Compare(last.Rows, report.Rows))
	return err
}

// writeJSON writes the report as indented JSON.
func writeJSON(file string, report *bench.Report) error {
	text, err := json.MarshalIndent(report, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(file, append(text, '\n'), 0o666)
}

// keep writes the table, the numbers and the charts to the directory of documents.
func keep(docs string, report *bench.Report) error {
	file := filepath.Join(docs, "performance.md")
	document, err := os.ReadFile(file)
	if err != nil {
		return fmt.Errorf("read the document: %w", err)
	}
	renewed, err := bench.Renew(string(document), report)
	if err != nil {
		return fmt.Errorf("renew the table in %q: %w", file, err)
	}
	if err := os.WriteFile(file, []byte(renewed), 0o666); err != nil {
		return err
	}
	charts := filepath.Join(docs, "charts")
	if err := os.MkdirAll(charts, 0o777); err != nil {
		return err
	}
	if err := writeJSON(filepath.Join(charts, "measured.json"), report); err != nil {
		return err
	}
	// Charts are drawn anew from the same report as the table.
	for name, picture := range chart.Of(report) {
		if err := os.WriteFile(filepath.Join(charts, name), []byte(picture), 0o666); err != nil {
			return err
		}
	}
	return nil
}
