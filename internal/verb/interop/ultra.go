package interop

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"git-checkpoint/internal/sys/gather"
	"git-checkpoint/internal/sys/lazy"
	"git-checkpoint/internal/verb/create"
	"git-checkpoint/internal/verb/transfer"
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

// ultraID matches the id of a checkpoint. The groups are its time and the number of its phase.
var ultraID = lazy.Pattern(`^cp_(\d{8}_\d{6})_phase(\d+)`)

// ultraProjects has the documents of an import by project and id.
type ultraProjects map[string]map[string]*transfer.ImportDocument

// read reads the rows first, so that each document can be compared with its row. Rows without a
// document become documents of their own.
func (u ultraCreate) read(r *reading) {
	// Documents and database belong together although they are in different directories.
	if !strings.HasSuffix(r.only, ".json") && !strings.HasSuffix(r.only, ".db") {
		r.only = ""
	}
	projects := ultraProjects{}
	seen := ids{}
	rows := u.rows(r)
	r.each(UltraCreate, ultraHome, r.names(ultraHome), jsonFiles, func(name string, src *source) error {
		return u.document(name, src, seen, rows, projects)
	})
	for _, id := range create.SortedKeys(rows) {
		if row := rows[id]; !row.told {
			u.row(r, row, projects)
		}
	}
	for _, name := range create.SortedKeys(projects) {
		u.project(r, name, slices.Collect(maps.Values(projects[name])))
	}
}

// rows reads the database and returns its rows by id, nil if there is no database.
func (u ultraCreate) rows(r *reading) map[string]*ultraRow {
	// A single document was asked for, so its row does not matter.
	if !r.wanted(ultraDatabase) {
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
	return gather.Map(rows, func(row *ultraRow) (string, *ultraRow) { return row.ID, row })
}

// document reads one document. If there is a row for it, the row is kept as well.
func (u ultraCreate) document(name string, src *source, seen ids, rows map[string]*ultraRow, projects ultraProjects) error {
	at := src.at
	id := text(at, "checkpoint_id", "id")
	if !at.IsObject() || id == "" && !at.Get("project_id").Exists() && !ultraID().MatchString(name) {
		return errForeign
	}
	id = cmp.Or(id, name)
	if !isPlainID(id) || !safeName(name) {
		return fmt.Errorf("the id %q is not a plain file name", id)
	}
	if !at.Get("state").IsObject() {
		return errors.New("it has no state")
	}
	if err := seen.claim(id, src); err != nil {
		return err
	}
	d := src.document(id, keptDocument)
	if row := rows[id]; row != nil {
		// Mark the row before comparing, so that a conflict is reported once and not imported as a
		// row.
		row.told = true
		if differs := row.differs(at); differs != "" {
			return fmt.Errorf("a row in %s has the same id %q, with another %s", ultraDatabase, id, differs)
		}
		d.Kept = append(d.Kept, row.kept())
	}
	return projects.add(d, at)
}

// row adds a checkpoint that is only in the database. Its path in messages is <database>#<id>.
func (ultraCreate) row(r *reading, row *ultraRow, projects ultraProjects) {
	p := ultraDatabase + "#" + row.ID
	if !isPlainID(row.ID) || !safeName(row.ID) {
		r.problem(ultraDatabase, "the id %q is not a plain file name", row.ID)
		return
	}
	doc, err := row.document()
	if err == nil {
		err = projects.add(&transfer.ImportDocument{Key: row.ID, Path: p, JSON: doc, Kept: []transfer.ImportFile{row.kept()}}, gjson.ParseBytes(doc))
	}
	if err != nil {
		r.problem(p, "%v", err)
	}
}

// add adds a document to its project, which it creates if necessary.
func (projects ultraProjects) add(d *transfer.ImportDocument, at gjson.Result) error {
	project := text(at, "project_id")
	if project == "" {
		return errors.New("it has no project_id")
	}
	stamp := ""
	if parts := ultraID().FindStringSubmatch(d.Key); parts != nil {
		stamp = parts[1]
	}
	var ok bool
	if d.At, ok = moment(text(at, "timestamp"), stamp); !ok {
		return errors.New("it has no timestamp that is a time from 1970 on")
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
		return fmt.Errorf("project_id: %w", err)
	}
	if projects[project] == nil {
		projects[project] = map[string]*transfer.ImportDocument{}
	}
	projects[project][d.Key] = d
	return nil
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
	session, _ := sessionOf(id) //nolint:errcheck // add has checked it
	in := transfer.ImportSession{Session: session, Format: UltraCreate}
	documents = ordered(documents, func(*transfer.ImportDocument) int { return 0 })
	last := documents[len(documents)-1]
	in.Steps, in.Current, in.Branch, in.CreatedAt = gather.List(documents, stepOf), last.Key, last.Branch, documents[0].At
	r.add(ultraHome, in)
}

// ultraRow is a row of the table checkpoints, with all columns as text, nil for NULL. Its JSON is the
// form in which a checkpoint keeps it.
type ultraRow struct {
	ID        string  `json:"id"`
	Project   *string `json:"project_id"`
	Phase     *string `json:"phase"`
	State     *string `json:"state"`
	Timestamp *string `json:"timestamp"`

	told bool // there is a document for it too
}

// kept returns the row as a checkpoint keeps it. rowOf reads it.
func (row *ultraRow) kept() transfer.ImportFile {
	return transfer.ImportFile{Name: keptRow, Content: row.file()}
}

func (row *ultraRow) file() []byte { return create.JSONFile(encode(row)) }

// columnText returns the text of a column, "" for NULL.
func columnText(column *string) string { return *cmp.Or(column, new(string)) }

// document returns the document that ultra-create would have written along with the row.
func (row *ultraRow) document() (json.RawMessage, error) {
	state, err := transfer.ParseDocument([]byte(columnText(row.State)))
	if err != nil {
		return nil, err
	}
	if !gjson.ParseBytes(state).IsObject() {
		return nil, errors.New("its state is not an object")
	}
	o := objectOf("checkpoint_id", row.ID, "project_id", columnText(row.Project), "phase", columnText(row.Phase), "timestamp", columnText(row.Timestamp))
	o.raw("state", state)
	return o.json(), nil
}

// differs returns the first member in which a document and its row differ, "" if they agree. A
// column that is NULL agrees with everything. Times and states are compared by value.
func (row *ultraRow) differs(at gjson.Result) string {
	if row.Project != nil && text(at, "project_id") != *row.Project {
		return "project_id"
	}
	if row.Phase != nil && text(at, "phase") != *row.Phase {
		return "phase"
	}
	if a, ok := moment(text(at, "timestamp")); row.Timestamp != nil {
		if b, okToo := moment(*row.Timestamp); ok != okToo || !a.Equal(b) {
			return "timestamp"
		}
	}
	if row.State != nil && !sameJSON([]byte(*row.State), []byte(at.Get("state").Raw)) {
		return "state"
	}
	return ""
}
