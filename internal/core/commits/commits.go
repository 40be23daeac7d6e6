// Package commits makes commits of the user's own from the files of a checkpoint: what `land` and a
// workflow with a commit for each step put on a branch. It writes objects only, and moves no ref.
//
// The commits are made with git's plumbing, because `git commit` works on the checked-out branch and
// on its index. What users expect of a commit is done here: hooks, signing, and dates from the
// environment.
package commits

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/git"
	"git-checkpoint/internal/storage/snapshot"
	"git-checkpoint/internal/storage/store"
	"git-checkpoint/internal/storage/worktree"
	"git-checkpoint/internal/sys/gather"
)

// Draft is a commit that is not written yet.
type Draft struct {
	Label   string // of the checkpoint that it is made from, for errors
	Message string
	Tree    name.OID
	At      time.Time // its date, unless the environment sets another
}

// Refuse returns an error if no commit can be made in this worktree now: an operation of git is in
// progress, or git knows no author.
func Refuse(ctx context.Context, repo *git.Repo) error {
	// A commit in the middle of a merge or rebase would lose the operation's own state.
	if op := repo.Checkout.Operation(); op != "" {
		return checkpoint.Failure(checkpoint.KindRefused, "finish it first, or `"+git.EndOf(op)+"`", "%s is in progress in this worktree", git.AnOperation(op))
	}
	if _, err := repo.Output(ctx, "var", "GIT_COMMITTER_IDENT"); err != nil {
		return &checkpoint.Error{
			Kind: checkpoint.KindRefused, Message: "git does not know who you are, and commits need an author", Hints: []string{"git config user.name NAME", "git config user.email ADDRESS"},
		}
	}
	return nil
}

// Landable returns a tree without what is not part of the project: the ignored files in it, what
// belongs to databases, changes hidden from git, and nested repositories that are not submodules of base, the tree of the branch.
func Landable(ctx context.Context, repo *git.Repo, base, tree name.OID, ignored, hidden []string) (name.OID, error) {
	out := map[string]git.Entry{}
	// A file that the branch tracks is part of the project even if a rule ignores it.
	for _, path := range ignored {
		if _, tracked, err := repo.Trees.Lookup(ctx, base, path); err != nil {
			return "", err
		} else if !tracked {
			out[path] = git.Entry{}
		}
	}
	for _, path := range hidden {
		e, _, err := repo.Trees.Lookup(ctx, base, path)
		if err != nil {
			return "", err
		}
		out[path] = e
	}
	changes, err := repo.Trees.Diff(ctx, base, tree)
	if err = errors.Join(err, snapshot.Refuse(changes)); err != nil {
		return "", err
	}
	for _, c := range changes {
		if base := worktree.DatabaseOf(c.Path); base != "" && snapshot.HasDatabase(ctx, repo, tree, base) {
			out[c.Path] = c.Old
		}
		if c.New.Mode == git.ModeGitlink && c.Old.Mode != git.ModeGitlink {
			out[c.Path] = git.Entry{}
		}
	}
	if len(out) == 0 {
		return tree, nil
	}
	return repo.Trees.Edit(ctx, tree, out)
}

// PreCommit runs the hook on a temporary index with the tree to commit. What the hook stages there
// becomes part of the commit.
func PreCommit(ctx context.Context, repo *git.Repo, tree name.OID) (name.OID, error) {
	dir, err := repo.Dir()
	if err != nil {
		return "", err
	}
	index := filepath.Join(dir, "tmp-land-index")
	defer os.Remove(index) //nolint:errcheck // swept by age
	env := []string{"GIT_INDEX_FILE=" + index}
	if _, err := repo.Run(ctx, git.Cmd{Args: []string{"read-tree", string(tree)}, Env: env}); err != nil {
		return "", err
	}
	if err := hook(ctx, repo, "pre-commit", env); err != nil {
		return "", err
	}
	res, err := repo.Run(ctx, git.Cmd{Args: []string{"write-tree"}, Env: env})
	if err != nil {
		return "", err
	}
	return name.ParseOID(strings.TrimSpace(string(res.Stdout)))
}

// Message returns the text of a commit with a trailer Checkpoint-Id for each checkpoint that it holds, the last
// one at the end.
func Message(ctx context.Context, repo *git.Repo, text string, held ...name.ID) (string, error) {
	args := []string{"interpret-trailers"}
	for _, id := range held {
		args = append(args, "--trailer", "Checkpoint-Id: "+string(id))
	}
	res, err := repo.Run(ctx, git.Cmd{Args: args, Stdin: strings.NewReader(strings.TrimSpace(text) + "\n")})
	return string(res.Stdout), err
}

