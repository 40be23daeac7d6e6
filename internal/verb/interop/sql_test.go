package interop

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/verb/create"
	"git-checkpoint/internal/verb/rollback"
)

// The queries of docs/sql.md give the results that stand below them.
func TestSQLDocument(t *testing.T) {
	w := newWorld(t)
	clock := time.Date(2026, 11, 20, 9, 0, 0, 0, time.UTC)
	at := func(do func(context.Context, *checkpoint.Service) error) {
		t.Helper()
		clock = clock.Add(time.Minute)
		s, err := checkpoint.Open(t.Context(), checkpoint.Options{Dir: w.Dir, Env: w.Env, Now: func() time.Time { return clock }})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close() //nolint:errcheck // a test
		if err := do(t.Context(), s); err != nil {
			t.Fatal(err)
		}
	}
	for _, step := range []struct{ name, pass, coverage string }{{"spec", "false", "0"}, {"build", "true", "81.5"}, {"refactor", "false", "64"}} {
		at(func(ctx context.Context, s *checkpoint.Service) error {
			_, err := create.Checkpoint(ctx, s, create.Request{Session: "shop", Numbering: create.Numbering{Name: step.name}, Edits: create.Edits{Metrics: []create.Assign{
				{Path: "build_pass", Value: step.pass}, {Path: "test_coverage", Value: step.coverage},
			}}})
			return err
		})
	}
	at(func(ctx context.Context, s *checkpoint.Service) error {
		r, err := rollback.Prepare(ctx, s, rollback.Request{Session: "shop", Ref: "2", Reason: "coverage fell"})
		if err == nil {
			_, err = r.Apply(ctx)
		}
		return err
	})
	w.bringIn("testdata/samples/pipeline", func(r *ImportRequest) { r.Session = "PRD-014" })
	file := filepath.Join(t.TempDir(), "jobs.db")
	w.takeOut(file, SQLite)
	w.takeOut(file, SQLite) // and again

	db, err := sql.Open("sqlite", file)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close() //nolint:errcheck // a test
	text, err := os.ReadFile(filepath.Join("..", "..", "..", "docs", "sql.md"))
	if err != nil {
		t.Fatal(err)
	}
	blocks := regexp.MustCompile("(?ms)^```sql query=(\\w+)\n(.*?)^```\n\n```text result=(\\w+)\n(.*?)^```").FindAllStringSubmatch(string(text), -1)
	if len(blocks) != 5 {
		t.Fatalf("%d queries", len(blocks))
	}
	for _, b := range blocks {
		if got := query(t, db, b[2]); got != b[4] || b[1] != b[3] {
			t.Errorf("query %s gives\n%s\nnot\n%s", b[1], got, b[4])
		}
	}
	columns := query(t, db, `SELECT m.name, c.name FROM sqlite_schema AS m, pragma_table_info(m.name) AS c WHERE m.name LIKE 'git_checkpoint%'`)
	for line := range strings.Lines(columns) {
		_, column, _ := strings.Cut(strings.TrimSpace(line), " | ")
		if column != "" && !strings.Contains(string(text), "`"+column+"`") {
			t.Errorf("column %s is not explained", column)
		}
	}
}

func query(t *testing.T, db *sql.DB, text string) string {
	t.Helper()
	rows, err := db.Query(text)
	if err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	defer rows.Close() //nolint:errcheck // a test
	names, err := rows.Columns()
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for rows.Next() {
		values := make([]any, len(names))
		for i := range values {
			values[i] = new(any)
		}
		if err := rows.Scan(values...); err != nil {
			t.Fatal(err)
		}
		var line []string
		for _, v := range values {
			if v = *v.(*any); v == nil { //nolint:errcheck,forcetypeassert // made above
				v = "NULL"
			}
			line = append(line, fmt.Sprint(v))
		}
		b.WriteString(strings.Join(line, " | ") + "\n")
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}
