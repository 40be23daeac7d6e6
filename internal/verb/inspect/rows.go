package inspect

// This file adds to a list what only people read, and searches the records for words.

import (
	"context"
	"slices"
	"strings"

	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/core/workflow"
	"git-checkpoint/internal/format/journal"
	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/format/record"
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

// eachRecord calls each for the valid items with their records, from several goroutines at once. What cannot be
// read is left out: the list says what is damaged.
func (l *Listing) eachRecord(ctx context.Context, s *store.Store, byID map[name.ID]*store.Summary, each func(i int, rec *record.Record)) error {
	var of []*store.Summary
	var places []int
	for i, item := range l.Items {
		if item.Valid {
			of, places = append(of, byID[item.ID]), append(places, i)
		}
	}
	return s.EachRecord(ctx, of, func(i int, _ []byte, rec *record.Record) error {
		each(places[i], rec)
		return nil
	})
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
	err := l.eachRecord(ctx, s, byID, func(i int, rec *record.Record) {
		found[i] = found[i] || hasWord(checkpoint.DescribedBy(st.Entry(l.Items[i].ID), rec), word)
	})
	kept := l.Items[:0]
	for i, item := range l.Items {
		if found[i] {
			kept = append(kept, item)
		}
	}
	l.Items = kept
	return err
}

// details fills in the rows of the list.
func (l *Listing) details(ctx context.Context, s *store.Store, st *journal.State, byID map[name.ID]*store.Summary, detail Detail) error {
	if detail == DetailNone {
		return nil
	}
	if err := l.eachRecord(ctx, s, byID, func(i int, rec *record.Record) {
		l.Items[i].Row = rowOf(checkpoint.DescribedBy(st.Entry(l.Items[i].ID), rec))
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
