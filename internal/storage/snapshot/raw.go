package snapshot

// git may change content between a file and its blob: line endings, $Id$ (ident), encodings, and
// clean and smudge filters. For most such files the checkout of the blob gives the same bytes
// again. For the others the capture keeps the bytes as a blob of their own, in Capture.Raw. To
// find them, git checks the captured blobs out into a temporary directory (smudge) and the result
// is compared with the files.

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/git"
	"git-checkpoint/internal/storage/worktree"
	"git-checkpoint/internal/sys/gather"
)

// converter finds out what git's conversions do to content on the way between files and blobs.
type converter struct{ indexes }

// convertsOutside reports whether git may convert content because of settings, or because of
// attributes that are outside of any tree. It returns true if it cannot tell.
func (s *converter) convertsOutside() bool {
	return s.autocrlf() || s.attributesUnknown() || slices.ContainsFunc(s.attributesOutside(), func(file string) bool {
		info, err := os.Stat(file)
		return err == nil && info.Size() > 0
	})
}

// autocrlf reports whether core.autocrlf is on, or is "input", which is not a boolean.
func (s *converter) autocrlf() bool {
	on, err := s.repo.Config.Bool("core.autocrlf", false)
	return on || err != nil
}

// attributesUnknown reports whether core.attributesFile begins with "~user/" or "%(prefix)/",
// which git expands to places that are not known here.
func (s *converter) attributesUnknown() bool {
	v, _ := s.repo.Config.Get("core.attributesFile")
	return strings.HasPrefix(v, "~") && !strings.HasPrefix(v, "~/") || strings.HasPrefix(v, "%(prefix)/")
}

// attributesOutside lists the places where git looks for attributes outside of trees: the
// system's, the repository's info/attributes, and the user's. The files need not exist.
func (s *converter) attributesOutside() []string {
	files := append(append([]string(nil), attributesFiles[:]...), filepath.Join(s.repo.CommonDir, "info", "attributes"))
	if v, ok := s.repo.Config.Get("core.attributesFile"); ok {
		if rest, home := strings.CutPrefix(v, "~/"); home {
			if dir, err := os.UserHomeDir(); err == nil {
				v = filepath.Join(dir, rest)
			}
		}
		if !filepath.IsAbs(v) && v != "" {
			v = filepath.Join(s.files.Top, v) // where git runs
		}
		return append(files, v)
	}
	if dir := os.Getenv("XDG_CONFIG_HOME"); dir != "" {
		files = append(files, filepath.Join(dir, "git", "attributes"))
	}
	if home, err := os.UserHomeDir(); err == nil {
		files = append(files, filepath.Join(home, ".config", "git", "attributes"))
	}
	return files
}

// keepRawOf compares files that git converts with what git would check out for them, and adds
// those that differ to c.Raw. index is a private index that has entries, the entries of these files;
// files without one are left out. If both are equal, and the blob has the same bytes too, an external filter
// did nothing. A pointer whose content is not here is then listed as at risk.
func (s *converter) keepRawOf(ctx context.Context, index string, affected []filtered, entries map[string]git.Entry, c *Capture) error {
	affected = slices.DeleteFunc(affected, func(f filtered) bool { return entries[f.path].Mode == 0 })
	return s.compareSmudged(ctx, index, pathsOf(affected), func(i int, data []byte, same bool) error {
		f := affected[i]
		if same {
			if f.filter && git.HashObject(s.repo.Format, "blob", data) == entries[f.path].OID && s.standsForNothingHere(data) {
				c.AtRisk = append(c.AtRisk, Skip{Path: f.path, Reason: "its filter returns the stored form; the content that this stands for is not kept here"})
			}
			return nil
		}
		// The bytes differ, or git could not check the file out at all.
		oid, err := s.repo.Objects.Write(ctx, "blob", data)
		if err != nil {
			return fmt.Errorf("keep the bytes of %q: %w", f.path, err)
		}
		c.Raw[f.path] = oid
		c.New = append(c.New, oid)
		return nil
	})
}

// compareSmudged checks paths out of a private index into temporary files, and calls each with the bytes of
// every file that is here, and whether git made the same of its blob.
func (s *converter) compareSmudged(ctx context.Context, index string, paths []string, each func(i int, data []byte, same bool) error) error {
	if len(paths) == 0 {
		return nil
	}
	dir, err := os.MkdirTemp(s.scratch, "tmp-smudge-")
	if err != nil {
		return fmt.Errorf("make a directory: %w", err)
	}
	defer os.RemoveAll(dir) //nolint:errcheck // disposable, swept by age
	made, _, err := s.smudge(ctx, index, dir, paths)
	if err != nil {
		return err
	}
	for i, p := range paths {
		data, info, err := s.files.ReadWhole(p)
		if err != nil {
			return err
		}
		if info == nil {
			continue
		}
		got, err := os.ReadFile(made[p])
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		if err := each(i, data, err == nil && bytes.Equal(data, got)); err != nil {
			return err
		}
	}
	return nil
}

