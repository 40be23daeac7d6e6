package checkpoint

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/format/record"
	"git-checkpoint/internal/storage/proof"
)

// The types in this file are parts of what commands print. Their JSON members are a contract with
// scripts, documented in docs/json.md: members may be added, but never renamed or removed.

// Detail is one checkpoint as `create` and `show` print it. As JSON it is the record's own members,
// then commit, ref and tag, then "created" for a create. The fields below Warnings are for text
// output only, except Pruned.
type Detail struct {
	Record   *record.Record
	Raw      json.RawMessage // checkpoint.json as stored; nil: Record is encoded
	Commit   name.OID
	Ref      name.Ref
	Tag      name.Ref // empty when the checkpoint has no tag
	Private  string   // what keeps a new milestone from having a tag, to follow "it holds"; not in JSON
	Plain    string   // of show: a name that plain git takes; not in JSON
	Created  *bool    // nil except for create: false when nothing had changed and no checkpoint was made
	Warnings []string // for people, printed on stderr

	Current, Discarded, Pinned bool // the state of the checkpoint by the fold of its journal

	Unignored []Path // of a create: what it captured although it was ignored at the last checkpoint

	Pruned []Labelled // of a create: the checkpoints that the workflow's retention rules removed

	Heads func() []Head // of a create: the heads of the session's lines, if it has several; only JSON has them

	Expired []name.Session // of a create: the sessions of its workflow that were due and are removed

	First   bool   // of a create: the session had no checkpoint before, also none that is gone; not in JSON
	Left    string // of a create that went on in another session, that of the branch: how many steps the one before has; not in JSON
	Against string // the checkpoint that the counts of files are against, where it was made on another branch: `3 "try it" of feature`; not in JSON

	Usage *Spending // of show: what the agent's turn used; not in JSON

	Called string // of show: the name that leads to it; not in JSON

	Elsewhere string // of show: what Elsewhere says of it

	Said string // the workflow's own words that confirm a create; empty: the usual ones

	Amount *Amount // of a create that a person reads: how much it holds; nil: not measured; not in JSON
}

// Amount says how much a checkpoint holds.
type Amount struct {
	All            int // its files; 0: not counted, since there is a checkpoint before
	Added, Deleted int // lines that differ from the checkpoint before, or else from HEAD
}

// Path is a path in the worktree. In JSON, a path that is not valid UTF-8 is an object instead of a
// string.
type Path = record.Path

// Time is a time that is written to JSON as records write it: RFC 3339 in UTC, always with three
// digits after the second. time.Time itself would drop trailing zeros.
type Time struct{ time.Time }

// MarshalJSON writes the time in the format of a record.
func (t Time) MarshalJSON() ([]byte, error) {
	return []byte(t.UTC().Format(`"2006-01-02T15:04:05.000Z"`)), nil
}

// FileChange is one path that differs between two trees.
type FileChange struct {
	Path Path   `json:"path"`
	Op   string `json:"op"` // added, modified, deleted, mode or type; a rename is a deletion and an addition
}

// Labelled identifies a checkpoint by its id, with its label for people.
type Labelled struct {
	ID      name.ID `json:"id"`
	Label   string  `json:"label"`
	Mention Mention `json:"-"` // how people see it; empty where nobody has looked
}

// BranchPlan says what a rollback does to HEAD and to branches.
type BranchPlan struct {
	Name        name.Ref `json:"name"` // the branch that HEAD is on; empty when detached
	From        name.OID `json:"from"`
	To          name.OID `json:"to"`               // the commit of HEAD when the checkpoint was made
	Moved       bool     `json:"moved"`            // whether HEAD moves to To (--branch)
	Target      name.Ref `json:"target,omitempty"` // the branch that HEAD is on afterwards, when it moves
	CommitsLeft int      `json:"commits_left"`     // how many commits lie between; they stay, or are left behind by the branch

	Back *BranchBack `json:"back,omitempty"` // another branch, not HEAD's afterwards, that an undo moves back
}

// Moves reports whether the plan moves HEAD or any branch.
func (p BranchPlan) Moves() bool { return p.Moved || p.Back != nil }

