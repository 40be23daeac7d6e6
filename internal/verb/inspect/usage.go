package inspect

// This file counts the tokens that agents used, for lists and comparisons.

import (
	"context"
	"encoding/json"
	"strconv"

	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/format/journal"
	"git-checkpoint/internal/format/record"
)

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
