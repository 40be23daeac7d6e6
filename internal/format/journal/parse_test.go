package journal

import (
	"slices"
	"strings"
	"testing"
	"time"

	"git-checkpoint/internal/format/name"
	"github.com/google/go-cmp/cmp"
)

func message(lines ...string) string {
	return "a subject\n\n" + strings.Join(lines, "\n") + "\n"
}

const (
	atEpoch = "Time: 2026-11-20T09:00:00.000Z"
	inDemo  = "Session: demo"
)

// status is a minimal valid event.
var status = []string{"Checkpoint-Event: 1 status", atEpoch, inDemo, "Status: paused"}

func with(lines ...string) string { return message(append(slices.Clone(status), lines...)...) }

func refused(t *testing.T, author string, messages map[string]string) {
	t.Helper()
	for what, m := range messages {
		if _, err := Parse("", nil, author, m); err == nil {
			t.Errorf("%s: parsed", what)
		} else if len(err.Error()) > 300 {
			t.Errorf("%s: the error has %d bytes", what, len(err.Error()))
		}
	}
}

func TestParseRefusesValues(t *testing.T) {
	if _, err := Parse("", nil, Stamp(actor, epoch), with()); err != nil {
		t.Fatal(err)
	}
	refused(t, Stamp(actor, epoch), map[string]string{
		"empty":              with("Reason: "),
		"quoted empty":       with(`Reason: ""`),
		"control":            with("Reason: \x1b[31m"),
		"carriage return":    with("Reason: x\r"),
		"no utf-8":           with("Reason: \xff"),
		"open quote":         with(`Reason: "x`),
		"lone quote":         with(`Reason: "`),
		"escape":             with(`Reason: "\q"`),
		"hex":                with(`Reason: "\x4"`),
		"inner quote":        with(`Reason: "a"b"`),
		"end in backslash":   with(`Reason: "a\"`),
		"id":                 with("From: cp-1"),
		"oid":                with("Undoes: 12ab"),
		"list":               with("Discard: cp-1"),
		"tombstone":          with("Tombstone: " + string(id(1))),
		"tombstone's id":     with("Tombstone: x - -"),
		"tombstone's commit": with("Tombstone: " + string(id(1)) + " x -"),
		"step":               with("Step: 03"),
		"negative step":      with("Step: -1"),
		"huge step":          with("Step: 99999999999999999999"),
		"milestone":          with("Milestone: false"),
	})
}

func TestParseRefusesShapes(t *testing.T) {
	many := strings.Repeat("X: y\n", maxTrailers)
	refused(t, Stamp(actor, epoch), map[string]string{
		"nothing":             "",
		"no trailers":         "subject\n",
		"no empty line":       "subject\nCheckpoint-Event: 1 status\n",
		"first trailer":       message(inDemo, "Checkpoint-Event: 1 status", atEpoch, "Status: x"),
		"text after":          with() + "\nmore text\n",
		"line that is none":   with("no trailer"),
		"continuation":        with(" folded"),
		"bad key":             with("a b: c"),
		"twice":               with("Status: complete"),
		"time twice":          with(atEpoch),
		"header twice":        with("Checkpoint-Event: 1 status"),
		"session":             message("Checkpoint-Event: 1 status", atEpoch, "Session: ../x", "Status: x"),
		"no session":          message("Checkpoint-Event: 1 status", atEpoch, "Status: x"),
		"no time":             message("Checkpoint-Event: 1 status", inDemo, "Status: x"),
		"other time":          message("Checkpoint-Event: 1 status", "Time: 2026-11-20T09:00:01.000Z", inDemo, "Status: x"),
		"odd time":            message("Checkpoint-Event: 1 status", "Time: 2026-11-20T09:00:00,000Z", inDemo, "Status: x"),
		"zone":                message("Checkpoint-Event: 1 status", "Time: 2026-11-20T10:00:00.000+01:00", inDemo, "Status: x"),
		"no status":           message("Checkpoint-Event: 1 status", atEpoch, inDemo),
		"create of nothing":   message("Checkpoint-Event: 1 create", atEpoch, inDemo),
		"rollback to nothing": message("Checkpoint-Event: 1 rollback", atEpoch, inDemo),
		"undo of nothing":     message("Checkpoint-Event: 1 undo", atEpoch, inDemo),
		"prune of nothing":    message("Checkpoint-Event: 1 prune", atEpoch, inDemo),
		"a merge":             MergeMessage,
		"format":              message("Checkpoint-Event: x status", atEpoch, inDemo),
		"format 0":            message("Checkpoint-Event: 0 status", atEpoch, inDemo, "Status: x"),
		"format 01":           message("Checkpoint-Event: 01 status", atEpoch, inDemo, "Status: x"),
		"kind":                message("Checkpoint-Event: 1 Status", atEpoch, inDemo, "Status: x"),
		"no kind":             message("Checkpoint-Event: 1", atEpoch, inDemo, "Status: x"),
		"size":                with("Reason: " + strings.Repeat("x", MaxMessage)),
		"number":              with(many + "X: y"),
	})
	for _, author := range []string{"", "Ada", actor, actor + " x +0000", actor + " 1 +00", actor + " -1 +0000", actor + " 9999999999999 +0000"} {
		refused(t, author, map[string]string{"author " + author: with()})
	}
}

// A body may stand between the sentence and the trailers; only the last paragraph is
// data.
func TestParseSkipsTheBody(t *testing.T) {
	lines := []string{"Checkpoint-Event: 1 status", atEpoch, inDemo, "Status: "}
	forged, real := strings.Join(lines, "\n")+"forged", strings.Join(lines, "\n")+"paused"
	e, err := Parse("", nil, Stamp(actor, epoch), "a subject\n\nsome words\n\n"+forged+"\n\n"+real+"\n")
	if err != nil || e.Status != "paused" {
		t.Errorf("%+v, %v", e, err)
	}
}

