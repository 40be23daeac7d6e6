package agent

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"git-checkpoint/internal/format/record"
)

// A copy of what a real agent wrote has the prompts up to the turn, whose place was noted at its end, and ends with a
// line of the conversation.
func TestCut(t *testing.T) {
	for name, prompts := range map[string]int{"claude": 4, "gemini": 2, "copilot": 3} {
		t.Run(name, func(t *testing.T) {
			d, err := Find(name)
			if err != nil {
				t.Fatal(err)
			}
			text, err := os.ReadFile(filepath.Join("testdata/transcripts", name+".jsonl"))
			if err != nil {
				t.Fatal(err)
			}
			turns, begins := begun(d.Chat, text)
			if len(turns) != prompts {
				t.Fatalf("%d prompts: %v", len(turns), turns)
			}
			for i, turn := range turns {
				end := len(text)
				if i+1 < len(begins) {
					end = begins[i+1]
				}
				p, err := d.Chat.PlaceIn(bytes.NewReader(text), int64(end), turn)
				if err != nil || p.Offset != int64(end) {
					t.Fatalf("%+v, want %d (%v)", p, end, err)
				}
				var cut bytes.Buffer
				if err := d.Chat.Cut(&cut, bytes.NewReader(text), p, turn, [2]string{"old", "new"}); err != nil {
					t.Fatal(err)
				}
				if got, _ := begun(d.Chat, cut.Bytes()); len(got) != i+1 {
					t.Errorf("the copy of turn %d has the prompts %v", i+1, got)
				}
			}
		})
	}
}

// begun returns the turns of a transcript, and where each begins.
func begun(c Chat, text []byte) (turns []string, begins []int) {
	at := 0
	for line := range bytes.Lines(text) {
		l, _ := parsed(line)
		turn := short(l, c.Of)
		if c.Next.fits(l) && (turn == "" || len(turns) == 0 || turns[len(turns)-1] != turn) {
			turns, begins = append(turns, turn), append(begins, at)
		}
		at += len(line)
	}
	return turns, begins
}

// The place of a turn that is closed late is before the lines of the next one, and the copy has what was written late.
func TestCutLate(t *testing.T) {
	d, err := Find("claude")
	if err != nil {
		t.Fatal(err)
	}
	const first, late, second = `{"type":"user","promptId":"p1"}` + "\n" + `{"type":"assistant","uuid":"a1"}` + "\n",
		`{"type":"queue-operation"}` + "\n" + `{"type":"assistant","uuid":"a2","sessionId":"old","text":"\"old\""}` + "\n",
		`{"type":"user","promptId":"p2"}` + "\n" + `{"type":"assistant","uuid":"b1"}` + "\n"
	p, err := d.Chat.PlaceIn(strings.NewReader(first+second), int64(len(first+second)), "p1")
	if err != nil || p.ID != "a1" || p.Offset != int64(len(first)) {
		t.Fatalf("%+v (%v)", p, err)
	}
	for _, behind := range []string{late + second, late, late + second + `{"type":"assis`} {
		var cut bytes.Buffer
		if err := d.Chat.Cut(&cut, strings.NewReader(first+behind), p, "p1", [2]string{"old", "new"}); err != nil {
			t.Fatal(err)
		}
		if want := first + strings.Replace(late, `"sessionId":"old"`, `"sessionId":"new"`, 1); cut.String() != want {
			t.Errorf("got\n%s\nwant\n%s", cut.String(), want)
		}
	}
	for what, text := range map[string]string{
		"changed": strings.Replace(first, "a1", "a9", 1) + second, "cut off": first[:len(first)-1], "empty": "",
	} {
		if d.Chat.Cut(&bytes.Buffer{}, strings.NewReader(text), p, "p1", [2]string{}) == nil {
			t.Errorf("a transcript that was %s is cut", what)
		}
	}
	for _, p := range []record.Position{{}, {Offset: -1}, {Offset: 1 << 62}, {Offset: p.Offset}} {
		if d.Chat.Cut(&bytes.Buffer{}, strings.NewReader(first), p, "p1", [2]string{}) == nil {
			t.Errorf("it is cut at %+v", p)
		}
	}
	// JSON that is too deep is no line of the conversation, and one that is too long ends all.
	var cut bytes.Buffer
	deep := strings.Repeat("[", 4<<20) + "\n"
	if err := d.Chat.Cut(&cut, strings.NewReader(first+deep+second), p, "p1", [2]string{}); err != nil || cut.String() != first {
		t.Errorf("after deep JSON: %v, %d bytes", err, cut.Len())
	}
	if _, err := d.Chat.PlaceIn(strings.NewReader(first+deep), int64(len(first+deep)), "p1"); err != nil {
		t.Log(err) // the tail has no whole line
	}
	long := strings.Repeat("x", longestLine+1)
	if d.Chat.Cut(&cut, strings.NewReader(first+long), p, "p1", [2]string{}) == nil {
		t.Error("a line without an end is read")
	}
}

// Gemini CLI leaves out a prompt that begins with what a hook said; the copy has the prompt alone.
func TestCutWithout(t *testing.T) {
	d, err := Find("gemini")
	if err != nil {
		t.Fatal(err)
	}
	const text = `{"type":"user","content":[{"text":"<hook_context>say \"it\"\nnow</hook_context>\n\nmake it <hook_context>"}]}` + "\n" + `{"id":"g1","type":"gemini"}` + "\n"
	p, err := d.Chat.PlaceIn(strings.NewReader(text), int64(len(text)), "")
	if err != nil {
		t.Fatal(err)
	}
	var cut bytes.Buffer
	if err := d.Chat.Cut(&cut, strings.NewReader(text), p, "", [2]string{}); err != nil || !strings.HasPrefix(cut.String(), `{"type":"user","content":[{"text":"make it <hook_context>"}]}`) {
		t.Errorf("%v\n%s", err, cut.String())
	}
}

// Copilot CLI may write the prompt of a turn after the turn has ended, and its lines do not name their turns. The
// place says how many prompts were missing then, and the cut goes behind the answers to them.
func TestCutBehindMissing(t *testing.T) {
	d, err := Find("copilot")
	if err != nil {
		t.Fatal(err)
	}
	turn := func(n string) string {
		return `{"type":"user.message","id":"u` + n + `"}` + "\n" + `{"type":"assistant.message","id":"a` + n + `"}` + "\n"
	}
	p, err := d.Chat.PlaceIn(strings.NewReader(turn("1")), int64(len(turn("1"))), "")
	if err != nil || d.Chat.Prompts(strings.NewReader(turn("1")+turn("2"))) != 2 {
		t.Fatal(p, err)
	}
	whole := turn("1") + turn("2") + turn("3") + turn("4")
	for missing, want := range []string{turn("1"), turn("1") + turn("2"), turn("1") + turn("2") + turn("3")} {
		p.Missing = missing
		var cut bytes.Buffer
		if err := d.Chat.Cut(&cut, strings.NewReader(whole), p, "", [2]string{}); err != nil || cut.String() != want {
			t.Errorf("with %d missing: %v, got\n%s\nwant\n%s", missing, err, cut.String(), want)
		}
	}
}
