package hook

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"hash"
	"os"
	"path/filepath"
)

// progress is how much of an agent's transcript is kept.
type progress struct {
	File string `json:"file,omitempty"` // id of the file
	To   int    `json:"to,omitempty"`   // lines that are kept
	Size int    `json:"size,omitempty"` // bytes of them
	Sum  string `json:"sum,omitempty"`  // SHA-256 of them

	from   int    // lines that were kept before
	before string // SHA-256 of them
}

// longestTranscript bounds what is read of one; larger ones are not kept.
const longestTranscript = 256 << 20

// gained reads the whole lines that the transcript gained since the last milestone, with secrets
// replaced, and says how far it is kept with them. An agent that rewrites what was kept begins a new file.
// Transcripts are a convenience: one that cannot be read is none.
func (h *Handler) gained(c *conversation, path string) ([]byte, progress) {
	was := c.Transcript
	info, err := os.Lstat(path)
	if !h.Keep || err != nil || !filepath.IsAbs(path) || filepath.Ext(path) != ".jsonl" || !info.Mode().IsRegular() || info.Size() > longestTranscript {
		return nil, was
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, was
	}
	data = data[:bytes.LastIndexByte(data, '\n')+1] // a line may be half written
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

// idOf is the id of a transcript; before is that of the one that it took the place of.
func idOf(path, before string) string {
	digest := sha256.New()
	digest.Write([]byte(path + "\x00" + before))
	return sumOf(digest)[:16]
}

func sumOf(digest hash.Hash) string { return hex.EncodeToString(digest.Sum(nil)) }
