package background

import (
	"strings"

	"git-checkpoint/internal/checkpoint"
	"git-checkpoint/internal/command"
)

// start starts this program again with args. GIT_INDEX_FILE is left out of its environment:
// inside a git hook it names a temporary index, which is gone when the hook ends.
func start(s *checkpoint.Service, args ...string) error {
	var env []string
	for _, kv := range s.Env {
		if !strings.HasPrefix(kv, "GIT_INDEX_FILE=") {
			env = append(env, kv)
		}
	}
	return command.Background(s.Repo.WorkTree, env, args...)
}
