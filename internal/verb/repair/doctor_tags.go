package repair

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/core/clearance"
	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/format/render"
	"git-checkpoint/internal/git"
	"git-checkpoint/internal/storage/remote"
	"git-checkpoint/internal/sys/gather"
)

// lookAtTags finds tags here that hold something private. --fix deletes those of checkpoints that were
// made here. Another one may have come with a fetch, and would come again with the next.
func lookAtTags(ctx context.Context, s *checkpoint.Service) ([]Problem, error) {
	refs, err := s.Repo.Refs.List(ctx, strings.TrimSuffix(name.TagRoot, "/"))
	if err != nil {
		return nil, err
	}
	tags, _, err := clearance.WrongTags(ctx, s, refs)
	var out []Problem
	for _, t := range tags {
		a := Problem{Kind: "private_tag", Level: LevelProblem, Object: string(t.Ref), Message: "it holds " + t.Why + ", and `git push --tags` sends it", Hint: "--fix deletes it"}
		if !t.Fetched {
			a.fix = dropping(s.Repo, git.Update{Ref: t.Ref, Old: t.Commit})
		} else {
			a.Level, a.Hint = LevelAdvice, "`git tag -d "+strings.TrimPrefix(string(t.Ref), "refs/tags/")+"` deletes it here"
		}
		for _, r := range s.Repo.Config.Remotes("url") {
			a.Hint += "; `" + deleting(r, t.Ref) + "` deletes it at " + r + " if it is there"
		}
		out = append(out, a)
	}
	return out, err
}

// deleting returns the command that deletes a tag at a remote.
func deleting(remote string, tag name.Ref) string {
	return "git push " + name.Quoted(remote) + " :" + string(tag)
}

// lookAtRemoteTags asks each remote for tags of steps, and finds those that hold something private.
func lookAtRemoteTags(ctx context.Context, s *checkpoint.Service) ([]Problem, error) {
	var out []Problem
	for _, named := range s.Repo.Config.Remotes("url") {
		listing, err := (&remote.Remote{Repo: s.Repo, Name: named, Now: s.Store.Now, Random: s.Store.Random}).List(ctx)
		if err != nil {
			if ctx.Err() != nil {
				return out, context.Cause(ctx)
			}
			out = append(out, Problem{Kind: "remote_unreachable", Level: LevelAdvice, Object: named, Message: err.Error(), Hint: "`git remote -v` lists the remotes"})
			continue
		}
		refs := gather.List(slices.Sorted(maps.Keys(listing.Tags)), func(ref name.Ref) git.RefValue { return git.RefValue{Ref: ref, OID: listing.Tags[ref]} })
		tags, unknown, err := clearance.WrongTags(ctx, s, refs)
		if err != nil {
			return out, err
		}
		for _, t := range tags {
			out = append(out, Problem{
				Kind: "private_tag_sent", Level: LevelProblem, Object: string(t.Ref), Message: fmt.Sprintf("%s has it, and it holds %s", named, t.Why),
				Hint: "`" + deleting(named, t.Ref) + "` deletes it there; who has fetched it keeps it",
			})
		}
		if unknown > 0 {
			out = append(out, Problem{
				Kind: "unknown_tags", Level: LevelAdvice, Object: named, Message: render.Count(unknown, "step tag there names", "step tags there name") + " what is not here, so it is not known what it holds",
				Hint: "`git fetch " + name.Quoted(named) + " 'refs/tags/checkpoint/*:refs/tags/checkpoint/*'` brings it",
			})
		}
	}
	return out, nil
}
