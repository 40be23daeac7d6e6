package record

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestMessageExample(t *testing.T) {
	r := example()
	r.Topic = "todo service"
	r.Message = "API first\n\n- queue later\nCheckpoint-Id: cp-99\n\n---\nkept"
	sealed(t, r)
	want, err := os.ReadFile("testdata/message.txt")
	if err != nil {
		t.Fatal(err)
	}
	got := Message(r, json.RawMessage(`{"build_pass": false, "test_coverage": 81.50, "by": {"a": [1]}}`))
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("message (-want +got):\n%s", diff)
	}
}

func TestSubject(t *testing.T) {
	tests := []struct {
		change func(*Record)
		want   string
	}{
		{func(*Record) {}, "checkpoint: step-3 - architecture"},
		{func(r *Record) { r.StepName = "" }, "3 API first"},
		{func(r *Record) { r.StepName, r.Message = "", "Checkpoint-Id: x\x1b\nmore" }, "3 Checkpoint-Id: x␛"},
		{func(r *Record) { r.StepName, r.Message = "", "" }, "3 (go.mod, a and 3 more)"},
		{func(r *Record) { r.StepName, r.Message, r.Files = "", "", Files{} }, "3"},
		{func(r *Record) { r.StepName, r.Iteration = "", "2" }, "3.2 API first"},
		{func(r *Record) { r.StepName, r.Milestone, r.Label = "", false, "cp-03+2" }, "3+2 API first"},
		{func(r *Record) {
			r.StepName, r.Milestone, r.Label, r.Message, r.Files = "", false, "cp-03+2", "", Files{}
		}, "3+2 phase_transition"},
		{func(r *Record) { r.Iteration = "final" }, "checkpoint: step-3.final - architecture"},
		{func(r *Record) { r.StepName = "a\n\nCheckpoint-Id: x\x1b" }, "checkpoint: step-3 - a Checkpoint-Id: x␛"},
		{func(r *Record) { r.Milestone, r.Label = false, "cp-03-architecture+2" }, "checkpoint: step-3+2 - API first"},
		{func(r *Record) { r.Milestone, r.Label, r.Message = false, "cp-03+2", "" }, "checkpoint: step-3+2 - phase_transition"},
		{func(r *Record) { r.Milestone, r.Label, r.Message = false, "cp-03+2", strings.Repeat("word ", 20) }, "checkpoint: step-3+2 - word word word word word word word word word word word…"},
	}
	for _, tt := range tests {
		r := example()
		tt.change(r)
		if got, _, _ := strings.Cut(Message(r, nil), "\n"); got != tt.want {
			t.Errorf("got %q, want %q", got, tt.want)
		}
	}
}

// No text of a record can add a trailer to the message or remove one, whether git or this package
// reads it, and the members that a list shows read back.
func TestNobodySlipsATrailerIn(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := genRecord().Draw(t, "record")
		if _, err := Seal(r, Limits{}); err != nil {
			t.Fatal(err)
		}
		message := Message(r, json.RawMessage(plain(genValue(2).Draw(t, "metrics"))))
		want := []string{"Id: " + string(r.ID), "Session: demo", fmt.Sprint("Step: ", r.Step), "Step-Name: " + oneLine(r.StepName, 256),
			"Iteration: " + r.Iteration, "Label: " + r.Label, fmt.Sprint("Milestone: ", r.Milestone), "Trigger: " + oneLine(r.Trigger, 256),
			"Status: " + oneLine(r.Status, 256), "Created-At: " + formatTime(r.CreatedAt), fmt.Sprint("Files: ", r.Files.Total()), "Record: " + r.Checksum}
		want = slices.DeleteFunc(want, func(line string) bool { return strings.HasSuffix(line, ": ") })
		var got []string
		for line := range strings.Lines(message) {
			if n := len("Checkpoint-"); len(line) > n && strings.EqualFold(line[:n], "Checkpoint-") {
				got = append(got, strings.TrimSuffix(line[n:], "\n"))
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("trailers (-want +got):\n%s\n%s", diff, message)
		}
		if i := strings.LastIndex(message, "\n\n"); strings.Count(message[i+2:], "\n") != len(want) {
			t.Fatalf("the trailers are not the last paragraph:\n%s", message)
		}
		for line := range strings.Lines(message) {
			for _, start := range []string{"---", "gpgsig", "-- >8", "# ---"} {
				if strings.HasPrefix(line, start) {
					t.Fatalf("line %q in\n%s", line, message)
				}
			}
		}
		if i := strings.IndexFunc(message, func(r rune) bool { return r != '\n' && r != '\t' && isControl(r) }); i >= 0 {
			t.Fatalf("control character %q", message[i:i+3])
		}
		s, err := ParseMessage(message)
		if err != nil {
			t.Fatalf("%v in\n%s", err, message)
		}
		if differ := Agree(r, s); differ != nil {
			t.Fatalf("%v differ: %+v\n%s", differ, s, message)
		}
	})
}

// The first line of the user's message comes back whatever it looks like, and
// a section is never taken for it.
func TestFirstLine(t *testing.T) {
	for message, want := range map[string]string{
		"": "", "\n \n": "", "one\ntwo": "one", "\n\n one\t 1": "one 1", "a  b": "a b", "Topic: x": "Topic: x", "    Checkpoint-Id: x": "Checkpoint-Id: x",
		"Metrics:\n": "Metrics:", "Files changed: none": "Files changed: none", "--- a": "--- a", "\x00\x1b": "␀␛",
	} {
		r := example()
		r.Message = message
		sealed(t, r)
		s, err := ParseMessage(Message(r, nil))
		if err != nil || s.Message != want {
			t.Errorf("%q: got %q, %v, want %q", message, s.Message, err, want)
		}
	}
}

