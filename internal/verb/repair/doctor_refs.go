package repair

// This file checks refs below refs/checkpoints, refs/notes/checkpoints, refs/tags/checkpoint and
// the places for fetches. Only refs that carry no information are deleted by --fix, and only if
// they have not changed since they were found, and tags of checkpoints that hold something private.

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/core/clearance"
	"git-checkpoint/internal/format/journal"
	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/format/render"
	"git-checkpoint/internal/git"
	"git-checkpoint/internal/storage/remote"
	"git-checkpoint/internal/storage/store"
	"git-checkpoint/internal/sys/gather"
	"git-checkpoint/internal/verb/travel"
)

// ownRoots returns the directories, and the notes ref, in which this program has refs.
func ownRoots() []string {
	roots := name.Roots()
	for i, root := range roots {
		roots[i] = strings.TrimSuffix(root, "/")
	}
	return roots
}

// lookAtNames finds refs that conflict with refs of this program. git cannot have a ref "a" and a
// ref "a/b", and a file system that ignores case cannot hold two refs that differ only in case.
func lookAtNames(ctx context.Context, s *checkpoint.Service) ([]Problem, error) {
	refs, err := s.Repo.Refs.List(ctx, ownRoots()...)
	if err != nil {
		return nil, err
	}
	var out []Problem
	folded := map[string]string{}
	tagRoot := strings.TrimSuffix(name.TagRoot, "/")
	for _, r := range refs {
		ref := string(r.Ref)
		// A ref below the notes ref, or one with the name of a directory of ours, blocks ours. Tags
		// are optional, so a conflict there is only advice.
		at, below := strings.CutPrefix(ref, string(name.NotesRef)+"/")
		switch session, isTag := strings.CutPrefix(ref, name.TagRoot); {
		case below && at != "", ref != string(name.NotesRef) && ref != tagRoot && slices.Contains(ownRoots(), ref):
			out = append(out, Problem{
				Kind: "ref_in_the_way", Level: LevelProblem, Object: ref, Message: "as long as it exists, git refuses the refs that this program needs",
				Hint: store.WayOut(r.Ref),
			})
		case ref == tagRoot, isTag && !strings.Contains(session, "/"):
			out = append(out, Problem{
				Kind: "ref_in_the_way", Level: LevelAdvice, Object: ref, Message: "it is in the way of the tags of checkpoints, so there are none",
				Hint: "rename the tag, then `git checkpoint rebuild --all` makes them",
			})
		}
		if rest, ours := strings.CutPrefix(ref, name.CheckpointRoot); ours {
			// Session names are part of file names while refs are loose.
			session, _, _ := strings.Cut(rest, "/")
			if other, met := folded[strings.ToLower(session)]; met && other != session {
				out = append(out, Problem{
					Kind: "name_twins", Level: LevelAdvice, Object: session, Message: fmt.Sprintf("its name differs from session %q only in case; a clone on another system may mix them up", other),
					Hint: "`git checkpoint session archive` puts one of them away",
				})
			}
			folded[strings.ToLower(session)] = session
		}
	}
	return out, nil
}

// lookAtRefs finds refs of this program that are broken, unknown, dead or left behind by a fetch.
func lookAtRefs(ctx context.Context, s *checkpoint.Service) ([]Problem, error) {
	out := brokenRefFiles(s.Repo)
	refs, err := s.Store.AllRefs(ctx)
	if err != nil {
		return out, err
	}
	states := map[name.Session]*journal.State{} // nil: it cannot be read
	for _, r := range refs {
		session, leaf, ours := store.SplitRef(r.Ref)
		if !ours {
			out = append(out, Problem{
				Kind: "stray_ref", Level: LevelAdvice, Object: string(r.Ref), Message: "it is neither a checkpoint nor a journal, and is ignored",
				Hint: "`git update-ref -d " + string(r.Ref) + "` deletes it",
			})
			continue
		}
		if _, known := states[session]; !known {
			states[session], _ = s.Store.State(ctx, session) //nolint:errcheck // validate says what is wrong with it
		}
		// A prune that was killed between its journal event and its deletions leaves refs, and they keep the
		// objects alive that the prune was meant to free.
		if st := states[session]; st != nil && st.Dead(name.ID(leaf)) {
			out = append(out, Problem{
				Kind: "dead_ref", Level: LevelAdvice, Object: string(r.Ref), Message: "it was pruned, but still holds what was to be freed", Hint: "--fix deletes the ref",
				fix: dropping(s.Repo, git.Update{Ref: r.Ref, Old: r.OID}),
			})
		}
	}
	incoming, err := remote.Abandoned(ctx, s.Repo.Refs, s.Store.Now())
	if len(incoming) > 0 {
		out = append(out, Problem{
			Kind: "stale_incoming", Level: LevelAdvice, Object: name.IncomingRoot, Message: fmt.Sprintf("a fetch that was cut off left %d refs", len(incoming)),
			Hint: "--fix deletes them; so does the next fetch", fix: dropping(s.Repo, incoming...),
		})
	}
	return out, err
}

