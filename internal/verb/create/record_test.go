package create_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"git-checkpoint/internal/format/record"
	"git-checkpoint/internal/test/verbtest"
	"git-checkpoint/internal/verb/create"
)

// The record that a request makes, on top of a milestone 1 with the state {"a":1} and the status
// in_progress.
func TestRecordOfRequest(t *testing.T) {
	one, two, text := 1, 2, "no disk"
	attempt := &record.Record{State: json.RawMessage(`{"b":2}`), Status: "review"}
	for name, k := range map[string]struct {
		req  create.Request
		want string // label, trigger, status, state, error
	}{
		"nothing":           {create.Request{}, `cp-02 manual in_progress {"a":1} `},
		"a step":            {create.Request{Step: &two, Name: "Build it"}, `cp-02-build-it manual in_progress {"a":1} `},
		"a step again":      {create.Request{Step: &one, Iteration: "final"}, `cp-01-final manual in_progress {"a":1} `},
		"a status":          {create.Request{Status: "done"}, `cp-02 manual done {"a":1} `},
		"a document":        {create.Request{State: []byte(`{"c":3}`)}, `cp-02 manual in_progress {"c":3} `},
		"a document edited": {create.Request{State: []byte(`{"c":3}`), Set: []create.Assign{{Path: "d", Value: "4"}}}, `cp-02 manual in_progress {"c":3,"d":4} `},
		"patch, set, unset": {create.Request{Patch: []byte(`{"p":true}`), Set: []create.Assign{{Path: "s.t", Value: "x"}}, Unset: []string{"a"}}, `cp-02 manual in_progress {"p":true,"s":{"t":"x"}} `},
		"a metric":          {create.Request{Metrics: []create.Assign{{Path: "tests", Value: "12"}}}, `cp-02 manual in_progress {"a":1,"metrics":{"tests":12}} `},
		"an error":          {create.Request{Error: &text}, `cp-02 manual in_progress {"a":1} "no disk"`},
		"an edited state":   {create.Request{State: []byte(`{"c":3}`), Unset: []string{"e"}}.Editing([]byte(`{"e":5}`)), `cp-02 manual in_progress {"e":5} `},
		"a promotion":       {create.Promoting("main", attempt), `cp-01+1 promote review {"b":2} `},
	} {
		t.Run(name, func(t *testing.T) {
			w := verbtest.New(t)
			w.Create(create.Request{Step: &one, State: []byte(`{"a":1}`), Status: "in_progress"})
			k.req.DryRun = true
			r := w.Create(k.req).Record
			if got := fmt.Sprintf("%s %s %s %s %s", r.Label, r.Trigger, r.Status, create.Compact(r.State), r.Error); got != k.want {
				t.Errorf("got  %s\nwant %s", got, k.want)
			}
		})
	}
}

// What the record says of files, of the index and of what was left out, for a worktree that was changed
// since the checkpoint before.
func TestFilesOfRecord(t *testing.T) {
	for name, k := range map[string]struct {
		since func(w *verbtest.World)
		req   create.Request
		want  string // created, modified, deleted, staged, intent to add, left out
	}{
		"nothing":             {func(*verbtest.World) {}, create.Request{}, "[] [] [] [] [] []"},
		"edited":              {func(w *verbtest.World) { w.Write("file", "two") }, create.Request{}, "[] [file] [] [] [] []"},
		"staged":              {func(w *verbtest.World) { w.Write("file", "two"); w.Git("add", ".") }, create.Request{}, "[] [file] [] [file] [] []"},
		"staged, edited back": {func(w *verbtest.World) { w.Write("file", "two"); w.Git("add", "."); w.Write("file", "one\n") }, create.Request{}, "[] [] [] [file] [] []"},
		"committed":           {func(w *verbtest.World) { w.Write("file", "two"); w.Git("commit", "-qam", "two") }, create.Request{}, "[] [file] [] [] [] []"},
		"new":                 {func(w *verbtest.World) { w.Write("a b", "x") }, create.Request{}, "[a b] [] [] [] [] []"},
		"added without files": {func(w *verbtest.World) { w.Write("new", "x"); w.Git("add", "-N", "new") }, create.Request{}, "[new] [] [] [] [new] []"},
		"renamed":             {func(w *verbtest.World) { w.Git("mv", "file", "there") }, create.Request{}, "[there] [] [file] [file there] [] []"},
		"removed":             {func(w *verbtest.World) { w.Remove("file") }, create.Request{}, "[] [] [file] [] [] []"},
		"executable":          {func(w *verbtest.World) { w.Git("update-index", "--chmod=+x", "file"); w.Git("checkout", "file") }, create.Request{}, "[] [file] [] [file] [] []"},
		"became a folder":     {func(w *verbtest.World) { w.Remove("file"); w.Write("file/a", "x") }, create.Request{}, "[file/a] [] [file] [] [] []"},
		"ignored":             {func(w *verbtest.World) { w.Write(".git/info/exclude", "*.o"); w.Write("a.o", "x") }, create.Request{}, "[] [] [] [] [] []"},
		"ignored, asked for":  {func(w *verbtest.World) { w.Write(".git/info/exclude", "*.o"); w.Write("a.o", "x") }, create.Request{IncludeIgnored: []string{"*.o"}}, "[a.o] [] [] [] [] []"},
		"excluded":            {func(w *verbtest.World) { w.Write("new", "x") }, create.Request{Exclude: []string{"new"}}, "[] [] [] [] [] [new excluded]"},
		"too large":           {func(w *verbtest.World) { w.Git("config", "checkpoint.maxFileSize", "8"); w.Write("new", "123456789") }, create.Request{}, "[] [] [] [] [] [new larger than checkpoint.maxFileSize]"},
		"a repository":        {func(w *verbtest.World) { w.Git("init", "-q", "sub") }, create.Request{}, "[] [] [] [] [] [sub/ nested repository without commits]"},
	} {
		t.Run(name, func(t *testing.T) {
			w := verbtest.New(t)
			w.Save("one")
			k.since(w)
			r := w.Create(k.req).Record
			left := []string{}
			for _, s := range r.Snapshot.Skipped {
				left = append(left, string(s.Path)+" "+s.Reason)
			}
			if got := fmt.Sprint(r.Files.Created, r.Files.Modified, r.Files.Deleted, r.Git.Staged, r.Git.IntentToAdd, left); got != k.want {
				t.Errorf("got %s, want %s", got, k.want)
			}
		})
	}
}

// The file of a failed create has what constructors set under the names that earlier versions read and
// wrote, and a request that is read back is the one that was written.
func TestRequestInFile(t *testing.T) {
	made := verbtest.New(t).Create(create.Request{}).Record
	for member, req := range map[string]create.Request{
		`"Edited":"e30="`:            create.Request{Message: "m"}.Editing([]byte("{}")),
		`"Promote":{"format":`:       create.Promoting("demo", made),
		`"Fork":{"From":null,"Name"`: create.Forking("demo", create.Fork{Name: "try"}),
		`"SkipUnchanged":true`:       {SkipUnchanged: true},
	} {
		first, err := json.Marshal(req)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(first), member) {
			t.Errorf("%s is not in %s", member, first)
		}
		var back create.Request
		if err := json.Unmarshal(first, &back); err != nil {
			t.Fatal(err)
		}
		if strings.Contains(member, "Promote") { // a record decodes to the members alone that a promotion needs
			continue
		}
		second, err := json.Marshal(back)
		if err != nil || string(second) != string(first) {
			t.Errorf("%v: %s became %s", err, first, second)
		}
	}
}
