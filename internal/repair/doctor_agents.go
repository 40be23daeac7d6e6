package repair

import (
	"context"

	"git-checkpoint/internal/checkpoint"
	"git-checkpoint/internal/connect"
)

// lookAtAgents reports agents whose hooks do not make checkpoints. It fixes nothing: what an agent
// may run is the user's decision.
func lookAtAgents(_ context.Context, s *checkpoint.Service) ([]Ailment, error) {
	troubled, err := connect.Troubled(s)
	var out []Ailment
	for _, st := range troubled {
		problem, remedy := st.Trouble()
		out = append(out, Ailment{Kind: "agent_hook", Level: LevelAdvice, Object: st.Name, Message: problem, Hint: remedy})
	}
	return out, err
}
