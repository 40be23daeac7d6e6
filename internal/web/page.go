package web

import (
	"bytes"
	"context"
	"embed"
	"errors"
	"fmt"
	"html/template"
	"io/fs"
	"net/http"
	"net/url"
	"path"
	"strings"
	"unicode"

	"git-checkpoint/internal/checkpoint"
	"git-checkpoint/internal/render"
)

//go:embed templates/*.html static/*
var embedded embed.FS

// view is a page that is ready to be drawn.
type view struct {
	Name  string // of its template
	Title string
	Data  any
}

// frame is what every page has around its own data.
type frame struct {
	view
	Session string
	Write   bool
	Form    string
	File    bool // it is written into a file: there is no server to ask
}

// page answers a request with a view of the repository.
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
		_, _ = w.Write(page.Bytes()) // a browser that is gone hears nothing
	}
}

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

// drawable lets the frame draw the page's own template, whose name is data.
type drawable struct {
	frame
	templates *template.Template
}

// Content draws the page inside the frame.
func (d drawable) Content() (template.HTML, error) {
	var out bytes.Buffer
	err := d.templates.ExecuteTemplate(&out, d.Name+".html", d.frame)
	return template.HTML(out.String()), err //nolint:gosec // html/template has escaped it
}

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
		"json":   compact,
	}
}

// query is an address with escaped values: path, name, value, name, value, …; empty values are left out.
func query(path string, pairs ...any) string {
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

func firstLine(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	return plain(line)
}

// plain shows characters that would change how a page reads, such as those that turn the direction of
// writing, as their numbers.
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

// trouble is an error as a page.
type trouble struct {
	Message string
	Hints   []string
}

func problem(err error) (view, int) {
	t := trouble{Message: err.Error()}
	var known *checkpoint.Error
	if errors.As(err, &known) {
		t.Hints = known.Hints
	}
	status := http.StatusInternalServerError
	switch checkpoint.KindOf(err) {
	case checkpoint.KindNotFound:
		status = http.StatusNotFound
	case checkpoint.KindUsage:
		status = http.StatusBadRequest
	case checkpoint.KindRefused, checkpoint.KindConflict, checkpoint.KindRejected:
		status = http.StatusConflict
	}
	return view{Name: "problem", Title: "Cannot show this", Data: t}, status
}

// static answers with an embedded file.
func static(w http.ResponseWriter, r *http.Request) {
	name := r.PathValue("name")
	data, err := fs.ReadFile(embedded, path.Join("static", path.Base(name)))
	kind := map[string]string{".css": "text/css", ".js": "text/javascript"}[path.Ext(name)]
	if err != nil || kind == "" {
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Content-Type", kind+"; charset=utf-8")
	w.Header().Set("Cache-Control", "private, max-age=3600") // it is no content of the job
	_, _ = w.Write(data)                                     // a browser that is gone hears nothing
}
