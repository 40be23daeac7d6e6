package record

import "testing"

// The work that a proof does for each record.
func BenchmarkParseSealed(b *testing.B) {
	data, err := Seal(example(), Limits{})
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	for b.Loop() {
		if _, changed, err := ParseSealed(data); changed != nil || err != nil {
			b.Fatal(changed, err)
		}
	}
}
