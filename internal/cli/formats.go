package cli

import (
	"context"
	"fmt"
	"os"
	"strings"

	"git-checkpoint/internal/checkpoint"
	"git-checkpoint/internal/interop"
	"git-checkpoint/internal/name"
	"git-checkpoint/internal/transfer"
	"git-checkpoint/internal/travel"
)

// exporter writes sessions in one of our own formats. To add a format, add a row to exporters.
type exporter struct {
	format string
	// endings of file names that select the format if --format does not.
	endings []string
	export  func(context.Context, *checkpoint.Service, transfer.ExportRequest) (*transfer.Exported, error)
}

// exporters are our own export formats, the default first.
func exporters() []exporter {
	return []exporter{
		{"bundle", []string{".bundle"}, func(ctx context.Context, s *checkpoint.Service, r transfer.ExportRequest) (*transfer.Exported, error) {
			return transfer.ExportBundle(ctx, s, r)
		}},
		{"tar", []string{".tar", ".tar.gz", ".tgz"}, func(ctx context.Context, s *checkpoint.Service, r transfer.ExportRequest) (*transfer.Exported, error) {
			return transfer.ExportTar(ctx, s, r)
		}},
		{"jsonl", []string{".jsonl", ".jsonl.gz"}, func(ctx context.Context, s *checkpoint.Service, r transfer.ExportRequest) (*transfer.Exported, error) {
			return transfer.ExportLines(ctx, s, r)
		}},
	}
}

// exporterFor returns the exporter for --format, else the one for the ending of the file's name,
// else the first.
func exporterFor(format, file string) (exporter, error) {
	all := exporters()
	var names []string
	for _, e := range all {
		names = append(names, e.format)
		for _, ending := range e.endings {
			if format == "" && strings.HasSuffix(strings.ToLower(file), ending) {
				return e, nil
			}
		}
		if e.format == format {
			return e, nil
		}
	}
	if format == "" {
		return all[0], nil
	}
	// The error lists all formats, also those of other systems, which ExportCmd has handled before.
	names = append(append(names, interop.Formats()...), interop.SQLite)
	return exporter{}, usageError("no format is called \""+name.Clip(format, name.Said)+"\"", "known formats: "+strings.Join(names, ", "))
}

// importer reads files of one of our own formats. takes reports whether it can read what is at a
// path, given the first bytes of the file, or none for a directory.
type importer struct {
	format string
	takes  func(path string, info os.FileInfo, beginning []byte) bool
	load   func(context.Context, *checkpoint.Service, string) (*travel.Answer, error)
}

// importers are our own import formats. They are recognised by content, not by name.
func importers() []importer {
	held := func(format string) func(string, os.FileInfo, []byte) bool {
		return func(_ string, _ os.FileInfo, beginning []byte) bool { return transfer.HeldBy(beginning) == format }
	}
	return []importer{
		{"bundle", held("bundle"), func(ctx context.Context, s *checkpoint.Service, path string) (*travel.Answer, error) {
			return travel.ImportBundle(ctx, s, path, nil)
		}},
		{"tar", held("tar"), func(ctx context.Context, s *checkpoint.Service, path string) (*travel.Answer, error) {
			return transfer.ImportTar(ctx, s, path)
		}},
		{"jsonl", held("jsonl"), func(ctx context.Context, s *checkpoint.Service, path string) (*travel.Answer, error) {
			return transfer.ImportLines(ctx, s, path)
		}},
	}
}

// importerFor returns the first importer that can read the file. A format that was asked for has to
// be that of the file.
func importerFor(format, path string) (importer, error) {
	info, err := os.Stat(path)
	if err != nil {
		return importer{}, &checkpoint.Error{Kind: checkpoint.KindNotFound, Err: err}
	}
	if !info.IsDir() && !info.Mode().IsRegular() { // it is read twice: once to recognise the format; a pipe can be read only once
		return importer{}, &checkpoint.Error{
			Kind: checkpoint.KindInvalid, Message: "\"" + path + "\" is neither a file nor a directory",
			Hints: []string{"write its contents to a file, and import that", "nothing was imported"},
		}
	}
	var beginning []byte
	if !info.IsDir() {
		if beginning, err = transfer.Sniff(path); err != nil {
			return importer{}, err
		}
	}
	var names []string
	for _, i := range importers() {
		if i.takes(path, info, beginning) {
			if format != "" && format != i.format {
				return importer{}, usageError(fmt.Sprintf("%q is a %s, not a %s", path, i.format, format), "leave out --format: the format is recognised", "nothing was imported")
			}
			return i, nil
		}
		names = append(names, i.format)
	}
	return importer{}, &checkpoint.Error{
		Kind: checkpoint.KindInvalid, Message: "\"" + path + "\" cannot be imported",
		Hints: []string{"formats that can be imported: " + strings.Join(names, ", "), "nothing was imported"},
	}
}
