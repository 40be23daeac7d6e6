package agent

import (
	"bytes"
	"io"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/tidwall/gjson"
)

// Transcripts says where an agent keeps the transcripts of its conversations, files of JSON lines.
// They also show conversations whose hooks did not run.
type Transcripts struct {
	// Files is a pattern of filepath.Match. "~/" is the home directory. If the environment variable
	// Variable is set, it takes the place of the first directory of the pattern.
	Files    string `json:"files"`
	Variable string `json:"variable"`

	Directory []string `json:"directory"` // paths to the agent's directory, in a line near the beginning
	Reply     Line     `json:"reply"`     // how a line looks that answers a person's prompt
	Time      []string `json:"time"`      // paths to the time of such a line, as RFC 3339
}

// Find returns the transcripts that were written to after a time.
func (t Transcripts) Find(home string, getenv func(string) string, after time.Time) (files []string) {
	if t.Files == "" || home == "" {
		return nil
	}
	top, pattern, _ := strings.Cut(strings.TrimPrefix(t.Files, "~/"), "/")
	top = filepath.Join(home, top)
	if moved := getenv(t.Variable); t.Variable != "" && filepath.IsAbs(moved) {
		top = moved
	}
	// The directory is not part of the pattern: its name may have a "[".
	names, _ := fs.Glob(os.DirFS(top), pattern) //nolint:errcheck // the pattern is right
	for _, name := range names {
		file := filepath.Join(top, filepath.FromSlash(name))
		if info, err := os.Lstat(file); err == nil && info.Mode().IsRegular() && info.ModTime().After(after) {
			files = append(files, file)
		}
	}
	return files
}

// DirectoryOf returns the agent's directory, from the beginning of a transcript; empty: unknown.
func (t Transcripts) DirectoryOf(file string) string {
	const mostHead = 32 << 10 // how much is read of the beginning of a transcript, in bytes
	for line := range jsonLines(file, 0, mostHead) {
		if dir := text(line, t.Directory); dir != "" {
			return dir
		}
	}
	return ""
}

// Replied returns when the model last answered, from the end of a transcript; zero: unknown.
func (t Transcripts) Replied(file string) (last time.Time) {
	const mostTail = 256 << 10 // how much is read of the end of a transcript, in bytes
	info, err := os.Stat(file)
	if err != nil {
		return last
	}
	for line := range jsonLines(file, max(0, info.Size()-mostTail), mostTail) {
		if at, err := time.Parse(time.RFC3339, text(line, t.Time)); err == nil && t.Reply.fits(line) && at.After(last) {
			last = at
		}
	}
	return last
}

// jsonLines gives the lines of JSON in a part of a file. What cannot be read gives none.
func jsonLines(file string, offset, size int64) iter.Seq[gjson.Result] {
	return func(yield func(gjson.Result) bool) {
		f, err := os.Open(file)
		if err != nil {
			return
		}
		defer f.Close()                                             //nolint:errcheck // it was only read
		part, _ := io.ReadAll(io.NewSectionReader(f, offset, size)) //nolint:errcheck // the rest is unknown
		for line := range bytes.Lines(part) {
			if gjson.ValidBytes(line) && !yield(gjson.ParseBytes(line)) {
				return
			}
		}
	}
}
