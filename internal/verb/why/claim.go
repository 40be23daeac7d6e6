package why

import (
	"slices"

	"git-checkpoint/internal/core/author"
	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/format/name"
)

// Claim says that a checkpoint added a line.
type Claim struct {
	By         author.By    `json:"by"`
	Session    name.Session `json:"session"`
	Step       int          `json:"step"` // 0: it belongs to no step yet
	Checkpoint name.ID      `json:"checkpoint"`
	Agent      string       `json:"agent"`
	Model      string       `json:"model"`
	Prompt     string       `json:"prompt"`
	// Since is when the checkpoint was made.
	Since checkpoint.Time `json:"since"`
	// Message is that of the step: of a turn the words of its prompt.
	Message string `json:"-"`
	// Of is the step's own checkpoint, and Ref what people type for it.
	Of  name.ID `json:"-"`
	Ref string  `json:"-"`
	// Label is that of Checkpoint.
	Label string `json:"-"`
	// Files is how many files the step changed.
	Files int `json:"-"`

	rank     int    // 1: the session went on from the commit; 2: the commit names a checkpoint of it
	worktree string // where the checkpoint was made
	after    bool   // it was compared with what was there before, of any session
}

// dropWeaker drops the claims for which there is a better one.
func dropWeaker(all []Claim) []Claim {
	known := slices.DeleteFunc(all, func(c Claim) bool { return c.By == author.Unknown })
	// Sessions of one worktree have seen the same change. One of them may know whose it is, or else the first one
	// tells. That counts for more than from which of them it was committed.
	seen := slices.Clone(known)
	known = slices.DeleteFunc(known, func(c Claim) bool {
		return c.By == author.Outside && slices.ContainsFunc(seen, func(o Claim) bool {
			return o.worktree == c.worktree && (o.By != author.Outside || o.Since.Before(c.Since.Time))
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
