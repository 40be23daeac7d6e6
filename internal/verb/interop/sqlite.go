package interop

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/sys/gather"
	"git-checkpoint/internal/verb/create"
	"git-checkpoint/internal/verb/transfer"
)

// inDatabase runs do in one transaction on a database, which is created if it is missing. The
// database may belong to another program: its journal mode is left alone, and the transaction takes
// the write lock at once, for which it waits up to patience. Any error rolls everything back.
func inDatabase(ctx context.Context, file string, do func(querier) error) (err error) {
	refuse := func(err error) error {
		return &checkpoint.Error{Kind: checkpoint.KindRefused, Message: file, Err: named(err), Hints: []string{"nothing was written"}}
	}
	if err := checkDatabase(file); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return refuse(err)
	}
	db, err := openDatabase(file, "mode=rwc&_txlock=immediate")
	if err != nil {
		return refuse(err)
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return refuse(err)
	}
	defer tx.Rollback() //nolint:errcheck // it is over after a commit
	if err := do(tx); err != nil {
		if checkpoint.KindOf(err) != checkpoint.KindFailed { // it says more, as inTheWay does
			return err
		}
		return refuse(err)
	}
	if err := tx.Commit(); err != nil {
		return refuse(err)
	}
	return nil
}

// ourTables are for users who query the checkpoints with SQL; docs/sql.md describes them. The
// prefix keeps them apart from other tables in the same file.
var ourTables = [...]struct{ name, columns string }{
	{"git_checkpoint_sessions", `session TEXT PRIMARY KEY, workflow TEXT, topic TEXT, status TEXT, branch TEXT, created_at TEXT, updated_at TEXT, current_checkpoint TEXT`},
	{"git_checkpoint_checkpoints", `id TEXT PRIMARY KEY, session TEXT, label TEXT, step INTEGER, step_name TEXT, iteration TEXT, milestone INTEGER,
		trigger TEXT, status TEXT, message TEXT, created_at TEXT, previous TEXT, "commit" TEXT, head TEXT, branch TEXT,
		files_created INTEGER, files_modified INTEGER, files_deleted INTEGER, live INTEGER, discarded INTEGER, pinned INTEGER,
		current INTEGER, state TEXT, outputs TEXT, error TEXT, imported_from TEXT`},
	{"git_checkpoint_events", `session TEXT, number INTEGER, event TEXT, time TEXT, actor TEXT, checkpoint TEXT, label TEXT, from_checkpoint TEXT,
		to_checkpoint TEXT, reason TEXT, status TEXT, oid TEXT PRIMARY KEY`},
}

// ourViews give two of the tables short names, unless the database has something of that name. The
// short name "checkpoints" is ultra-create's table.
var ourViews = [...][2]string{{"sessions", "git_checkpoint_sessions"}, {"events", "git_checkpoint_events"}}

// exportDatabase writes sessions into a database: rows in ultra-create's table, and everything that
// is known about them in our own tables. Other sessions and tables in the same database are not
// changed.
func exportDatabase(ctx context.Context, archives []*transfer.Archive, req ExportRequest, answer *ExportAnswer) error {
	if req.To == "" {
		return checkpoint.Usage("git checkpoint export FILE --format sqlite", "no file to write")
	}
	file, err := filepath.Abs(req.To)
	if err != nil {
		return fmt.Errorf("export to %q: %w", req.To, err)
	}
	if info, err := os.Stat(file); err == nil && !info.Mode().IsRegular() { // opening a pipe would block forever
		return checkpoint.Usage("export a database to a file of its own", "%q is not a regular file", req.To)
	}
	var rows []*ultraRow
	for _, a := range archives {
		got := rowsOf(a)
		rows = append(rows, got...)
		answer.Checkpoints += len(a.Checkpoints)
		for _, p := range a.Problems {
			answer.LeftOut = append(answer.LeftOut, LeftOut{Session: string(a.Session), What: p})
		}
	}
	answer.Files = []string{req.To}
	if req.private { // SQLite takes an empty file for an empty database
		made, err := os.OpenFile(file, os.O_CREATE|os.O_WRONLY, 0o600)
		if err = errors.Join(err, os.Chmod(file, 0o600)); err != nil {
			return fmt.Errorf("export to %q: %w", req.To, plain(err))
		}
		made.Close() //nolint:errcheck // nothing was written
	}
	return inDatabase(ctx, file, func(tx querier) error {
		if err := dropGone(tx, archives); err != nil {
			return err
		}
		kept, err := writeRows(tx, rows, nil, func(*ultraRow) bool { return req.Replace })
		if err != nil {
			return err
		}
		if len(kept) > 0 {
			return inTheWay(kept, "nothing was written; use --force to replace these rows")
		}
		return writeOurs(tx, archives)
	})
}

