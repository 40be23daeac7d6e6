package snapshot

import (
	"context"
	"fmt"
	"sort"
	"strings"
)

// TooLargeError says that a capture would add unusually many files or bytes. Directories names
// the five largest directories at the top level, so that a user sees what to ignore.
type TooLargeError struct {
	Files       int
	Bytes       int64
	Directories []Weight // largest first
}

// Weight is what one directory at the top level would add. Path "." stands for the files at the
// top.
type Weight struct {
	Path  string
	Files int
	Bytes int64
}

func (e *TooLargeError) Error() string {
	return fmt.Sprintf("this checkpoint would add %d files, %d MiB, that are in no checkpoint yet", e.Files, e.Bytes>>20)
}

// guardSize refuses a capture above Rules.MaxNewFiles or MaxNewSize, for example of a
// node_modules directory that is not ignored. Files in the previous checkpoint's tree do not
// count, even if they changed.
func (s *capturer) guardSize(ctx context.Context, files []candidate, rules Rules) error {
	over := func(e *TooLargeError) bool {
		return rules.MaxNewFiles > 0 && e.Files > rules.MaxNewFiles || rules.MaxNewSize > 0 && e.Bytes > rules.MaxNewSize
	}
	all := &TooLargeError{Files: len(files)}
	for _, f := range files {
		all.Bytes += f.size
	}
	if !over(all) {
		return nil // the usual case: no need to read the tree of the previous checkpoint
	}
	known := map[string]bool{}
	if rules.Known != nil {
		changes, err := s.repo.Trees.Diff(ctx, "", rules.Known())
		if Damaged(err) {
			return nil // nobody knows what is new
		}
		if err != nil {
			return fmt.Errorf("compare with the previous checkpoint: %w", err)
		}
		for _, c := range changes {
			known[c.Path] = true
		}
	}
	e := &TooLargeError{}
	weights := map[string]*Weight{}
	for _, f := range files {
		if known[f.path] {
			continue
		}
		e.Files++
		e.Bytes += f.size
		dir, _, below := strings.Cut(f.path, "/")
		if !below {
			dir = "."
		}
		if weights[dir] == nil {
			weights[dir] = &Weight{Path: dir}
		}
		weights[dir].Files++
		weights[dir].Bytes += f.size
	}
	if !over(e) {
		return nil
	}
	for _, w := range weights {
		e.Directories = append(e.Directories, *w)
	}
	sort.Slice(e.Directories, func(i, j int) bool { return e.Directories[i].Bytes > e.Directories[j].Bytes })
	e.Directories = e.Directories[:min(len(e.Directories), 5)]
	return e
}
