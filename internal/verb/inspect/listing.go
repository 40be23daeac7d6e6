package inspect

// This file selects the checkpoints of a list, by what it asks for and by expressions over records, and adds
// what only people read: messages, lines and tokens.

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/core/workflow"
	"git-checkpoint/internal/format/journal"
	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/format/record"
	"git-checkpoint/internal/format/render"
	"git-checkpoint/internal/git"
	"git-checkpoint/internal/storage/store"
)

// Detail says what a list finds out about a checkpoint in addition to what its JSON says. More
// detail means more reading.
type Detail int

// With DetailMessages the records are read for Row.Message, with DetailRows for all of Row.
const (
	DetailNone Detail = iota
	DetailMessages
	DetailRows
)

// Row is what a list for people says of a checkpoint.
type Row struct {
	Name    string // what a person types for it
	Message string // all of it
	Files   string // where there is no message: "a, b and 3 more"
	By      string // the agent, or the trigger unless that is manual
	Lines   *FileCount
	Against string // `not on the files of 3 "B3" (Ben)`: its files count from HEAD

	onHead bool
}

// eachRecord calls each for the valid items with their records, as text and parsed, from several goroutines at once.
// What cannot be read is left out: the list says what is damaged.
func (l *Listing) eachRecord(ctx context.Context, s *store.Store, byID map[name.ID]*store.Summary, each func(i int, raw []byte, rec *record.Record) error) error {
	var of []*store.Summary
	var places []int
	for i, item := range l.Items {
		if item.Valid {
			of, places = append(of, byID[item.ID]), append(places, i)
		}
	}
	return s.EachRecord(ctx, of, func(i int, raw []byte, rec *record.Record) error { return each(places[i], raw, rec) })
}

// keep keeps the items that fit, by place.
func (l *Listing) keep(fits []bool) {
	kept := l.Items[:0]
	for i, item := range l.Items {
		if fits[i] {
			kept = append(kept, item)
		}
	}
	l.Items = kept
}

// grep keeps the items whose message or a changed path has a word, in any case.
func (l *Listing) grep(ctx context.Context, s *store.Store, st *journal.State, byID map[name.ID]*store.Summary, word string) error {
	if word == "" {
		return nil
	}
	word = folded(word)
	found := make([]bool, len(l.Items))
	for i, item := range l.Items { // even one whose record is damaged
		found[i] = strings.Contains(folded(item.Message), word)
	}
	err := l.eachRecord(ctx, s, byID, func(i int, _ []byte, rec *record.Record) error {
		found[i] = found[i] || hasWord(checkpoint.DescribedBy(st.Entry(l.Items[i].ID), rec), word)
		return nil
	})
	l.keep(found)
	return err
}

// details fills in the rows of the list.
func (l *Listing) details(ctx context.Context, s *store.Store, st *journal.State, byID map[name.ID]*store.Summary, detail Detail) error {
	if detail == DetailNone {
		return nil
	}
	if err := l.eachRecord(ctx, s, byID, func(i int, _ []byte, rec *record.Record) error {
		l.Items[i].Row = rowOf(checkpoint.DescribedBy(st.Entry(l.Items[i].ID), rec))
		return nil
	}); err != nil {
		return err
	}
	if detail == DetailRows {
		for i := range l.Items {
			if before := st.Entry(st.Entry(l.Items[i].ID).Event().Previous); l.Items[i].Row.onHead && before != nil {
				l.Items[i].Row.Against = "not on the files of " + checkpoint.Mentioned(ctx, s, st, before).String() + " (" + before.Event().Writer() + ")"
			}
		}
		l.called(st)
		l.countLines(ctx, s.Repo, st)
	}
	return nil
}

// rowOf returns what a record alone says.
func rowOf(rec *record.Record) Row {
	row := Row{Message: rec.Message, Files: checkpoint.MentionOf(rec).Files, onHead: rec.IsOnHead()}
	if rec.Trigger != workflow.TriggerManual {
		row.By = rec.Trigger
	}
	if by, ok := rec.Agent(); ok {
		if row.By = by.Name; by.IsDuring() {
			row.By = "during " + by.Name
		}
		if rec.Trigger != journal.TriggerTurn && rec.Trigger != workflow.TriggerManual {
			row.By += " (" + rec.Trigger + ")"
		}
	}
	return row
}

// hasWord reports whether the message or a changed path has a word, which must be folded.
func hasWord(rec *record.Record, word string) bool {
	in := func(path record.Path) bool { return strings.Contains(folded(string(path)), word) }
	return in(record.Path(rec.Message)) || slices.ContainsFunc(slices.Concat(rec.Files.Created, rec.Files.Modified, rec.Files.Deleted), in)
}

