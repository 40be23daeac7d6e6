package independent

import (
	"slices"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/object"
)

// session is the one that all tests work in.
const session = "demo"

// event is a commit of the journal; see "The journal" in docs/format.md.
type event struct {
	commit   *object.Commit
	kind     string // "merge" for a commit that only joins journals
	trailers map[string][]string
}

func (e event) one(key string) string { return strings.Join(e.trailers[key], "\n") }

// names reports whether the event makes a checkpoint known.
func (e event) names() bool {
	return e.kind == "create" || e.kind == "adopt" || e.kind == "rebuild" && e.one("Rebuilt-From") != ""
}

// events are those of a journal in the order of the fold: of those whose ancestors are all
// placed the smallest by time and id comes next.
func (r reader) events(ref plumbing.ReferenceName) []event {
	r.t.Helper()
	tip, err := r.repo.Reference(ref, true)
	r.must(err)
	open := map[plumbing.Hash]event{}
	for todo := []plumbing.Hash{tip.Hash()}; len(todo) > 0; todo = todo[1:] {
		if _, known := open[todo[0]]; known {
			continue
		}
		commit, err := r.repo.CommitObject(todo[0])
		r.must(err)
		head, of := trailers(commit.Message)
		kind, ok := strings.CutPrefix(head, "Checkpoint-Event: 1 ")
		if !ok {
			r.t.Fatalf("%s is no event: %s", commit.Hash, commit.Message)
		}
		open[commit.Hash] = event{commit, kind, of}
		todo = append(todo, commit.ParentHashes...)
	}
	var ordered []event
	for len(open) > 0 {
		next := r.next(open)
		delete(open, next.commit.Hash)
		if next.kind != "merge" {
			ordered = append(ordered, next)
		}
	}
	return ordered
}

// next is the event that comes before all others that are open.
func (r reader) next(open map[plumbing.Hash]event) event {
	var ready []event
	for _, e := range open {
		if !slices.ContainsFunc(e.commit.ParentHashes, func(p plumbing.Hash) bool { _, waits := open[p]; return waits }) {
			ready = append(ready, e)
		}
	}
	return slices.MinFunc(ready, func(a, b event) int {
		if (a.kind == "merge") != (b.kind == "merge") { // a merge takes no place of its own
			if a.kind == "merge" {
				return -1
			}
			return 1
		}
		if order := strings.Compare(a.one("Time"), b.one("Time")); order != 0 {
			return order
		}
		return strings.Compare(a.commit.Hash.String(), b.commit.Hash.String())
	})
}

// folded is what the journal says of a checkpoint.
type folded struct {
	create                  event
	live, safety, dead, pin bool
}

// fold goes through the events as "The fold" in docs/format.md says. The tests have no
// pins that a prune did not know, and no rebuilt checkpoints.
func fold(events []event) (of map[string]*folded, current string) {
	of = map[string]*folded{}
	set := func(ids []string, live bool) {
		for _, id := range ids {
			if f := of[id]; f != nil && !f.safety {
				f.live = live
			}
		}
	}
	for _, e := range events {
		id := e.one("Checkpoint")
		switch {
		case e.names() && of[id] == nil:
			safety := e.one("Trigger") == "safety"
			of[id] = &folded{create: e, live: !safety, safety: safety}
			if !safety && (e.kind == "create" || e.one("Previous") == current) {
				current = id
			}
		case e.kind == "rollback" || e.kind == "undo":
			set(e.trailers["Discard"], false)
			set(e.trailers["Restore"], true)
			set(e.trailers["To"], true)
			current = e.one("To")
		case e.kind == "pin" || e.kind == "unpin":
			of[id].pin = e.kind == "pin"
		case e.kind == "prune":
			for _, tombstone := range e.trailers["Tombstone"] {
				id, _, _ := strings.Cut(tombstone, " ")
				of[id].dead = true
			}
		}
	}
	return of, current
}

// listed is what `list --json` says of a checkpoint.
type listed struct {
	ID        string `json:"id"`
	Label     string `json:"label"`
	Step      int    `json:"step"`
	StepName  string `json:"step_name"`
	Milestone bool   `json:"milestone"`
	Trigger   string `json:"trigger"`
	Status    string `json:"status"`
	CreatedAt string `json:"created_at"`
	Commit    string `json:"commit"`
	Files     int    `json:"files"`
	Current   bool   `json:"current"`
	Discarded bool   `json:"discarded"`
	Pinned    bool   `json:"pinned"`
	Valid     bool   `json:"valid"`
}

// list rebuilds the answer of `list --all --json` from the journal and the records.
func (r reader) list() []listed {
	r.t.Helper()
	of, current := fold(r.events("refs/checkpoints/" + session + "/journal"))
	var all []listed
	for id, c := range r.checkpoints() {
		f := of[id]
		if f == nil || f.dead {
			r.t.Errorf("%s has a ref, and the journal does not know it or calls it dead", id)
			continue
		}
		if f.create.one("Commit") != c.commit.Hash.String() || f.create.one("Record") != c.record.Checksum {
			r.t.Errorf("the journal names %s %s as %s", f.create.one("Commit"), f.create.one("Record"), id)
		}
		all = append(all, listed{
			ID: id, Label: c.record.Label, Step: c.record.Step, StepName: c.record.StepName, Milestone: c.record.Milestone, Trigger: c.record.Trigger,
			Status: c.record.Status, CreatedAt: c.record.CreatedAt, Commit: c.commit.Hash.String(),
			Files:   len(c.record.Files.Created) + len(c.record.Files.Modified) + len(c.record.Files.Deleted),
			Current: id == current, Discarded: !f.live && !f.safety, Pinned: f.pin, Valid: true,
		})
	}
	slices.SortFunc(all, func(a, b listed) int {
		if order := strings.Compare(a.CreatedAt, b.CreatedAt); order != 0 {
			return order
		}
		return strings.Compare(a.ID, b.ID)
	})
	return all
}
