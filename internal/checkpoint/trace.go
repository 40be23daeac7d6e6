package checkpoint

// Failpoints are the names of the steps between which a kill must lose nothing. Tests hand
// Options.Between a function that ends the process at one of them.
var Failpoints = []string{
	"captured", "written", "recorded", // create
	"planned", "secured", "staged", "safety", "begun", // rollback and undo
	"aside", "emptied", "linked", "swapped", "place", "mode", "index built", "index", "head", "event", "finished",
	"doomed", "dropped", // delete and prune
	"arrived", "fetched", "united", // fetch
	"planned push", "sent", "journal sent", "notes sent", // push
}

// Trace is called between the steps of everything that must survive a kill.
func (s *Service) Trace(step string) {
	if s.Between != nil {
		s.Between(step)
	}
}
