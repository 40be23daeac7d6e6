package workflow

import (
	"encoding/json"
	"testing"
	"time"
)

// BenchmarkCheckFirst is what one start of the program pays: the definition is
// read, schema and expressions are compiled, a change is checked.
func BenchmarkCheckFirst(b *testing.B) {
	for _, name := range Names() {
		b.Run(name, func(b *testing.B) {
			change := Change{
				Old: json.RawMessage(underway), New: json.RawMessage(underway), OldStatus: "in_progress", NewStatus: "in_progress",
				Trigger: TriggerManual, Now: time.Unix(2e9, 0), Started: time.Unix(1e9, 0),
			}
			for b.Loop() {
				d, _ := Builtin(name)
				if _, err := d.Derive(change, nil); err != nil {
					b.Fatal(err)
				}
				d.Check(change)
			}
		})
	}
}

func BenchmarkDefault(b *testing.B) {
	for b.Loop() {
		Default()
	}
}

func BenchmarkParseHeaviest(b *testing.B) {
	d, _ := Builtin("pipeline")
	for b.Loop() {
		if _, err := Parse(d.JSON(), "pipeline.json"); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkResume(b *testing.B) {
	for _, name := range Names() {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				d, _ := Builtin(name)
				d.Resume(ResumeInput{Situation: Situation{Session: "s", State: json.RawMessage(underway), Status: "in_progress"}})
			}
		})
	}
}
