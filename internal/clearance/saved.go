package clearance

import (
	"context"
	"path"
	"slices"
	"sync"

	"git-checkpoint/internal/name"
)

// Saved collects the findings in the files of a checkpoint that is being made.
type Saved struct {
	desk *Desk

	mu     sync.Mutex
	report Report
	again  Report // findings that were known before
	back   []Found
	// unread are blobs to scan in Report, with their paths.
	unread map[name.OID]string
	// dirs are directories that projects usually ignore.
	dirs map[string]bool
}

// Saving starts a collection for one checkpoint.
func (d *Desk) Saving() *Saved {
	return &Saved{desk: d, unread: map[name.OID]string{}, dirs: map[string]bool{}}
}

// Look takes one captured file. If the content is at hand and small, it is scanned at once,
// which saves reading the blob later. content may be nil. Look may be called concurrently.
func (s *Saved) Look(file string, oid name.OID, content []byte) {
	dir := usuallyIgnored(file)
	if s.desk.external != nil && content != nil && len(content) <= atSave {
		// It gets all files together, in Report.
		content = nil
	}
	v, known := s.judge(oid, content)
	s.mu.Lock()
	defer s.mu.Unlock()
	if dir != "" {
		s.dirs[dir] = true
	}
	if s.desk.expunged.Objects[oid] {
		s.back = append(s.back, Found{OID: oid, Path: file})
	}
	switch {
	case known:
		s.desk.report(&s.again, oid, file, v)
	case content == nil:
		s.unread[oid] = file
	case len(content) <= atSave:
		s.desk.report(&s.report, oid, file, v)
	}
}

// judge returns the verdict of an object, and whether it is remembered. It is empty if the content
// is not at hand or too large. Scanning a small file takes less time than reading what is
// remembered, so only one with a finding is looked up.
func (s *Saved) judge(oid name.OID, content []byte) (v verdict, known bool) {
	if content == nil || len(content) > atSave {
		return s.desk.verdicts.of(oid)
	}
	result := s.desk.scanner.Bytes(content)
	v = verdict{findings: result.Findings, gap: result.Gap}
	if len(v.findings) > 0 || v.gap != "" {
		if old, known := s.desk.verdicts.of(oid); known {
			return old, true
		}
	}
	s.desk.verdicts.add(oid, v)
	return v, false
}

// Report returns the findings that are new and those that were known before, sorted.
func (s *Saved) Report(ctx context.Context) (found, known *Report, err error) {
	// Larger files are scanned at the next push.
	late, err := s.desk.Blobs(ctx, s.unread, atSave)
	if err != nil {
		return nil, nil, err
	}
	s.report.Found = append(s.report.Found, late.Found...)
	for _, r := range []*Report{&s.report, &s.again} {
		slices.SortFunc(r.Found, byPlace)
	}
	return &s.report, &s.again, nil
}

// Back returns the files with content that was expunged from this repository before, without rule and
// line. Call it after the capture.
func (s *Saved) Back() []Found {
	slices.SortFunc(s.back, byPlace)
	return s.back
}

// Directories returns directories that projects usually ignore and this one captured. Each
// is returned only once in the life of the file of verdicts.
func (s *Saved) Directories() []string {
	var out []string
	for dir := range s.dirs {
		if s.desk.verdicts.tell(dir) {
			out = append(out, dir)
		}
	}
	slices.Sort(out)
	return out
}

// usuallyIgnored returns the outermost directory of a path that projects usually ignore, or
// "".
func usuallyIgnored(file string) string {
	for dir := path.Dir(file); dir != "."; dir = path.Dir(dir) {
		switch path.Base(dir) {
		case "node_modules", ".venv", "target", "__pycache__", ".next":
			// Prefer the outermost one, so that node_modules inside node_modules is named
			// once.
			if outer := usuallyIgnored(dir); outer != "" {
				return outer
			}
			return dir
		}
	}
	return ""
}
