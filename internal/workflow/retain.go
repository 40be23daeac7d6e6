package workflow

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Item is a checkpoint as retention looks at it.
type Item struct {
	ID        string
	Step      int
	Milestone bool
	Trigger   string
	// Worktree is the random id of the worktree that made it.
	Worktree string
	// Discarded says that a rollback took it out of the line; a safety checkpoint
	// (trigger safety) is neither live nor discarded.
	Discarded bool
	Pinned    bool
	// Current is the checkpoint that work stands at.
	Current bool
	// Undo says that an undo or a redo takes its files from this safety checkpoint.
	Undo bool
	// CreatedAt is its time, DiscardedAt that of the rollback (zero: CreatedAt).
	CreatedAt, DiscardedAt time.Time
}

// Policy is what retention goes by besides the definition.
type Policy struct {
	// Now is the time it is asked.
	Now time.Time
	// SessionStatus is what the session was closed with, "" for an open one.
	SessionStatus string
	// Status is that of the current checkpoint.
	Status string
	// ChangedAt is the time of the session's last change.
	ChangedAt time.Time
	// Config may override numbers and ages.
	Config Config
	// Keep and OlderThan are the command line's; one that is not nil takes the
	// place of the workflow's rules. With both, only what is older goes, and the
	// newest Keep stay whatever their age.
	Keep      *int
	OlderThan *time.Duration
}

// Verdict is the answer for one item.
type Verdict struct {
	ID     string `json:"id"`
	Keep   bool   `json:"-"`
	Reason string `json:"reason"`
}

const defaultAge = 30 * 24 * time.Hour

// Retain judges the checkpoints of one session, given in the order of the journal,
// oldest first, and answers in the same order.
//
// Pinned ones stay. Safety checkpoints and discarded ones go after 30 days, but the
// newest safety checkpoint of each worktree stays. Live ones go by the flags, else
// by the workflow: all of them when the session is over for long enough (what was
// discarded too), else what is over the number of the session or of the trigger,
// never the current one.
func (d *Definition) Retain(items []Item, p Policy) ([]Verdict, error) {
	r := retainer{d: d, p: p, verdicts: make([]Verdict, len(items))}
	for i, item := range items {
		r.verdicts[i] = Verdict{ID: item.ID, Keep: true}
	}
	if err := r.aged(items); err != nil {
		return nil, err
	}
	over, reason, err := r.sessionOver(items)
	switch {
	case err != nil:
		return nil, err
	case p.Keep != nil || p.OlderThan != nil:
		r.flags(items)
	case over:
		r.all(items, reason)
	default:
		err = r.counted(items)
	}
	return r.verdicts, err
}

type retainer struct {
	d        *Definition
	p        Policy
	verdicts []Verdict
}

// drop lets an item go unless it is pinned; the first reason stands.
func (r *retainer) drop(i int, item Item, reason string) {
	if item.Pinned {
		r.stay(i, "pinned")
		return
	}
	if r.verdicts[i].Keep {
		r.verdicts[i].Keep, r.verdicts[i].Reason = false, reason
	}
}

func (r *retainer) stay(i int, reason string) {
	if r.verdicts[i].Keep && r.verdicts[i].Reason == "" {
		r.verdicts[i].Reason = reason
	}
}

// takesPlace reports whether an item is one of the newest so many. What was there before a
// step was tried is none: it stays as long as what it is newer than.
func takesPlace(item Item) bool { return item.Trigger != TriggerRun || item.Milestone }

// isAmong reports whether an item is one of the newest so many, at or after its place.
func isAmong(item Item, place, most int) bool {
	return place < most || place == most && takesPlace(item)
}

func isLive(item Item) bool { return item.Trigger != TriggerSafety && !item.Discarded }

// aged judges what is not live.
func (r *retainer) aged(items []Item) error {
	discarded, err := ageOr(r.d.Retention.Discarded, defaultAge)
	if err != nil {
		return err
	}
	safety, err := ageOr(r.d.Retention.Safety, defaultAge)
	if err != nil {
		return err
	}
	if r.p.OlderThan != nil {
		discarded, safety = min(discarded, *r.p.OlderThan), min(safety, *r.p.OlderThan)
	}
	newestOf := map[string]int{}
	for i, item := range items {
		if item.Trigger == TriggerSafety {
			newestOf[item.Worktree] = i
		}
	}
	for i, item := range items {
		since := item.DiscardedAt
		if since.IsZero() {
			since = item.CreatedAt
		}
		switch {
		case isLive(item):
		case item.Trigger != TriggerSafety && r.p.Now.Sub(since) > discarded:
			r.drop(i, item, "discarded more than "+sayAge(discarded)+" ago")
		case item.Trigger != TriggerSafety:
			r.stay(i, "discarded less than "+sayAge(discarded)+" ago")
		case newestOf[item.Worktree] == i:
			r.stay(i, "the newest safety checkpoint of its worktree")
		case item.Undo:
			r.stay(i, "an undo or a redo needs it")
		case r.p.Now.Sub(item.CreatedAt) > safety:
			r.drop(i, item, "a safety checkpoint of more than "+sayAge(safety))
		default:
			r.stay(i, "a safety checkpoint of less than "+sayAge(safety))
		}
	}
	return nil
}

// all lets a finished session go, but for what an undo may still need.
func (r *retainer) all(items []Item, reason string) {
	for i, item := range items {
		if item.Trigger != TriggerSafety {
			r.drop(i, item, reason)
		}
	}
}

