package answer

import (
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"git-checkpoint/internal/core/clearance"
	"git-checkpoint/internal/verb/attempt"
	"git-checkpoint/internal/verb/inspect"
	"git-checkpoint/internal/verb/rollback"
	"git-checkpoint/internal/verb/travel"
)

// all is each answer, or what its method shows returns.
var all = map[string]any{
	"Agents": Agents{}, "Allowed": clearance.Secret{}, "Attempts": Attempts{}, "Audit": Audit{}, "Behind": Behind{},
	"Bisected": Bisected{}, "Blamed": Blamed{}, "Brief": Brief{}, "Captured": Captured{}, "Checked": Checked{}, "Compared": Compared{},
	"Connected": connectedAgent{}, "Created": Created{}, "Deleted": Deleted{}, "Described": Described{}, "Exported": Exported{},
	"ExportedLayout": ExportedLayout{}, "Expunged": Expunged{}, "Forked": Forked{}, "Formatted": inspect.Item{}, "Guarded": clearance.Secret{},
	"ImportedLayout": ImportedLayout{}, "Landed": Landed{}, "Leaving": Leaving{}, "Levels": rollback.UndoLevel{},
	"Listed": inspect.Item{}, "Marked": Marked{}, "Notes": Notes{}, "OthersNotes": OthersNotes{}, "Overview": Overview{}, "Planned": Planned{}, "Problem": Problem{},
	"Promoted": Promoted{Done: &rollback.Answer{}}.shows(), "Pruned": Pruned{}, "PrunedByClose": PrunedByClose{}, "Ran": Ran{},
	"Reasons": Reasons{}, "Rebuilt": Rebuilt{}, "RefsToDelete": RefsToDelete{}, "RemoteSessions": RemoteSessions{}, "Removal": Removal{},
	"RemovedAttempt": RemovedAttempt{}, "Report": Report{}, "Resumed": Resumed{}, "Reverted": Reverted{Done: &rollback.Answer{}}.shows(),
	"Rewritten": Rewritten{}, "RolledBack": RolledBack{}, "Rules": Rules{}, "Search": Search{}, "Session": Session{}, "Sessions": Sessions{},
	"Settings": Settings{}, "Shown": Shown{}, "SideBySide": attempt.Compared{}, "Stands": Stands{}, "Talks": talk{}, "ToExpunge": ToExpunge{},
	"ToFork": ToFork{}, "ToInclude": ToInclude{}, "ToLand": ToLand{}, "Travelled": travel.Line{}, "Unchanged": Unchanged{},
	"Validated": Validated{}, "Validation": Validated{}, "Value": Value{}, "Verdict": Verdict{}, "Verified": Verified{},
	"Workflows": Workflows{},
}

// Every member that any answer can have is explained in docs/json.md or, if it is of the record, in docs/format.md;
// and docs/json.md lists no member that no answer has.
func TestMembers(t *testing.T) {
	given := map[string]bool{}
	for _, file := range glob(t, "*.go") {
		for _, m := range regexp.MustCompile(`(?m)^func \(a (\w+)\) text\(`).FindAllStringSubmatch(read(t, file), -1) {
			if _, known := all[m[1]]; !known {
				t.Errorf("the answer %s is not in this test", m[1])
			}
		}
	}
	seen := map[reflect.Type]bool{}
	for _, a := range all {
		of := reflect.TypeOf(a)
		if of.Kind() == reflect.Struct && of.Field(0).Tag == "" {
			of = of.Field(0).Type
		}
		members(of, seen, func(member string) { given[member] = true })
	}
	page, format := read(t, "../../docs/json.md"), read(t, "../../docs/format.md")
	for member := range given {
		if !regexp.MustCompile("`(?:[a-z_.\\[\\]]*\\.)?" + regexp.QuoteMeta(member) + "`").MatchString(page + format) {
			t.Errorf("docs/json.md does not explain the member %s", member)
		}
	}
	for _, member := range []string{"error", "kind", "message", "hints", "tag"} { // of errors; of a checkpoint, which writes itself
		given[member] = true
	}
	for line := range strings.Lines(page) {
		head, is := strings.CutPrefix(line, "- `")
		if !is {
			continue
		}
		head, _, _ = strings.Cut("`"+head, ":")
		head, _, _ = strings.Cut(head, "(")
		for _, m := range regexp.MustCompile("`([a-z_.\\[\\]]+)`").FindAllStringSubmatch(head, -1) {
			parts := strings.Split(strings.TrimSuffix(m[1], "[]"), ".")
			if last := parts[len(parts)-1]; !given[strings.TrimSuffix(last, "[]")] {
				t.Errorf("docs/json.md lists %s, which no answer has", m[1])
			}
		}
	}
}

// members calls found with each member of a type, at any depth.
func members(of reflect.Type, seen map[reflect.Type]bool, found func(string)) {
	if seen[of] {
		return
	}
	seen[of] = true
	switch of.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Array, reflect.Map:
		members(of.Elem(), seen, found)
	case reflect.Struct:
		for i := range of.NumField() {
			field := of.Field(i)
			name, rest, tagged := strings.Cut(field.Tag.Get("json"), ",")
			if name == "-" || !tagged && name == "" && !field.Anonymous {
				continue
			}
			if name != "" && !slices.Contains(strings.Split(rest, ","), "inline") {
				found(name)
			}
			members(field.Type, seen, found)
		}
	}
}

func glob(t *testing.T, pattern string) []string {
	t.Helper()
	files, err := filepath.Glob(pattern)
	if err != nil || len(files) == 0 {
		t.Fatal(err)
	}
	return files
}

func read(t *testing.T, file string) string {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}
