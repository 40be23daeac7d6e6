package store

import (
	"context"
	"fmt"
	"path"
	"strings"

	"git-checkpoint/internal/format/name"
)

// InTheWayError says that a ref of somebody else has the name of a directory of our refs, or lies
// below one of our refs. git cannot have both.
type InTheWayError struct{ Ref name.Ref }

func (e *InTheWayError) Error() string {
	return fmt.Sprintf("the ref %s is in the way: as long as it exists, git refuses the refs that this program needs", e.Ref)
}

// WayOut says what to do about a ref that is in the way.
func WayOut(ref name.Ref) string {
	return fmt.Sprintf("`git update-ref -d %s` deletes it, once another ref has what it names", ref)
}

// inTheWay returns a ref that is in the way of those that the attempt writes, or "".
func (a *attempt) inTheWay(ctx context.Context) name.Ref {
	root := path.Clean(name.CheckpointRoot)
	for _, u := range a.updates {
		if !strings.HasPrefix(string(u.Ref), root+"/") || u.New == "" {
			continue
		}
		for dir := path.Dir(string(u.Ref)); len(dir) >= len(root); dir = path.Dir(dir) {
			if _, err := a.store.Repo.Refs.Resolve(ctx, name.Ref(dir)); err == nil {
				return name.Ref(dir)
			}
		}
		below, _ := a.store.Repo.Refs.List(ctx, string(u.Ref)+"/") //nolint:errcheck // the lost race is reported
		if len(below) > 0 {
			return below[0].Ref
		}
	}
	return ""
}