// filtered is a file that git converts because of attributes or configuration.
type filtered struct {
	candidate
	filter  bool   // an external filter program converts it
	driver  string // the name of that filter
	encoded bool   // working-tree-encoding converts it
}

func pathsOf(files []filtered) []string {
	return gather.List(files, func(f filtered) string { return f.path })
}

// affected returns those of files that git converts. Symbolic links are never converted. attrs are
// the attributes files that may apply.
//
// git takes attributes from the disk when it adds a file, and from the index when it checks one
// out. The two can only differ in meaning if an attributes file is itself encoded or filtered; then
// both are considered.
func (s *converter) affected(ctx context.Context, index string, attrs []string, files []candidate) ([]filtered, error) {
	var asked []filtered
	at := map[string]int{}
	for _, f := range files {
		if f.mode != git.ModeSymlink {
			at[f.path] = len(asked)
			asked = append(asked, filtered{candidate: f})
		}
	}
	if len(asked) == 0 {
		return nil, nil
	}
	for _, p := range attrs {
		if _, known := at[p]; !known {
			at[p] = len(asked)
			asked = append(asked, filtered{candidate: candidate{path: p, gone: true}})
		}
	}
	answer, err := s.checkAttr(ctx, index, asked)
	if err != nil {
		return nil, err
	}
	out, err := s.filterConverted(asked, at, answer)
	if err != nil {
		return nil, err
	}
	if slices.ContainsFunc(out, func(f filtered) bool { return holdsAttributes(f.path) && (f.filter || f.encoded) }) {
		cached, err := s.checkAttr(ctx, index, asked, "--cached")
		if err != nil {
			return nil, err
		}
		if out, err = s.filterConverted(asked, at, answer, cached); err != nil {
			return nil, err
		}
	}
	return slices.DeleteFunc(out, func(f filtered) bool { return f.gone }), nil
}

// checkAttr asks git check-attr for the attributes that convert content. The answer is a sequence
// of path, attribute and value. index is the place of attributes that are not on disk.
func (s *converter) checkAttr(ctx context.Context, index string, files []filtered, flags ...string) ([]string, error) {
	args := slices.Concat([]string{"check-attr", "-z", "--stdin"}, flags, []string{"text", "crlf", "eol", "ident", "filter", "working-tree-encoding"})
	res, err := s.onIndex(ctx, index, joined(pathsOf(files)), args...)
	if err != nil {
		return nil, fmt.Errorf("read attributes: %w", err)
	}
	return strings.Split(string(res.Stdout), "\x00"), nil
}

// filterConverted evaluates answers of checkAttr, and returns the files that any of them converts. at maps a
// path to its place in files. With core.autocrlf a file is converted even if it has no attributes,
// unless `-text` (binary) is set.
func (s *converter) filterConverted(files []filtered, at map[string]int, answers ...[]string) ([]filtered, error) {
	out := slices.Clone(files)
	sums := make([]struct {
		converts, both bool
		binary         int
	}, len(out))
	for _, f := range answers {
		for i := 0; i+2 < len(f); i += 3 {
			n, ok := at[f[i]]
			if !ok {
				return nil, fmt.Errorf("read attributes: unexpected path %q", f[i])
			}
			attribute, value := f[i+1], f[i+2]
			switch {
			case value == "unspecified", value == "auto" && out[n].database: // it has a NUL, so it is no text
			case value == "unset":
				if attribute == "text" {
					sums[n].binary++
				}
			default:
				sums[n].converts = true
				out[n].filter = out[n].filter || attribute == "filter"
				if attribute == "filter" {
					out[n].driver = value
				}
				out[n].encoded = out[n].encoded || attribute == "working-tree-encoding"
				sums[n].both = sums[n].both || attribute != "text" && (attribute != "eol" || value != "lf")
			}
		}
	}
	auto, crlf := s.autocrlf(), s.writesCRLF()
	kept := out[:0]
	for n, f := range out {
		if sums[n].converts || auto && !f.database && sums[n].binary < len(answers) {
			f.inOnly = !sums[n].both && !crlf
			kept = append(kept, f)
		}
	}
	return kept, nil
}

// writesCRLF reports whether the configuration or the platform makes git write CRLF on checkout,
// so that line endings are converted in both directions.
func (s *converter) writesCRLF() bool {
	auto, _ := s.repo.Config.Get("core.autocrlf")
	eol, _ := s.repo.Config.Get("core.eol")
	return s.autocrlf() && !strings.EqualFold(auto, "input") || strings.EqualFold(eol, "crlf") || runtime.GOOS == "windows"
}

