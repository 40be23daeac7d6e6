package interop

import (
	"database/sql"
	"encoding/json"
	"errors"
	"io/fs"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/tidwall/gjson"

	"git-checkpoint/internal/create"
	"git-checkpoint/internal/transfer"
)

// ultraCreate has a JSON document per checkpoint and a database with a row per checkpoint:
//
//	.ultra-state/checkpoints/cp_20260203_101500_phase2.json
//	data/projects.db    table checkpoints (id, project_id, phase, state, timestamp)
//
// All projects are side by side in both. A checkpoint may be in either or in both; then they have
// to agree. A session is a project.
type ultraCreate struct{}

const (
	ultraHome     = ".ultra-state/checkpoints"
	ultraDatabase = "data/projects.db"
	keptRow       = "row.json"
)

func (ultraCreate) containers() []string { return []string{ultraHome, path.Dir(ultraDatabase)} }

// ultraID matches the id of a checkpoint. The groups are its time and the number of its phase.
var ultraID = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^cp_(\d{8}_\d{6})_phase(\d+)`) })

// ultraProjects has the documents of an import by project and id.
type ultraProjects map[string]map[string]*transfer.ImportDocument

// read reads the rows first, so that each document can be compared with its row. Rows without a
// document become documents of their own.
func (u ultraCreate) read(r *reading) {
	projects := ultraProjects{}
	seen := ids{}
	rows := u.rows(r)
	for name, src := range r.documents(ultraHome, func(p string) bool { return u.wants(r, p) }) {
		u.document(r, name, src, seen, rows, projects)
	}
	for _, id := range create.SortedKeys(rows) {
		if row := rows[id]; !row.told {
			u.row(r, row, projects)
		}
	}
	for _, name := range create.SortedKeys(projects) {
		u.project(r, name, slices.Collect(maps.Values(projects[name])))
	}
}

// wants reports whether a path is part of the import. Unless a single file was asked for, it always
// is: documents and database belong together although they are in different directories.
func (ultraCreate) wants(r *reading, p string) bool {
	return !strings.HasSuffix(r.only, ".json") && !strings.HasSuffix(r.only, ".db") || r.wanted(p)
}

// rows reads the database and returns its rows by id, nil if there is no database.
func (u ultraCreate) rows(r *reading) map[string]*ultraRow {
	// A single document was asked for, so its row does not matter.
	if !u.wants(r, ultraDatabase) {
		return nil
	}
	file, err := r.real(ultraDatabase)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	var rows []*ultraRow
	if err == nil {
		rows, err = readDatabase(file)
	}
	if err != nil {
		r.problem(ultraDatabase, "%v", err)
		return nil
	}
	byID := make(map[string]*ultraRow, len(rows))
	for _, row := range rows {
		byID[row.ID] = row
	}
	return byID
}

// document reads one document, or reports why it cannot. If there is a row for it, the row is kept
// as well.
func (u ultraCreate) document(r *reading, name string, src source, seen ids, rows map[string]*ultraRow, projects ultraProjects) {
	at := src.at
	id := text(at, "checkpoint_id", "id")
	if !at.IsObject() || id == "" && !at.Get("project_id").Exists() && !ultraID().MatchString(name) {
		r.warn("%s: it is not a checkpoint of ultra-create and is left out", src.path)
		return
	}
	if id == "" {
		id = name
	}
	if !isPlainID(id) || !safeName(name) {
		r.problem(src.path, "the id %q is not a plain file name", id)
		return
	}
	if !at.Get("state").IsObject() {
		r.problem(src.path, "it has no state")
		return
	}
	if !seen.take(r, id, &src) {
		return
	}
	d := &transfer.ImportDocument{Key: id, Path: src.path, JSON: src.json, Digest: src.digest, Kept: []transfer.ImportFile{src.kept(keptDocument)}}
	if row := rows[id]; row != nil {
		// Mark the row before comparing, so that a conflict is reported once and not imported as a
		// row.
		row.told = true
		if differs := row.differs(at); differs != "" {
			r.problem(src.path, "a row in %[2]s has the same id %[1]q, with another %[3]s", id, ultraDatabase, differs)
			return
		}
		d.Kept = append(d.Kept, transfer.ImportFile{Name: keptRow, Content: create.JSONFile(row.json())})
	}
	u.add(r, d, at, projects)
}

// row adds a checkpoint that is only in the database. Its path in messages is <database>#<id>.
func (u ultraCreate) row(r *reading, row *ultraRow, projects ultraProjects) {
	p := ultraDatabase + "#" + row.ID
	if !isPlainID(row.ID) || !safeName(row.ID) {
		r.problem(ultraDatabase, "the id %q is not a plain file name", row.ID)
		return
	}
	doc, err := row.document()
	if err != nil {
		r.problem(p, "%v", err)
		return
	}
	d := &transfer.ImportDocument{Key: row.ID, Path: p, JSON: doc, Kept: []transfer.ImportFile{{Name: keptRow, Content: create.JSONFile(row.json())}}}
	u.add(r, d, gjson.ParseBytes(doc), projects)
}

// add adds a document to its project, which it creates if necessary.
func (u ultraCreate) add(r *reading, d *transfer.ImportDocument, at gjson.Result, projects ultraProjects) {
	project := text(at, "project_id")
	if project == "" {
		r.problem(d.Path, "it has no project_id")
		return
	}
	stamp := ""
	if parts := ultraID().FindStringSubmatch(d.Key); parts != nil {
		stamp = parts[1]
	}
	var ok bool
	if d.At, ok = moment(text(at, "timestamp"), stamp); !ok {
		r.problem(d.Path, "it has no timestamp")
		return
	}
	d.Step, d.StepName = phaseNumber(at.Get("phase")), text(at, "phase")
	d.Trigger, d.Message = text(at, "trigger"), text(at, "description", "message")
	d.Commit, d.Branch = text(at, "state.git_state.commit"), text(at, "state.git_state.branch")
	for _, f := range at.Get("state.files_created").Array() {
		if p := text(f, "path"); p != "" {
			d.Created = append(d.Created, p)
		}
	}
	// Check the name here, where the problem can be reported with the document's path.
	if _, err := sessionOf(project); err != nil {
		r.problem(d.Path, "project_id: %v", err)
		return
	}
	if projects[project] == nil {
		projects[project] = map[string]*transfer.ImportDocument{}
	}
	projects[project][d.Key] = d
}

// phaseNumber returns the number of a phase, which is written as 2 or "phase_2".
func phaseNumber(v gjson.Result) *int {
	if n := whole(v); n != nil {
		return n
	}
	digits := strings.TrimPrefix(v.Str, "phase_")
	return whole(gjson.Parse(digits))
}

// project adds the session of a project. Documents are in the order of their times and the last one
// is current, because the layout records neither.
func (ultraCreate) project(r *reading, id string, documents []*transfer.ImportDocument) {
	session, err := sessionOf(id)
	if err != nil {
		r.problem(ultraHome, "project_id: %v", err)
		return
	}
	in := transfer.ImportSession{Session: session, Workflow: UltraCreate}
	documents = ordered(documents, func(*transfer.ImportDocument) int { return 0 })
	for _, d := range documents {
		in.Steps = append(in.Steps, transfer.ImportStep{Document: d})
		in.Current, in.Branch = d.Key, d.Branch
	}
	in.CreatedAt = documents[0].At
	r.add(ultraHome, in)
}

// ultraRow is a row of the table checkpoints, with all columns as text.
type ultraRow struct {
	ID                               string
	Project, Phase, State, Timestamp sql.NullString

	told bool // there is a document for it too
}

// column returns a text as the value of a column.
func column(text string) sql.NullString { return sql.NullString{String: text, Valid: true} }

// json returns the row as JSON, the form in which a checkpoint keeps it. rowOf reads it.
func (row *ultraRow) json() json.RawMessage {
	var o object
	o.set("id", row.ID)
	for _, c := range []struct {
		name  string
		value sql.NullString
	}{{"project_id", row.Project}, {"phase", row.Phase}, {"state", row.State}, {"timestamp", row.Timestamp}} {
		if c.value.Valid {
			o.set(c.name, c.value.String)
		} else {
			o.set(c.name, nil)
		}
	}
	return o.json()
}

// document returns the document that ultra-create would have written along with the row.
func (row *ultraRow) document() (json.RawMessage, error) {
	state, err := transfer.ParseDocument([]byte(row.State.String))
	if err != nil {
		return nil, err
	}
	if !gjson.ParseBytes(state).IsObject() {
		return nil, errors.New("its state is not an object")
	}
	var o object
	o.set("checkpoint_id", row.ID)
	o.set("project_id", row.Project.String)
	o.set("phase", row.Phase.String)
	o.set("timestamp", row.Timestamp.String)
	o.raw("state", state)
	return o.json(), nil
}

// differs returns the first member in which a document and its row differ, "" if they agree. A
// column that is NULL agrees with everything. Times and states are compared by value.
func (row *ultraRow) differs(at gjson.Result) string {
	if row.Project.Valid && text(at, "project_id") != row.Project.String {
		return "project_id"
	}
	if row.Phase.Valid && text(at, "phase") != row.Phase.String {
		return "phase"
	}
	if a, ok := moment(text(at, "timestamp")); row.Timestamp.Valid {
		if b, okToo := moment(row.Timestamp.String); ok != okToo || !a.Equal(b) {
			return "timestamp"
		}
	}
	if !row.State.Valid {
		return ""
	}
	if !sameJSON([]byte(row.State.String), []byte(at.Get("state").Raw)) {
		return "state"
	}
	return ""
}