// Edit passes the message through the hooks that may change or refuse it.
func (d *Draft) Edit(ctx context.Context, repo *git.Repo) error {
	dir, err := repo.Dir()
	if err != nil {
		return err
	}
	file := filepath.Join(dir, "tmp-land-message")
	defer os.Remove(file) //nolint:errcheck // swept by age
	if err := os.WriteFile(file, []byte(d.Message), 0o666); err != nil {
		return err
	}
	if err := hook(ctx, repo, "prepare-commit-msg", nil, file, "message"); err != nil {
		return err
	}
	if err := hook(ctx, repo, "commit-msg", nil, file); err != nil {
		return err
	}
	data, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	if d.Message = string(data); strings.TrimSpace(d.Message) == "" {
		return checkpoint.Failure(checkpoint.KindRefused, "", "a hook left the message of %s empty, so no commit was made", d.Label)
	}
	return nil
}

// hooksOf returns where the user's hooks are. This program overrides core.hooksPath elsewhere, so that its own
// commands of git run no hooks.
func hooksOf(repo *git.Repo) string {
	if path, set := repo.Config.Get("core.hooksPath"); set {
		return path
	}
	return filepath.Join(repo.CommonDir, "hooks")
}

// MayMove asks the hook reference-transaction, if there is one, whether a branch may move; an empty from
// means that it must not be there. Nothing is moved.
func MayMove(ctx context.Context, repo *git.Repo, branch name.Ref, from, to name.OID) error {
	path := hooksOf(repo)
	if _, err := os.Stat(filepath.Join(path, "reference-transaction")); err != nil {
		return nil //nolint:nilerr // there is none
	}
	from = cmp.Or(from, name.OID(strings.Repeat("0", len(to))))
	move := fmt.Sprintf("start\nupdate %s %s %s\nprepare\nabort\n", branch, to, from)
	_, err := repo.Run(ctx, git.Cmd{Args: []string{"update-ref", "--stdin"}, Config: []string{"core.hooksPath=" + path}, Stdin: strings.NewReader(move)})
	if failed, is := errors.AsType[*git.Error](err); is {
		return checkpoint.Failure(checkpoint.KindRefused, strings.TrimSpace(failed.Stderr), "git does not let %s move", branch)
	}
	return err
}

// Checkout runs the hook post-checkout of a new worktree, whose HEAD is at a commit.
func Checkout(ctx context.Context, s *store.Store, at name.OID) {
	if err := hook(ctx, s.Repo, "post-checkout", nil, strings.Repeat("0", len(at)), string(at), "1"); err != nil {
		s.Warn("the hook post-checkout failed")
	}
}

// hook runs one of the user's hooks, if it exists. A hook that fails refuses the commit. An older git
// cannot run hooks on request, so there an existing hook is an error.
func hook(ctx context.Context, repo *git.Repo, hook string, env []string, args ...string) error {
	const hooksRun = "2.36" // the first version of git with `git hook run`
	path := hooksOf(repo)
	if version, err := repo.Version(ctx); err != nil || git.Older(version, hooksRun) {
		if _, there := os.Stat(filepath.Join(path, hook)); err == nil && there == nil {
			err = checkpoint.Failure(checkpoint.KindRefused, "", "git %[2]s cannot run the hook %[1]s for another program; git %[3]s can", hook, version, hooksRun)
		}
		return err
	}
	line := append([]string{"hook", "run", "--ignore-missing", hook, "--"}, args...)
	// An editor would wait for a person, and the message is given.
	_, err := repo.Run(ctx, git.Cmd{Args: line, Config: []string{"core.hooksPath=" + path}, Env: append(env, "GIT_EDITOR=:")})
	if failed, is := errors.AsType[*git.Error](err); is {
		return &checkpoint.Error{Kind: checkpoint.KindRefused, Message: fmt.Sprintf("the hook %s failed, so no commit was made", hook), Hints: strings.FieldsFunc(failed.Stderr, func(r rune) bool { return r == '\n' })}
	}
	return err
}

// RunPostCommit runs the post-commit hook. The commits exist by then, so a failure is only a warning.
func RunPostCommit(ctx context.Context, s *store.Store) {
	if err := hook(context.WithoutCancel(ctx), s.Repo, "post-commit", nil); err != nil {
		s.Warn("the hook post-commit failed")
	}
}

// Write writes the commit. The author is the user.
func (d *Draft) Write(ctx context.Context, s *checkpoint.Rules, parent name.OID) (name.OID, error) {
	args := []string{"commit-tree", string(d.Tree), "-p", string(parent)}
	if sign, err := s.Repo.Config.Bool("commit.gpgSign", false); err != nil {
		return "", err
	} else if sign {
		args = append(args, "-S")
	}
	env := gather.List([]string{"GIT_AUTHOR_DATE", "GIT_COMMITTER_DATE"}, func(key string) string {
		return key + "=" + cmp.Or(s.Settings.Getenv(key), fmt.Sprintf("@%d +0000", d.At.Unix()))
	})
	res, err := s.Repo.Run(ctx, git.Cmd{Args: args, Env: env, Stdin: strings.NewReader(d.Message)})
	if err != nil {
		return "", &checkpoint.Error{Kind: checkpoint.KindFailed, Message: "the commit of " + d.Label + " cannot be made", Err: err}
	}
	return name.ParseOID(strings.TrimSpace(string(res.Stdout)))
}
