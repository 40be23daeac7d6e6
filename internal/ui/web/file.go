package web

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"html/template"
	"io"
	"slices"

	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/verb/inspect"
)

// mostInFile is how many checkpoints a file contains: the newest. For older ones it gives the
// number.
const mostInFile = 500

// filePage is a session as a single page: the timeline, and below it the page of every step.
type filePage struct {
	timelinePage
	Pages    []frame // the steps, the newest first
	Contents bool    // set if file contents, state and outputs are included
	// Style and Script are embedded in the page. Policy is its Content-Security-Policy.
	Style   template.CSS
	Script  template.JS
	Policy  string
	Written checkpoint.Time // when the file was made
}

// firstInFile is the place of the first checkpoint that a file contains.
func firstInFile(t *inspect.Timeline) int { return max(0, len(t.Steps)-mostInFile) }

// Tips are the commits of the checkpoints that WriteFile includes. The caller must have them
// checked for secrets before it writes the file.
func Tips(t *inspect.Timeline) (tips []name.OID) {
	for _, step := range t.Steps[firstInFile(t):] {
		tips = append(tips, step.Commit)
	}
	return tips
}

// IsFile reports whether what r reads begins like a file of WriteFile.
func IsFile(r *bufio.Reader) bool {
	begins, err := r.Peek(200)
	return err == nil && bytes.Contains(begins, []byte(`<meta name="generator" content="git checkpoint">`))
}

// Includes says what a file includes.
type Includes int

// The contents are those of files, state and outputs.
const (
	WithContents Includes = iota
	WithoutContents
)

// WriteFile writes a session as one HTML file that needs neither a server nor a network. Without
// contents it leaves out the contents of files, state and outputs; paths and messages stay. Nothing
// is written if a page cannot be drawn.
func (s *Server) WriteFile(ctx context.Context, service *checkpoint.Service, t *inspect.Timeline, what Includes, to io.Writer) error {
	begin, contents := firstInFile(t), what == WithContents
	p := &filePage{timelinePage: timelinePage{Timeline: *t, Older: begin}, Contents: contents, Written: checkpoint.Time{Time: s.Now()}}
	rows := p.rows(ctx, service.Rules, begin, len(t.Steps))
	p.Drawing, p.Days, p.Metrics = draw(rows, t.Moves), days(rows), nil
	for _, r := range slices.Backward(rows) {
		one, err := s.inFile(ctx, service, r, contents)
		if err != nil {
			return err
		}
		p.Pages = append(p.Pages, frame{view: view{Data: one}, File: true})
	}
	if err := p.dress(); err != nil {
		return err
	}
	var page bytes.Buffer
	f := frame{view: view{Name: "timeline", Title: string(t.Session), Data: p}, File: true}
	if err := s.draw(&page, f); err != nil {
		return err
	}
	_, err := page.WriteTo(to)
	return err
}

// inFile is the page of one checkpoint. If the checkpoint is damaged, the page says so, and the
// file still has the others.
func (s *Server) inFile(ctx context.Context, service *checkpoint.Service, r row, contents bool) (*stepPage, error) {
	p, err := s.stepOf(ctx, service, r.Session, string(r.ID), "")
	if err != nil {
		if ctx.Err() != nil {
			return nil, err
		}
		return &stepPage{Checks: []checked{{Message: err.Error()}}, Missing: r.Label, Anchor: string(r.ID)}, nil
	}
	p.Who, p.Anchor = r.Who, string(r.ID)
	if !contents {
		p.State, p.Outputs, p.Changes = nil, nil, nil
		for _, f := range p.Files {
			f.Hunks, f.Held = nil, false
		}
	}
	return p, nil
}

// dress embeds style and script. A file has no server that could send a policy, so the policy is a
// meta element; it allows scripts only by the hash of this one.
func (p *filePage) dress() error {
	style, err := embedded.ReadFile("static/page.css")
	if err != nil {
		return fmt.Errorf("read the style: %w", err)
	}
	var script []byte
	for _, file := range []string{"static/highlight.js", "static/page.js"} {
		data, err := embedded.ReadFile(file)
		if err != nil {
			return fmt.Errorf("read the script: %w", err)
		}
		script = append(append(script, data...), '\n')
	}
	sum := sha256.Sum256(script)
	p.Style, p.Script = template.CSS(style), template.JS(script) //nolint:gosec // they are embedded
	p.Policy = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'; " +
		"script-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
	return nil
}
