package interop

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"git-checkpoint/internal/core/workflow"
	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/verb/transfer"
)

// reading collects the results of reading one layout. A problem is a document that cannot be
// imported; it stops the import unless the user wants the rest. A warning stops nothing. Paths in
// messages are paths in the layout.
type reading struct {
	*tree
	sessions []transfer.ImportSession
	problems []Problem
	warnings []string
	settings json.RawMessage // a foreign configuration, for the workflow to translate
}

// problem records that a file cannot be imported.
func (r *reading) problem(p, format string, args ...any) {
	r.problems = append(r.problems, Problem{Path: p, Message: fmt.Sprintf(format, args...)})
}

// warn records something that does not prevent the import.
func (r *reading) warn(format string, args ...any) {
	r.warnings = append(r.warnings, fmt.Sprintf(format, args...))
}

// errForeign means that a file is not a document of the layout. It is left out with a warning.
var errForeign = errors.New("it is not a checkpoint of the layout")

// each reads those files of a directory that have one of the endings and are wanted, and calls take
// with the name of each without the ending. An error of take is a problem of the file.
func (r *reading) each(layout, dir string, files []fs.DirEntry, endings []string, take func(name string, src *source) error) {
	for _, e := range files {
		name, is := stem(e.Name(), endings...)
		p := path.Join(dir, e.Name())
		// Nothing makes directories among go-team's documents, so one with such a name is damage there.
		if !is || e.IsDir() && layout != GoTeam || !r.wanted(p) {
			continue
		}
		src, ok := r.parsed(p)
		if !ok {
			continue
		}
		if err := take(name, src); errors.Is(err, errForeign) {
			r.warn("%s: it is not a checkpoint of %s and is left out", p, layout)
		} else if err != nil {
			r.problem(p, "%v", err)
		}
	}
}

// names lists a directory. A missing directory is empty; one that cannot be read is a problem.
func (r *reading) names(dir string) []fs.DirEntry {
	entries, err := r.list(dir)
	if err != nil {
		r.problem(dir, "%v", err)
	}
	return entries
}

// source is a document that was read.
type source struct {
	// text is the file as it is; json is the same document as JSON, and at is that JSON, parsed.
	path string
	text []byte
	json json.RawMessage
	at   gjson.Result
}

// parsed reads a document strictly, as YAML unless its name ends in .json. If it cannot, it reports
// a problem and returns false. A file that has vanished since its directory was listed is not a
// problem, but a dangling link is.
func (r *reading) parsed(p string) (*source, bool) {
	text, err := r.read(p)
	if err != nil {
		if !errors.Is(err, fs.ErrNotExist) {
			r.problem(p, "%v", err)
		} else if _, dangling := r.link(p); dangling {
			r.problem(p, "a broken symbolic link is in the way")
		}
		return nil, false
	}
	doc, err := parse(text, p)
	if err != nil {
		r.problem(p, "%v", err)
		return nil, false
	}
	return &source{path: p, text: text, json: doc, at: gjson.ParseBytes(doc)}, true
}

// parse returns a document as JSON. Its name says whether it is JSON or YAML.
func parse(text []byte, name string) (doc json.RawMessage, err error) {
	doc = unmarked(text)
	if path.Ext(name) != ".json" {
		if doc, err = yamlToJSON(doc); err != nil {
			return nil, err
		}
	}
	return transfer.ParseDocument(doc)
}

// unmarked returns a text without the byte order mark with which Windows editors start a file: JSON
// does not allow it.
func unmarked(text []byte) []byte { return bytes.TrimPrefix(text, []byte("\xef\xbb\xbf")) }

// document returns the checkpoint of a document under a key. It keeps the original file under the
// given name.
func (s *source) document(key, as string) *transfer.ImportDocument {
	return &transfer.ImportDocument{Key: key, Path: s.path, JSON: s.json, Kept: []transfer.ImportFile{s.kept(as)}}
}

// kept returns the original file under a name, for the checkpoint to keep. An export writes it back
// byte for byte.
func (s *source) kept(as string) transfer.ImportFile {
	return transfer.ImportFile{Name: as, Content: s.text}
}

func stepOf(d *transfer.ImportDocument) transfer.ImportStep { return transfer.ImportStep{Document: d} }

// text returns the first of the given members that is a string or a number, or "".
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

