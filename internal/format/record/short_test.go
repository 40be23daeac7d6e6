package record_test

import (
	"encoding/json"
	"strings"
	"testing"

	"git-checkpoint/internal/format/record"
)

// A hostile name in a document or on the command line is not repeated whole.
func TestErrorsAreShort(t *testing.T) {
	long := strings.Repeat("x", 1<<20)
	empty := json.RawMessage("{}")
	for what, refused := range map[string]func() error{
		"member twice": func() error {
			_, err := record.ParseJSON([]byte(`{"`+long+`":1,"`+long+`":2}`), record.Limits{})
			return err
		},
		"member of a record": func() error {
			_, err := record.Parse([]byte(`{"format":1,"` + long + `":{"a":1,"a":2}}`))
			return err
		},
		"path of extra members": func() error {
			_, err := record.Parse([]byte(`{"format":1,"outputs":{"` + long + `":7}}`))
			return err
		},
		"set":   func() error { _, err := record.Set(empty, long, `{"a":1,"a":2}`); return err },
		"unset": func() error { _, err := record.Unset(json.RawMessage("["), long); return err },
		"metric": func() error {
			_, err := record.SetMetric(empty, "m", long, `{"a":1,"a":2}`)
			return err
		},
		"path": func() error { _, err := record.DecodePath(long + "%"); return err },
	} {
		if err := refused(); err == nil || len(err.Error()) > 1000 {
			t.Errorf("%s: %.300v", what, err)
		}
	}
}
