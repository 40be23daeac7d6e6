package record

// Agree compares what a record says with what the message of its commit says, and
// names the members that differ, in the record's order; none when they agree.
func Agree(r *Record, s Summary) []string {
	var differ []string
	for _, m := range []struct {
		name string
		same bool
	}{
		{"id", r.ID == s.ID},
		{"label", r.Label == s.Label},
		{"session", r.Session == s.Session},
		{"step", r.Step == s.Step},
		{"step_name", oneLine(r.StepName, maxValue) == s.StepName},
		{"iteration", oneLine(r.Iteration, maxValue) == s.Iteration},
		{"milestone", r.Milestone == s.Milestone},
		{"trigger", oneLine(r.Trigger, maxValue) == s.Trigger},
		{"status", oneLine(r.Status, maxValue) == s.Status},
		{"message", firstLine(r.Message) == s.Message},
		{"created_at", r.CreatedAt.UnixMilli() == s.CreatedAt.UnixMilli()},
		{"files", r.Files.Total() == s.Files},
		{"checksum", r.Checksum == s.Checksum},
	} {
		if !m.same {
			differ = append(differ, m.name)
		}
	}
	return differ
}
