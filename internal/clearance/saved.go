package clearance

import (
	"context"
	"path"
	"slices"
	"strings"
	"sync"

	"git-checkpoint/internal/name"
)

// Saved gathers what a checkpoint that is being made adds.
type Saved struct {
	desk *Desk

	mu     sync.Mutex
	report Report
	again  Report // what was known already
	unread map[name.OID]string
	dirs   map[string]bool
}

// Saving begins to look at what one checkpoint adds.
func (d *Desk) Saving() *Saved {
	return &Saved{desk: d, unread: map[name.OID]string{}, dirs: map[string]bool{}}
}

// Look takes a file that was captured, at once where its content is at hand. Several may
// come at the same time.
func (s *Saved) Look(file string, oid name.OID, content []byte) {
	dir := usuallyIgnored(file)
	v, known := s.desk.verdicts.of(oid)
	if s.desk.external != nil && content != nil && len(content) <= atSave {
		content = nil // it looks at all of them together
	}
	if !known && content != nil && len(content) <= atSave {
		result := s.desk.scanner.Bytes(content)
		v = verdict{findings: result.Findings, gap: result.Gap}
		s.desk.verdicts.add(oid, v)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if dir != "" {
		s.dirs[dir] = true
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

// Report is what was found for the first time, and what was known already.
func (s *Saved) Report(ctx context.Context) (found, known *Report, err error) {
	late, err := s.desk.Blobs(ctx, s.unread, atSave) // a push looks at larger ones
	if err != nil {
		return nil, nil, err
	}
	s.report.Found = append(s.report.Found, late.Found...)
	for _, r := range []*Report{&s.report, &s.again} {
		slices.SortFunc(r.Found, func(a, b Found) int {
			if c := strings.Compare(a.Path, b.Path); c != 0 {
				return c
			}
			return a.Line - b.Line
		})
	}
	return &s.report, &s.again, nil
}

// Directories are those that projects usually ignore and this one does not, each named
// once.
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

// usuallyIgnored is the directory of a path that projects usually ignore; empty: none.
func usuallyIgnored(file string) string {
	for dir := path.Dir(file); dir != "."; dir = path.Dir(dir) {
		switch path.Base(dir) {
		case "node_modules", ".venv", "target", "__pycache__", ".next":
			if outer := usuallyIgnored(dir); outer != "" {
				return outer
			}
			return dir
		}
	}
	return ""
}
