package setup

import (
	"context"
	"errors"
	"runtime"

	"git-checkpoint/internal/checkpoint"
)

// Browse opens a URL in the user's browser with git's own web--browse. Without a display
// git would start a text browser that takes over the terminal, so it is called only with a
// display or with web.browser set.
func Browse(ctx context.Context, s *checkpoint.Service, address string) error {
	_, chosen := s.Repo.Config.Get("web.browser")
	screen := runtime.GOOS != "linux" || s.Getenv("DISPLAY") != "" || s.Getenv("WAYLAND_DISPLAY") != ""
	if !chosen && !screen {
		return errors.New("there is no graphical display")
	}
	_, err := s.Repo.Output(ctx, "web--browse", address)
	return checkpoint.Classify(err)
}
