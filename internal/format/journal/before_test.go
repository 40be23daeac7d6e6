package journal

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

var writeBefore = flag.Bool("write-before", false, "write journals as the version before walks made them")

// oldJournal is a journal of the version that had no walks, and what it said of it.
type oldJournal struct {
	Commits []Commit // parents first
	State   string
	Current string
	Order   []string
}

// A journal written by the version before walks folds as it did then: an undo event itself lists
// what it discards and restores.
func TestJournalsOfTheVersionBefore(t *testing.T) {
	file := filepath.Join("testdata", "before-walks.json")
	if *writeBefore {
		writeOldJournals(t, file)
	}
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var journals []oldJournal
	if err := json.Unmarshal(data, &journals); err != nil {
		t.Fatal(err)
	}
	moves := 0
	for _, j := range journals {
		var nodes []Node
		for _, c := range j.Commits {
			n, err := ParseCommit(c)
			if err != nil {
				t.Fatal(err)
			}
			nodes = append(nodes, n)
		}
		l := mustLog(t, nodes, nodes[len(nodes)-1].OID)
		if d := cmp.Diff(j, describe(l, j.Commits)); d != "" {
			t.Error(d)
		}
		s := l.Fold()
		moves += len(s.Rollbacks)
		for _, e := range s.UndoCandidates() {
			if k := NewWalk(e.WorktreeID, s); len(k.Undo)+len(k.Redo) == 0 {
				t.Error("a worktree that moved has no level")
			}
		}
	}
	if moves == 0 {
		t.Error("nothing was rolled back in any of them")
	}
}

func describe(l *Log, commits []Commit) oldJournal {
	s := l.Fold()
	j := oldJournal{Commits: commits, State: summary(s), Current: string(s.Current)}
	for _, o := range oids(s.Events()) {
		j.Order = append(j.Order, string(o))
	}
	return j
}

func writeOldJournals(t *testing.T, file string) {
	t.Helper()
	var journals []oldJournal
	draw := rapid.Custom(func(t *rapid.T) *clone {
		clones := drawSchedule(t, 40, beforeWalks)
		for _, o := range clones[1:] {
			clones[0].pull(o)
		}
		return clones[0]
	})
	for seed := 0; len(journals) < 4; seed++ {
		l := draw.Example(seed).log
		if l.Len() < 25 || len(l.Fold().Rollbacks) < 5 {
			continue
		}
		var commits []Commit
		for _, n := range l.Nodes() {
			commits = append(commits, commitOf(n))
		}
		journals = append(journals, describe(l, commits))
	}
	data, err := json.MarshalIndent(journals, "", " ")
	if err == nil {
		err = os.MkdirAll(filepath.Dir(file), 0o777)
	}
	if err == nil {
		err = os.WriteFile(file, append(data, '\n'), 0o666)
	}
	if err != nil {
		t.Fatal(err)
	}
}
