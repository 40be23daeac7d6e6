package travel_test

import (
	"context"
	"path"
	"slices"
	"strings"
	"testing"

	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/test/verbtest"
	"git-checkpoint/internal/verb/travel"
)

// A remote never has an event without its checkpoint, nor notes or tags before both: what is there
// after each step of a push can be read by everybody, also if the push ends there.
func TestOrderOfAPush(t *testing.T) {
	for atomic, want := range map[string][]string{
		"true":  {"planned push: ", "notes sent: checkpoint journal notes", "at the end: checkpoint journal notes tag"},
		"false": {"planned push: ", "sent: checkpoint", "journal sent: checkpoint journal", "notes sent: checkpoint journal notes", "at the end: checkpoint journal notes tag"},
	} {
		t.Run("atomic "+atomic, func(t *testing.T) {
			w := withRemote(t)
			w.Git("-C", w.remote, "config", "receive.advertiseAtomic", atomic)
			w.Save("one")
			var got []string
			w.Between = func(step string) { got = append(got, step+": "+w.kindsThere()) }
			w.Must(func(ctx context.Context, s *checkpoint.Service) error {
				_, err := travel.Push(ctx, s, travel.Request{Tags: true})
				return err
			})
			if got = append(got, "at the end: "+w.kindsThere()); !slices.Equal(got, want) {
				t.Errorf("got  %q\nwant %q", got, want)
			}
		})
	}
}

// world is a repository with the remote origin, to which nothing was pushed.
type world struct {
	*verbtest.World
	remote string
}

func withRemote(t *testing.T) *world {
	w := verbtest.New(t)
	remote := path.Join(w.Root, "remote.git")
	w.Git("init", "-q", "--bare", remote)
	w.Git("remote", "add", "origin", remote)
	return &world{w, remote}
}

// kindsThere names the kinds of refs that the remote has.
func (w *world) kindsThere() string {
	var kinds []string
	for _, ref := range strings.Fields(w.Git("-C", w.remote, "for-each-ref", "--format=%(refname)")) {
		switch {
		case name.Ref(ref) == name.NotesRef:
			kinds = append(kinds, "notes")
		case strings.HasPrefix(ref, name.TagRoot):
			kinds = append(kinds, "tag")
		case path.Base(ref) == "journal":
			kinds = append(kinds, "journal")
		default:
			kinds = append(kinds, "checkpoint")
		}
	}
	slices.Sort(kinds)
	return strings.Join(slices.Compact(kinds), " ")
}
