package chat

import (
	"context"

	"git-checkpoint/internal/checkpoint"
	"git-checkpoint/internal/cli/answer"
	"git-checkpoint/internal/retain"
)

// chatDelete shows what would be deleted and remembers the ids, so that a *yes deletes exactly
// these checkpoints.
func chatDelete(ctx context.Context, s *checkpoint.Service, ref string) (*Answer, error) {
	session, err := s.ChooseSession(ctx, "")
	if err != nil {
		return nil, err
	}
	plan, err := retain.PlanDelete(ctx, s, string(session), []string{ref})
	if err != nil {
		return nil, err
	}
	m := chatMemory{Time: s.Now(), Asked: true, Session: string(session)}
	for _, gone := range plan.Removed {
		m.Delete = append(m.Delete, string(gone.ID))
	}
	if err := s.Remember(checkpoint.ChatFile, m); err != nil {
		return nil, err
	}
	return shown(answer.ToDelete{Removed: plan}, "*yes deletes it for good, within ten minutes; *abort keeps it."), nil
}

// chatDeleted deletes what was shown. It goes by id, because a number may stand for another
// checkpoint by now.
func chatDeleted(ctx context.Context, s *checkpoint.Service, m chatMemory) (*Answer, error) {
	gone, err := retain.Delete(ctx, s, m.Session, m.Delete)
	if err != nil {
		return nil, err
	}
	return shown(answer.Deleted{Removed: gone}, ""), s.Forget(checkpoint.ChatFile)
}

// Heard records that another prompt came. After that a bare "y" no longer confirms, because it
// probably answers something else; *yes still does.
func Heard(s *checkpoint.Service) {
	var m chatMemory
	if ok, err := s.Recall(checkpoint.ChatFile, &m); err != nil || !ok || !m.Asked {
		return
	}
	m.Asked = false
	s.Remember(checkpoint.ChatFile, m) //nolint:errcheck // *yes still works
}
