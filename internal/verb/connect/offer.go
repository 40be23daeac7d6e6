package connect

import (
	"git-checkpoint/internal/core/agent"
	"git-checkpoint/internal/core/checkpoint"
)

// Offer is an agent that was found on this machine and has settings of a scope.
type Offer struct {
	Agent     *agent.Definition
	File      string // where its hooks go
	Connected bool   // they are there, with consent
}

// Offers returns the agents that can be added.
func Offers(s *checkpoint.Rules, scope agent.Scope) (found []Offer) {
	for _, d := range agent.All() {
		file, err := placeOf(s, scope).File(d.Hooks.Files)
		if err == nil && installed(d) {
			found = append(found, Offer{Agent: d, File: file, Connected: Consented(s.Settings, d.Name) && d.Calls(file).Any()})
		}
	}
	return found
}