// BranchBack is a move of a branch that HEAD is not on: the move that a rollback makes, as its
// safety checkpoint records it, or the move back that its undo plans.
type BranchBack struct {
	Name name.Ref `json:"name"`
	From name.OID `json:"from"` // empty: the branch did not exist
	To   name.OID `json:"to"`
}

// MarshalJSON returns the record's JSON as stored, with commit, ref, tag, created and pruned added
// at the end. The text is spliced, not decoded and encoded again: numbers keep their digits, and
// members that this version does not know keep their places.
func (d *Detail) MarshalJSON() ([]byte, error) {
	raw := d.Raw
	if raw == nil {
		var err error
		if raw, err = d.Record.Marshal(record.Limits{}); err != nil {
			return nil, err
		}
	}
	more := struct {
		Commit  string `json:"commit"`
		Ref     string `json:"ref"`
		Tag     string `json:"tag"`
		Created *bool  `json:"created,omitempty"`

		Pruned    []Labelled     `json:"pruned,omitempty"`
		Unignored []Path         `json:"no_longer_ignored,omitempty"`
		Expired   []name.Session `json:"expired,omitempty"`
		Heads     []Head         `json:"heads,omitempty"`
	}{string(d.Commit), string(d.Ref), string(d.Tag), d.Created, d.Pruned, d.Unignored, d.Expired, nil}
	if d.Heads != nil {
		more.Heads = d.Heads()
	}
	tail, err := json.Marshal(more)
	if err != nil {
		return nil, err
	}
	// Cut the closing brace of the record and the opening brace of the additions, and join them by
	// a comma.
	head := strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(string(raw)), "}"))
	return []byte(head + "," + string(tail[1:])), nil
}

// Finding is one problem that a check found: its kind, the object, what it means, and what to do.
type Finding = proof.Finding

// Spending is what the turns of an agent used: the tokens, as the records of their turns say. Price is what that costs at the prices of the user's
// settings, nil if one is not known.
type Spending struct {
	record.Usage
	Price *float64 `json:"price,omitempty"`
}

// UsageOf returns what the record says that its turn used, or nil.
func (s *Settings) UsageOf(rec *record.Record) *Spending {
	by, _ := rec.Agent()
	return s.Priced(by.Usage)
}

// Priced adds the price.
func (s *Settings) Priced(u *record.Usage) *Spending {
	const perPrice = 1e6 // how many tokens a price in the settings is for
	if u == nil || u.Tokens == (record.Tokens{}) {
		return nil
	}
	price, known, rest := 0.0, true, u.Tokens
	for model, t := range u.Models {
		input, is := s.priceOf(model, "input", math.NaN())
		output, too := s.priceOf(model, "output", math.NaN())
		cached, _ := s.priceOf(model, "cached", input)
		written, _ := s.priceOf(model, "written", input)
		known = known && is && too
		price += (float64(t.Input)*input + float64(t.Cached)*cached + float64(t.Written)*written + float64(t.Output)*output) / perPrice
		rest = rest.Minus(t)
	}
	if !known || rest.Total() > 0 {
		return &Spending{Usage: *u}
	}
	return &Spending{Usage: *u, Price: &price}
}

// Words describes it for people; it returns "" for nil.
func (u *Spending) Words() string {
	if u == nil {
		return ""
	}
	written, requests := "", "requests"
	if u.Written > 0 {
		written = fmt.Sprintf("%d written to a cache, ", u.Written)
	}
	if u.Requests == 1 {
		requests = "request"
	}
	text := fmt.Sprintf("%d in, %d cached, %s%d out; %d %s", u.Input, u.Cached, written, u.Output, u.Requests, requests)
	if u.Price != nil {
		text += "; price " + u.PriceWords()
	}
	return text
}

// PriceWords returns a price that is known, in the user's currency.
func (u *Spending) PriceWords() string { return strconv.FormatFloat(*u.Price, 'f', 4, 64) }

// priceOf returns the price of one kind of token in the settings, or the value of otherwise if it
// is not set.
func (s *Settings) priceOf(model, kind string, otherwise float64) (float64, bool) {
	text, _ := s.Get("checkpoint.price." + model + "." + kind)
	n, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
	if err != nil || !(n >= 0) || math.IsInf(n, 0) {
		return otherwise, false
	}
	return n, true
}
