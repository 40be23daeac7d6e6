package interop

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"git-checkpoint/internal/name"
	"git-checkpoint/internal/transfer"
)

// reading is the import of one layout: what was found, and what could not be read.
type reading struct {
	*tree
	sessions []transfer.ImportSession
	problems []Problem
	warnings []string
	settings json.RawMessage // a foreign configuration, for the workflow to translate
}

func (r *reading) problem(p, format string, args ...any) {
	r.problems = append(r.problems, Problem{Path: p, Message: fmt.Sprintf(format, args...)})
}

func (r *reading) warn(format string, args ...any) {
	r.warnings = append(r.warnings, fmt.Sprintf(format, args...))
}

// names lists what is in a directory; one that cannot be read is a problem.
func (r *reading) names(dir string) []fs.DirEntry {
	entries, err := r.list(dir)
	if err != nil {
		r.problem(dir, "%v", err)
	}
	return entries
}

// source is a document as it was read.
type source struct {
	path string
	text []byte
	json json.RawMessage
	at   gjson.Result // the document

	digest string // made when it is first needed
}

// digested is the digest of the document.
func (s *source) digested() (string, error) {
	var err error
	if s.digest == "" {
		s.digest, err = transfer.DocumentDigest(s.json)
	}
	return s.digest, err
}

// json reads a JSON document strictly.
func (r *reading) json(p string) (source, bool) {
	text, err := r.read(p)
	if err != nil {
		if !errors.Is(err, fs.ErrNotExist) {
			r.problem(p, "%v", err)
		} else if _, dangling := r.link(p); dangling {
			r.problem(p, "a symbolic link leads nowhere")
		}
		return source{}, false
	}
	doc, err := transfer.ParseDocument(bytes.TrimPrefix(text, []byte("\xef\xbb\xbf")))
	if err != nil {
		r.problem(p, "%v", err)
		return source{}, false
	}
	return source{path: p, text: text, json: doc, at: gjson.ParseBytes(doc)}, true
}

// kept is the document to be kept as it was.
func (s source) kept(as string) transfer.ImportFile {
	return transfer.ImportFile{Name: as, Content: s.text}
}

// text is a member that is a string or a number, else "".
func text(at gjson.Result, paths ...string) string {
	for _, p := range paths {
		if v := at.Get(p); v.Type == gjson.String {
			return v.Str
		} else if v.Type == gjson.Number {
			return v.Raw
		}
	}
	return ""
}

// texts is a member that is a list of strings.
func texts(at gjson.Result) []string {
	var out []string
	for _, v := range at.Array() {
		if v.Type == gjson.String {
			out = append(out, v.Str)
		}
	}
	return out
}

// whole is a member that is a whole number from 0.
func whole(v gjson.Result) *int {
	if v.Type != gjson.Number || strings.Trim(v.Raw, "0123456789") != "" || len(v.Raw) > 9 {
		return nil
	}
	n := int(v.Int())
	return &n
}

// moment is the first of some texts that is a time.
func moment(texts ...string) (time.Time, bool) {
	for _, s := range texts {
		for _, form := range [...]string{
			time.RFC3339Nano, "2006-01-02T15:04:05.999999999", "2006-01-02 15:04:05.999999999Z07:00", "2006-01-02 15:04:05.999999999",
			"2006-01-02T15:04Z07:00", "20060102T150405Z", "20060102_150405", "2006-01-02T15:04", "2006-01-02", "20060102",
		} {
			if t, err := time.Parse(form, s); err == nil && t.Year() > 0 && t.Year() < 10000 {
				return t.UTC().Truncate(time.Millisecond), true
			}
		}
	}
	return time.Time{}, false
}

// stem is a file's name without its ending; ok is false for another ending.
func stem(file string, endings ...string) (string, bool) {
	for _, e := range endings {
		if s, ok := strings.CutSuffix(file, e); ok && s != "" {
			return s, true
		}
	}
	return "", false
}

// sessionOf makes a session's name of what a layout calls it. What the grammar does not
// have is replaced, and then part of a digest keeps two such names apart.
func sessionOf(called string) (string, error) {
	for _, c := range called {
		if c < ' ' || c == 0x7f || c == '/' || c == '\\' {
			return "", fmt.Errorf("the id %q leads elsewhere", called)
		}
	}
	if called == "" || strings.Trim(called, ".") == "" || strings.Contains(called, "..") {
		return "", fmt.Errorf("the id %q leads elsewhere", called)
	}
	return string(name.SessionFor(called)), nil
}

// add takes a session with documents; names that become one are a problem.
func (r *reading) add(dir string, s transfer.ImportSession) {
	for _, other := range r.sessions {
		if strings.EqualFold(other.Session, s.Session) {
			r.problem(dir, "its session %q is also that of another (%s)", s.Session, pathOf(other))
			return
		}
	}
	r.sessions = append(r.sessions, s)
}

func pathOf(s transfer.ImportSession) string {
	for _, step := range s.Steps {
		if step.Document != nil {
			return step.Document.Path
		}
	}
	return s.Session
}
