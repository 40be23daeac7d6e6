package interop

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"time"

	_ "modernc.org/sqlite" // the driver

	"git-checkpoint/internal/storage/worktree"
	"git-checkpoint/internal/sys/gather"
)

// Limits of a database that is read: bytes and rows.
const (
	maxDatabase = 1 << 30
	maxRows     = 100_000
	patience    = 4000 // milliseconds to wait for a lock
)

// rowColumns are the columns of ultra-create's table, in their order.
var rowColumns = [...]string{"id", "project_id", "phase", "state", "timestamp"}

// createRows creates the table exactly as ultra-create does.
const createRows = `CREATE TABLE checkpoints (id TEXT PRIMARY KEY, project_id TEXT, phase TEXT, state TEXT, timestamp TEXT)`

// readDatabase returns the rows of ultra-create's table, none if the database does not have it. It
// changes nothing in the database, creates no file next to it, and does not run code from its
// schema (views, triggers).
func readDatabase(file string) (rows []*ultraRow, err error) {
	if err := checkDatabase(file); err != nil {
		return nil, err
	}
	// To read a database, SQLite may have to create or change the files next to it. So a copy is read.
	dir, err := os.MkdirTemp("", "git-checkpoint-")
	if err != nil {
		return nil, fmt.Errorf("copy database: %w", err)
	}
	defer os.RemoveAll(dir) //nolint:errcheck // a temporary
	if file, err = copyDatabase(file, dir); err != nil {
		return nil, plain(err)
	}
	db, err := openDatabase(file, "mode=rw&_pragma=query_only(1)")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	there, err := checkTable(db)
	if err != nil || !there {
		return nil, named(err)
	}
	rows, err = readRows(db)
	return rows, named(err)
}

// openDatabase opens a database with safe settings: functions in its schema are not trusted and
// cells are checked when they are read. It uses a single connection, because a pragma applies only
// to the connection on which it was set.
func openDatabase(file, options string) (*sql.DB, error) {
	u := url.URL{Scheme: "file", Opaque: (&url.URL{Path: file}).EscapedPath()}
	db, err := sql.Open("sqlite", fmt.Sprintf("%s?%s&_pragma=busy_timeout(%d)&_pragma=trusted_schema(0)&_pragma=cell_size_check(1)", u.String(), options, patience))
	if err != nil {
		return nil, named(err)
	}
	db.SetMaxOpenConns(1)
	return db, nil
}

// named replaces the most common SQLite errors with messages that users understand.
func named(err error) error {
	if err == nil {
		return nil
	}
	switch s := err.Error(); {
	case strings.Contains(s, "SQLITE_BUSY"), strings.Contains(s, "database is locked"), strings.Contains(s, "SQLITE_LOCKED"):
		return fmt.Errorf("the database is still locked by another program after %d seconds", patience/1000)
	case strings.Contains(s, "not a database"):
		return errors.New("it is not a SQLite database")
	case strings.Contains(s, "malformed"), strings.Contains(s, "SQLITE_CORRUPT"):
		return errors.New("the database is damaged")
	}
	return err
}

// checkDatabase checks that a file is a SQLite database of an acceptable size; an empty file is
// one.
func checkDatabase(file string) error {
	f, err := os.Open(file)
	if err != nil {
		return plain(err)
	}
	defer f.Close() //nolint:errcheck // only read
	header := make([]byte, 20)
	n, err := io.ReadFull(f, header)
	switch {
	// SQLite creates a database as an empty file.
	case n == 0 && errors.Is(err, io.EOF):
		return nil
	case err != nil, !worktree.IsDatabase(header):
		return errors.New("it is not a SQLite database")
	}
	if info, err := f.Stat(); err != nil || info.Size() > maxDatabase {
		return fmt.Errorf("the database has more than %d bytes", maxDatabase)
	}
	return nil
}

// copyDatabase copies a database with its log or journal, as they are at one moment, and returns the
// path of the copy.
func copyDatabase(file, dir string) (string, error) {
	files, err := worktree.Open(filepath.Dir(file), nil)
	if err != nil {
		return "", err
	}
	defer files.Close()
	base := filepath.Base(file)
	err = files.AtOneMoment(context.Background(), base, patience*time.Millisecond, func(p string, from *os.File) error {
		if p == base { // also again: what an earlier try copied would be played back
			for _, side := range worktree.Group(filepath.Join(dir, base)) {
				os.Remove(side) //nolint:errcheck // mostly it is not there
			}
		}
		to, err := os.Create(filepath.Join(dir, p))
		if err != nil {
			return err
		}
		n, err := io.Copy(to, io.LimitReader(from, maxDatabase+1))
		if n > maxDatabase {
			err = fmt.Errorf("%s has more than %d bytes", p, maxDatabase)
		}
		return errors.Join(err, to.Close())
	})
	return filepath.Join(dir, base), err
}

// querier is implemented by sql.DB and sql.Tx.
type querier interface {
	Query(query string, args ...any) (*sql.Rows, error)
	QueryRow(query string, args ...any) *sql.Row
	Exec(query string, args ...any) (sql.Result, error)
}

