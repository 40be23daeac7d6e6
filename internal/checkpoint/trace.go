package checkpoint

import (
	"os"
	"strconv"
	"strings"
)

// Failpoints are the steps at which tests end this process as a power cut would:
// GIT_CHECKPOINT_FAILPOINT=<step>[:<n>] does so the n-th time that the step is
// reached (default: the first).
var Failpoints = []string{
	"captured", "written", "recorded", // create
	"planned", "secured", "staged", "safety", "begun", // rollback and undo
	"aside", "emptied", "place", "mode", "index built", "index", "head", "event", "finished",
	"dropped",           // delete and prune
	"fetched", "united", // fetch
	"planned push", "sent", "journal sent", "notes sent", // push
}

// trace is called between the steps of everything that must survive a kill.
func (s *Service) trace(step string) {
	want := lookupEnv(s.env, "GIT_CHECKPOINT_FAILPOINT")
	if want == "" {
		return
	}
	name, count, _ := strings.Cut(want, ":")
	if name != step {
		return
	}
	s.reached++
	if n, err := strconv.Atoi(count); err == nil && s.reached < n {
		return
	}
	if self, err := os.FindProcess(os.Getpid()); err == nil {
		self.Kill() //nolint:errcheck // nothing runs after it
		select {}
	}
}
