package web

import (
	"bytes"
	"context"
	"embed"
	"encoding/json"
	"fmt"
	"html/template"
	"io/fs"
	"net/http"
	"net/url"
	"path"
	"strings"
	"unicode"

	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/format/render"
	"git-checkpoint/internal/verb/create"
)

//go:embed templates/*.html static/*
var embedded embed.FS

// view is what a page function returns: data, and the template that draws it.
type view struct {
	Name  string // the template's file name without ".html"
	Title string
	Data  any
}

// frame is what the templates see: the page's view, and what all pages need around it.
type frame struct {
	view
	Session string // the session of the request; links keep it
	// Write shows the buttons of actions, Form is the token that their forms carry.
	Write bool
	Form  string
	// File is set when the page goes into a file, in which links lead to anchors and nothing can be
	// loaded.
	File bool
}

// page turns a function that makes a view into an HTTP handler. It opens the repository for the
// request, draws the view, or an error as a page of its own, and only then begins the response, so
// that the status is right.
func (s *Server) page(look func(context.Context, *checkpoint.Service, *http.Request) (view, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		s.one.Lock()
		defer s.one.Unlock()
		var v view
		err := s.Open(r.Context(), func(service *checkpoint.Service) (err error) {
			v, err = look(r.Context(), service, r)
			return err
		})
		status := http.StatusOK
		if err != nil {
			v, status = problem(err)
		}
		f := frame{view: v, Session: r.FormValue("session"), Write: s.Write != nil, Form: s.form}
		var page bytes.Buffer
		if err := s.draw(&page, f); err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		w.WriteHeader(status)
		_, _ = w.Write(page.Bytes()) // the browser may have gone
	}
}

// draw draws a page with its frame. The caller holds s.one, or is the only user of the Server.
func (s *Server) draw(to *bytes.Buffer, f frame) error {
	if s.templates == nil {
		var err error
		if s.templates, err = template.New("").Funcs(s.functions(f.File)).ParseFS(embedded, "templates/*.html"); err != nil {
			return fmt.Errorf("templates: %w", err)
		}
	}
	if err := s.templates.ExecuteTemplate(to, map[bool]string{false: "frame.html", true: "file.html"}[f.File], drawable{f, s.templates}); err != nil {
		return fmt.Errorf("draw %s: %w", f.Name, err)
	}
	return nil
}

// drawable is a frame that can draw its content: html/template cannot call a template whose name is
// a variable, so the frame calls Content instead.
type drawable struct {
	frame
	templates *template.Template
}

// Content draws the page's own template. Its result is not escaped again.
func (d drawable) Content() (template.HTML, error) {
	var out bytes.Buffer
	err := d.templates.ExecuteTemplate(&out, d.Name+".html", d.frame)
	return template.HTML(out.String()), err //nolint:gosec // html/template has escaped it
}

// functions are those that templates may call. In a file, links to steps become anchors.
func (s *Server) functions(file bool) template.FuncMap {
	return template.FuncMap{
		"step": func(session, id any) string {
			if file {
				return fmt.Sprintf("#%v", id)
			}
			return query("/step", "session", session, "ref", id)
		},
		"ago":    func(t checkpoint.Time) string { return render.Age(t.Time, s.Now()) },
		"exact":  func(t checkpoint.Time) string { return t.Local().Format("2006-01-02 15:04:05") },
		"query":  query,
		"branch": func(ref any) string { return plain(strings.TrimPrefix(fmt.Sprint(ref), "refs/heads/")) },
		"first":  firstLine,
		"plain":  plain,
		"json":   func(raw json.RawMessage) string { return plain(string(create.Compact(raw))) },
	}
}

// query builds an address: a path, then pairs of name and value, which are escaped. Pairs with an
// empty value are left out. Addresses are relative, because the path of every page begins with the secret.
func query(path string, pairs ...any) string {
	path = "." + path
	values := url.Values{}
	for i := 0; i+1 < len(pairs); i += 2 {
		if value := fmt.Sprint(pairs[i+1]); value != "" {
			values.Set(fmt.Sprint(pairs[i]), value)
		}
	}
	if len(values) == 0 {
		return path
	}
	return path + "?" + values.Encode()
}

// firstLine is the first line of a text, such as the subject of a message.
func firstLine(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	return plain(line)
}

// plain replaces control and format characters, except newline, tab and the joiner of emoji, by
// their numbers. html/template escapes markup, but characters that reverse the direction of writing
// or have no width could still make a name or a diff look like another one.
func plain(text string) string {
	var out strings.Builder
	for _, r := range strings.ToValidUTF8(text, "\ufffd") {
		switch {
		case r == '\n' || r == '\t' || !unicode.In(r, unicode.Cc, unicode.Cf) || r == '\u200d':
			out.WriteRune(r)
		default:
			fmt.Fprintf(&out, "⟨U+%04X⟩", r)
		}
	}
	return out.String()
}

// trouble is an error with its hints, as a page shows it.
type trouble struct {
	Message string
	Hints   []string
}

func troubleOf(err error) *trouble {
	return &trouble{checkpoint.MessageOf(err), checkpoint.HintsOf(err)}
}

// problem is the page for an error, and its HTTP status.
func problem(err error) (view, int) {
	status := http.StatusInternalServerError
	switch checkpoint.KindOf(err) {
	case checkpoint.KindNotFound:
		status = http.StatusNotFound
	case checkpoint.KindUsage:
		status = http.StatusBadRequest
	case checkpoint.KindRefused, checkpoint.KindConflict, checkpoint.KindRejected, checkpoint.KindNothing:
		status = http.StatusConflict
	}
	return view{Name: "problem", Title: "This cannot be shown", Data: troubleOf(err)}, status
}

// static answers with an embedded style or script.
func static(w http.ResponseWriter, r *http.Request) {
	name := r.PathValue("name")
	data, err := fs.ReadFile(embedded, path.Join("static", path.Base(name)))
	kind := map[string]string{".css": "text/css", ".js": "text/javascript"}[path.Ext(name)]
	if err != nil || kind == "" {
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Content-Type", kind+"; charset=utf-8")
	w.Header().Set("Cache-Control", "private, max-age=3600") // unlike a page, it has no content of the repository
	_, _ = w.Write(data)                                     // the browser may have gone
}
