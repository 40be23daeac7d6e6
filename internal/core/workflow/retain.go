package workflow

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Retention tells what prune drops. Only live checkpoints count toward the numbers, and pinned ones
// are never dropped. See Retain.
type Retention struct {
	Automatic bool `json:"automatic,omitempty"` // prunes after every create
	// Keep is how many of the newest live checkpoints of a session stay. Absent or -1 keeps all.
	Keep *int `json:"keep,omitempty"`
	// Triggers has a limit per trigger. A trigger that is not listed has no limit.
	Triggers map[string]Keep `json:"triggers,omitempty"`
	// Sessions maps the status of a session ("*": any other, also an open one) to an age such as
	// "30d" or "12h". The whole session is dropped when its last change is older than that. "0d"
	// drops it at the next prune and "never" keeps it.
	Sessions map[string]string `json:"sessions,omitempty" keys:"needs word complete failed abandoned *" is:"age never"`
	// Discarded and Safety are the ages at which checkpoints that a rollback discarded, and safety
	// checkpoints, are dropped; "30d" when absent.
	Discarded string `json:"discarded,omitempty" is:"age"`
	Safety    string `json:"safety,omitempty" is:"age"`
}

// Keep limits the checkpoints of one trigger, counted per "session" or per "phase".
type Keep struct {
	Last int `json:"last"` // how many of the newest stay; -1 keeps all
	// Per is "session" (default) or "phase", the step that the checkpoints hang on.
	Per string `json:"per,omitempty" is:"word session phase"`
	// Steps limits them further to those of the given number of newest steps; 0 means no limit.
	Steps int `json:"steps,omitempty"`
	// After is an age such as "7d". Younger checkpoints are never dropped by this limit.
	After string `json:"after,omitempty" is:"age"`
	// Automatic applies this limit with every create of the trigger, even where Retention.Automatic
	// is not set.
	Automatic bool `json:"automatic,omitempty"`
}

// retention checks the numbers.
func (d verifier) retention() {
	r := d.Retention
	if r.Keep != nil && *r.Keep < -1 {
		d.add("retention.keep", "%d is not -1 or more", *r.Keep)
	}
	for _, trigger := range sortedKeys(r.Triggers) {
		path, keep := join("retention.triggers", trigger), r.Triggers[trigger]
		if _, known := d.trigger(trigger); !known {
			d.add(path, "%q is not one of the triggers", shorten(trigger, 60))
		}
		if keep.Last < -1 {
			d.add(path+".last", "%d is not -1 or more", keep.Last)
		}
		if keep.Steps < -1 {
			d.add(path+".steps", "%d is not -1 or more", keep.Steps)
		}
	}
}

// limit returns the retention limit of a trigger. Configuration overrides the number. ruled is false
// if neither has one.
func (r Retention) limit(trigger string, config Config) (keep Keep, ruled bool, err error) {
	keep, ruled = r.Triggers[trigger]
	if !ruled {
		keep = Keep{Last: -1}
	}
	key := "checkpoint." + trigger + ".keep"
	value, set := config.get(key)
	if !set {
		return keep, ruled, nil
	}
	n, err := strconv.Atoi(strings.TrimSpace(value))
	if err != nil || n < -1 {
		return keep, ruled, fmt.Errorf("%s is %q, not a number of -1 or more", key, shorten(value, 60))
	}
	keep.Last = n
	return keep, true, nil
}

// Item is one checkpoint with what retention needs to know about it.
type Item struct {
	ID        string
	Step      int
	Milestone bool
	Trigger   string
	Worktree  string // the random id of the worktree in which it was made
	// Discarded means that a rollback took it out of the line of work. A safety checkpoint (trigger
	// safety) is neither live nor discarded.
	Discarded bool
	Pinned    bool
	Current   bool // means that work stands at this checkpoint
	Undo      bool // means that an undo or redo restores files from this safety checkpoint
	// DiscardedAt is the time of the rollback that discarded it; if it is zero, CreatedAt is used.
	CreatedAt, DiscardedAt time.Time
}

// Policy is what retention depends on besides the definition and the checkpoints.
type Policy struct {
	Now           time.Time // the current time
	SessionStatus string    // the status with which the session was closed, "" if it is open
	Status        string    // the status of the current checkpoint
	ChangedAt     time.Time // the time of the last change of the session
	Config        Config    // looks up configuration that overrides numbers and ages of the definition
	// Keep and OlderThan come from the command line. If either is set, they replace the workflow's
	// rules for live checkpoints. With both, a checkpoint is dropped only if it is older and not
	// one of the newest Keep.
	Keep      *int
	OlderThan *time.Duration
}

// Verdict is the result for one item. Reason explains it either way. Forever means that a rule
// keeps the item whatever its age and number, so a budget for sizes must not take it either.
type Verdict struct {
	ID      string `json:"id"`
	Keep    bool   `json:"-"`
	Forever bool   `json:"-"`
	Reason  string `json:"reason"`
}