// dropping returns the fix that deletes refs, provided that they have not changed since they were
// found.
func dropping(repo *git.Repo, refs ...git.Update) fix {
	return fix{"dropped", func(ctx context.Context) error { return repo.Refs.Update(ctx, refs) }}
}

// brokenRef is the kind of a ref file without an object id.
const brokenRef = "broken_ref"

// brokenRefFiles finds loose ref files without an object id. A power loss can leave them empty.
// Such a file holds nothing, so removing it loses nothing, and rebuild makes the ref again.
func brokenRefFiles(repo *git.Repo) []Problem {
	const maxRefFile = 4096 // longer than any loose ref file
	var out []Problem
	eachOwnFile(repo.CommonDir, func(path string) {
		data, err := os.ReadFile(path)
		if err != nil || len(data) > maxRefFile || strings.HasSuffix(path, ".lock") {
			return
		}
		// A valid file has one object id of the repository's hash, and not the null id.
		content := strings.TrimSpace(string(data))
		oid, err := name.ParseOID(content)
		if err == nil && len(oid) == 2*repo.HashLen() && strings.Trim(content, "0") != "" {
			return
		}
		ref, err := filepath.Rel(repo.CommonDir, path)
		if err != nil {
			return
		}
		a := Problem{
			Kind: brokenRef, Level: LevelProblem, Object: filepath.ToSlash(ref), Message: "its file holds no object id",
			Hint: "--fix removes the file, and `git checkpoint rebuild --all` makes the ref again",
			fix:  fix{"the file was removed; `git checkpoint rebuild --all` makes the ref again", func(context.Context) error { return os.Remove(path) }},
		}
		if strings.HasPrefix(content, "ref:") {
			a.Kind, a.Message = "symbolic_ref", "it is a symbolic ref, so it moves with another ref"
		}
		out = append(out, a)
	})
	return out
}

// lookAtLogs finds reflogs of this program's refs. core.logAllRefUpdates=always creates them, and
// they keep pruned checkpoints alive.
func lookAtLogs(_ context.Context, s *checkpoint.Service) ([]Problem, error) {
	var out []Problem
	logs := filepath.Join(s.Repo.CommonDir, "logs")
	eachOwnFile(logs, func(path string) {
		info, err := os.Lstat(path)
		ref, relErr := filepath.Rel(logs, path)
		if err != nil || relErr != nil || info.Size() == 0 {
			return
		}
		ref = filepath.ToSlash(ref)
		out = append(out, Problem{
			Kind: "reflog", Level: LevelAdvice, Object: ref, Message: "git keeps a reflog of it, which holds what was pruned",
			Hint: "`git reflog expire --expire=all " + ref + "` empties it",
		})
	})
	return out, nil
}

// lookAtRemotes finds remote-tracking journals that are useless: the remote is gone, or they cannot
// be read. They only say what was last seen at a remote, and a fetch brings them again.
func lookAtRemotes(ctx context.Context, s *checkpoint.Service) ([]Problem, error) {
	refs, err := s.Repo.Refs.List(ctx, name.TrackingRoot)
	if err != nil {
		return nil, err
	}
	var out []Problem
	if r := travel.LastSync(s.Repo); r != nil && r.Owed > 0 {
		said, hint := r.Owing()
		out = append(out, Problem{Kind: "owed_deletions", Level: LevelAdvice, Object: r.Name, Message: said, Hint: hint})
	}
	for _, r := range refs {
		rest := strings.TrimPrefix(string(r.Ref), name.TrackingRoot)
		// The name of a remote may contain slashes, the name of a session cannot. So the session is
		// after the last one.
		at := strings.LastIndex(strings.TrimSuffix(rest, "/journal"), "/")
		if at < 0 {
			continue
		}
		a := Problem{
			Kind: "tracking_journal", Level: LevelAdvice, Object: string(r.Ref), Hint: "--fix deletes it; a fetch brings it back",
			fix: dropping(s.Repo, git.Update{Ref: r.Ref, Old: r.OID}),
		}
		if len(s.Repo.Config.Keys("remote."+rest[:at]+".")) == 0 {
			a.Message = fmt.Sprintf("there is no longer a remote %q", rest[:at])
			out = append(out, a)
			continue
		}
		if _, err := s.Store.LogAt(ctx, r.OID, nil); err != nil {
			if ctx.Err() != nil {
				return out, err
			}
			a.Level, a.Message = LevelProblem, "what it points at cannot be read: "+err.Error()
			out = append(out, a)
		}
	}
	return out, nil
}

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
