package checkpoint

import "time"

// Time is a time that is written to JSON as records write it: RFC 3339 in UTC, always with three
// digits after the second. time.Time itself would drop trailing zeros.
type Time struct{ time.Time }

// MarshalJSON writes the time in the format of a record.
func (t Time) MarshalJSON() ([]byte, error) {
	return []byte(t.UTC().Format(`"2006-01-02T15:04:05.000Z"`)), nil
}
