package rollback

import (
	"errors"
	"fmt"

	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/storage/lfs"
	"git-checkpoint/internal/storage/snapshot"
)

// notStaged returns the error for new content that could not be written, with the command that brings
// files of git-lfs whose content is not here.
func (r *target) notStaged(err error) error {
	filter, is := errors.AsType[*snapshot.FilterError](err)
	if !is || len(filter.Gone) == 0 {
		return err
	}
	remote, set := r.s.Settings.Get("checkpoint.remote")
	if !set {
		remote = "origin"
	}
	return &checkpoint.Error{Kind: checkpoint.KindFailed, Err: err, Hints: []string{
		fmt.Sprintf("the content of %s is not here; this brings it: git lfs fetch %s %s", lfs.Count(filter.Gone), name.Quoted(remote), r.Files.Event().Commit),
	}}
}
