package attempt

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/core/linked"
	"git-checkpoint/internal/core/workflow"
	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/git"
	"git-checkpoint/internal/verb/create"
)

// Removal is the answer of `fork --remove`, planned or done.
type Removal struct {
	Attempt Attempt           `json:"attempt"`
	Changed int               `json:"changed"` // files that differ from the newest checkpoint
	Saves   bool              `json:"saves"`   // whether a checkpoint is made first. It may be for what is staged or committed alone
	Ignored []checkpoint.Path `json:"ignored"` // files that are lost; directories end in "/"
	Lost    []Lost            `json:"lost"`    // what else is lost, because no checkpoint can hold it
	// Checkpoint that was made of the changes first; empty: there were none.
	Kept   name.ID `json:"kept"`
	DryRun bool    `json:"dry_run"`

	s *checkpoint.Service
}

// Lost is a path that goes with its worktree; a repository's ends in "/".
type Lost struct {
	Path   checkpoint.Path `json:"path"`
	Reason string          `json:"reason"` // why no checkpoint holds it
}

// PrepareRemoval plans to remove the worktree of an attempt. Nothing is changed.
func PrepareRemoval(ctx context.Context, s *checkpoint.Service, typed string) (*Removal, error) {
	a, err := Find(ctx, s.Store, typed)
	if checkpoint.KindOf(err) == checkpoint.KindNotFound {
		others, failed := foreign(ctx, s.Store)
		if failed != nil {
			return nil, failed
		}
		a, err = among(s.Repo, others, typed)
	}
	if err != nil {
		return nil, err
	}
	r := &Removal{Attempt: *a, DryRun: true, s: s}
	if a.Worktree == "" {
		return nil, checkpoint.Failure(checkpoint.KindNotFound, "`git checkpoint prune --session "+string(a.Session)+" --all` prunes its checkpoints, too", "the worktree of %s is already gone", a.Name)
	}
	if a.Worktree == s.Repo.WorkTree {
		return nil, checkpoint.Failure(checkpoint.KindRefused, "run the command in another worktree", "this is the worktree of %s", a.Name)
	}
	if a.Unfinished {
		return r, r.lookUnfinished(ctx)
	}
	if linked.Locked(s.Repo, a.Worktree) {
		return nil, checkpoint.Failure(checkpoint.KindRefused, "`git worktree unlock "+name.Quoted(a.Worktree)+"` unlocks it", "the worktree of %s is locked", a.Name)
	}
	return r, r.findLosses(ctx)
}

// lookUnfinished finds files of which git has no copy. A fork that was killed near its end looks
// complete, so somebody may have worked there; it has no session for a checkpoint of that. Ignored files go, as in any other
// worktree: most of them are copies, and one of those may be cut off.
func (r *Removal) lookUnfinished(ctx context.Context) error {
	in, err := checkpoint.OpenAt(ctx, r.s, r.Attempt.Worktree)
	if err != nil {
		return nil //nolint:nilerr // git had not begun it
	}
	defer in.Close()
	if in.Repo.WorkTree != r.Attempt.Worktree {
		return nil // git had not begun it, and another worktree is around it
	}
	listed, err := in.Repo.Run(ctx, git.Cmd{Args: []string{"ls-files", "-z", "--cached", "--others", "--exclude-standard"}, Dir: in.Repo.WorkTree})
	if err != nil {
		return err
	}
	ignored, err := in.Repo.Run(ctx, git.Cmd{Args: []string{"ls-files", "-z", "--others", "--ignored", "--exclude-standard", "--directory"}, Dir: in.Repo.WorkTree})
	if err != nil {
		return err
	}
	r.Ignored = create.ToPaths(ignored.Paths())
	if r.Lost, err = edited(in.Repo); err != nil {
		return err
	}
	var paths []string
	for _, path := range listed.Paths() {
		info, err := os.Lstat(filepath.Join(in.Repo.WorkTree, filepath.FromSlash(path)))
		switch {
		case err != nil || !strings.HasSuffix(path, "/") && !info.Mode().IsRegular():
		case info.Mode().IsRegular() && info.Size() == 0: // the fork was about to fill it
		case strings.HasSuffix(path, "/") || strings.Contains(path, "\n"): // git hash-object takes a path per line
			r.Lost = append(r.Lost, Lost{checkpoint.Path(path), "not in git"})
		default:
			paths = append(paths, path)
		}
	}
	if len(paths) == 0 {
		return nil
	}
	hashed, err := in.Repo.Run(ctx, git.Cmd{Args: []string{"hash-object", "--stdin-paths"}, Dir: in.Repo.WorkTree, Stdin: strings.NewReader(strings.Join(paths, "\n") + "\n")})
	if err != nil {
		return err
	}
	var oids []name.OID
	for oid := range strings.FieldsSeq(string(hashed.Stdout)) {
		oids = append(oids, name.OID(oid))
	}
	missing, err := in.Repo.Objects.Batch().Missing(ctx, oids)
	if err != nil {
		return err
	}
	for i, oid := range oids {
		if missing[oid] {
			r.Lost = append(r.Lost, Lost{checkpoint.Path(paths[i]), "not in git"})
		}
	}
	return nil
}

