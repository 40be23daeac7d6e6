package background

import (
	"strings"

	"git-checkpoint/internal/checkpoint"
	"git-checkpoint/internal/command"
)

// start starts this program again, without what is meant for this run alone.
func start(s *checkpoint.Service, args ...string) error {
	var env []string
	for _, kv := range s.Env {
		if !strings.HasPrefix(kv, "GIT_INDEX_FILE=") {
			env = append(env, kv)
		}
	}
	return command.Background(s.Repo.WorkTree, env, args...)
}
