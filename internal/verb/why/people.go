package why

import (
	"strings"

	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/git"
)

// mailOf returns what identifies a person: the address, or the name where there is none.
func mailOf(s git.Signature) string {
	if s.Email == "" {
		return strings.ToLower(s.Name)
	}
	return strings.ToLower(s.Email)
}

// peopleOf returns the author of a commit and its co-authors.
func peopleOf(c git.Commit) map[string]bool {
	people := map[string]bool{mailOf(c.Author): true}
	for line := range strings.Lines(c.Message) {
		key, value, is := strings.Cut(strings.TrimSpace(line), ":")
		if !is || !strings.EqualFold(key, "co-authored-by") {
			continue
		}
		if from, to := strings.LastIndexByte(value, '<'), strings.LastIndexByte(value, '>'); from >= 0 && to > from {
			people[strings.ToLower(value[from+1:to])] = true
		}
	}
	return people
}

// trailersOf returns the values of Checkpoint-Id in a message.
func trailersOf(message string) map[name.ID]bool {
	ids := map[name.ID]bool{}
	for line := range strings.Lines(message) {
		if id, is := strings.CutPrefix(strings.TrimSpace(line), "Checkpoint-Id: "); is {
			ids[name.ID(id)] = true
		}
	}
	return ids
}
