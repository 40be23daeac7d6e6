package snapshot

import (
	"bytes"
	"encoding/gob"
	"encoding/json"
	"errors"
	"fmt"
)

// The formats of the intent's file. A file with another format was written by another version of
// this program, which has to finish that rollback.
const (
	filesFormat = 2 // every file is staged alone
	dirsFormat  = 3 // there may be Intent.Missing, which versions that know only the other one would overlook
)

// intentFile is an Intent as it is stored. Its larger part is a gob and not JSON, because a path
// may hold any bytes: a JSON string would lose those that are not UTF-8.
type intentFile struct {
	Format int             `json:"format"`
	Meta   json.RawMessage `json:"meta"`
	Intent []byte          `json:"intent"` // without Meta
}

// encodeIntent returns the content of the intent's file.
func encodeIntent(in *Intent) ([]byte, error) {
	rest := *in
	rest.Meta = nil
	var data bytes.Buffer
	if err := gob.NewEncoder(&data).Encode(&rest); err != nil {
		return nil, err
	}
	format := filesFormat
	if len(in.Missing) > 0 {
		format = dirsFormat
	}
	return json.Marshal(intentFile{format, in.Meta, data.Bytes()})
}

// decodeIntent reads the content of the intent's file. It fails for any other format and if there
// is no Meta, since a restore that nobody knows cannot be finished.
func decodeIntent(data []byte) (*Intent, error) {
	var file intentFile
	if len(data) > 0 && data[0] != '{' {
		return nil, errors.New("it is damaged, or another version of this program wrote it")
	}
	if err := json.Unmarshal(data, &file); err != nil {
		return nil, err
	}
	if file.Format != filesFormat && file.Format != dirsFormat {
		return nil, fmt.Errorf("its format is %d, which another version of this program writes", file.Format)
	}
	if len(file.Meta) == 0 || string(file.Meta) == "null" {
		return nil, errors.New("it does not say which rollback it belongs to")
	}
	in := &Intent{}
	if err := gob.NewDecoder(bytes.NewReader(file.Intent)).Decode(in); err != nil {
		return nil, fmt.Errorf("it is damaged: %w", err)
	}
	in.Meta = file.Meta
	return in, nil
}