// dropGone deletes the rows of checkpoints that no longer exist from ultra-create's table. Our own
// table still lists the checkpoints of the previous export, which tells them from rows of others.
func dropGone(tx querier, archives []*transfer.Archive) error {
	var ours, theirs int
	err := tx.QueryRow(`SELECT count(*) FILTER (WHERE name = 'git_checkpoint_checkpoints'), count(*) FILTER (WHERE name = 'checkpoints')
		FROM sqlite_schema WHERE type = 'table'`).Scan(&ours, &theirs)
	if err != nil || ours == 0 || theirs == 0 {
		return err
	}
	for _, a := range archives {
		if len(a.Problems) > 0 {
			continue // a row may be the last copy of a checkpoint that cannot be read any more
		}
		_, err := tx.Exec(`DELETE FROM checkpoints WHERE id IN (SELECT id FROM git_checkpoint_checkpoints WHERE session = ?)
			AND id NOT IN (SELECT value FROM json_each(?))`, string(a.Session), idsOf(a))
		if err != nil {
			return err
		}
	}
	return nil
}

// idsOf returns the ids of a session's checkpoints as a JSON list.
func idsOf(a *transfer.Archive) string {
	ids := gather.List(a.Checkpoints, func(c *transfer.Archived) string { return string(c.Record.ID) })
	return string(encode(ids))
}

// rowsOf returns the rows of a session for ultra-create's table. In a session of ultra-create they
// are what an export of that layout would have, plus a row for each original that has only a file.
// Checkpoints of other workflows get rows with our own ids.
func rowsOf(a *transfer.Archive) []*ultraRow {
	if a.Workflow != UltraCreate {
		return ownRows(a)
	}
	w := newRendering(UltraCreate, func(string) bool { return false })
	ultraCreate{}.write(a, w)
	var out []*ultraRow
	byID := map[string]bool{}
	for _, row := range w.rows {
		byID[row.ID] = true
		out = append(out, row)
	}
	for _, f := range w.files {
		if f.made == nil && f.key != "" && !byID[f.key] {
			if row, ok := rowOfDocument(f.key, f.content); ok {
				out = append(out, row)
			}
		}
	}
	return out
}

// ownRows returns a row for each checkpoint of another workflow: our id, the session as the
// project, the step as the phase, state and time.
func ownRows(a *transfer.Archive) []*ultraRow {
	var out []*ultraRow
	for _, c := range a.Checkpoints {
		r := c.Record
		out = append(out, &ultraRow{
			ID: string(r.ID), Project: new(string(a.Session)), Phase: new(cmp.Or(r.StepName, "phase_"+strconv.Itoa(r.Step))),
			State: new(string(create.Compact(r.State))), Timestamp: new(stamp(r.CreatedAt)),
		})
	}
	return out
}

// rowOfDocument returns the row that ultra-create would have written along with a document.
func rowOfDocument(id string, document []byte) (*ultraRow, bool) {
	doc, err := transfer.ParseDocument(unmarked(document))
	if err != nil {
		return nil, false
	}
	at := gjson.ParseBytes(doc)
	return &ultraRow{
		ID: id, Project: new(text(at, "project_id")), Phase: new(text(at, "phase")),
		State: new(string(create.Compact([]byte(at.Get("state").Raw)))), Timestamp: new(text(at, "timestamp")),
	}, true
}

