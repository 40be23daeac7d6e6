package proof_test

import (
	"strconv"
	"strings"
	"testing"

	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/storage/proof"
	"git-checkpoint/internal/test/verbtest"
	"git-checkpoint/internal/verb/create"
)

const demo = name.Session("demo")

// world adds checkpoints that are proven and damaged.
type world struct {
	*verbtest.World
	made int
}

func newWorld(t *testing.T) *world { return &world{World: verbtest.New(t)} }

// create makes the milestone of a step and returns its id and commit. Each has another content.
func (w *world) create(step int) (name.ID, name.OID) {
	w.Helper()
	w.made++
	w.Write("file", strconv.Itoa(w.made)+"\n")
	made := w.Create(create.Request{Session: string(demo), Numbering: create.Numbering{Step: &step}})
	return made.Record.ID, made.Commit
}

// session proves the journal as it is now.
func (w *world) session() *proof.Session {
	w.Helper()
	s := w.Open()
	view, err := proof.ReadView(w.Context(), s.Store, demo)
	if err != nil {
		w.Fatal(err)
	}
	p, err := view.Open(w.Context(), demo)
	if err == nil {
		err = p.JudgeLost(w.Context())
	}
	if err != nil {
		w.Fatal(err)
	}
	return p
}

// judge proves every checkpoint and returns the verdicts in the order of the journal.
func (w *world) judge() []proof.Verdict {
	w.Helper()
	var all []proof.Verdict
	p := w.session()
	err := p.Judge(w.Context(), p.Subjects(), nil, func(v proof.Verdict) error {
		all = append(all, v)
		return nil
	})
	if err != nil {
		w.Fatal(err)
	}
	return all
}

// lose removes a loose object.
func (w *world) lose(oid name.OID) {
	w.Helper()
	if !w.Exists(w.Object(oid)) {
		w.Fatalf("%s is not loose", oid)
	}
	w.Remove(w.Object(oid))
}

// kinds returns the kinds of a verdict's findings, in order.
func kinds(findings []proof.Finding) string {
	var all []string
	for _, f := range findings {
		all = append(all, string(f.Kind))
	}
	return strings.Join(all, " ")
}