// called fills in what people type for each row. Most are the only checkpoint of their step; then
// the journal need not be searched.
func (l *Listing) called(st *journal.State) {
	steps := map[int]int{} // how many live milestones each step has
	for _, c := range st.Standings() {
		if c.Live && c.Milestone {
			steps[c.Step]++
		}
	}
	for i, item := range l.Items {
		if e := st.Entry(item.ID); steps[item.Step] == 1 && e.Live && e.Milestone {
			l.Items[i].Row.Name = checkpoint.CalledBy(e)
		} else {
			l.Items[i].Row.Name = checkpoint.NameTo(st, e)
		}
	}
}

// countLines counts the lines that each checkpoint changed against the one before it, in one
// process. The numbers are not known for the first checkpoint and for one whose predecessor was
// pruned. They are for people only, so an error leaves them out.
func (l *Listing) countLines(ctx context.Context, repo *git.Repo, st *journal.State) {
	var asked strings.Builder
	places := map[string]int{}
	for i, item := range l.Items {
		before := st.Entry(st.Entry(item.ID).Event().Previous)
		if item.Valid && item.Files > 0 && item.Files <= measurable && before != nil && !before.Dead {
			// git takes the second commit for the parent of the first.
			asked.WriteString(string(item.Commit) + " " + string(before.Event().Commit) + "\n")
			places[string(item.Commit)] = i
		}
	}
	if len(places) == 0 {
		return
	}
	out, err := repo.Run(ctx, git.Cmd{Args: []string{"diff-tree", "--stdin", "-r", "-z", "--no-renames", "--no-textconv", "--no-ext-diff", "--numstat"}, Stdin: strings.NewReader(asked.String())})
	if err != nil {
		return
	}
	lines := &FileCount{}
	for field := range strings.SplitSeq(string(out.Stdout), "\x00") {
		if i, known := places[field]; known {
			lines = &FileCount{}
			l.Items[i].Row.Lines = lines
		}
		for _, f := range Counts(field) {
			lines.Added, lines.Deleted = lines.Added+f.Added, lines.Deleted+f.Deleted
		}
	}
}

// Hidden says what to do with safety and discarded checkpoints. An expression or a trigger that
// asks for them explicitly always gets them.
type Hidden int

// HiddenUnlessWhere lists them, but leaves them out if there is an expression. HiddenCounted only
// counts them. HiddenShown lists them.
const (
	HiddenUnlessWhere Hidden = iota
	HiddenCounted
	HiddenShown
)

// ListRequest is the input of List. Zero values mean: no filter.
type ListRequest struct {
	Session string
	All     bool   // list every session
	Type    string // prefix of the session's name or of its type of work
	Trigger string
	Status  string
	Step    *int
	Since   time.Time
	Where   string // a condition on the record and the line of the list
	Hidden  Hidden
	Grep    string // only those whose message or a changed path has this word, in any case
	Detail  Detail
	Limit   int  // at most this many of the newest; 0: all
	Usage   bool // say how many tokens turns of agents used, which reads their records
}

// Where compiles the expression of --where. It returns nil for "".
func Where(text string) (*workflow.Condition, error) {
	if text == "" {
		return nil, nil
	}
	condition, err := workflow.Where(text)
	if err != nil {
		return nil, checkpoint.Usage("write an expression over the record, such as state.metrics.build_pass", "--where: %v", err)
	}
	return condition, nil
}

// Newest returns the name of the newest live checkpoint for which an expression is true.
func Newest(ctx context.Context, s *checkpoint.Sessions, session, expression string) (string, error) {
	if expression == "" { // an unset variable in a script
		return "", checkpoint.Usage("write an expression over the record, such as state.metrics.build_pass", "--where is empty")
	}
	found, err := List(ctx, s, ListRequest{Session: session, Where: expression, Limit: 1})
	if err != nil {
		return "", err
	}
	for _, l := range found {
		for _, item := range l.Items {
			return string(l.Session) + ":" + string(item.ID), nil
		}
	}
	return "", checkpoint.Failure(checkpoint.KindNotFound, "`git checkpoint list --hidden --where` also looks at safety, discarded and invalid ones", "no live checkpoint matches: %s", name.Clip(expression, name.Said))
}

// dropsLater reports whether a filter needs more than the journal.
func (req ListRequest) dropsLater() bool {
	return req.Where != "" || !req.Since.IsZero() || req.Grep != ""
}

// mayShow applies those filters that the journal alone can answer to the checkpoint at a place.
func (req ListRequest) mayShow(st *journal.State, place int, c journal.Standing) bool {
	return (req.Step == nil || c.Step == *req.Step) && (req.Trigger == "" || st.At(place).Event().Trigger == req.Trigger) &&
		(req.Status == "" || st.At(place).Event().CheckpointStatus == req.Status)
}

