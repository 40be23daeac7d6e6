package land

// The commits are made with git's plumbing, because `git commit` works on the checked-out
// branch and on its index. What users expect of a commit is done here: hooks, signing, and
// dates from the environment.

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/git"
)

// hooksRun is the first version of git with `git hook run`.
const hooksRun = "2.36"

// commit writes the commits as objects. No ref moves before all of them exist. It runs
// git's hooks as `git commit` would: pre-commit once, for the last commit, and the hooks of
// messages for each.
func (p *Plan) commit(ctx context.Context) error {
	dir, err := p.s.Repo.Dir()
	if err != nil {
		return err
	}
	// pre-commit may change the files, and only the last commit is checked out.
	commits := p.Answer.Commits
	last := &commits[len(commits)-1]
	if last.tree, err = p.preCommit(ctx, dir, last.tree); err != nil {
		return err
	}
	parent := p.Answer.From
	for i := range commits {
		c := &commits[i]
		if err := p.edited(ctx, dir, c); err != nil {
			return err
		}
		if c.OID, err = p.write(ctx, c, parent); err != nil {
			return err
		}
		parent = c.OID
	}
	return nil
}

// preCommit runs the hook on a temporary index with the tree to commit. What the hook
// stages there becomes part of the commit.
func (p *Plan) preCommit(ctx context.Context, dir string, tree name.OID) (name.OID, error) {
	index := filepath.Join(dir, "tmp-land-index")
	defer os.Remove(index) //nolint:errcheck // swept by age
	env := []string{"GIT_INDEX_FILE=" + index}
	if _, err := p.s.Repo.Run(ctx, git.Cmd{Args: []string{"read-tree", string(tree)}, Env: env}); err != nil {
		return "", err
	}
	if err := p.hook(ctx, "pre-commit", env); err != nil {
		return "", err
	}
	res, err := p.s.Repo.Run(ctx, git.Cmd{Args: []string{"write-tree"}, Env: env})
	if err != nil {
		return "", err
	}
	return name.ParseOID(strings.TrimSpace(string(res.Stdout)))
}

// edited passes a message through the hooks that may change or refuse it.
func (p *Plan) edited(ctx context.Context, dir string, c *Commit) error {
	file := filepath.Join(dir, "tmp-land-message")
	defer os.Remove(file) //nolint:errcheck // swept by age
	if err := os.WriteFile(file, []byte(c.message), 0o666); err != nil {
		return err
	}
	if err := p.hook(ctx, "prepare-commit-msg", nil, file, "message"); err != nil {
		return err
	}
	if err := p.hook(ctx, "commit-msg", nil, file); err != nil {
		return err
	}
	data, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	if c.message = string(data); strings.TrimSpace(c.message) == "" {
		return checkpoint.Failure(checkpoint.KindRefused, "", "a hook left the message of %s empty; nothing was changed", c.Label)
	}
	c.Subject, _, _ = strings.Cut(c.message, "\n")
	return nil
}

// hook runs one of the user's hooks, if it exists. A hook that fails refuses the landing.
// An older git cannot run hooks on request, so there an existing hook is an error.
func (p *Plan) hook(ctx context.Context, hook string, env []string, args ...string) error {
	// Hooks of the user are found by core.hooksPath, which this program overrides elsewhere
	// so that its own commands of git run no hooks.
	path, set := p.s.Repo.Config.Get("core.hooksPath")
	if !set {
		path = filepath.Join(p.s.Repo.CommonDir, "hooks")
	}
	if version, err := p.s.Repo.Version(ctx); err != nil || git.Older(version, hooksRun) {
		if _, there := os.Stat(filepath.Join(path, hook)); err == nil && there == nil {
			err = checkpoint.Failure(checkpoint.KindRefused, "", "git %[2]s cannot run the hook %[1]s for another program; git %[3]s can", hook, version, hooksRun)
		}
		return err
	}
	line := append([]string{"hook", "run", "--ignore-missing", hook, "--"}, args...)
	// An editor would wait for a person, and the message is given.
	_, err := p.s.Repo.Run(ctx, git.Cmd{Args: line, Config: []string{"core.hooksPath=" + path}, Env: append(env, "GIT_EDITOR=:")})
	var failed *git.Error
	if errors.As(err, &failed) {
		return &checkpoint.Error{Kind: checkpoint.KindRefused, Message: fmt.Sprintf("the hook %s failed; nothing was changed", hook), Hints: strings.FieldsFunc(failed.Stderr, func(r rune) bool { return r == '\n' })}
	}
	return err
}

// after runs the post-commit hook. The commits exist by then, so a failure is only a
// warning.
func (p *Plan) after(ctx context.Context) {
	if err := p.hook(context.WithoutCancel(ctx), "post-commit", nil); err != nil {
		p.s.Warn("the hook post-commit failed")
	}
}

// write writes one commit. The author is the user. The date is that of the checkpoint
// unless the environment sets another.
func (p *Plan) write(ctx context.Context, c *Commit, parent name.OID) (name.OID, error) {
	args := []string{"commit-tree", string(c.tree), "-p", string(parent)}
	if sign, err := p.s.Repo.Config.Bool("commit.gpgSign", false); err != nil {
		return "", err
	} else if sign {
		args = append(args, "-S")
	}
	var env []string
	for _, key := range []string{"GIT_AUTHOR_DATE", "GIT_COMMITTER_DATE"} {
		date := p.s.Getenv(key)
		if date == "" {
			date = fmt.Sprintf("@%d +0000", c.at.Unix())
		}
		env = append(env, key+"="+date)
	}
	res, err := p.s.Repo.Run(ctx, git.Cmd{Args: args, Env: env, Stdin: strings.NewReader(c.message)})
	if err != nil {
		return "", &checkpoint.Error{Kind: checkpoint.KindFailed, Message: "the commit of " + c.Label + " cannot be made; nothing was changed", Err: err}
	}
	return name.ParseOID(strings.TrimSpace(string(res.Stdout)))
}
