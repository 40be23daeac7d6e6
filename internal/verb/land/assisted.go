package land

import (
	"slices"
	"strings"

	"git-checkpoint/internal/core/author"
	"git-checkpoint/internal/format/record"
	"git-checkpoint/internal/sys/gather"
)

// assisted returns the values of Assisted-by for a commit of some steps, each once: one for each agent with a model that is
// known to have made something of them.
func (p *Plan) assisted(held []step) (values []string) {
	const assistedBy = "checkpoint.land.assistedBy" // what checkpoint.land.assistedBy may be: true for AGENT:MODEL, or a text of the user's own
	text, set := p.s.Repo.Config.Get(assistedBy)
	on, err := p.s.Repo.Config.Bool(assistedBy, false)
	if !set || err == nil && !on {
		return nil
	}
	for _, st := range held {
		a, has := st.record.Agent()
		if !has || !namedIn(author.Turn(p.at.State, st.entry, a)) {
			continue
		}
		value := strings.TrimSuffix(a.Name+":"+a.Model, ":")
		if err != nil { // it is no boolean
			value = text
		}
		if value = strings.Join(strings.Fields(value), " "); !slices.Contains(values, value) {
			values = append(values, value)
		}
	}
	return values
}

// namedIn reports whether the agent is known to have made something of a step.
func namedIn(made author.Step) bool {
	return slices.ContainsFunc(made.Paths(), func(path record.Path) bool {
		by := made.Who(path).By
		return by == author.Agent || by == author.During
	})
}

// withAssisted puts the trailers into a message that ends with trailers: before the first sign-off, or else before the
// first Checkpoint-Id.
func withAssisted(message string, values []string) string {
	if len(values) == 0 {
		return message
	}
	lines := strings.SplitAfter(message, "\n")
	from := 0 // of the last block
	for i, line := range lines[:len(lines)-1] {
		if strings.TrimSpace(line) == "" {
			from = i + 1
		}
	}
	at := -1
	for _, key := range []string{"signed-off-by:", "checkpoint-id:"} {
		if at < 0 {
			at = slices.IndexFunc(lines[from:], func(line string) bool { return strings.HasPrefix(strings.ToLower(line), key) })
		}
	}
	if at < 0 {
		return message
	}
	added := gather.List(values, func(value string) string { return "Assisted-by: " + value + "\n" })
	return strings.Join(slices.Insert(lines, from+at, added...), "")
}