// findLosses finds the ignored files, which are lost, and the changes, which Apply saves first.
func (r *Removal) findLosses(ctx context.Context) error {
	in, err := checkpoint.OpenAt(ctx, r.s, r.Attempt.Worktree)
	if err != nil {
		return err
	}
	defer in.Close()
	if in.Repo.CommonDir != r.s.Repo.CommonDir || in.Repo.WorkTree != r.Attempt.Worktree {
		return checkpoint.Failure(checkpoint.KindRefused, "`git worktree list` shows the worktrees", "%q is not a worktree of this repository any more", r.Attempt.Worktree)
	}
	status, err := in.Repo.Run(ctx, git.Cmd{Args: []string{"status", "--porcelain=v1", "-z", "--ignored=traditional", "--untracked-files=all", "--no-renames"}})
	if err != nil {
		return err
	}
	for _, entry := range status.Paths() {
		if p, ignored := strings.CutPrefix(entry, "!! "); ignored {
			r.Ignored = append(r.Ignored, checkpoint.Path(p))
		}
	}
	// A dry run of the create says whether there is anything to keep.
	request := r.saveRequest()
	request.DryRun = true
	detail, err := create.Checkpoint(ctx, in, request)
	r.Saves = err == nil
	if checkpoint.KindOf(err) == checkpoint.KindNothing {
		request.SkipUnchanged = false
		detail, err = create.Checkpoint(ctx, in, request)
	}
	if err != nil {
		return err
	}
	if r.Saves {
		r.Changed = detail.Record.Files.Total()
	}
	for _, left := range detail.Record.Snapshot.Skipped {
		r.Lost = append(r.Lost, Lost{left.Path, left.Reason})
	}
	copies, err := edited(in.Repo)
	r.Lost = append(r.Lost, copies...)
	return cmp.Or(err, r.submodules(ctx, in.Repo))
}

// submodules adds the submodules that are checked out and that look has not listed yet. Even
// a clean one may have commits that are nowhere else: git keeps the repository of a linked
// worktree's submodule with the worktree, and deletes both.
func (r *Removal) submodules(ctx context.Context, in *git.Repo) error {
	listed, err := in.Run(ctx, git.Cmd{Args: []string{"ls-files", "--stage", "-z"}, Dir: in.WorkTree})
	if err != nil {
		return err
	}
	for _, entry := range listed.Paths() {
		_, path, _ := strings.Cut(entry, "\t")
		if !strings.HasPrefix(entry, "160000 ") || slices.ContainsFunc(r.Lost, func(l Lost) bool { return string(l.Path) == path+"/" }) {
			continue
		}
		if _, err := os.Lstat(filepath.Join(in.WorkTree, filepath.FromSlash(path), ".git")); err == nil {
			r.Lost = append(r.Lost, Lost{checkpoint.Path(path + "/"), "submodule"})
		}
	}
	return nil
}

// Refusal is the error that stops a removal that would lose something. Ignored files do not stop it;
// "git worktree remove" does not ask for --force because of them either.
func (r *Removal) Refusal() error {
	lost := fmt.Sprintf("%q would be lost", r.Lost[0].Path)
	if n := len(r.Lost) - 1; n > 0 {
		lost = fmt.Sprintf("%q and %d more would be lost", r.Lost[0].Path, n)
	}
	removes := "git checkpoint fork --remove " + name.Quoted(cmp.Or(string(r.Attempt.Session), r.Attempt.Worktree)) + " --force"
	return checkpoint.Failure(checkpoint.KindRefused, "copy what you need; --force removes the worktree anyway: "+removes,
		"%s with the worktree of %s, so nothing was changed", lost, r.Attempt.Name)
}

// saveRequest is the request for a checkpoint of everything that the newest one does not have.
func (r *Removal) saveRequest() create.Request {
	return create.Request{
		Session: string(r.Attempt.Session), Trigger: workflow.TriggerRun, NoTag: true,
		Message: "before its worktree was removed", Comparison: create.Comparison{SkipUnchanged: true}, Selection: create.Selection{Large: true},
	}
}

// Apply makes a checkpoint of the changes and removes the worktree. The session stays.
func (r *Removal) Apply(ctx context.Context) error {
	r.DryRun = false
	if !r.Attempt.Unfinished {
		in, err := checkpoint.OpenAt(ctx, r.s, r.Attempt.Worktree)
		if err != nil {
			return err
		}
		made, err := create.Checkpoint(ctx, in, r.saveRequest())
		in.Close()
		switch {
		case checkpoint.KindOf(err) == checkpoint.KindNothing:
		case err != nil:
			return err
		default:
			r.Kept, r.Attempt.Session = made.Record.ID, made.Record.Session // a worktree of git's own had none
		}
	}
	if r.Attempt.note == nil {
		return linked.Remove(ctx, r.s.Repo, r.Attempt.Worktree)
	}
	return r.Attempt.note.Clear(ctx, r.s)
}
