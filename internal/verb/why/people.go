package why

import (
	"cmp"
	"context"
	"os"
	"path/filepath"
	"strings"

	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/git"
	"git-checkpoint/internal/sys/lazy"
)

// personOf identifies somebody, in lower case: "name <mail>".
func personOf(s git.Signature) string { return strings.ToLower(s.Name + " <" + s.Email + ">") }

// peopleOf returns the author of a commit and its co-authors.
func peopleOf(c git.Commit) []string {
	people := []string{personOf(c.Author)}
	for line := range strings.Lines(c.Message) {
		if key, value, is := strings.Cut(strings.TrimSpace(line), ":"); is && strings.EqualFold(key, "co-authored-by") {
			people = append(people, strings.ToLower(strings.TrimSpace(value)))
		}
	}
	return people
}

// isProgram reports whether an author is no person, but an agent or another program, as their addresses show.
func isProgram(s git.Signature) bool {
	mail := strings.ToLower(s.Email)
	return strings.HasPrefix(mail, "noreply@") || strings.HasPrefix(mail, "no-reply@") || strings.Contains(mail, "[bot]@")
}

// hidden matches an address that a host gave to somebody who hides another, such as
// 12345+ada@users.noreply.github.com: the number may be missing.
var hidden = lazy.Pattern(`^(?:\d+[+-])?([^@]+@(?:users\.)?noreply\..+)$`)

// same reports whether two people are one: they have the same address, if need be after .mailmap was asked, or one has
// an address that a host made, and their full names are the same.
func (h *commits) same(ctx context.Context, a, b string) bool {
	nameA, mailA, hidA := parts(a)
	nameB, mailB, hidB := parts(b)
	if mailA == mailB || (hidA || hidB) && nameA == nameB && strings.Contains(nameA, " ") {
		return true
	}
	_, mailA, _ = parts(h.mapped(ctx, a))
	_, mailB, _ = parts(h.mapped(ctx, b))
	return mailA == mailB
}

// parts returns the name and the address of somebody, and whether a host made that. Without an address it is the name.
func parts(person string) (name, mail string, hid bool) {
	name, mail, _ = strings.Cut(strings.TrimSuffix(person, ">"), "<")
	name = strings.TrimSpace(name)
	if m := hidden().FindStringSubmatch(mail); m != nil {
		return name, m[1], true
	}
	return name, cmp.Or(mail, name), false
}

// mapped returns somebody as .mailmap has them, if there is one.
func (h *commits) mapped(ctx context.Context, person string) string {
	return h.people.get(person, func() string {
		_, err := os.Lstat(filepath.Join(h.s.Repo.WorkTree, ".mailmap"))
		if err != nil && len(h.s.Repo.Config.Keys("mailmap.")) == 0 {
			return person
		}
		if out, err := h.s.Repo.Output(ctx, "check-mailmap", person); err == nil {
			return strings.ToLower(out)
		}
		return person // it has no address
	})
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
