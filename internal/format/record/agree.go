package record

// Agree compares a record with the summary in its commit message. It returns the names of the
// members that differ, in the order of the record, and nil if all agree. Texts are compared in the
// shortened form that a commit message has.
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
