package snapshot

// The blob of a file may only name its content, which a filter keeps elsewhere. This file makes sure
// that the content of git-lfs is there when it is needed, and says what cannot be made sure of.

import (
	"bytes"
	"compress/flate"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"unicode"

	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/git"
	"git-checkpoint/internal/storage/lfs"
	"git-checkpoint/internal/sys/gather"
)

// FilterError says that git could not check out a file that it converts.
type FilterError struct {
	Path string
	Said string      // what the filter said, safe for a terminal; empty: nothing
	Gone []lfs.Named // files of git-lfs whose content is not here
}

func (e *FilterError) Error() string {
	text := fmt.Sprintf("git did not write %q: a filter failed, or the disk is full", e.Path)
	if e.Said != "" {
		text += ": " + e.Said
	}
	return text
}

// notWritten returns the FilterError for a file of entries.
func (s *restorer) notWritten(ctx context.Context, file, said string, entries map[string]git.Entry) error {
	gone, err := s.pointers(ctx, entries)
	if err != nil {
		return err
	}
	store := lfs.Open(s.repo)
	gone = slices.DeleteFunc(gone, func(n lfs.Named) bool { return store.File(n.Pointer) != "" })
	return &FilterError{Path: file, Said: said, Gone: gone}
}

// maxWords and maxWord bound how many lines of a filter are repeated, and how many characters of each.
const maxWords, maxWord = 4, 200

// filterWords returns what a filter wrote to standard error of git, in one line, without what git
// itself wrote there.
func filterWords(stderr string) string {
	var words []string
	for line := range strings.Lines(stderr) {
		line = strings.TrimSpace(strings.Map(func(r rune) rune {
			if !unicode.IsPrint(r) {
				return ' '
			}
			return r
		}, strings.ToValidUTF8(line, "?")))
		gits := strings.HasPrefix(line, "error: external filter '") || strings.HasPrefix(line, "fatal: ") && strings.Contains(line, " filter ") && strings.HasSuffix(line, " failed")
		if line != "" && !gits {
			words = append(words, name.Clip(line, maxWord))
		}
	}
	if len(words) > maxWords { // the cause may be the first line or the last
		words = slices.Concat(words[:maxWords/2], words[len(words)-maxWords/2:])
	}
	return strings.Join(words, "; ")
}

// wordsIn returns the words of a filter in an error of git.
func wordsIn(err error) string {
	var failed *git.Error
	if !errors.As(err, &failed) {
		return ""
	}
	return filterWords(failed.Stderr)
}

// pointers returns those of entries that are pointers of git-lfs.
func (s *converter) pointers(ctx context.Context, entries map[string]git.Entry) ([]lfs.Named, error) {
	var blobs []lfs.Named
	for _, p := range slices.Sorted(maps.Keys(entries)) {
		if regular(entries[p].Mode) {
			blobs = append(blobs, lfs.Named{Blob: entries[p].OID, Path: p})
		}
	}
	return lfs.Pointers(ctx, s.repo, blobs)
}

// provide gives git-lfs the content of entries that are about to be checked out, where only the
// names that checkpoints keep have it. It returns the pointers whose content is not here.
func (s *converter) provide(ctx context.Context, entries map[string]git.Entry) ([]lfs.Named, error) {
	store := lfs.Open(s.repo)
	if !store.InUse() {
		return nil, nil
	}
	named, err := s.pointers(ctx, entries)
	return slices.DeleteFunc(named, func(n lfs.Named) bool { return store.Provide(n.Pointer) }), err
}

// provideStaged does so for what the index will name.
func (g *staging) provideStaged(ctx context.Context) error {
	p := g.plan
	if p.Index == nil || !lfs.Open(g.repo).InUse() {
		return nil
	}
	changes, err := g.repo.Trees.Diff(ctx, p.Cur.Index.Tree, p.IndexTree)
	if err != nil {
		return err
	}
	changes = append(changes, gather.List(p.Index.Unmerged, func(u git.Unmerged) git.Change { return git.Change{New: u.Entry} })...)
	staged := gather.Map(changes, func(c git.Change) (string, git.Entry) { return string(c.New.OID), c.New })
	_, err = g.provide(ctx, staged)
	return err
}

// cleanAgain has git-lfs store the content of files that are about to be replaced, where it was
// removed from its store since the capture.
func (s *preserver) cleanAgain(ctx context.Context, entries map[string]git.Entry) error {
	gone, err := s.provide(ctx, entries)
	for _, n := range gone {
		if info, statErr := s.files.Lstat(n.Path); statErr != nil || info == nil || !info.Mode().IsRegular() || info.Size() != n.Size {
			continue // the pointer itself, or another version, which the comparison finds
		}
		// Hashing runs the filter. If that fails, the exact bytes are kept.
		s.repo.Run(ctx, git.Cmd{Args: []string{"hash-object", "--", n.Path}, Config: s.config}) //nolint:errcheck // see above
	}
	return err
}

