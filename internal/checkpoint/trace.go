package checkpoint

// Failpoints are the names of the steps at which a killed process must have lost nothing. Crash
// tests pass an Options.Between that ends the process at one of them.
var Failpoints = []string{
	"captured", "written", "recorded", // create
	"planned", "secured", "staged", "safety", "begun", // rollback and undo
	"aside", "emptied", "linked", "swapped", "place", "mode", "index built", "index", "head", "event", "finished",
	// Steps of package snapshot while it moves files, and of package rollback after that.
	"doomed", "dropped", // delete and prune
	"arrived", "fetched", "united", // fetch
	"planned push", "sent", "journal sent", "notes sent", // push
}

// Trace reports to Options.Between that a step was reached. It is called between any two steps of
// an operation that must survive a kill.
func (s *Service) Trace(step string) {
	if s.Between != nil {
		s.Between(step)
	}
}