// Retain decides which checkpoints of one session stay. items are in the order of the journal,
// oldest first, and the verdicts have the same order.
//
// Pinned checkpoints always stay. Discarded and safety checkpoints are dropped by age, 30 days
// unless the workflow has another; the newest safety checkpoint of each worktree stays, and so does
// one that an undo needs. For live checkpoints the first of these applies: the flags of the command
// line; the age of a finished session, which drops everything but safety checkpoints; the limits
// per trigger and per session, which never drop the current checkpoint.
//
// An error means that an age or number in the definition or configuration is not valid.
func (d *Definition) Retain(items []Item, p Policy) ([]Verdict, error) {
	r := retainer{d: d, p: p, verdicts: make([]Verdict, len(items))}
	for i, item := range items {
		r.verdicts[i] = Verdict{ID: item.ID, Keep: true}
	}
	if err := r.aged(items); err != nil {
		return nil, err
	}
	over, reason, err := r.sessionOver(items)
	if err == nil {
		err = r.lasting(items)
	}
	switch {
	case err != nil:
		return nil, err
	case p.Keep != nil || p.OlderThan != nil:
		r.flags(items)
	case over:
		for i, item := range items {
			if item.Trigger != TriggerSafety { // an undo may still need those
				r.drop(i, item, reason)
			}
		}
	default:
		err = r.counted(items)
	}
	return r.verdicts, err
}

// retainer is one call of Retain. verdicts[i] belongs to items[i].
type retainer struct {
	d        *Definition
	p        Policy
	verdicts []Verdict
}

// drop marks an item as dropped unless it is pinned. If several rules drop it, the first reason is
// reported.
func (r *retainer) drop(i int, item Item, reason string) {
	if item.Pinned {
		r.stay(i, "pinned")
		return
	}
	if r.verdicts[i].Keep {
		r.verdicts[i].Keep, r.verdicts[i].Reason = false, reason
	}
}

// stay sets the reason of an item that is kept, unless it has one or is dropped.
func (r *retainer) stay(i int, reason string) {
	if r.verdicts[i].Keep && r.verdicts[i].Reason == "" {
		r.verdicts[i].Reason = reason
	}
}

// lasting marks what a rule keeps for ever: pinned checkpoints, and live ones for whose trigger,
// number or session the workflow or the configuration says -1 or never.
func (r *retainer) lasting(items []Item) error {
	_, age, _ := r.sessionAge()
	for i, item := range items {
		keep, ruled, err := r.d.Retention.limit(item.Trigger, r.p.Config)
		if err != nil {
			return err
		}
		limit := r.d.Retention.Keep
		all := ruled && keep.Last < 0 && keep.Steps == 0 || !ruled && limit != nil && *limit < 0
		if item.Pinned || isLive(item) && (all || age == keepsAlways) {
			r.verdicts[i].Forever = true
		}
	}
	return nil
}

// takesPlace reports whether an item counts toward a limit. A capture of the files before a step
// ran does not: it stays exactly as long as the next older checkpoint.
func takesPlace(item Item) bool { return item.Trigger != TriggerRun || item.Milestone }

// isAmong reports whether an item is one of the newest `most` items. place is its position, counted
// from 1, or, for an item that takes no place, that of the next newer one.
func isAmong(item Item, place, most int) bool {
	return place < most || place == most && takesPlace(item)
}

// isLive reports whether an item belongs to the current line of work.
func isLive(item Item) bool { return item.Trigger != TriggerSafety && !item.Discarded }

// aged judges the checkpoints that are not live, by their age.
func (r *retainer) aged(items []Item) error {
	const defaultAge = 30 * 24 * time.Hour // the age for discarded and safety checkpoints if the definition gives none
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
			r.verdicts[i].Forever = true
			r.stay(i, "the newest safety checkpoint of its worktree")
		case item.Undo:
			r.stay(i, "an undo or a redo needs it")
		case r.p.Now.Sub(item.CreatedAt) > safety:
			r.drop(i, item, "a safety checkpoint older than "+sayAge(safety))
		default:
			r.stay(i, "a safety checkpoint newer than "+sayAge(safety))
		}
	}
	return nil
}

// flags judges the live checkpoints by --keep and --older-than. At least one of them is set.
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

// sessionOver reports whether the whole session is old enough to be dropped, and the reason. The
// status is the one that the session was closed with or the one that the current checkpoint
// implies.
func (r *retainer) sessionOver(items []Item) (bool, string, error) {
	status, text, source := r.sessionAge()
	if text == "" || text == keepsAlways {
		return false, "", nil
	}
	age, err := ParseAge(text)
	if err != nil {
		return false, "", fmt.Errorf("%s: %w", source, err)
	}
	if status = cmp.Or(status, "untouched"); age == 0 {
		return true, "the session is " + status, nil
	}
	return r.p.Now.Sub(r.changed(items)) > age, fmt.Sprintf("the session has been %s for more than %s", status, sayAge(age)), nil
}

