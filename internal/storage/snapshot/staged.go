package snapshot

import (
	"context"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/git"
	"git-checkpoint/internal/sys/gather"
)

// leftOut is a tracked file that a rule leaves out of a capture although its stat data differ from
// the index. If its content is what is staged, the captured tree has it anyway, and nothing is
// missing. skipUnstaged finds that out.
type leftOut struct {
	Skip
	info fs.FileInfo
}

// withoutReplaced returns the files of open without those whose place a directory has taken in
// which something is captured. The tree cannot hold both, so such a file is deleted, not left out. A file
// that is staged in the directory is at its place too, beside the conflict stages of the other one.
func (c *Capture) withoutReplaced(private *privateIndex, open []leftOut, found []candidate) []leftOut {
	return slices.DeleteFunc(open, func(o leftOut) bool {
		if o.info == nil || !o.info.IsDir() {
			return false
		}
		replaced := slices.ContainsFunc(found, func(f candidate) bool { return f.mode != 0 && strings.HasPrefix(f.path, o.Path+"/") })
		for p, e := range c.edits {
			replaced = replaced || e.Mode != 0 && strings.HasPrefix(p, o.Path+"/")
		}
		for _, e := range private.entries {
			_, edited := c.edits[e.Path]
			replaced = replaced || !edited && e.Stage == 0 && !e.IntentToAdd && strings.HasPrefix(e.Path, o.Path+"/")
		}
		if replaced {
			c.edits[o.Path] = git.Entry{}
		}
		return replaced
	})
}

// skipUnstaged adds the files of open to c.Skipped, except those whose content is what is staged.
// Without this check, whether such a file is reported as skipped would depend on whether it was
// staged in the same second as the index was written. Only files whose mode and size match the
// entry are read; size 0 in an entry means that git has no stat data of the file.
func (s *chooser) skipUnstaged(ctx context.Context, private *privateIndex, open []leftOut, c *Capture) error {
	if len(open) == 0 {
		return nil
	}
	staged := gather.Map(open, func(o leftOut) (string, git.IndexEntry) { return o.Path, git.IndexEntry{} })
	for _, e := range private.entries {
		if _, asked := staged[e.Path]; asked && e.Stage == 0 && !e.IntentToAdd {
			staged[e.Path] = e
		}
	}
	var alike []leftOut
	for _, o := range open {
		if e := staged[o.Path]; o.info != nil && content(o.info) && s.modeOf(o.info, e.Mode) == e.Mode && (e.Size == 0 || uint32(o.info.Size()) == e.Size) && !slices.ContainsFunc(private.lost, func(t Tracked) bool { return t.Path == o.Path }) {
			alike = append(alike, o)
		} else {
			c.Skipped = append(c.Skipped, o.Skip)
		}
	}
	oids, err := s.cleaned(ctx, private, alike)
	if err != nil {
		return err
	}
	for i, o := range alike {
		if oids[i] != private.index.OIDOf(staged[o.Path]) {
			c.Skipped = append(c.Skipped, o.Skip)
		}
	}
	return nil
}

// content reports whether a file has content to read. Opening anything else could block: a pipe
// waits for a writer.
func content(info fs.FileInfo) bool {
	return info.Mode().IsRegular() || info.Mode()&fs.ModeSymlink != 0
}

// cleaned returns the blob id that git would give each file, after conversions, without writing
// objects. The id is empty for a file that could not be read or filtered.
func (s *chooser) cleaned(ctx context.Context, private *privateIndex, files []leftOut) ([]name.OID, error) {
	out := make([]name.OID, len(files))
	var in strings.Builder
	var asked []int
	for i, f := range files {
		if f.info.Mode()&fs.ModeSymlink == 0 {
			in.WriteString(quotePath(f.Path) + "\n")
			asked = append(asked, i)
		} else if data, info, err := s.files.ReadWhole(f.Path); err == nil && info != nil {
			out[i] = git.HashObject(s.repo.Format, "blob", data)
		}
	}
	if len(asked) == 0 {
		return out, nil
	}
	res, err := s.onIndex(ctx, private.path, in.String(), "hash-object", "--stdin-paths")
	if err != nil && git.ExitCode(err) < 0 {
		return nil, err
	}
	// git stops at the first file that it cannot read or filter.
	for n, line := range strings.Fields(string(res.Stdout)) {
		out[asked[n]] = name.OID(line)
	}
	return out, nil
}

// quotePath writes a path in git's C-style quotes. hash-object --stdin-paths has no -z option, so
// a newline in a path must be quoted.
func quotePath(p string) string {
	var b strings.Builder
	b.WriteByte('"')
	for i := 0; i < len(p); i++ {
		switch c := p[i]; {
		case c == '"' || c == '\\':
			b.WriteByte('\\')
			b.WriteByte(c)
		case c < ' ' || c >= 0x7f:
			fmt.Fprintf(&b, "\\%03o", c)
		default:
			b.WriteByte(c)
		}
	}
	b.WriteByte('"')
	return b.String()
}
