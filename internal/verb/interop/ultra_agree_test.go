package interop

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/tidwall/gjson"

	"git-checkpoint/internal/format/record"
	"git-checkpoint/internal/verb/transfer"
)

// A session that went on here has a file for each row and a row for each file, although
// one was imported from the database alone and one from a document alone.
func TestFilesAndRowsAgree(t *testing.T) {
	imported := func(key, kept, content string) *transfer.Archived {
		return &transfer.Archived{
			Record: &record.Record{Label: key, State: json.RawMessage("{}")},
			Import: &transfer.ImportSource{Format: UltraCreate, Key: key, Path: ultraHome + "/" + key + ".json", Files: map[string][]byte{kept: []byte(content)}},
		}
	}
	row := imported("cp_20260101_000000_phase1", keptRow, `{"id":"cp_20260101_000000_phase1","project_id":"p","phase":"phase_1","state":"{\"a\":1}","timestamp":"2026-01-01T00:00:00Z"}`)
	row.Import.Path = ultraDatabase + "#" + row.Import.Key
	document := imported("cp_20260101_000001_phase2", keptDocument, `{"checkpoint_id":"cp_20260101_000001_phase2","project_id":"p","phase":"phase_2","timestamp":"2026-01-01T00:00:01Z","state":{"a":2}}`)
	here := &transfer.Archived{Record: &record.Record{Label: "cp-03", Step: 3, State: json.RawMessage("{}"), CreatedAt: time.Unix(1e9, 0)}}

	w := newRendering(UltraCreate, func(string) bool { return false })
	w.render(&transfer.Archive{Session: "p", Workflow: UltraCreate, Touched: true, Checkpoints: []*transfer.Archived{row, document, here}})
	if len(w.files) != 3 || len(w.rows) != 3 {
		t.Fatalf("%d files and %d rows, not 3 of each", len(w.files), len(w.rows))
	}
	for i, f := range w.files {
		at, err := transfer.ParseDocument(f.content)
		if err != nil {
			t.Fatal(err)
		}
		if says := w.rows[i].differs(gjson.ParseBytes(at)); w.rows[i].ID != text(gjson.ParseBytes(at), "checkpoint_id") || says != "" {
			t.Errorf("%s and its row %s differ: %s", f.path, w.rows[i].ID, says)
		}
	}

	// What was only imported is written as it was.
	w = newRendering(UltraCreate, func(string) bool { return false })
	w.render(&transfer.Archive{Session: "p", Workflow: UltraCreate, Checkpoints: []*transfer.Archived{row, document}})
	if len(w.files) != 1 || len(w.rows) != 1 {
		t.Errorf("untouched: %d files and %d rows, not 1 of each", len(w.files), len(w.rows))
	}
}

// The JSON in a row has no white space, whatever the state had.
func TestRowsAreCompact(t *testing.T) {
	here := &transfer.Archived{Record: &record.Record{Label: "cp-01", Step: 1, State: json.RawMessage(`{"decisions": [ {"id" : "a"} ], "git_state": {"branch": "main"}}`)}}
	w := newRendering(UltraCreate, func(string) bool { return false })
	w.render(&transfer.Archive{Session: "p", Workflow: UltraCreate, Touched: true, Checkpoints: []*transfer.Archived{here}})
	if got := *w.rows[0].State; strings.ContainsAny(got, " \n") {
		t.Errorf("the row has %s", got)
	}
}
