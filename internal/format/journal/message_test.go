package journal

import (
	"reflect"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"git-checkpoint/internal/format/name"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

const actor = "Ada <ada@example.com>"

var hostile = []string{"", "plain", " leading", "trailing ", `"quoted"`, `back\slash`, "new\nline", "Status: forged",
	"a\n\nCheckpoint-Event: 1 prune\nTombstone: x", "\x00\x1b[31m", "bad\xffutf8", "nbsp\u00a0ü→", "\u202eturned", "\u2028", "\u0085",
	"tab\t", "\r\n", "--- >8 ---", "%s%n", "\xe2\x80", "\ufffd", "# hash", `\x41`}

func drawText(t *rapid.T) string {
	return rapid.OneOf(rapid.SampledFrom(hostile), rapid.String(),
		rapid.Map(rapid.SliceOfN(rapid.Byte(), 0, 12), func(b []byte) string { return string(b) })).Draw(t, "text")
}

// drawFull makes an event of any kind with any of its members, by reflection, so that
// a member that is added later is covered.
func drawFull(t *rapid.T) Event {
	e := Event{Format: Format, Actor: actor}
	v := reflect.ValueOf(&e).Elem()
	for i := range v.NumField() {
		f := v.Field(i)
		if rapid.Bool().Draw(t, "empty") {
			continue
		}
		switch x := f.Addr().Interface().(type) {
		case *string:
			if x != &e.Actor {
				*x = drawText(t)
			}
		case *name.ID:
			*x = drawID(t)
		case *bool:
			*x = true
		case *[]name.ID:
			*x = append(*x, drawIDs(t)...)
		case *[]Tombstone:
			for _, y := range drawIDs(t) {
				*x = append(*x, Tombstone{ID: y, Reason: drawText(t), Record: rapid.SampledFrom([]string{"", "sha256:00ff"}).Draw(t, "record")})
			}
		case *[]Trailer:
			*x = append(*x, Trailer{"Later", drawText(t)}, Trailer{"later-2", drawText(t)}, Trailer{"Later", drawText(t)})
		}
	}
	e.Commit, e.Undoes = oid(1, 1), oid(1, 2)
	e.Step = rapid.IntRange(0, maxStep).Draw(t, "step")
	e.Time = time.UnixMilli(rapid.Int64Range(0, 4e12).Draw(t, "time")).UTC()
	e.Session = rapid.SampledFrom([]name.Session{"demo", "PRD-212", "a.b_c"}).Draw(t, "session")
	e.Kind = rapid.SampledFrom([]Kind{KindStart, KindCreate, KindAdopt, KindRollback, KindUndo, KindResume, KindStatus, KindPin,
		KindUnpin, KindSkip, KindRebuild, KindPrune, KindArchive, KindImport, KindClose}).Draw(t, "kind")
	if e.require() != nil {
		e.Checkpoint, e.To, e.Status, e.Tombstones = id(1), id(2), "complete", []Tombstone{{ID: id(3), Commit: oid(1, 3)}}
	}
	return e
}

func TestMessageReadsBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		e := drawFull(t)
		e.OID, e.Parents = oid(2, 1), []name.OID{oid(2, 2)}
		if err := e.Check(); err != nil {
			t.Fatal(err)
		}
		m := e.Message()
		back, err := Parse(e.OID, e.Parents, Stamp(e.Actor, e.Time), m)
		if err != nil {
			t.Fatalf("%v\n%s", err, m)
		}
		if d := cmp.Diff(normal(e), normal(back)); d != "" {
			t.Fatalf("(-written +read) %s\n%s", d, m)
		}
		tame(t, m)
	})
}

// normal has no empty lists: a message cannot tell them from none.
func normal(e Event) Event {
	v := reflect.ValueOf(&e).Elem()
	for i := range v.NumField() {
		if f := v.Field(i); f.Kind() == reflect.Slice && f.Len() == 0 {
			f.SetZero()
		}
	}
	return e
}

// tame checks that a message can be shown, and has its subject, one empty line, and
// nothing but trailers.
func tame(t reporter, m string) {
	t.Helper()
	if !utf8.ValidString(m) || strings.ContainsFunc(m, func(r rune) bool { return r != '\n' && unicode.IsControl(r) }) {
		t.Fatal("the message has raw control characters or is no UTF-8:", m)
	}
	subject, rest, _ := strings.Cut(m, "\n\n")
	if strings.Contains(subject, "\n") || subject == "" || utf8.RuneCountInString(subject) > maxSubject+1 || strings.Contains(rest, "\n\n") {
		t.Fatal("the message is not a sentence and trailers:", m)
	}
}

// A value that looks like a trailer, or a key that is none, adds no trailer.
func TestNoValueForgesATrailer(t *testing.T) {
	e := Event{Kind: KindStatus, Session: "demo", Time: epoch, Actor: actor, Status: "paused", Reason: "x\nStatus: complete\n\nCheckpoint-Event: 1 prune",
		Extra: []Trailer{{"Status", "failed"}, {"a\nb", "c"}, {"", "d"}, {"Time", "e"}, {"Good", "f"}}}
	back, err := Parse("", nil, Stamp(actor, epoch), e.Message())
	if err != nil {
		t.Fatal(err)
	}
	if back.Status != "paused" || back.Reason != e.Reason || !cmp.Equal(back.Extra, []Trailer{{"Good", "f"}}) {
		t.Errorf("%+v", back)
	}
	if e.Check() == nil {
		t.Error("Check lets trailers pass that will not be read back")
	}
}

