package inspect_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/test/verbtest"
	"git-checkpoint/internal/verb/create"
	"git-checkpoint/internal/verb/inspect"
	"git-checkpoint/internal/verb/rollback"
)

// What filters find among these: the steps 1 and 2, what a tool did after 2, step 3, which a rollback
// discarded, its safety checkpoint, and step 4.
func TestFilters(t *testing.T) {
	w := story(t)
	two, ninth := 2, 9
	for what, k := range map[string]struct {
		req  inspect.ListRequest
		want string // labels, and how many are hidden: safety, discarded, tools
	}{
		"none":                    {inspect.ListRequest{}, "cp-01 cp-02 cp-02+1 cp-03 cp-03+safety-1 cp-04-again"},
		"only counted":            {inspect.ListRequest{Hidden: inspect.HiddenCounted}, "cp-01 cp-02 cp-04-again, 1 1 1"},
		"a step":                  {inspect.ListRequest{Step: &two}, "cp-02 cp-02+1"},
		"a step that is not":      {inspect.ListRequest{Step: &ninth}, ""},
		"a trigger":               {inspect.ListRequest{Trigger: "tool"}, "cp-02+1"},
		"a trigger, hidden":       {inspect.ListRequest{Trigger: "safety", Hidden: inspect.HiddenCounted}, "cp-03+safety-1"},
		"a status":                {inspect.ListRequest{Status: "done"}, "cp-04-again"},
		"the newest two":          {inspect.ListRequest{Limit: 2}, "cp-03+safety-1 cp-04-again"},
		"the newest of a step":    {inspect.ListRequest{Step: &two, Limit: 1}, "cp-02+1"},
		"since":                   {inspect.ListRequest{Since: w.again}, "cp-04-again"},
		"a word":                  {inspect.ListRequest{Grep: "PARSER"}, "cp-01 cp-03"},
		"a word in a path":        {inspect.ListRequest{Grep: "lexer"}, "cp-02"},
		"state":                   {inspect.ListRequest{Where: "state.n >= 2"}, "cp-02 cp-02+1 cp-04-again"},
		"state, hidden too":       {inspect.ListRequest{Where: "state.n >= 2", Hidden: inspect.HiddenShown}, "cp-02 cp-02+1 cp-03 cp-03+safety-1 cp-04-again"},
		"milestones":              {inspect.ListRequest{Where: "milestone"}, "cp-01 cp-02 cp-04-again"},
		"discarded":               {inspect.ListRequest{Where: "discarded"}, "cp-03"},
		"an expression and limit": {inspect.ListRequest{Where: "state.n == 1", Limit: 1}, "cp-01"},
		"current":                 {inspect.ListRequest{Where: "current"}, "cp-04-again"},
		"another type":            {inspect.ListRequest{Type: "feature"}, ""},
	} {
		w.Must(func(ctx context.Context, s *checkpoint.Service) error {
			found, err := inspect.List(ctx, s.Sessions, k.req)
			if got := labels(found); got != k.want {
				t.Errorf("%s: got %q, want %q", what, got, k.want)
			}
			return err
		})
	}
}

// Where a search finds its words: each text must have all of them, and safety checkpoints are not searched.
func TestSearchFinds(t *testing.T) {
	w := story(t)
	for words, want := range map[string]string{
		"Begin":        "1:message:Begin the parser",
		"PARSER begin": "1:message:Begin the parser",
		"parser":       "1:message:Begin the parser 3:message:Break the parser",
		"lexer.go":     "2:path:lexer.go",
		"file":         "",
		"begin lexer":  "",
		"rollback":     "",
	} {
		w.Must(func(ctx context.Context, s *checkpoint.Service) error {
			found, err := inspect.Search(ctx, s.Sessions, "", []string{words})
			var got []string
			for _, f := range found {
				got = append(got, fmt.Sprintf("%d:%s:%s", f.Step, f.Where, f.Text))
			}
			if said := strings.Join(got, " "); said != want {
				t.Errorf("%s: got %q, want %q", words, said, want)
			}
			return err
		})
	}
}

// told is a repository with a session, and the time at which its last checkpoint was not there yet.
type told struct {
	*verbtest.World
	again time.Time
}

// story makes the checkpoints that the tests search.
func story(t *testing.T) told {
	w := told{World: verbtest.New(t)}
	w.Create(create.Request{Message: "Begin the parser", Edits: create.Edits{State: []byte(`{"n":1}`)}})
	w.Write("lexer.go", "x")
	w.Git("add", ".")
	w.Create(create.Request{Message: "Add tokens", Edits: create.Edits{State: []byte(`{"n":2}`)}})
	w.Create(create.Request{Trigger: "tool"})
	w.Create(create.Request{Message: "Break the parser", Edits: create.Edits{State: []byte(`{"n":3}`)}})
	w.Must(func(ctx context.Context, s *checkpoint.Service) error {
		plan, err := rollback.Prepare(ctx, s, rollback.Request{Ref: "cp-02+1"})
		if err == nil {
			_, err = plan.Apply(ctx)
		}
		w.again = s.Store.Now()
		return err
	})
	w.Create(create.Request{Message: "Mend it", Numbering: create.Numbering{Name: "again"}, Edits: create.Edits{Status: "done"}})
	return w
}

// labels are the labels of the listed checkpoints, and how many were hidden.
func labels(found []inspect.Listing) string {
	var all []string
	hidden := ""
	for _, l := range found {
		for _, i := range l.Items {
			all = append(all, i.Label)
		}
		if l.Safety+l.Discarded+l.Tools > 0 {
			hidden = ", " + fmt.Sprint(l.Safety, l.Discarded, l.Tools)
		}
	}
	return strings.Join(all, " ") + hidden
}
