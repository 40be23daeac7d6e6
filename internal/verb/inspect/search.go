package inspect

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"

	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/format/journal"
	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/format/record"
	"git-checkpoint/internal/storage/store"
)

// Where a search found its words.
const (
	InPrompt     = "prompt"
	InMessage    = "message"
	InAnswer     = "answer" // the first words of an agent's answer, which follow the prompt in a turn's message
	InTranscript = "transcript"
	InPath       = "path"
)

// Found is a text that has all words of a search.
type Found struct {
	Session    name.Session `json:"session"`
	Step       int          `json:"step"` // 0: the checkpoint is between steps
	Checkpoint name.ID      `json:"checkpoint"`
	Where      string       `json:"where"`
	Text       string       `json:"text"` // the line, shortened around the words

	Ref string `json:"-"` // what people type for the checkpoint
}

// Search finds words in the prompts, messages, answers, kept transcripts and changed paths of all
// sessions, or of one. Case and the form of accents do not count, and each text must have all words. What cannot be read is
// skipped with a warning.
func Search(ctx context.Context, s *checkpoint.Sessions, session string, words []string) ([]Found, error) {
	q := search{s: s.Store}
	for _, w := range words {
		q.words = append(q.words, strings.Fields(folded(w))...)
	}
	if len(q.words) == 0 {
		return nil, checkpoint.Usage("", "there is no word to search for")
	}
	states, err := checkpoint.States(ctx, s.Store, "session %q is not searched: %v")
	if session != "" {
		var st *journal.State
		st, err = checkpoint.ChosenState(ctx, s, session)
		states = []*journal.State{st}
	}
	if err != nil {
		return nil, err
	}
	for _, st := range states {
		for i := range st.Len() {
			if n := st.Standing(i); n.Dead || n.Safety {
				continue
			}
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			if err := q.searchIn(ctx, st, st.Read(i)); err != nil {
				s.Store.Warn(fmt.Sprintf("%s of session %q is not searched: %v", checkpoint.CalledBy(st.Read(i)), st.Session, err))
			}
		}
	}
	return q.found, nil
}

// search is a search for words, which are folded.
type search struct {
	s     *store.Store
	words []string
	found []Found
}

// searchIn searches one checkpoint.
func (q *search) searchIn(ctx context.Context, st *journal.State, e *journal.Entry) error {
	rec, err := checkpoint.ReadRecord(ctx, q.s, e)
	if err != nil {
		return err
	}
	at := Found{Session: st.Session, Checkpoint: e.Checkpoint, Ref: string(st.Session) + ":" + checkpoint.TypedName(st, e)}
	if e.Milestone {
		at.Step = e.Step
	}
	where, rest := InMessage, InMessage
	if rec.HasPrompt() {
		where, rest = InPrompt, InAnswer
	}
	for line := range strings.Lines(strings.TrimPrefix(rec.Message, record.BeforePrompt+": ")) {
		q.matchText(at, where, line)
		where = rest
	}
	for _, p := range slices.Concat(rec.Files.Created, rec.Files.Modified, rec.Files.Deleted) {
		q.matchText(at, InPath, string(p))
	}
	talk, err := talkOf(ctx, q.s, e)
	if talk != nil {
		for _, line := range talk.Lines {
			q.matchText(at, InTranscript, string(line))
		}
	}
	return err
}

// folded is a text without its case, as Unicode folds it, whose accents are parts of their letters: macOS writes them apart in names.
func folded(text string) string { return norm.NFC.String(cases.Fold().String(norm.NFD.String(text))) }

// matchText notes a text that has all words.
func (q *search) matchText(at Found, where, text string) {
	text = strings.TrimSpace(text)
	lower := folded(text)
	if slices.ContainsFunc(q.words, func(w string) bool { return !strings.Contains(lower, w) }) {
		return
	}
	at.Where, at.Text = where, text
	if where != InPath {
		at.Text = excerpt(text, strings.Index(lower, q.words[0]))
	}
	q.found = append(q.found, at)
}

// excerpt shortens a text to some characters before and after a place.
func excerpt(text string, at int) string {
	const before, after = 80, 160
	from, to := max(0, min(at, len(text))-before), min(len(text), at+after)
	short := strings.ToValidUTF8(text[min(from, to):to], "")
	if from > 0 {
		short = "…" + short
	}
	if to < len(text) {
		short += "…"
	}
	return short
}
