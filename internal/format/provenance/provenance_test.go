package provenance

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func fixture(t *testing.T, leaf string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", leaf))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// read has the invalid fixtures that are read all the same. Their fault is in what nobody asks for here, or it makes the
// reader pass something over, as git-ai's own does; what they then say must be no more than the sound note beside them does.
var read = strings.Fields(`
agent-trace-invalid-list-of-records agent-trace-invalid-member-twice agent-trace-invalid-metadata-list agent-trace-invalid-twice
agent-trace-invalid-revision agent-trace-invalid-revision-sha256 agent-trace-invalid-revision-short agent-trace-invalid-vcs-cvs
agent-trace-invalid-related-without-type agent-trace-invalid-related-without-url agent-trace-invalid-url-no-uri
git-ai-note-invalid-descending git-ai-note-invalid-human-unknown git-ai-note-invalid-human-without-author
git-ai-note-invalid-indent-one-blank git-ai-note-invalid-indent-tab git-ai-note-invalid-indent-three-blanks
git-ai-note-invalid-key-upper-case git-ai-note-invalid-key-without-trace git-ai-note-invalid-line-zero
git-ai-note-invalid-lines-backwards git-ai-note-invalid-lines-descending git-ai-note-invalid-lines-zero git-ai-note-invalid-messages
git-ai-note-invalid-path-absolute git-ai-note-invalid-path-not-quoted git-ai-note-invalid-path-twice
git-ai-note-invalid-path-without-attestation git-ai-note-invalid-prompt-unknown git-ai-note-invalid-prompt-without-counts
git-ai-note-invalid-schema-2 git-ai-note-invalid-session-key-short git-ai-note-invalid-session-unknown
git-ai-note-invalid-session-with-counts git-ai-note-invalid-session-with-messages git-ai-note-invalid-session-without-trace
git-ai-note-invalid-trace-too-short git-ai-note-invalid-unknown-session git-ai-note-invalid-unquoted-path git-ai-note-invalid-version`)

func TestFixtures(t *testing.T) {
	files, err := filepath.Glob("testdata/*valid-*")
	if err != nil || len(files) < 100 {
		t.Fatalf("%d fixtures, %v", len(files), err)
	}
	for _, file := range files {
		leaf := filepath.Base(file)
		reader := readGitAI
		if strings.HasPrefix(leaf, "agent-trace") {
			reader = readAgentTrace
		}
		_, err := reader(fixture(t, leaf))
		good := strings.Contains(leaf, "-valid-") || slices.Contains(read, strings.TrimSuffix(leaf, filepath.Ext(leaf)))
		if good != (err == nil) {
			t.Errorf("%s: %v", leaf, err)
		}
	}
}

// What cannot be known from a note is not said: keys that no map has, another version, lines that are none.
func TestPassedOver(t *testing.T) {
	for leaf, want := range map[string]string{
		"git-ai-note-invalid-session-unknown.txt":   "",
		"git-ai-note-invalid-prompt-unknown.txt":    "",
		"git-ai-note-invalid-key-upper-case.txt":    "",
		"git-ai-note-invalid-schema-2.txt":          "",
		"git-ai-note-valid-three-kinds-of-keys.txt": "ai:cursor ai:claude human:",
		"git-ai-note-valid-legacy-seven-digits.txt": "ai:cursor",
	} {
		notes, err := readGitAI(fixture(t, leaf))
		if err != nil {
			t.Fatal(leaf, err)
		}
		var got []string
		for _, f := range notes[0].Files {
			for _, p := range f.Parts {
				got = append(got, p.Type+":"+p.Agent)
			}
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s: %q, not %q", leaf, got, want)
		}
	}
	notes, err := readGitAI(fixture(t, "git-ai-note-invalid-lines-backwards.txt"))
	if err != nil {
		t.Fatal(err)
	}
	for line := range 30 {
		if m, said := notes[0].Files[0].At(line); said && line > 20 {
			t.Errorf("line %d: %v", line, m)
		}
	}
}

// ours is what the fixtures valid-ours say.
func ours() Note {
	claude := Maker{Type: AI, Agent: "claude", Model: "claude-sonnet-4-5", Conversation: "2b8d0c1e-77f4-4f0a-9f3e-0a1b2c3d4e5f", Session: "claude-5d1f", Steps: []string{"claude-5d1f/4"}}
	codex := Maker{Type: AI, Agent: "codex", Conversation: "019a3f52-1111-7a00-8123-456789abcdef", Session: "codex-77aa", Steps: []string{"codex-77aa/2"}}
	six := claude
	six.Steps = []string{"claude-5d1f/6"}
	return Note{Commit: "6f1d2c3b4a5968778695a4b3c2d1e0f102132435", Files: []File{
		{"cmd/serve.go", []*Part{{claude, []Range{{3, 7}, {12, 12}}}, {six, []Range{{9, 9}}}}},
		{"docs/läs mig.md", []*Part{{codex, []Range{{1, 2}}}}},
	}}
}

// What we write is what the fixtures have, but for the id, which is one of ours.
func TestWrite(t *testing.T) {
	n, at := ours(), "2026-09-14T08:21:07Z"
	note, err := Formats()[1].Write(n, at, "0.9.0")
	if want := string(fixture(t, "git-ai-note-valid-ours.txt")); err != nil || strings.TrimSpace(string(note)) != strings.TrimSpace(want) {
		t.Errorf("%v\n%s\nwant\n%s", err, note, want)
	}
	// In Agent Trace the fifth step is one of which nobody knows who made it.
	n.Files[0].Parts[1].Maker = Maker{Type: Unknown, Steps: []string{"claude-5d1f/5"}}
	record, err := Formats()[0].Write(n, at, "0.9.0")
	if err != nil {
		t.Fatal(err)
	}
	var got, want map[string]any
	if err := json.Unmarshal(record, &got); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(fixture(t, "agent-trace-valid-ours.json"), &want); err != nil {
		t.Fatal(err)
	}
	id, _ := got["id"].(string)
	if !uuid().MatchString(id) || id[14] != '5' {
		t.Errorf("id %q", id)
	}
	want["id"] = id
	x, _ := json.Marshal(got)
	y, _ := json.Marshal(want)
	if string(x) != string(y) {
		t.Errorf("%s\nwant\n%s", x, y)
	}
	if again, _ := Formats()[0].Write(n, at, "0.9.0"); string(again) != string(record) {
		t.Error("the same note is written in another way")
	}
	// git-ai has no place for the unknown.
	n.Files = n.Files[:1]
	n.Files[0].Parts = n.Files[0].Parts[1:]
	if note, err := Formats()[1].Write(n, at, "0.9.0"); note != nil || err != nil {
		t.Errorf("an empty note: %q, %v", note, err)
	}
}

// What we write we read again, with paths that are hard to write.
func TestRoundTrip(t *testing.T) {
	n := ours()
	n.Files[0].Path, n.Files[1].Path = "---", "a b\u2003c"
	n.Files = append(n.Files, File{"-", n.Files[1].Parts})
	for _, f := range Formats() {
		data, err := f.Write(n, "2026-09-14T08:21:07Z", "1.0.0")
		if err != nil {
			t.Fatal(err)
		}
		back, err := f.Read(data)
		if err != nil || len(back) != 1 || !back[0].Ours || back[0].Commit != n.Commit {
			t.Fatalf("%s: %v %v\n%s", f.Name, back, err, data)
		}
		for i, file := range n.Files {
			if back[0].Files[i].Path != file.Path {
				t.Errorf("%s: path %q", f.Name, back[0].Files[i].Path)
			}
			for _, p := range file.Parts {
				for _, r := range p.Ranges {
					for line := r.From; line <= r.To; line++ {
						if m, said := back[0].Files[i].At(line); !said || m.Type != AI || m.Session != p.Session {
							t.Errorf("%s %s:%d: %v %v", f.Name, file.Path, line, m, said)
						}
					}
				}
			}
		}
	}
	if gitAI := Formats()[1]; gitAI.Holds("a\nb") || gitAI.Holds(`a"b`) || !gitAI.Holds("a b") {
		t.Error("paths that git-ai cannot have")
	}
}

func TestModels(t *testing.T) {
	for model, want := range map[string]string{
		"claude-sonnet-4-5": "anthropic/claude-sonnet-4-5", "gpt-5-codex": "openai/gpt-5-codex", "o3": "openai/o3", "gemini-3-pro": "google/gemini-3-pro",
		"openrouter/qwen/qwen3": "openrouter/qwen/qwen3", "opus": "", "unknown": "", "": "", "my model": "", "/srv/model": "",
		"gpt-" + strings.Repeat("x", 300): "",
	} {
		if got := withProvider(model); got != want {
			t.Errorf("%q: %q, not %q", model, got, want)
		}
	}
}

func TestTrailers(t *testing.T) {
	for part := range strings.SplitSeq(strings.TrimPrefix(string(fixture(t, "trailers.txt")), ""), "\n== ") {
		name, rest, _ := strings.Cut(part, "\n")
		message, expected, is := strings.Cut(rest, "\n=>")
		if !is {
			continue
		}
		var got []string
		for _, tr := range Trailers(message) {
			got = append(got, tr.From+": "+tr.Text)
		}
		if want := strings.TrimSpace(expected); strings.Join(got, "\n") != want {
			t.Errorf("%s: %q, not %q", name, got, want)
		}
	}
	if len(Trailers("s\n\nAssisted-by: a\r\n")) != 1 {
		t.Error("a carriage return")
	}
}

func FuzzRead(f *testing.F) {
	for _, leaf := range []string{"git-ai-note-valid-ours.txt", "agent-trace-valid-ours.json", "git-ai-note-valid-three-kinds-of-keys.txt"} {
		data, err := os.ReadFile(filepath.Join("testdata", leaf))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
		f.Add(bytes.Replace(data, []byte("\n---\n"), []byte("\n  s_1 x\n---\n"), 1))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, format := range Formats() {
			notes, err := format.Read(data)
			for _, n := range notes {
				if err != nil {
					t.Fatal("an error and a note")
				}
				for _, file := range n.Files {
					file.At(1)
				}
			}
		}
	})
}
