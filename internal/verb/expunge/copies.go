package expunge

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"slices"

	"git-checkpoint/internal/core/clearance"
	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/sys/wholefile"
)

// scanCopies looks for secrets in the copies; after a fetch in none, since that looks for what comes back in checkpoints.
func (p *Plan) scanCopies(ctx context.Context) (copies []clearance.Copy, found *clearance.Report, err error) {
	if p.req.again {
		return nil, &clearance.Report{}, nil
	}
	if copies, err = clearance.Copies(p.s.Repo); err != nil {
		return nil, nil, err
	}
	found, err = p.desk.ScanCopies(ctx, copies)
	return copies, found, err
}

// findCopies finds the files beside git's objects that hold the goal, of which found are the secrets: one of its
// secrets, or a line of a named file in which the guard finds none.
func (p *Plan) findCopies(ctx context.Context, copies []clearance.Copy, found, inCopies []clearance.Found) error {
	p.copies, p.lines = nil, nil
	for oid := range p.goal.blobs {
		if slices.ContainsFunc(found, func(f clearance.Found) bool { return f.OID == oid }) {
			continue
		}
		lines, err := p.linesOf(ctx, oid)
		if err != nil {
			return err
		}
		p.lines = append(p.lines, lines...)
	}
	for _, c := range copies {
		holds := slices.ContainsFunc(inCopies, func(f clearance.Found) bool { return f.Path == c.Name && p.goal.secrets[f.Fingerprint] })
		if !holds && len(p.lines) > 0 {
			data, err := os.ReadFile(c.Path)
			holds = err == nil && p.hasLine(data)
		}
		if holds {
			p.copies = append(p.copies, c)
		}
	}
	return nil
}

// linesOf returns the longest lines of a text, also as JSON has them. Short ones stand in other texts as well.
func (p *Plan) linesOf(ctx context.Context, oid name.OID) (lines [][]byte, err error) {
	const most, short = 20, 6
	blob, err := p.s.Repo.Objects.Batch().Object(ctx, string(oid))
	if err != nil || bytes.IndexByte(blob.Data, 0) >= 0 {
		return nil, err
	}
	all := slices.DeleteFunc(bytes.Split(blob.Data, []byte("\n")), func(line []byte) bool { return len(bytes.TrimSpace(line)) < short })
	slices.SortStableFunc(all, func(a, b []byte) int { return len(b) - len(a) })
	for _, line := range all[:min(most, len(all))] {
		line = bytes.TrimSpace(line)
		quoted, _ := json.Marshal(string(line)) //nolint:errcheck // a text has a form in JSON
		lines = append(lines, line, quoted[1:len(quoted)-1])
	}
	return lines, nil
}

func (p *Plan) hasLine(data []byte) bool {
	return slices.ContainsFunc(p.lines, func(line []byte) bool { return bytes.Contains(data, line) })
}

// cleanCopies replaces the secrets in the copies. One that needs more than that goes.
func (p *Plan) cleanCopies() error {
	var failed error
	for _, c := range p.copies {
		if !c.Ours {
			continue
		}
		data, err := os.ReadFile(c.Path)
		if err == nil {
			if clean, whole := p.replace(data); !whole || bytes.Equal(clean, data) || p.hasLine(clean) {
				err = os.Remove(c.Path)
			} else {
				err = wholefile.Bytes(c.Path, 0o600, clean)
			}
		}
		failed = errors.Join(failed, err)
	}
	return failed
}