// An event of a later version is kept whole, has a place, and stops all writing.
func TestParseLaterVersions(t *testing.T) {
	for _, header := range []string{"1 frobnicate", "2 create", "7 merge"} {
		m := message("Checkpoint-Event: "+header, inDemo, "Checkpoint: not an id", "Checkpoint: "+string(id(1)), "Checkpoint: again", "New: x",
			`Reason: "a\nb"`)
		e, err := Parse(oid(1, 1), nil, Stamp(actor, epoch), m)
		if err != nil {
			t.Fatal(err)
		}
		if !e.Time.Equal(epoch) || e.Session != "demo" || e.Checkpoint != id(1) || e.Reason != "a\nb" || e.known() {
			t.Errorf("%+v", e)
		}
		extra := []Trailer{{"Checkpoint", "not an id"}, {"Checkpoint", "again"}, {"New", "x"}}
		if d := cmp.Diff(extra, e.Extra); d != "" {
			t.Error(d)
		}
		back, err := Parse(e.OID, nil, Stamp(actor, epoch), e.Message())
		if err != nil || !cmp.Equal(e, back) {
			t.Error("written again:", err, cmp.Diff(e, back))
		}
		s := mustLog(t, []Node{{OID: e.OID, Event: &e}}, e.OID).Fold()
		if s.ReadOnly == "" || len(s.Checkpoints()) != 0 || s.Session != "demo" {
			t.Errorf("%+v", s)
		}
	}
}

func TestCheckRefuses(t *testing.T) {
	good := Event{Kind: KindStatus, Session: "demo", Time: epoch, Actor: actor, Status: "paused"}
	if err := good.Check(); err != nil {
		t.Fatal(err)
	}
	for what, change := range map[string]func(*Event){
		"no actor":       func(e *Event) { e.Actor = "" },
		"actor's lines":  func(e *Event) { e.Actor = "A\nparent x <a@b>" },
		"two brackets":   func(e *Event) { e.Actor = "A <a> <b>" },
		"session":        func(e *Event) { e.Session = "a/b" },
		"no time":        func(e *Event) { e.Time = time.Time{} },
		"before git":     func(e *Event) { e.Time = time.Unix(-5, 0) },
		"year 10000":     func(e *Event) { e.Time = time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC) },
		"id":             func(e *Event) { e.Checkpoint = "x" },
		"missing member": func(e *Event) { e.Status = "" },
		"step":           func(e *Event) { e.Step = -1 },
		"kind":           func(e *Event) { e.Kind = "a b" },
		"size":           func(e *Event) { e.Reason = strings.Repeat("x", MaxMessage) },
	} {
		e := good
		change(&e)
		if e.Check() == nil {
			t.Errorf("%s: may be written", what)
		}
	}
}

// The largest rollback and prune that a session of its planned size could need.
func TestLargeListsFit(t *testing.T) {
	e := Event{Kind: KindRollback, Session: "demo", Time: epoch, Actor: actor, To: id(1)}
	p := Event{Kind: KindPrune, Session: "demo", Time: epoch, Actor: actor}
	for i := range 20_000 {
		e.Discard = append(e.Discard, id(i))
		p.Tombstones = append(p.Tombstones, Tombstone{ID: id(i), Commit: oid(1, i), Record: "sha256:" + strings.Repeat("0", 64), Reason: "old"})
	}
	for _, e := range []Event{e, p} {
		if err := e.Check(); err != nil {
			t.Error(err)
		}
	}
}

func FuzzParse(f *testing.F) {
	for i, v := range hostile {
		e := Event{Kind: KindRollback, Session: "demo", Time: epoch, Step: i, To: id(i), Discard: []name.ID{id(i)}, Reason: v,
			Tombstones: []Tombstone{{ID: id(i), Reason: v}}, Extra: []Trailer{{"X", v}}}
		f.Add(Stamp(actor, epoch), e.Message())
	}
	f.Add(Stamp(actor, epoch), MergeMessage)
	f.Add(Stamp(actor, epoch), message("Checkpoint-Event: 2 x", inDemo, "Step: x"))
	f.Fuzz(func(t *testing.T, author, m string) {
		e, err := Parse(oid(1, 1), nil, author, m)
		if err != nil {
			return
		}
		again := e.Message()
		tame(t, again)
		back, err := Parse(oid(1, 1), nil, Stamp(e.Actor, e.Time), again)
		if err != nil {
			t.Fatalf("%v\n%s", err, again)
		}
		// The author date of an unknown event without a Time is written as a Time trailer.
		if !cmp.Equal(e, back) && e.known() {
			t.Fatalf("%s\n%s", cmp.Diff(e, back), again)
		}
		if _, err := NewLog([]Node{{OID: e.OID, Event: &e}}, e.OID); err != nil {
			t.Fatal(err)
		}
	})
}

func FuzzUnquote(f *testing.F) {
	for _, v := range hostile {
		f.Add(v)
		f.Add(quote(v))
	}
	f.Fuzz(func(t *testing.T, s string) {
		q := quote(s)
		if back, err := unquote(q); err != nil || back != s {
			t.Fatalf("%q is written %s and read %q, %v", s, q, back, err)
		}
		if v, err := unquote(s); err == nil && strings.HasPrefix(s, `"`) == isPlain(s) {
			t.Fatalf("%q was read as %q", s, v)
		}
	})
}
