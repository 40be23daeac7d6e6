package agent

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"git-checkpoint/internal/format/record"
)

// What real agents wrote is added up by turn: every request once, however often it is written, and what
// came from a cache apart from the rest. A scripted model reported 1,010 tokens of input with its first
// request, 1,020 with the second and so on.
func TestUsage(t *testing.T) {
	const claude, openai, google = "claude-sonnet-4-5", "gpt-4.1", "gemini-2.5-flash"
	for _, test := range []struct {
		file  string
		turns []record.Usage // those with requests, in their order
	}{
		{"claude", []record.Usage{requests(claude, 1, 2, 3), requests(claude, 4, 6), requests(claude, 8), requests(claude, 9)}},
		{"claude-subagent", []record.Usage{requests(claude, 5, 7)}},
		{"codex", []record.Usage{requests("", 1, 2, 3), requests("", 4, 5, 6)}},
		{"codex-subagent", []record.Usage{requests("", 7)}},
		{"copilot", []record.Usage{requests(openai, 1, 2, 3), requests(openai, 4, 5, 6, 7), requests(openai, 8)}}, // with a subagent
		{"gemini", []record.Usage{requests(google, 1, 2, 3), requests(google, 4)}},
		{"qwen", []record.Usage{requests("scripted", 1, 2, 3), requests("scripted", 4, 5)}}, // with a subagent
	} {
		t.Run(test.file, func(t *testing.T) {
			agent, _, _ := strings.Cut(test.file, "-")
			d, err := Find(agent)
			if err != nil {
				t.Fatal(err)
			}
			text, err := os.ReadFile(filepath.Join("testdata/transcripts", test.file+".jsonl"))
			if err != nil {
				t.Fatal(err)
			}
			spent := d.Usage.InTranscript(text, nil)
			var got []record.Usage
			for _, turn := range spent.Turns {
				if of := spent.SumOf(turn); of.Requests > 0 {
					got = append(got, of)
				}
			}
			if diff := cmp.Diff(test.turns, got); diff != "" || spent.Late {
				t.Errorf("late: %v\n%s", spent.Late, diff)
			}
			if again := d.Usage.InTranscript(text, spent).All(); again.Total() != 0 {
				t.Errorf("requests that were counted before count again: %v", again)
			}
		})
	}
}

// requests returns what the scripted model reported with these requests, numbered from 1.
func requests(model string, numbers ...int64) (sum record.Usage) {
	for _, n := range numbers {
		t := record.Tokens{Input: 1000 + 10*n, Cached: 300 + n, Output: 20 + n, Requests: 1}
		switch model {
		case "claude-sonnet-4-5":
			t.Written = 100 + n
		case "gemini-2.5-flash": // the reasoning comes beside the output
			t.Output += 5
			fallthrough
		default: // what is cached is part of the input
			t.Input -= t.Cached
		}
		sum.Add(model, t)
	}
	return sum
}

// A transcript whose last line is not written yet says so, and half a line counts for nothing.
func TestLateUsage(t *testing.T) {
	for _, name := range []string{"claude", "gemini", "copilot"} {
		d, err := Find(name)
		if err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(filepath.Join("testdata/transcripts", name+".jsonl"))
		if err != nil {
			t.Fatal(err)
		}
		all := d.Usage.InTranscript(text, nil).All()
		for at := 0; at < len(text); at += 101 {
			part := d.Usage.InTranscript(text[:at], nil)
			if got := part.All(); got.Requests > all.Requests || got.Requests == all.Requests && got.Total() != all.Total() {
				t.Fatalf("%s: %v after %d bytes, of %v", name, got, at, all)
			}
		}
		last := strings.LastIndex(string(text), map[string]string{"claude": `"msg_`, "gemini": `"tokens"`, "copilot": "apiCallId"}[name])
		if !d.Usage.InTranscript(text[:last], nil).Late {
			t.Errorf("%s: the last request is not missed", name)
		}
	}
}