// stamp formats a time in UTC with milliseconds, as ultra-create does. The fixed width makes the
// texts sort by time.
func stamp(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z") }

// writeOurs replaces the sessions in our own tables. Tables and views are created on first use.
func writeOurs(tx querier, archives []*transfer.Archive) error {
	for _, t := range ourTables {
		if _, err := tx.Exec("CREATE TABLE IF NOT EXISTS " + t.name + " (" + t.columns + ")"); err != nil {
			return err
		}
	}
	for _, v := range ourViews {
		// It fails if an index has the name. Then there is no short one.
		tx.Exec("CREATE VIEW IF NOT EXISTS " + v[0] + " AS SELECT * FROM " + v[1]) //nolint:errcheck // see above
	}
	for _, a := range archives {
		if err := writeSession(tx, a); err != nil {
			return fmt.Errorf("session %s: %w", a.Session, err)
		}
	}
	return nil
}

// writeSession replaces one session with its checkpoints and events. If some of its checkpoints
// cannot be read any more, their rows stay.
func writeSession(tx querier, a *transfer.Archive) error {
	for _, t := range ourTables {
		which, args := " WHERE session = ?", []any{string(a.Session)}
		if t.name == "git_checkpoint_checkpoints" && len(a.Problems) > 0 {
			which, args = which+" AND id IN (SELECT value FROM json_each(?))", append(args, idsOf(a))
		}
		if _, err := tx.Exec("DELETE FROM "+t.name+which, args...); err != nil {
			return err
		}
	}
	err := insert(tx, "git_checkpoint_sessions", string(a.Session), a.Workflow, a.Topic, a.Status, a.Branch,
		stamp(a.CreatedAt), stamp(a.UpdatedAt), orNull(string(a.Current)))
	if err != nil {
		return err
	}
	for _, c := range a.Checkpoints {
		if err := writeCheckpoint(tx, a, c); err != nil {
			return err
		}
	}
	for i, e := range a.Events {
		err := insert(tx, "git_checkpoint_events", string(a.Session), i+1, e.Event, stamp(e.Time.Time), e.Actor,
			orNull(string(e.Checkpoint)), orNull(e.Label), orNull(string(e.From)), orNull(string(e.To)), orNull(e.Reason), orNull(e.Status), string(e.OID))
		if err != nil {
			return err
		}
	}
	return nil
}

// writeCheckpoint inserts one checkpoint. The values are in the order of the columns in ourTables;
// of the outputs only names and sizes are written.
func writeCheckpoint(tx querier, a *transfer.Archive, c *transfer.Archived) error {
	r := c.Record
	var outputs object
	for _, name := range create.SortedKeys(r.Outputs) {
		outputs.set(name, r.Outputs[name].Size)
	}
	from := ""
	if c.Import != nil {
		from = c.Import.Format
	}
	failure := ""
	if r.Error != nil {
		failure = string(create.Compact(r.Error))
	}
	return insert(tx, "git_checkpoint_checkpoints",
		string(r.ID), string(a.Session), r.Label, r.Step, r.StepName, r.Iteration, r.Milestone, r.Trigger, r.Status, r.Message,
		stamp(r.CreatedAt), orNull(string(r.Previous)), string(c.Commit), orNull(string(r.Git.Head)), orNull(branchIn(r)),
		r.Files.Counts[0], r.Files.Counts[1], r.Files.Counts[2], c.Live, c.Discarded, c.Pinned, r.ID == a.Current,
		string(create.Compact(r.State)), string(outputs.json()), orNull(failure), orNull(from))
}

// insert adds a row with these values, in the order of the columns.
func insert(tx querier, table string, values ...any) error {
	marks := strings.Repeat(",?", len(values))[1:]
	_, err := tx.Exec("INSERT INTO "+table+" VALUES ("+marks+")", values...)
	return err
}

// orNull returns nil, which becomes NULL, for an empty text.
func orNull(s string) any {
	if s == "" {
		return nil
	}
	return s
}