func TestQuote(t *testing.T) {
	for v, want := range map[string]string{
		"plain ü → 👩‍🚀":  "plain ü → 👩‍🚀",
		`in "quotes" \n`: `in "quotes" \n`,
		"":               `""`,
		" a":             `" a"`,
		"a ":             `"a "`,
		`"a`:             `"\"a"`,
		"a\nb\tc\rd\\":   `"a\nb\tc\rd\\"`,
		"\x1b\u0085\xff": `"\x1b\xc2\x85\xff"`,
		"a\u202eb":       `"a\xe2\x80\xaeb"`,
	} {
		if got := quote(v); got != want {
			t.Errorf("%q is written %s, want %s", v, got, want)
		}
	}
}

func TestSubject(t *testing.T) {
	for _, c := range []struct {
		want string
		e    Event
	}{
		{"rollback cp-05-testing → cp-03-architecture: tests will not pass",
			Event{Kind: KindRollback, From: id(5), To: id(3), FromLabel: "cp-05-testing", ToLabel: "cp-03-architecture", Reason: "tests will not pass"}},
		{"rollback to " + string(id(3)), Event{Kind: KindRollback, To: id(3)}},
		{"undo " + string(id(3)) + " → none", Event{Kind: KindUndo, From: id(3)}},
		{"create cp-03-architecture", Event{Kind: KindCreate, Checkpoint: id(3), Label: "cp-03-architecture"}},
		{"create cp-03+1 (safety)", Event{Kind: KindCreate, Label: "cp-03+1", Trigger: TriggerSafety}},
		{"adopt " + string(id(3)), Event{Kind: KindAdopt, Checkpoint: id(3)}},
		{"rebuild cp-02 from " + string(id(3)), Event{Kind: KindRebuild, Label: "cp-02", RebuiltFrom: id(3)}},
		{"start parcel-07 (go-team): parcels", Event{Kind: KindStart, Session: "parcel-07", Workflow: "go-team", Topic: "parcels"}},
		{"status paused: gate", Event{Kind: KindStatus, Status: "paused", Reason: "gate"}},
		{"close demo complete", Event{Kind: KindClose, Session: "demo", Status: "complete"}},
		{"archive demo", Event{Kind: KindArchive, Session: "demo"}},
		{"skip step 2 requirements: known", Event{Kind: KindSkip, Step: 2, StepName: "requirements", Reason: "known"}},
		{"prune " + string(id(1)), Event{Kind: KindPrune, Tombstones: []Tombstone{{ID: id(1)}}}},
		{"prune " + string(id(1)) + " and 2 more: old", Event{Kind: KindPrune, Reason: "old", Tombstones: []Tombstone{{ID: id(1)}, {ID: id(2)}, {ID: id(3)}}}},
		{"import: manifest.json", Event{Kind: KindImport, Reason: "manifest.json"}},
		{"pin a b", Event{Kind: KindPin, Label: "\x1b a\n\n b \u202e"}},
		{"pin " + strings.Repeat("ü", maxSubject-4) + "…", Event{Kind: KindPin, Label: strings.Repeat("ü", 4*maxSubject)}},
	} {
		if got := c.e.Subject(); got != c.want {
			t.Errorf("subject is %q, want %q", got, c.want)
		}
	}
}

func TestMessageIsPinned(t *testing.T) {
	e := Event{Kind: KindRollback, Session: "demo", Time: epoch.Add(7 * time.Millisecond), Actor: actor, Worktree: "main", WorktreeID: "4f2a",
		From: id(5), FromLabel: "cp-05-testing", To: id(3), ToLabel: "cp-03-architecture", Safety: id(7), Mode: "all",
		Discard: []name.ID{id(4), id(5)}, Reason: "tests\nwill not pass"}
	want := `rollback cp-05-testing → cp-03-architecture: tests will not pass

Checkpoint-Event: 1 rollback
Time: 2026-11-20T09:00:00.007Z
Session: demo
Worktree: main
Worktree-Id: 4f2a
From: cp-05-20261120T090005000Z-0005
From-Label: cp-05-testing
To: cp-03-20261120T090003000Z-0003
To-Label: cp-03-architecture
Safety: cp-07-20261120T090007000Z-0007
Mode: all
Reason: "tests\nwill not pass"
Discard: cp-04-20261120T090004000Z-0004
Discard: cp-05-20261120T090005000Z-0005
`
	if d := cmp.Diff(want, e.Message()); d != "" {
		t.Error(d)
	}
}

// What another writer quoted carelessly can be read, and is written again with care.
func TestCarelessQuotes(t *testing.T) {
	e := Event{Kind: KindStatus, Session: "demo", Time: epoch, Actor: actor, Status: "paused", Reason: "a \x1b[31m"}
	careful := e.Message()
	careless := strings.NewReplacer(`\x1b`, "\x1b", "Status: paused", `Status: "paused"`).Replace(careful)
	if careless == careful {
		t.Fatal("nothing was replaced in", careful)
	}
	back, err := Parse("", nil, Stamp(actor, epoch), careless)
	if err != nil {
		t.Fatal(err)
	}
	if back.Status != e.Status || back.Reason != e.Reason || back.Message() != careful {
		t.Errorf("%+v", back)
	}
}