// leavesOut reports whether a safety or discarded checkpoint is hidden. A search for the last good
// checkpoint must not end at one that a rollback discarded, unless the expression asks for such.
func (req ListRequest) leavesOut(c *workflow.Condition, e journal.Standing) bool {
	if !e.Safety && !e.Discarded || req.Hidden == HiddenShown || c == nil && req.Hidden == HiddenUnlessWhere {
		return false
	}
	// An expression asks for something if it mentions it: "safety", or the member "discarded".
	if e.Safety {
		return req.Trigger != journal.TriggerSafety && (c == nil || !c.Asks(journal.TriggerSafety))
	}
	return c == nil || !c.Asks("discarded")
}

// fit keeps the items for which the expression is true. An item that is not valid may have no
// record, so it can only fit if the expression or the request asks for invalid ones.
func (l *Listing) fit(ctx context.Context, s *store.Store, byID map[name.ID]*store.Summary, req ListRequest, where *workflow.Condition) error {
	if where == nil {
		return nil
	}
	if req.Hidden != HiddenShown && !where.Asks("valid") && !where.Asks("problem") {
		l.Items = slices.DeleteFunc(l.Items, func(i Item) bool { return !i.Valid })
	}
	fits := make([]bool, len(l.Items)) // one slot for each item, so that the goroutines need no lock
	var once sync.Once
	var first error // the first error: others have the same cause
	holds := func(i int, raw []byte, _ *record.Record) (err error) {
		if fits[i], err = where.Holds(raw, lineOf(l.Items[i])); err != nil {
			once.Do(func() { first = err })
		}
		return err
	}
	for i, item := range l.Items {
		if !item.Valid && holds(i, nil, nil) != nil {
			return first
		}
	}
	err := l.eachRecord(ctx, s, byID, holds)
	l.keep(fits)
	return cmp.Or(first, err)
}

// lineOf returns the members of an item's JSON line, for use in an expression.
func lineOf(i Item) map[string]any {
	return map[string]any{
		"id": string(i.ID), "label": i.Label, "session": string(i.Session), "step": i.Step, "step_name": i.StepName, "iteration": i.Iteration,
		"milestone": i.Milestone, "trigger": i.Trigger, "status": i.Status, "message": i.Message, "created_at": render.UTC(i.CreatedAt.Time),
		"commit": string(i.Commit), "files": i.Files, "current": i.Current, "discarded": i.Discarded, "pinned": i.Pinned, "valid": i.Valid, "problem": i.Problem, "incomplete": i.Incomplete,
	}
}

// Marks returns what an expression may refer to besides the record of a valid checkpoint, for a
// checkpoint that comes from no list.
func Marks(state *journal.State, e *journal.Entry, r *record.Record) map[string]any {
	return map[string]any{
		"commit": string(e.Event().Commit), "files": r.Files.Total(), "current": state.Current == e.Checkpoint,
		"discarded": e.Discarded, "pinned": e.Pinned, "valid": true, "problem": "", "incomplete": Incomplete(r.Snapshot.Skipped),
	}
}

// UsageUntil adds up what the turns of a session used, up to the checkpoint of an entry, including
// turns that a rollback discarded. It returns nil if they used nothing.
func UsageUntil(ctx context.Context, s *checkpoint.Rules, st *journal.State, e *journal.Entry) (*checkpoint.Spending, error) {
	var sum record.Usage
	for i, c := range st.Standings() {
		if i > e.Place || c.Dead || st.At(i).Event().Trigger != journal.TriggerTurn {
			continue
		}
		rec, err := checkpoint.ReadRecord(ctx, s.Store, st.At(i))
		if err != nil {
			return nil, err
		}
		if by, _ := rec.Agent(); by.Usage != nil {
			sum.Join(*by.Usage)
		}
	}
	return s.Settings.Priced(&sum), nil
}

// metricTokens is the metric of what an agent used, unless the workflow has one of that name.
const metricTokens = "tokens"

// AddTokens adds the number of tokens to the metrics of a checkpoint, if a turn used any.
func AddTokens(metrics map[string]json.RawMessage, u *checkpoint.Spending) (added string) {
	if _, has := metrics[metricTokens]; has || u == nil {
		return ""
	}
	metrics[metricTokens] = strconv.AppendInt(nil, u.Total(), 10)
	return metricTokens
}

// withUsage fills in what the turns of a list used.
func (l *Listing) withUsage(ctx context.Context, s *checkpoint.Rules, st *journal.State) {
	for i, item := range l.Items {
		e := st.Entry(item.ID)
		if item.Trigger != journal.TriggerTurn || e == nil {
			continue
		}
		if rec, err := checkpoint.ReadRecord(ctx, s.Store, e); err == nil { // the list says what is damaged
			l.Items[i].Usage = s.Settings.UsageOf(rec)
		}
	}
}
