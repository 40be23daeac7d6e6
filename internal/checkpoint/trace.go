package checkpoint

import (
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// Failpoints are the steps at which tests end this process.
// GIT_CHECKPOINT_FAILPOINT=<step>[:<n>[:term|:hup|:pause]] does so the n-th time that the step
// is reached (default: the first): as a power cut would, or with a signal that asks
// politely; or it only stays there for a while.
var Failpoints = []string{
	"captured", "written", "recorded", // create
	"planned", "secured", "staged", "safety", "begun", // rollback and undo
	"aside", "emptied", "linked", "swapped", "place", "mode", "index built", "index", "head", "event", "finished",
	"doomed", "dropped", // delete and prune
	"arrived", "fetched", "united", // fetch
	"planned push", "sent", "journal sent", "notes sent", // push
}

// termPause is enough for the signal to arrive, longPause for other commands to run.
const (
	termPause = 100 * time.Millisecond
	longPause = 2 * time.Second
)

// trace is called between the steps of everything that must survive a kill.
func (s *Service) trace(step string) {
	if s.between != nil {
		s.between(step)
	}
	want := lookupEnv(s.env, "GIT_CHECKPOINT_FAILPOINT")
	if want == "" {
		return
	}
	name, rest, _ := strings.Cut(want, ":")
	if name != step {
		return
	}
	count, how, _ := strings.Cut(rest, ":")
	s.reached++
	if n, err := strconv.Atoi(count); err == nil && s.reached != n {
		return
	}
	self, err := os.FindProcess(os.Getpid())
	switch {
	case err != nil:
	case how == "pause":
		time.Sleep(longPause)
	case how == "term", how == "hup":
		self.Signal(map[string]os.Signal{"term": syscall.SIGTERM, "hup": syscall.SIGHUP}[how]) //nolint:errcheck // the test sees that nothing happened
		time.Sleep(termPause)
	default:
		self.Kill() //nolint:errcheck // nothing runs after it
		select {}
	}
}
