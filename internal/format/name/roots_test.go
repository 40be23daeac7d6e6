package name

import "testing"

// A ref is ours by its place, and the name of a user's ref may begin like one of ours.
func TestIsOurs(t *testing.T) {
	for ref, want := range map[Ref][2]bool{
		JournalRef("main"):                         {true, true},
		ArchiveRef("main"):                         {true, true},
		TagRef("main", 3, "2"):                     {true, true},
		"refs/notes/checkpoints":                   {true, true},
		"refs/checkpoint-remotes/o/main/journal":   {true, false},
		"refs/checkpoint-incoming/6925-00000001/0": {true, false},
		"refs/notes/checkpoints-of-mine":           {},
		"refs/notes/checkpoints/mine":              {},
		"refs/tags/checkpoint-1":                   {},
		"refs/heads/checkpoints/main":              {},
		"refs/checkpoint/main":                     {},
		"HEAD":                                     {},
	} {
		if ref.IsOurs() != want[0] || ref.Travels() != want[1] {
			t.Errorf("%s: ours %v, travels %v, want %v", ref, ref.IsOurs(), ref.Travels(), want)
		}
	}
}