// checkTable checks that ultra-create's table is what it has to be: a real table with exactly its
// columns and without triggers, which would run when rows are written. there is false if it does
// not exist.
func checkTable(db querier) (there bool, err error) {
	var kind, text string
	err = db.QueryRow(`SELECT type, coalesce(sql, '') FROM sqlite_schema WHERE name = 'checkpoints' COLLATE NOCASE AND type IN ('table', 'view')`).Scan(&kind, &text)
	if errors.Is(err, sql.ErrNoRows) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	if kind != "table" || strings.HasPrefix(strings.ToUpper(strings.Join(strings.Fields(text), " ")), "CREATE VIRTUAL") {
		return false, fmt.Errorf("checkpoints is a %s, not a table", kind)
	}
	var trigger, other, missing *string // nil: none; a name may be empty
	err = db.QueryRow(`SELECT (SELECT name FROM sqlite_schema WHERE type = 'trigger' AND tbl_name = 'checkpoints' COLLATE NOCASE),
		(SELECT name FROM pragma_table_xinfo('checkpoints') WHERE hidden OR lower(name) NOT IN (SELECT value FROM json_each(?1))),
		(SELECT group_concat(value, ', ') FROM json_each(?1) WHERE value NOT IN (SELECT lower(name) FROM pragma_table_xinfo('checkpoints')))`,
		string(encode(rowColumns))).Scan(&trigger, &other, &missing)
	switch {
	case err != nil:
		return false, err
	case trigger != nil:
		return false, fmt.Errorf("table checkpoints has a trigger, %q", *trigger)
	case other != nil: // hidden and generated ones as well
		return false, fmt.Errorf("table checkpoints has another column, %q", *other)
	case missing != nil:
		return false, fmt.Errorf("table checkpoints has no column %s", *missing)
	}
	return true, nil
}

// readRows reads the table, with all values as text. A state that is too large is not even loaded:
// the query returns NULL and its size. Identical rows with the same id are accepted once.
func readRows(db querier) ([]*ultraRow, error) {
	rows, err := db.Query(`SELECT coalesce(CAST(id AS TEXT), ''), CAST(project_id AS TEXT), CAST(phase AS TEXT),
		CASE WHEN length(CAST(state AS BLOB)) > ? THEN NULL ELSE CAST(state AS TEXT) END,
		coalesce(length(CAST(state AS BLOB)), 0), CAST(timestamp AS TEXT) FROM checkpoints ORDER BY timestamp, id`, maxDocument)
	if err != nil {
		return nil, err
	}
	defer rows.Close() //nolint:errcheck // its errors are those of Next
	var out []*ultraRow
	seen := map[string]*ultraRow{}
	for rows.Next() {
		row := &ultraRow{}
		var size int64
		if err := rows.Scan(&row.ID, &row.Project, &row.Phase, &row.State, &size, &row.Timestamp); err != nil {
			return nil, err
		}
		other := seen[row.ID]
		switch {
		case size > maxDocument:
			return nil, fmt.Errorf("the state of %q has %d bytes; the limit is %d", row.ID, size, maxDocument)
		case row.ID == "":
			return nil, errors.New("a row has no id")
		case other != nil && !row.says(other):
			return nil, fmt.Errorf("two rows with the id %q have different contents", row.ID)
		case other != nil:
			continue
		case len(out) == maxRows:
			return nil, fmt.Errorf("more than %d rows", maxRows)
		}
		seen[row.ID] = row
		out = append(out, row)
	}
	return out, rows.Err()
}

// writeRows adds rows to the table, which it creates if necessary, and deletes the rows with the
// ids in gone. A row with the same id and other content is replaced if replace allows it; otherwise
// its id is returned in kept, and the caller should roll back.
func writeRows(tx querier, rows []*ultraRow, gone []string, replace func(old *ultraRow) bool) (kept []string, err error) {
	there, err := checkTable(tx)
	if err == nil && !there && len(rows) == 0 {
		return nil, nil
	}
	if err == nil && !there {
		_, err = tx.Exec(createRows)
	}
	if err != nil {
		return nil, err
	}
	old, err := readRows(tx)
	if err != nil {
		return nil, err
	}
	have := gather.Map(old, func(row *ultraRow) (string, *ultraRow) { return row.ID, row })
	for _, row := range rows {
		was := have[row.ID]
		if was != nil && reflect.DeepEqual(row, was) {
			continue
		}
		if was != nil && !replace(was) {
			kept = append(kept, row.ID)
			continue
		}
		if _, err := tx.Exec(`DELETE FROM checkpoints WHERE id = ?`, row.ID); err != nil {
			return nil, err
		}
		if _, err := tx.Exec(`INSERT INTO checkpoints (id, project_id, phase, state, timestamp) VALUES (?, ?, ?, ?, ?)`,
			row.ID, row.Project, row.Phase, row.State, row.Timestamp); err != nil {
			return nil, err
		}
	}
	for _, id := range gone {
		if was := have[id]; was != nil && replace(was) {
			if _, err := tx.Exec(`DELETE FROM checkpoints WHERE id = ?`, id); err != nil {
				return nil, err
			}
		}
	}
	return kept, nil
}

// says reports whether two rows have the same texts. NULL and "" are the same here.
func (row *ultraRow) says(o *ultraRow) bool {
	return columnText(row.Project) == columnText(o.Project) && columnText(row.Phase) == columnText(o.Phase) && columnText(row.State) == columnText(o.State) &&
		columnText(row.Timestamp) == columnText(o.Timestamp)
}
