package why

import (
	"slices"

	"git-checkpoint/internal/core/author"
	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/format/journal"
	"git-checkpoint/internal/format/name"
)

// Claim says that a checkpoint added a line. By is author.Unknown where its own difference did, and who made that is
// not known: then Because says why not.
type Claim struct {
	By         author.By       `json:"by"`
	Session    name.Session    `json:"session"`
	Step       int             `json:"step"` // 0: it belongs to no step yet
	Checkpoint name.ID         `json:"checkpoint"`
	Agent      string          `json:"agent"`
	Model      string          `json:"model"`
	Prompt     string          `json:"prompt"`
	Since      checkpoint.Time `json:"since"` // when the checkpoint was made
	Because    string          `json:"because"`
	Message    string          `json:"-"` // that of the step: of a turn the words of its prompt
	// Of is the step's own checkpoint, and Ref what people type for it.
	Of           name.ID        `json:"-"`
	Ref          string         `json:"-"`
	Entry        *journal.Entry `json:"-"` // that of Checkpoint
	Conversation string         `json:"-"` // the agent's own id of it
	Files        int            `json:"-"` // how many files the step changed

	from     name.Session // of whom it was taken over
	rank     int          // 1: the session went on from the commit; 2: the commit names a checkpoint of it
	worktree string       // where the checkpoint was made
}

// Held reports whether a checkpoint has the line, and nobody knows who made it.
func (c Claim) Held() bool { return c.By == author.Unknown && c.Checkpoint != "" }

// named returns the claims that say who made a line, and the first of the others.
func named(all []Claim) (known, held []Claim) {
	for _, c := range all {
		switch {
		case c.By != author.Unknown:
			known = append(known, c)
		case c.Held() && (held == nil || c.Since.Before(held[0].Since.Time)):
			held = []Claim{c}
		}
	}
	return known, held
}

// dropWeaker drops the claims for which there is a better one. One of somebody unknown is left only if there is no other.
func dropWeaker(all []Claim) []Claim {
	known, held := named(all)
	if len(known) == 0 {
		return held
	}
	// Sessions of one worktree have seen the same change. One of them may know whose it is, or else the first one
	// tells. That counts for more than from which of them it was committed. A command only brings back what a tool wrote.
	seen := slices.Clone(known)
	known = slices.DeleteFunc(known, func(c Claim) bool {
		return slices.ContainsFunc(seen, func(o Claim) bool {
			earlier := o.Since.Before(c.Since.Time)
			return o.worktree == c.worktree && (c.By == author.Outside && (o.By != author.Outside || earlier) || c.By == author.During && o.By == author.Agent && earlier)
		})
	})
	// In another worktree a session may go on from a commit that was made elsewhere.
	best, highest := map[string]int{}, 0
	for _, c := range known {
		best[c.worktree], highest = max(best[c.worktree], c.rank), max(highest, c.rank)
	}
	known = slices.DeleteFunc(known, func(c Claim) bool { return c.rank < best[c.worktree] || highest == 2 && c.rank < 2 })
	var out []Claim
	for _, c := range known {
		if !slices.ContainsFunc(out, func(o Claim) bool { return o.Session == c.Session && o.Checkpoint == c.Checkpoint }) {
			out = append(out, c)
		}
	}
	return out
}