func (r *retainer) flags(items []Item) {
	newer := 0
	for i := len(items) - 1; i >= 0; i-- {
		item := items[i]
		if !isLive(item) {
			continue
		}
		if takesPlace(item) {
			newer++
		}
		young := r.p.OlderThan != nil && r.p.Now.Sub(item.CreatedAt) <= *r.p.OlderThan
		counts := r.p.Keep != nil && (*r.p.Keep < 0 || isAmong(item, newer, *r.p.Keep))
		switch {
		case counts:
			r.stay(i, fmt.Sprintf("one of the %d newest", *r.p.Keep))
		case young:
			r.stay(i, "not older than "+sayAge(*r.p.OlderThan))
		case r.p.OlderThan != nil:
			r.drop(i, item, "older than "+sayAge(*r.p.OlderThan))
		default:
			r.drop(i, item, fmt.Sprintf("not one of the %d newest", *r.p.Keep))
		}
	}
}

// sessionOver reports whether the whole session is due, and why.
func (r *retainer) sessionOver(items []Item) (bool, string, error) {
	status := cmp.Or(r.p.SessionStatus, r.d.Statuses.Closes[r.p.Status])
	text, ok := r.d.Retention.Sessions[status]
	if !ok || status == "" {
		text = r.d.Retention.Sessions[anyOther]
	}
	key := "checkpoint.expire"
	if status == "failed" || status == "abandoned" {
		key = "checkpoint.failedExpire"
	}
	// A status that the workflow ends at once is not something to wait longer for.
	if r.p.Config != nil && (!ok || !isNow(text)) {
		if value, set := r.p.Config(key); set {
			text = value
		}
	}
	if text == "" || text == keepsAlways {
		return false, "", nil
	}
	age, err := ParseAge(text)
	if err != nil {
		return false, "", fmt.Errorf("age of a session: %w", err)
	}
	if status == "" {
		status = "untouched"
	}
	if age == 0 {
		return true, "the session is " + status, nil
	}
	changed := r.p.ChangedAt
	for _, item := range items {
		if item.CreatedAt.After(changed) {
			changed = item.CreatedAt
		}
	}
	return r.p.Now.Sub(changed) > age, fmt.Sprintf("the session is %s for more than %s", status, sayAge(age)), nil
}

// keepsAlways stands for an age that is never reached.
const keepsAlways = "never"

func isNow(text string) bool {
	age, err := ParseAge(text)
	return err == nil && age == 0
}

// counted applies the numbers of the session and of the triggers.
func (r *retainer) counted(items []Item) error {
	type group struct {
		trigger string
		step    int
	}
	inSession, inGroup, newest := 0, map[group]int{}, newestStep(items)
	for i := len(items) - 1; i >= 0; i-- {
		item := items[i]
		if !isLive(item) {
			continue
		}
		keep, err := r.d.keep(item.Trigger, r.p.Config)
		if err != nil {
			return err
		}
		g, where := group{trigger: item.Trigger}, ""
		if keep.Per == perPhase {
			g.step, where = item.Step, " of "+r.d.say(item.Step)
		}
		if takesPlace(item) {
			inSession++
			inGroup[g]++
		}
		limit := r.d.Retention.Keep
		over := keep.Last >= 0 && inGroup[g] > keep.Last || keep.Steps > 0 && item.Step <= newest-keep.Steps
		after, err := ageOr(keep.After, -1)
		if err != nil {
			return err
		}
		switch {
		case item.Current:
			r.stay(i, "current")
		case over && r.p.Now.Sub(item.CreatedAt) > after:
			r.drop(i, item, fmt.Sprintf("not among the last %d of trigger %s%s", keep.Last, item.Trigger, where))
		case limit != nil && *limit >= 0 && !isAmong(item, inSession, *limit):
			r.drop(i, item, fmt.Sprintf("not among the %d newest", *limit))
		}
		if item.Pinned {
			r.stay(i, "pinned")
		}
		r.stay(i, "kept by the workflow")
	}
	return nil
}

// newestStep is the highest step that a live checkpoint has.
func newestStep(items []Item) int {
	newest := 0
	for _, item := range items {
		if isLive(item) {
			newest = max(newest, item.Step)
		}
	}
	return newest
}

func ageOr(text string, absent time.Duration) (time.Duration, error) {
	if text == "" {
		return absent, nil
	}
	return ParseAge(text)
}

// ParseAge reads "30d", "2w", "12h", "90m" or several of them in a row.
func ParseAge(text string) (time.Duration, error) {
	invalid := fmt.Errorf("%q is not an age such as 30d, 12h or 2w", shorten(text, 40))
	units := map[byte]time.Duration{'w': 7 * 24 * time.Hour, 'd': 24 * time.Hour, 'h': time.Hour, 'm': time.Minute, 's': time.Second}
	total := time.Duration(0)
	rest := strings.TrimSpace(text)
	if rest == "" {
		return 0, invalid
	}
	for rest != "" {
		n := digits(rest)
		if n == 0 || n > 9 || n == len(rest) || units[rest[n]] == 0 {
			return 0, invalid
		}
		count, err := strconv.Atoi(rest[:n])
		unit := units[rest[n]]
		if err != nil || time.Duration(count) > 1<<62/unit-total/unit {
			return 0, invalid
		}
		total += time.Duration(count) * unit
		rest = rest[n+1:]
	}
	return total, nil
}

func sayAge(age time.Duration) string {
	if age >= 24*time.Hour && age%(24*time.Hour) == 0 {
		days := int(age / (24 * time.Hour))
		if days == 1 {
			return "1 day"
		}
		return fmt.Sprintf("%d days", days)
	}
	said := age.String()
	if strings.HasSuffix(said, "m0s") {
		said = strings.TrimSuffix(said, "0s")
	}
	if strings.HasSuffix(said, "h0m") {
		said = strings.TrimSuffix(said, "0m")
	}
	return said
}
