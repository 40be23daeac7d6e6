package create_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
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
		"a step":            {create.Request{Numbering: create.Numbering{Step: &two, Name: "Build it"}}, `cp-02-build-it manual in_progress {"a":1} `},
		"a step again":      {create.Request{Numbering: create.Numbering{Step: &one, Iteration: "final"}}, `cp-01-final manual in_progress {"a":1} `},
		"a status":          {create.Request{Edits: create.Edits{Status: "done"}}, `cp-02 manual done {"a":1} `},
		"a document":        {create.Request{Edits: create.Edits{State: []byte(`{"c":3}`)}}, `cp-02 manual in_progress {"c":3} `},
		"a document edited": {create.Request{Edits: create.Edits{State: []byte(`{"c":3}`), Set: []create.Assign{{Path: "d", Value: "4"}}}}, `cp-02 manual in_progress {"c":3,"d":4} `},
		"patch, set, unset": {create.Request{Edits: create.Edits{Patch: []byte(`{"p":true}`), Set: []create.Assign{{Path: "s.t", Value: "x"}}, Unset: []string{"a"}}}, `cp-02 manual in_progress {"p":true,"s":{"t":"x"}} `},
		"a metric":          {create.Request{Edits: create.Edits{Metrics: []create.Assign{{Path: "tests", Value: "12"}}}}, `cp-02 manual in_progress {"a":1,"metrics":{"tests":12}} `},
		"an error":          {create.Request{Edits: create.Edits{Error: &text}}, `cp-02 manual in_progress {"a":1} "no disk"`},
		"an edited state":   {create.Request{Edits: create.Edits{State: []byte(`{"c":3}`), Unset: []string{"e"}}}.Editing([]byte(`{"e":5}`)), `cp-02 manual in_progress {"e":5} `},
		"a promotion":       {create.Promoting("main", attempt), `cp-01+1 promote review {"b":2} `},
	} {
		t.Run(name, func(t *testing.T) {
			w := verbtest.New(t)
			w.Create(create.Request{Numbering: create.Numbering{Step: &one}, Edits: create.Edits{State: []byte(`{"a":1}`), Status: "in_progress"}})
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
		"ignored, asked for":  {func(w *verbtest.World) { w.Write(".git/info/exclude", "*.o"); w.Write("a.o", "x") }, create.Request{Selection: create.Selection{IncludeIgnored: []string{"*.o"}}}, "[a.o] [] [] [] [] []"},
		"excluded":            {func(w *verbtest.World) { w.Write("new", "x") }, create.Request{Selection: create.Selection{Exclude: []string{"new"}}}, "[] [] [] [] [] [new excluded]"},
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

// storedRequest is a request with all members, as version 0.2 wrote it into the file of a failed create and into the intent of
// a promotion or revert.
const storedRequest = `{"Message":"m","Session":"demo","Workflow":"w","Step":2,"Name":"Build","Iteration":"final","Trigger":"turn","Status":"done",` +
	`"State":"eyJzIjoxfQ==","Original":"czogMQ==","Patch":"eyJwIjoxfQ==","Set":[{"Path":"a","Value":"1"}],"Unset":["u"],"Metrics":[{"Path":"m","Value":"2"}],` +
	`"Outputs":[{"Name":"o","File":"f","Data":"ZA=="}],"Error":"no disk","IncludeIgnored":["*.o"],"Exclude":["x"],"Tag":true,"NoTag":true,"Pinned":true,` +
	`"SkipUnchanged":true,"Unless":"11","Since":"22","Agent":{"name":"claude","session":"s1"},` +
	`"Reverts":[{"session":"demo","id":"20261130T171200Z-s001-abcdef"}],"Joins":"20261130T171200Z-s002-abcdef","Large":true,"DryRun":true,` +
	`"Edited":"eyJlIjo1fQ==","Fork":{"From":null,"Name":"try"},"Promote":null}`

// What a program wrote, an earlier or later one goes on with: each reads all members of the other, and no member has
// another name or place.
func TestStoredRequest(t *testing.T) {
	var req create.Request
	if err := json.Unmarshal([]byte(storedRequest), &req); err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprintf("%d %s %s %s %s %v %s", *req.Step, req.State, req.Edited, *req.Error, req.Unless, req.Large, req.Fork.Name); got != `2 {"s":1} {"e":5} no disk 11 true try` {
		t.Errorf("it reads %s", got)
	}
	var was, is map[string]any
	again, err := json.Marshal(req)
	if err = errors.Join(err, json.Unmarshal([]byte(storedRequest), &was), json.Unmarshal(again, &is)); err != nil || !reflect.DeepEqual(was, is) {
		t.Errorf("%v: it is written as %s", err, again)
	}
	// A record is written as in a checkpoint.
	promoting, err := json.Marshal(create.Promoting("demo", verbtest.New(t).Create(create.Request{}).Record))
	if err != nil || !strings.Contains(string(promoting), `"Promote":{"format":1`) {
		t.Errorf("%v: a promotion is written as %s", err, promoting)
	}
	// What belongs to one process is in no file.
	own, err := json.Marshal(create.Request{Moving: true, Selection: create.Selection{Automatic: true}, Callbacks: create.Callbacks{Words: func() string { return "" }}}.Trying("33"))
	if err != nil || strings.Contains(string(own), "33") || strings.Contains(string(own), "Moving") || strings.Contains(string(own), "Automatic") || strings.Contains(string(own), "Words") {
		t.Errorf("%v: a dry run is written as %s", err, own)
	}
}