// standsForNothingHere reports whether a file that is its own stored form is a pointer to content
// that is not here.
func (s *converter) standsForNothingHere(data []byte) bool {
	if p, is := lfs.Parse(data); is {
		return lfs.Open(s.repo).File(p) == ""
	}
	return bytes.HasPrefix(data, []byte("/annex/objects/"))
}

// outsideRisks returns why the content of files that the plan replaces may not come back, by path:
// a filter keeps it outside git, where this program cannot keep it.
func (s *planner) outsideRisks(ctx context.Context, p *Plan) (map[string]string, error) {
	if len(s.repo.Config.Keys("filter.")) == 0 {
		return nil, nil
	}
	var files []candidate
	var specs []string
	for _, o := range p.Ops {
		if info := p.seen[o.Path]; info != nil && info.Mode().IsRegular() && regular(o.Old.Mode) && p.Cur.Raw[o.Path] == "" {
			files, specs = append(files, candidate{path: o.Path, mode: o.Old.Mode, size: info.Size()}), append(specs, string(o.Old.OID))
		}
	}
	entries := map[string]git.Entry{}
	err := s.repo.Objects.Batch().Info(ctx, specs, func(i int, o git.Object, err error) error {
		if err == nil && o.Size < files[i].size {
			entries[files[i].path] = git.Entry{Mode: files[i].mode, OID: o.OID}
		}
		return nil
	})
	files = slices.DeleteFunc(files, func(f candidate) bool { return entries[f.path].Mode == 0 })
	if err != nil || len(files) == 0 {
		return nil, err
	}
	attrs, err := s.attributes(ctx, p.Cur.Tree, entries)
	if err != nil || len(attrs) == 0 && !s.mayConvert(nil, files) {
		return nil, err
	}
	index, err := s.listIndex(ctx, entries, attrs)
	if err != nil {
		return nil, err
	}
	defer os.Remove(index) //nolint:errcheck // disposable
	affected, err := s.affected(ctx, index, slices.Collect(maps.Keys(attrs)), files)
	risks := map[string]string{}
	for _, f := range affected {
		if f.filter && err == nil {
			err = s.outsideRisk(ctx, f, entries[f.path], risks)
		}
	}
	return risks, err
}

// outsideRisk adds the risk for one file whose stored form is smaller than the file.
func (s *planner) outsideRisk(ctx context.Context, f filtered, e git.Entry, risks map[string]string) error {
	const enough = 1 << 20 // how much of a file is compared with its stored form, in bytes
	blob, err := s.repo.Objects.Batch().Typed(ctx, string(e.OID), "blob")
	if err != nil {
		return err
	}
	if p, is := lfs.Parse(blob.Data); is {
		if why := lfs.Open(s.repo).AtRisk(p, s.LargestCopy); why != "" {
			risks[f.path] = "its content is in the store of git-lfs only: " + why
		}
		return nil
	}
	file, err := s.files.Open(f.path)
	if err != nil {
		return nil //nolint:nilerr // Secure reports that it changed
	}
	defer file.Close() //nolint:errcheck // read only
	some, err := io.ReadAll(io.LimitReader(file, enough))
	if err == nil && isElsewhere(some, blob.Data) {
		risks[f.path] = fmt.Sprintf("its content is in the store of the filter %q, which undo needs: no checkpoint keeps that", f.driver)
	}
	return err
}

// isElsewhere reports whether the content of a file cannot be in its stored form: the stored form
// does not help to compress the file, and the stored form is much smaller than the file can be
// compressed, or is short and has a digest. A filter that compresses, encrypts or replaces words
// needs no store.
func isElsewhere(file, stored []byte) bool {
	alone, beside := deflated(file, nil), deflated(file, stored)
	return beside*10 > alone*7 && (len(stored)*8 < alone || len(stored) < lfs.MaxPointer && hasDigest(stored))
}

// deflated returns the size of data in bytes when it is compressed with known as the dictionary.
func deflated(data, known []byte) int {
	var out bytes.Buffer
	w, err := flate.NewWriterDict(&out, flate.BestCompression, known)
	if err == nil {
		w.Write(data) //nolint:errcheck // a buffer
		w.Close()     //nolint:errcheck // a buffer
	}
	return out.Len()
}

// hasDigest reports whether a text has 32 hexadecimal digits in a row.
func hasDigest(text []byte) bool {
	run := 0
	for _, b := range text {
		if run++; !bytes.ContainsRune([]byte("0123456789abcdefABCDEF"), rune(b)) {
			run = 0
		}
		if run == 32 {
			return true
		}
	}
	return false
}
