package interop

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"

	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/core/workflow"
	"git-checkpoint/internal/verb/create"
	"git-checkpoint/internal/verb/repair"
)

// A document that a create is given is exported byte for byte, like one that was imported, in each
// layout. An import knows the exported files.
func TestRandomDocumentsCreated(t *testing.T) {
	cases, from := caseCount(t)
	for i, format := range Formats() {
		t.Run(format, func(t *testing.T) {
			done := 0
			for seed := from; done < cases; seed++ {
				g := &gen{Rand: rand.New(rand.NewPCG(seed, uint64(100+i))), dir: t.TempDir(), said: map[string]json.RawMessage{}}
				generators()[format](g, min(perWorld, cases-done))
				if !t.Run(fmt.Sprint("seed=", seed), func(t *testing.T) { done += createAndExport(t, g, format) }) {
					return
				}
			}
			t.Logf("%d documents of %s from seed %d on", done, format, from)
		})
	}
}

// createAndExport makes a checkpoint of each document and exports them. It returns how many there
// were, without those that the rules of the workflow refuse, or that do not name their session.
func createAndExport(t *testing.T, g *gen, format string) int {
	w := newWorld(t)
	w.Git("config", "checkpoint.autoPrune", "false")
	w.Git("config", "checkpoint.agent_complete.enabled", "true")
	def, _ := workflow.Builtin(format)
	given := map[string]int{}
	for _, p := range create.SortedKeys(g.said) {
		content, err := os.ReadFile(filepath.Join(g.dir, filepath.FromSlash(p)))
		if errors.Is(err, os.ErrNotExist) {
			continue // a row of a database
		}
		text, docErr := Document(content, p)
		if err != nil || docErr != nil {
			t.Fatal(err, docErr)
		}
		if a, err := def.Accept(text); err != nil || !def.Knows(text) || def.SessionOf(a) == "" || format == UltraCreate && def.CheckpointOf(a) == "" {
			continue // it would get an id
		}
		err = w.Do(func(ctx context.Context, s *checkpoint.Service) error {
			_, err := create.Checkpoint(ctx, s, create.Request{Edits: create.Edits{State: text, Original: content}})
			return err
		})
		switch {
		case err == nil:
			given[string(content)]++
		case checkpoint.KindOf(err) != checkpoint.KindRejected:
			t.Errorf("%s: %v%s", p, err, hints(err))
		}
	}
	if len(given) == 0 {
		return 0
	}
	out := filepath.Join(t.TempDir(), "out")
	answer := w.takeOut(out, format)
	for p, content := range contents(t, out) {
		if strings.Contains(p, "#") || path.Base(p) == latestFile || path.Base(p) == indexFile || path.Base(p) == manifestFile || path.Base(p) == historyFile {
			continue
		}
		if given[content]--; given[content] < 0 {
			t.Errorf("%s was not given:\n%s", p, content)
		}
	}
	n := 0
	for content, missing := range given {
		if n++; missing > 0 {
			t.Errorf("%q did not come out: %v", content, answer.LeftOut)
		}
	}
	if again := w.bringIn(out, func(r *ImportRequest) { r.Format = format }); again.Added+again.Changed != 0 {
		t.Errorf("the import of what came out: %+v", again)
	}
	w.Must(func(ctx context.Context, s *checkpoint.Service) error {
		return repair.Validate(ctx, s.Sessions, repair.ValidateRequest{All: true}, func(v repair.Validated) error {
			if !v.OK {
				t.Errorf("validate: %+v", v)
			}
			return nil
		})
	})
	return n
}
