package repair

import (
	"context"

	"git-checkpoint/internal/checkpoint"
	"git-checkpoint/internal/connect"
)

// lookAtAgents reports agents whose hooks do not make checkpoints. It fixes nothing: what an agent
// may run is the user's decision.
func lookAtAgents(_ context.Context, s *checkpoint.Service) ([]Ailment, error) {
	var out []Ailment
	for _, st := range connect.Troubled(s) {
		problem, remedy := st.Trouble()
		out = append(out, Ailment{Kind: "agent_hook", Level: LevelAdvice, Object: st.Name, Message: problem, Hint: remedy})
	}
	return out, nil
}
