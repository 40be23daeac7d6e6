package hook

// An agent appends to its transcript, a file of JSON lines. Each milestone keeps the lines
// that were added since the last one, so together they hold the whole conversation. A
// checksum over everything kept so far detects an agent that rewrites its transcript; then
// all of it is kept again under a new id.

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"hash"
	"os"
	"path/filepath"
)

// progress says how much of an agent's transcript was kept.
type progress struct {
	File string `json:"file,omitempty"` // id of the file, see idOf
	To   int    `json:"to,omitempty"`   // number of lines that were kept
	Size int    `json:"size,omitempty"` // their size in bytes
	Sum  string `json:"sum,omitempty"`  // their SHA-256 in hexadecimal

	from   int    // lines that earlier checkpoints kept
	before string // SHA-256 of these
}

// gained returns the complete lines that were added since the last milestone, with secrets
// replaced, and the new progress. A transcript that cannot be read is treated as one
// without new lines, because a checkpoint is worth more than its transcript.
func (h *handler) gained() ([]byte, progress) {
	const longestTranscript = 256 << 20 // bounds the size of a transcript in bytes. A larger one is not kept
	was, path := h.c.Transcript, h.e.Transcript
	info, err := os.Lstat(path)
	if !h.keepsTalk || err != nil || !filepath.IsAbs(path) || filepath.Ext(path) != ".jsonl" || !info.Mode().IsRegular() || info.Size() > longestTranscript {
		return nil, was
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, was
	}
	data = data[:bytes.LastIndexByte(data, '\n')+1] // the last line may be half written
	digest := sha256.New()
	now := progress{File: was.File, from: was.To, before: was.Sum}
	known := was.File != "" && len(data) >= was.Size
	if known {
		digest.Write(data[:was.Size])
		known = sumOf(digest) == was.Sum
	}
	if !known {
		digest.Reset()
		now = progress{File: idOf(path, was.File), before: sumOf(digest)}
		was = progress{}
	}
	digest.Write(data[was.Size:])
	now.To, now.Size, now.Sum = now.from, len(data), sumOf(digest)
	var lines []byte
	for line := range bytes.Lines(data[was.Size:]) {
		lines = append(lines, h.redact(string(line))...)
		now.To++
	}
	return lines, now
}

// idOf returns an id for a transcript. before is the id of the one that it replaces, or "".
func idOf(path, before string) string {
	digest := sha256.New()
	digest.Write([]byte(path + "\x00" + before))
	return sumOf(digest)[:16]
}

func sumOf(digest hash.Hash) string { return hex.EncodeToString(digest.Sum(nil)) }
