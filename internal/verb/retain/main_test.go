package retain_test

import (
	"slices"
	"strconv"
	"strings"
	"testing"

	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/test/verbtest"
	"git-checkpoint/internal/verb/create"
)

const demo = name.Session("demo")

// world adds checkpoints that are removed.
type world struct {
	*verbtest.World
	made int
}

func newWorld(t *testing.T) *world { return &world{World: verbtest.New(t)} }

// create makes the milestone of the next step, with a file of its own content.
func (w *world) create(session name.Session) name.ID {
	w.Helper()
	w.made++
	w.Write("file", strconv.Itoa(w.made)+"\n")
	return w.Create(create.Request{Session: string(session)}).Record.ID
}

// refs lists the refs below a prefix, without the prefix.
func (w *world) refs(prefix string) []string {
	w.Helper()
	var all []string
	for _, ref := range strings.Fields(w.Git("for-each-ref", "--format=%(refname)", prefix)) {
		all = append(all, strings.TrimPrefix(ref, prefix))
	}
	return all
}

// live returns the ids of the session's checkpoints that have refs.
func (w *world) live(session name.Session) []name.ID {
	w.Helper()
	var all []name.ID
	for _, leaf := range w.refs(name.CheckpointRoot + string(session) + "/") {
		if id, err := name.ParseID(leaf); err == nil {
			all = append(all, id)
		}
	}
	slices.Sort(all)
	return all
}

func ids(labelled []checkpoint.Labelled) (all []name.ID) {
	for _, l := range labelled {
		all = append(all, l.ID)
	}
	return all
}