// texts returns the strings in a list and skips other items.
func texts(at gjson.Result) []string {
	var out []string
	for _, v := range at.Array() {
		if v.Type == gjson.String {
			out = append(out, v.Str)
		}
	}
	return out
}

// whole returns a number if it is a non-negative integer of at most nine digits, else nil.
func whole(v gjson.Result) *int {
	if v.Type != gjson.Number || strings.Trim(v.Raw, "0123456789") != "" || len(v.Raw) > 9 {
		return nil
	}
	return new(int(v.Int()))
}

// moment returns the first text that is a time, in UTC and cut to milliseconds, in one of the forms
// that workflows know or that ids contain. No commit can be older than 1970, and a time of the year 1
// is what some programs write if they have none.
func moment(texts ...string) (time.Time, bool) {
	for _, s := range texts {
		t, ok := workflow.ParseTime(s)
		for _, form := range [...]string{"20060102_150405", "20060102"} {
			if inID, err := time.Parse(form, s); err == nil {
				t, ok = inID, true
			}
		}
		if ok && t.Unix() >= 0 && t.Year() < 10000 {
			return t.UTC().Truncate(time.Millisecond), true
		}
	}
	return time.Time{}, false
}

// ordered returns documents as a manifest or an index lists them. place gives the position of a
// document in that list, 0 if it is not there. Such a document comes before the first listed one
// that is later, by time and, if that is equal, by key.
func ordered(documents []*transfer.ImportDocument, place func(*transfer.ImportDocument) int) []*transfer.ImportDocument {
	byTime := func(a, b *transfer.ImportDocument) int {
		return cmp.Or(a.At.Compare(b.At), strings.Compare(a.Key, b.Key))
	}
	var listed, others, out []*transfer.ImportDocument
	for _, d := range documents {
		if place(d) > 0 {
			listed = append(listed, d)
		} else {
			others = append(others, d)
		}
	}
	slices.SortStableFunc(listed, func(a, b *transfer.ImportDocument) int { return place(a) - place(b) })
	slices.SortStableFunc(others, byTime)
	for _, d := range listed {
		for len(others) > 0 && byTime(others[0], d) < 0 {
			out, others = append(out, others[0]), others[1:]
		}
		out = append(out, d)
	}
	return append(out, others...)
}

// jsonFiles and yamlFiles are the endings of documents.
var (
	jsonFiles = []string{".json"}
	yamlFiles = []string{".yaml", ".yml"}
)

// stem returns a file name without its extension. ok is false if it has none of the given ones.
func stem(file string, endings ...string) (string, bool) {
	for _, e := range endings {
		if s, ok := strings.CutSuffix(file, e); ok && s != "" {
			return s, true
		}
	}
	return "", false
}

// sessionOf converts a layout's name for a session to a valid session name. Characters that are not
// allowed are replaced, and part of a digest is added to keep such names distinct. A name that
// could be a path is an error.
func sessionOf(called string) (string, error) {
	odd := func(c rune) bool { return c < ' ' || c == 0x7f || c == 0xfffd || c == '/' || c == '\\' }
	if strings.Trim(called, ".") == "" || strings.Contains(called, "..") || strings.ContainsFunc(called, odd) {
		return "", fmt.Errorf("the id %q is not a plain file name", called)
	}
	return string(name.SessionFor(called)), nil
}

// add adds a session. Two sessions whose names differ at most in case are a problem.
func (r *reading) add(dir string, s transfer.ImportSession) {
	for _, other := range r.sessions {
		if strings.EqualFold(other.Session, s.Session) {
			r.problem(dir, "another document has the same session %q (%s)", s.Session, pathOf(other))
			return
		}
	}
	r.sessions = append(r.sessions, s)
}

// addOnce adds the session of a layout with one document for each session. A second document of a
// session is a copy, because ids has refused one that says something else; it is left out.
func (r *reading) addOnce(s transfer.ImportSession, d *transfer.ImportDocument) {
	for _, other := range r.sessions {
		if other.Session == s.Session {
			r.warn("%s: it has the same contents as %s", d.Path, pathOf(other))
			return
		}
	}
	s.Steps = []transfer.ImportStep{stepOf(d)}
	r.add(d.Path, s)
}

// pathOf returns the path of a session's first document, to name it in a message. A session begins
// with a document: a rollback has one to return to.
func pathOf(s transfer.ImportSession) string { return s.Steps[0].Document.Path }
