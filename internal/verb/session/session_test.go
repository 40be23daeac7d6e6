package session

import (
	"strings"
	"testing"

	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/git"
	"git-checkpoint/internal/test/verbtest"
)

// One damaged session hides no other: it is named and left out, and a topic can be taken up.
func TestDamagedSession(t *testing.T) {
	s := verbtest.Unborn(t, "repo").Open()
	var said []string
	s.Store.Warn = func(line string) { said = append(said, line) }
	for _, one := range []string{"broken", "whole"} {
		if _, err := Start(t.Context(), s, Request{Name: one, Topic: "topic of " + one}); err != nil {
			t.Fatal(err)
		}
	}
	was, err := s.Repo.Refs.List(t.Context(), string(name.JournalRef("broken")))
	if err != nil || len(was) != 1 {
		t.Fatal(was, err)
	}
	tree, err := s.Repo.Trees.Write(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	by := git.Signature{Name: "A", Email: "a@example.com", When: s.Store.Now()}
	no, err := s.Repo.Commits.Write(t.Context(), git.Commit{Tree: tree, Author: by, Committer: by, Message: "no event\n"})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Repo.Refs.Update(t.Context(), []git.Update{{Ref: was[0].Ref, Old: was[0].OID, New: no}}); err != nil {
		t.Fatal(err)
	}
	all, err := List(t.Context(), s.Sessions)
	if err != nil || len(all) != 1 || all[0].Session != "whole" {
		t.Fatalf("%+v %v", all, err)
	}
	if len(said) != 1 || !strings.Contains(said[0], "broken") {
		t.Errorf("%q", said)
	}
	if found, err := Unfinished(t.Context(), s.Sessions, "topic of whole"); err != nil || found != "whole" {
		t.Errorf("%q %v", found, err)
	}
	if _, err := Start(t.Context(), s, Request{Name: "third", Topic: "topic of broken"}); err != nil {
		t.Error(err)
	}
}
