package agent

import (
	"bytes"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"git-checkpoint/internal/format/record"
)

// Usage says where an agent writes how many tokens its requests to a model used: into the lines of
// its transcript, or into payloads. Only numbers, ids and names of models are read.
type Usage struct {
	Payload string `json:"payload"` // leads to a list of requests in payloads; empty: they are in the transcript

	// Prompt describes a line that may begin a turn, and Turn leads to the turn's id in it. A line
	// without an id begins none.
	Prompt Line     `json:"prompt"`
	Turn   []string `json:"turn"`
	// Number leads to the turn's number in that line. One that is not higher than those before left their turns: the
	// person went back to before them.
	Number string `json:"number"`
	// Awaits describes lines that a request follows. The line of that request may be written late.
	Awaits []Line `json:"awaits"`

	// Request describes the line of a request. Several lines with one Id are one request, of which
	// the last is used. If a line has an Of, that is the id of its turn.
	Request Line     `json:"request"`
	ID      []string `json:"id"`
	Of      []string `json:"of"`
	Model   []string `json:"model"`
	// The numbers that these lead to are added up.
	Input     []string `json:"input"`
	Cached    []string `json:"cached"`
	Written   []string `json:"written"`
	Output    []string `json:"output"`
	Inclusive bool     `json:"inclusive"` // says that the agent counts what is cached and written as input, too
}

// Line describes a line of a transcript: gjson paths that must have these values, and others that
// must not be empty.
type Line struct {
	When    map[string]string `json:"when"`
	Present []string          `json:"present"`
}

func (l Line) fits(line gjson.Result) bool {
	return len(l.When) > 0 && EventRule{When: l.When, Present: l.Present}.holds(line)
}

// Spent is what the requests of a transcript used.
type Spent struct {
	Turns []string // has the ids of the turns in their order. Requests before the first have ""
	Left  []string // has the turns that the last one left
	Late  bool     // reports whether a line is still to come

	requests map[string]*request
	numbers  map[string]int64 // of turns
}

// request is one request to a model.
type request struct {
	turn, model string
	tokens      record.Tokens
}

// Reads reports whether the tokens are in the transcript.
func (u Usage) Reads() bool { return len(u.Request.When) > 0 }

// InTranscript adds up what the whole lines of a transcript say. Requests that before has are not
// counted again; it may be nil.
func (u Usage) InTranscript(text []byte, before *Spent) *Spent {
	s := &Spent{requests: map[string]*request{}, numbers: map[string]int64{}}
	turn := ""
	for line := range bytes.Lines(text) {
		if whole, valid := parsed(line); valid {
			turn = s.read(u, whole, turn, before)
		}
	}
	return s
}

// read adds a line of the turn, and returns the turn of the next line.
func (s *Spent) read(u Usage, line gjson.Result, turn string, before *Spent) string {
	if begun := short(line, u.Turn); begun != "" && u.Prompt.fits(line) {
		if turn = begun; !slices.Contains(s.Turns, turn) {
			number := line.Get(u.Number).Int()
			s.Left = slices.DeleteFunc(slices.Clone(s.Turns), func(t string) bool { return number <= 0 || s.numbers[t] < number })
			s.numbers[turn] = number
		}
		s.begin(turn)
	}
	if u.Request.fits(line) {
		s.Late = false
		id, r := u.request(line)
		if of := short(line, u.Of); of != "" {
			turn = of
		}
		known := s.requests[id]
		if before != nil && before.requests[id] != nil || r.tokens == (record.Tokens{}) {
			known = nil
		} else if known == nil {
			s.begin(turn)
			known = &request{turn: turn}
			s.requests[id] = known
		}
		if known != nil {
			known.model, known.tokens = r.model, r.tokens
		}
	}
	for _, l := range u.Awaits {
		s.Late = s.Late || l.fits(line)
	}
	return turn
}

// begin adds a turn, unless it is known.
func (s *Spent) begin(turn string) {
	if !slices.Contains(s.Turns, turn) {
		s.Turns = append(s.Turns, turn)
	}
}

// SumOf adds up the requests of a turn.
func (s *Spent) SumOf(turn string) (sum record.Usage) {
	for _, r := range s.requests {
		if r.turn == turn {
			sum.Add(r.model, r.tokens)
		}
	}
	return sum
}

// All adds up all requests.
func (s *Spent) All() (sum record.Usage) {
	for _, turn := range s.Turns {
		sum.Join(s.SumOf(turn))
	}
	return sum
}

// request returns the id of a request, and what it used; nothing if the line is not a request to a
// model.
func (u Usage) request(line gjson.Result) (string, request) {
	sum := func(paths []string) (n int64) {
		for _, path := range paths {
			n += count(line.Get(path))
		}
		return n
	}
	t := record.Tokens{Input: sum(u.Input), Cached: sum(u.Cached), Written: sum(u.Written), Output: sum(u.Output)}
	if u.Inclusive {
		t.Input = max(0, t.Input-t.Cached-t.Written)
	}
	if t != (record.Tokens{}) {
		t.Requests = 1
	}
	id := short(line, u.ID)
	if id == "" {
		id = digest(line.Raw)
	}
	return id, request{model: strings.TrimSpace(printable(short(line, u.Model))), tokens: t}
}

// count returns a number of tokens; 0 for anything else.
func count(v gjson.Result) int64 {
	const mostTokens = 1 << 40 // the most tokens that a request can plausibly use
	if v.Type != gjson.Number || !(v.Num > 0 && v.Num <= mostTokens) {
		return 0
	}
	return int64(v.Num)
}

// inPayload adds up the requests that a payload lists.
func (u Usage) inPayload(root gjson.Result) (sum record.Usage) {
	if u.Payload == "" {
		return sum
	}
	for _, line := range root.Get(u.Payload).Array() {
		_, r := u.request(line)
		sum.Add(r.model, r.tokens)
	}
	return sum
}