func TestParseMessageRefuses(t *testing.T) {
	r := example()
	sealed(t, r)
	good := Message(r, nil)
	tests := []struct{ message, want string }{
		{"", `trailer "Checkpoint-Id"`},
		{"checkpoint: step-3\n\nwords", `trailer "Checkpoint-Id"`},
		{strings.Replace(good, "Checkpoint-Step: 3", "Checkpoint-Step: 3\nCheckpoint-Step: 4", 1), `"Checkpoint-Step" occurs twice`},
		{good + "\nCheckpoint-Id: x\n", "not a checkpoint id"},
		{edit(good, "Checkpoint-Session: demo", "Checkpoint-Session: ../demo"), `trailer "Checkpoint-Session": invalid session`},
		{edit(good, "Checkpoint-Step: 3", "Checkpoint-Step: 03"), "not a number"},
		{edit(good, "Checkpoint-Step: 3", "Checkpoint-Step: -3"), "out of range"},
		{edit(good, "Checkpoint-Step: 3", "Checkpoint-Step: 9999999999"), "out of range"},
		{edit(good, "Checkpoint-Milestone: true", "Checkpoint-Milestone: yes"), "neither true nor false"},
		{edit(good, "Checkpoint-Label: cp-", "Checkpoint-Label: xx-"), "not a label"},
		{edit(good, "T09:43:11.123Z", " 09:43"), `trailer "Checkpoint-Created-At"`},
		{edit(good, "sha256:", "md5:"), `trailer "Checkpoint-Record"`},
	}
	for _, tt := range tests {
		if _, err := ParseMessage(tt.message); err == nil || !strings.Contains(err.Error(), tt.want) || len(err.Error()) > 400 {
			t.Errorf("got %v, want %s, of\n%s", err, tt.want, tt.message)
		}
	}
	if _, err := ParseMessage(strings.TrimSpace(good) + "\nSigned-off-by: x\nno trailer\n\n\n"); err != nil {
		t.Errorf("foreign trailers: %v", err)
	}
}

func TestAgree(t *testing.T) {
	r := example()
	sealed(t, r)
	s, err := ParseMessage(Message(r, nil))
	if err != nil || Agree(r, s) != nil {
		t.Fatalf("%v, %v", err, Agree(r, s))
	}
	s.ID, s.Step, s.Message, s.Checksum = "cp-04-20261120T094311123Z-4f2a", 4, "x", ""
	if diff := cmp.Diff([]string{"id", "step", "message", "checksum"}, Agree(r, s)); diff != "" {
		t.Error(diff)
	}
	all := []string{"id", "label", "session", "step", "step_name", "milestone", "trigger", "status", "message", "created_at", "files", "checksum"}
	if diff := cmp.Diff(all, Agree(r, Summary{})); diff != "" {
		t.Error(diff)
	}
}

// A line that git would take for more than words is indented, others are not.
func TestSpecialLines(t *testing.T) {
	r := example()
	special := []string{
		"---", "--- a/x", "-----BEGIN PGP SIGNATURE-----", "-----BEGIN SSH SIGNATURE-----", "gpgsig x", "gpgsig-sha256 x", "Checkpoint-Id: x",
		"checkpoint-id: x", "CHECKPOINT-STEP: 1", "# ------------------------ >8 ------------------------", ";; -- 8< --", "-- >8 --", ">8", "  Checkpoint-Id: x",
	}
	ordinary := []string{"a checkpoint-id", "- item", "-- item", "a --- b", "x >8 y", "Signed-off-by: x", "Checkpoints are kept"}
	r.Message = "first\n" + strings.Join(append(special, ordinary...), "\n")
	message := Message(r, nil)
	for _, line := range special {
		if !strings.Contains(message, "\n    "+line+"\n") {
			t.Errorf("not indented: %q", line)
		}
	}
	for _, line := range ordinary {
		if !strings.Contains(message, "\n"+line+"\n") {
			t.Errorf("indented: %q", line)
		}
	}
}

// Blank lines around the words, also those of blanks alone, are left out.
func TestMessageWithoutBlankEnds(t *testing.T) {
	r := example()
	r.Message = "\n \n  x \t\n\t\n"
	if got := Message(r, nil); !strings.Contains(got, "architecture\n\n  x\n\nFiles changed") {
		t.Errorf("got %q", got)
	}
}

// A message or a list of any size stays readable in the commit.
func TestMessageIsBounded(t *testing.T) {
	r := example()
	r.Message = strings.Repeat("x", 1<<20)
	var many []Path
	for range 2000 {
		many = append(many, Path(strings.Repeat("p", 5000)))
	}
	r.Files = NewFiles(many, nil, nil)
	metrics := "{"
	for i := range 500 {
		metrics += fmt.Sprintf(`"%d": [%s1],`, i, strings.Repeat("1,", 500))
	}
	message := Message(r, json.RawMessage(metrics+`"a":1}`))
	if len(message) > 80<<10 || !strings.Contains(message, "\n  and 1990 more\n") || !strings.Contains(message, "\n  and 481 more\n") {
		t.Errorf("%d bytes, ending %s", len(message), message[len(message)-3000:])
	}
}