// SessionDue returns the time after which the whole session is dropped, and its age then, such as
// "7 days". The time is zero if the session is kept.
func (d *Definition) SessionDue(items []Item, p Policy) (at time.Time, said string, err error) {
	r := retainer{d: d, p: p}
	_, text, source := r.sessionAge()
	if text == "" || text == keepsAlways {
		return time.Time{}, "", nil
	}
	age, err := ParseAge(text)
	if err != nil {
		return time.Time{}, "", fmt.Errorf("%s: %w", source, err)
	}
	return r.changed(items).Add(age), sayAge(age), nil
}

// changed returns the time of the last change of the session. Its own time alone is not enough: a
// checkpoint may be newer.
func (r *retainer) changed(items []Item) time.Time {
	changed := r.p.ChangedAt
	for _, item := range items {
		if item.CreatedAt.After(changed) {
			changed = item.CreatedAt
		}
	}
	return changed
}

// sessionAge returns the status of the session, the age at which all of it is dropped, and where
// that age comes from.
func (r *retainer) sessionAge() (status, text, source string) {
	status = cmp.Or(r.p.SessionStatus, r.d.Statuses.Closes[r.p.Status])
	text, ok := r.d.Retention.Sessions[status]
	if !ok || status == "" {
		text = r.d.Retention.Sessions[anyOther]
	}
	key, source := "checkpoint.expire", "retention of sessions in workflow "+r.d.Name
	if status == "failed" || status == "abandoned" {
		key = "checkpoint.failedExpire"
	}
	// A workflow that drops sessions of this status at once ("0d") means it. Configuration can only
	// change an actual waiting time.
	if value, set := r.p.Config.get(key); set && (!ok || !isNow(text)) {
		text, source = value, "configuration "+key
	}
	return status, text, source
}

// keepsAlways is used in place of an age for sessions that are never dropped.
const keepsAlways = "never"

// isNow reports whether an age is zero.
func isNow(text string) bool {
	age, err := ParseAge(text)
	return err == nil && age == 0
}

// counted applies the limits per trigger and per session to the live checkpoints, from the newest
// to the oldest.
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
		keep, _, err := r.d.Retention.limit(item.Trigger, r.p.Config)
		if err != nil {
			return err
		}
		g, where := group{trigger: item.Trigger}, ""
		if keep.Per == perPhase {
			g.step, where = item.Step, " of "+r.d.Steps.say(item.Step)
		}
		if takesPlace(item) {
			inSession++
			inGroup[g]++
		}
		limit := r.d.Retention.Keep
		over := ""
		switch {
		case keep.Last >= 0 && inGroup[g] > keep.Last:
			over = fmt.Sprintf("not among the last %d of trigger %s%s", keep.Last, item.Trigger, where)
		case keep.Steps > 0 && item.Step <= newest-keep.Steps:
			over = fmt.Sprintf("not in the newest %d steps, for trigger %s", keep.Steps, item.Trigger)
		}
		after, err := ageOr(keep.After, -1)
		if err != nil {
			return err
		}
		switch {
		case item.Current:
			r.stay(i, "current")
		case over != "" && r.p.Now.Sub(item.CreatedAt) > after:
			r.drop(i, item, over)
		case limit != nil && *limit >= 0 && !isAmong(item, inSession, *limit):
			r.drop(i, item, fmt.Sprintf("not among the %d newest", *limit))
		}
		if item.Pinned {
			r.stay(i, "pinned")
		}
		if r.verdicts[i].Forever {
			r.stay(i, "kept for ever by a rule")
		}
		r.stay(i, "kept by the workflow")
	}
	return nil
}

// newestStep returns the highest step of a live checkpoint, 0 if there is none.
func newestStep(items []Item) int {
	newest := 0
	for _, item := range items {
		if isLive(item) {
			newest = max(newest, item.Step)
		}
	}
	return newest
}

// ageOr parses an age; an absent one has the given value.
func ageOr(text string, absent time.Duration) (time.Duration, error) {
	if text == "" {
		return absent, nil
	}
	return ParseAge(text)
}

// ParseAge parses an age: a whole number with one of the units w, d, h, m and s, or several of
// these in a row, such as "1w2d". A number without a unit is an error.
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
		// 1<<62 is less than the largest Duration, so neither the product nor the sum can overflow.
		if err != nil || time.Duration(count) > 1<<62/unit-total/unit {
			return 0, invalid
		}
		total += time.Duration(count) * unit
		rest = rest[n+1:]
	}
	return total, nil
}

// sayAge formats an age: whole days as days, anything else without zero minutes and seconds.
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
