package web

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"html/template"
	"io"

	"git-checkpoint/internal/checkpoint"
	"git-checkpoint/internal/inspect"
	"git-checkpoint/internal/name"
)

// mostInFile is how many checkpoints a file has; older ones are named by their number.
const mostInFile = 500

// filePage is a whole session on one page.
type filePage struct {
	timelinePage
	Pages    []frame
	Contents bool // files, state and outputs are in it
	Style    template.CSS
	Script   template.JS
	Policy   string
	Written  checkpoint.Time
}

// Tips are the commits of the checkpoints that a file of the session shows: what has to be allowed to
// leave before it is written.
func Tips(t *inspect.Timeline) (tips []name.OID) {
	for _, step := range t.Steps[max(0, len(t.Steps)-mostInFile):] {
		tips = append(tips, step.Commit)
	}
	return tips
}

// WriteFile writes a session as one HTML file that needs neither this server nor a network.
func (s *Server) WriteFile(ctx context.Context, service *checkpoint.Service, t *inspect.Timeline, contents bool, to io.Writer) error {
	begin := max(0, len(t.Steps)-mostInFile)
	p := &filePage{timelinePage: timelinePage{Timeline: *t, Older: begin}, Contents: contents, Written: checkpoint.Time{Time: s.Now()}}
	rows := p.rows(ctx, service, begin, len(t.Steps))
	p.Drawing, p.Days, p.Metrics = draw(rows, t.Moves), days(rows), nil
	for i := len(rows) - 1; i >= 0; i-- {
		one, err := s.inFile(ctx, service, rows[i], contents)
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

// inFile is a checkpoint of the file. One that is damaged is named, and the others are shown.
func (s *Server) inFile(ctx context.Context, service *checkpoint.Service, r row, contents bool) (*stepPage, error) {
	p, err := s.stepOf(ctx, service, r.Session, string(r.ID), "")
	if err != nil {
		if ctx.Err() != nil {
			return nil, err
		}
		return &stepPage{Checks: []checked{{Message: plain(err.Error())}}, Missing: r.Label, Anchor: string(r.ID)}, nil
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

// dress puts style and script into the file. Its policy allows that script alone.
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
