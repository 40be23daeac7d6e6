package setup

import (
	"context"
	"errors"
	"runtime"

	"git-checkpoint/internal/checkpoint"
)

// Browse opens an address in the person's browser, as git does for `git help --web`. Without a screen
// git would take a browser that fills the terminal, so it is asked only where there is one, or where
// web.browser is set.
func Browse(ctx context.Context, s *checkpoint.Service, address string) error {
	_, chosen := Setting(s, "web.browser")
	screen := runtime.GOOS != "linux" || s.Getenv("DISPLAY") != "" || s.Getenv("WAYLAND_DISPLAY") != ""
	if !chosen && !screen {
		return errors.New("there is no screen")
	}
	_, err := s.Repo.Output(ctx, "web--browse", address)
	return checkpoint.Classify(err)
}
