package cli

import (
	"strings"

	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/sys/gather"
	"git-checkpoint/internal/ui/cli/usage"
	"git-checkpoint/internal/verb/interop"
)

// ownFormat is a format of files that hold whole sessions. To add a format, add a row to ownFormats, and what
// writes and recognises it to transfer.Export and FormatOf.
type ownFormat struct {
	name string
	// endings of file names that select the format for an export if --format does not. An import
	// recognises it by content: transfer.FormatOf.
	endings []string
}

// ownFormats are our own formats, the default of an export first.
func ownFormats() []ownFormat {
	return []ownFormat{
		{"bundle", []string{".bundle"}},
		{"tar", []string{".tar", ".tar.gz", ".tgz"}},
		{"jsonl", []string{".jsonl", ".jsonl.gz"}},
	}
}

// exporterFor returns the name of the format that --format names, else the one for the ending of the file's
// name, else the first.
func exporterFor(format, file string) (string, error) {
	all := ownFormats()
	for _, e := range all {
		for _, ending := range e.endings {
			if format == "" && strings.HasSuffix(strings.ToLower(file), ending) {
				return e.name, nil
			}
		}
		if e.name == format {
			return e.name, nil
		}
	}
	if format == "" {
		return all[0].name, nil
	}
	return "", unknownFormat(format, append(formatNames(), interop.SQLite))
}

// formatNames returns the names of all formats that can be exported and imported, ours first.
// ExportCmd handles those of other systems before it asks for one of ours.
func formatNames() []string {
	names := gather.List(ownFormats(), func(e ownFormat) string { return e.name })
	return append(names, interop.Formats()...)
}

// unknownFormat is the error for a --format that does not exist.
func unknownFormat(format string, known []string) error {
	return usage.Error("no format is called \""+name.Clip(format, name.Said)+"\"", "known formats: "+strings.Join(known, ", "))
}