// smudge checks paths out of a private index into temporary files in dir, and returns these by
// path. git applies the attributes in that index: GIT_WORK_TREE is dir, so the .gitattributes files
// of the real worktree are not read. A path for which git fails is missing from the result. said is
// what filters wrote to standard error.
func (s *converter) smudge(ctx context.Context, index, dir string, paths []string) (made map[string]string, said string, err error) {
	res, err := s.repo.Run(ctx, git.Cmd{
		Args:  []string{"checkout-index", "--temp", "-z", "--stdin"},
		Stdin: strings.NewReader(joined(paths)), Config: s.config,
		Dir: dir, Env: []string{"GIT_INDEX_FILE=" + index, "GIT_WORK_TREE=" + dir},
	})
	// A positive exit code means that git failed for some paths. The others were written.
	if err != nil && git.ExitCode(err) < 0 {
		return nil, "", fmt.Errorf("convert files: %w", err)
	}
	// Each line is the temporary file's name, a tab, and the path. The name is "." if git wrote
	// nothing.
	made = map[string]string{}
	for _, line := range res.Paths() {
		if file, p, ok := strings.Cut(line, "\t"); ok && file != "." && path.Base(file) == file {
			made[p] = filepath.Join(dir, file)
		}
	}
	return made, filterWords(string(res.Stderr)), nil
}

// streamBlob has git write the content of a large file as a blob. after is what the file was once git
// had read it.
func (s *converter) streamBlob(ctx context.Context, p string) (oid name.OID, after fs.FileInfo, err error) {
	f, err := s.files.Open(p)
	if err != nil {
		return "", nil, err
	}
	defer f.Close() //nolint:errcheck // read only
	if oid, err = s.streamOpen(ctx, f); err == nil {
		after, err = f.Stat()
	}
	return oid, after, err
}

// streamOpen is streamBlob for an open file. git maps the file, and refuses it if somebody writes to it
// meanwhile: then git gets a copy that nobody else writes to, for which there has to be space.
func (s *converter) streamOpen(ctx context.Context, f *os.File) (name.OID, error) {
	write := func(f *os.File) (git.Result, error) {
		return s.repo.Run(ctx, git.Cmd{Args: []string{"hash-object", "-w", "--no-filters", "--stdin"}, Stdin: f})
	}
	res, err := write(f)
	if git.ExitCode(err) == 128 {
		still, failed := os.CreateTemp(s.scratch, "tmp-copy-")
		if failed != nil {
			return "", failed
		}
		defer os.Remove(still.Name()) //nolint:errcheck // disposable, swept by age
		defer still.Close()           //nolint:errcheck // only read from here on
		if _, err = f.Seek(0, io.SeekStart); err == nil {
			_, err = io.Copy(still, f)
		}
		if err == nil {
			_, err = still.Seek(0, io.SeekStart)
		}
		if err == nil {
			res, err = write(still)
		}
	}
	if err != nil {
		return "", err
	}
	return name.ParseOID(strings.TrimSpace(string(res.Stdout)))
}

// mayConvert reports whether git might convert the content of any of files. It returns true in
// case of doubt: if there is a .gitattributes in any directory above them, whatever it says.
// private may be nil; then only the disk and the configuration are checked.
func (s *converter) mayConvert(private *privateIndex, files []candidate) bool {
	if private != nil && len(private.attrs) > 0 || s.convertsOutside() {
		return true
	}
	dirs := map[string]bool{}
	for _, f := range files {
		if holdsAttributes(f.path) {
			return true
		}
		worktree.AddAbove(dirs, f.path)
	}
	for dir := range dirs {
		if info, err := s.files.Lstat(path.Join(dir, ".gitattributes")); err != nil || info != nil {
			return true
		}
	}
	return false
}

// HasAttributes reports whether git may have attributes for any of these files, or converts content by its settings.
func (s *capturer) HasAttributes(paths []string) bool {
	return s.mayConvert(nil, gather.List(paths, func(p string) candidate { return candidate{path: p} }))
}

// attributesFiles are the system-wide attributes files of the usual builds of git. Which one git
// reads depends on how it was built.
var attributesFiles = [...]string{"/etc/gitattributes", "/usr/etc/gitattributes", "/usr/local/etc/gitattributes", "/opt/homebrew/etc/gitattributes"}

// attributes returns the .gitattributes files of a tree that apply to any of paths: those in
// their directories and all directories above.
func (s *converter) attributes(ctx context.Context, tree name.OID, paths map[string]git.Entry) (map[string]git.Entry, error) {
	out := map[string]git.Entry{}
	dirs := map[string]bool{}
	worktree.AddAbove(dirs, slices.Collect(maps.Keys(paths))...)
	for dir := range dirs {
		file := path.Join(dir, ".gitattributes")
		e, ok, err := s.repo.Trees.Lookup(ctx, tree, file)
		if err != nil {
			return nil, err
		}
		if ok && regular(e.Mode) {
			out[file] = e
		}
	}
	return out, nil
}
