package checkpoint

import "time"

// Time is a moment as answers and records give it: RFC 3339, UTC, to the millisecond,
// whatever its digits are.
type Time struct{ time.Time }

// MarshalJSON writes it as a record does.
func (t Time) MarshalJSON() ([]byte, error) {
	return []byte(t.UTC().Format(`"2006-01-02T15:04:05.000Z"`)), nil
}
