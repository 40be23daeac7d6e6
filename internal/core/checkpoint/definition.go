package checkpoint

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"git-checkpoint/internal/core/workflow"
	"git-checkpoint/internal/format/journal"
	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/git"
	"git-checkpoint/internal/storage/store"
)

// This file finds the definition of a workflow. A definition is built in, or a JSON file of the
// repository at .checkpoint/workflows/<name>.json. A session goes on with the workflow that it was
// started with. If the worktree lacks that file, because another branch is checked out or this is
// another clone, the definition is read from the newest checkpoint that contains it.

// errNoWorkflow means that a definition was found neither in the program nor in the worktree. Only
// then may a checkpoint supply it: a file that exists but is invalid is an error that the user must
// see.
var errNoWorkflow = errors.New("it is neither built in nor in .checkpoint/workflows")

// Definition returns the workflow with a name: a built-in one, or one from a file of this
// repository. For "" it returns the one that checkpoint.workflow names, or else the default. An
// unknown name is an error of KindUsage.
func (s *Rules) Definition(wanted string) (*workflow.Definition, error) {
	if wanted == "" {
		wanted, _ = s.Settings.Get("checkpoint.workflow")
	}
	if wanted == "" {
		return workflow.Default(), nil
	}
	if d, ok := workflow.Builtin(wanted); ok {
		return d, nil
	}
	unknown := &Error{
		Kind: KindUsage, Message: fmt.Sprintf("no workflow is called %q", name.Clip(wanted, name.Said)), Err: errNoWorkflow,
		Hints: []string{"`git checkpoint workflow list` shows the workflows"},
	}
	// The name becomes part of a path, so a name that is not a slug, such as "../x", is not looked
	// up.
	if name.Slug(wanted) != wanted {
		return nil, unknown
	}
	file := filepath.Join(s.Repo.WorkTree, ".checkpoint", "workflows", wanted+".json")
	if err := staysInside(s.Repo, file); err != nil {
		return nil, &Error{Kind: KindFailed, Err: err}
	}
	data, err := ReadWorkflowFile(file)
	if errors.Is(err, os.ErrNotExist) {
		return nil, unknown
	}
	if err != nil {
		return nil, &Error{Kind: KindFailed, Err: err}
	}
	return parseOwn(data, wanted)
}

// ReadWorkflowFile reads a definition from the worktree. The content of a repository is not
// trusted: a symbolic link to a device or a pipe would block the reader forever, so only regular
// files up to longestDefinition are read.
func ReadWorkflowFile(file string) ([]byte, error) {
	const longestDefinition = 1 << 20 // the most bytes that a definition may have. It is far more than any real one needs
	info, err := os.Stat(file)
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("read %q: it is not a regular file", file)
	case info.Size() > longestDefinition:
		return nil, fmt.Errorf("read %q: it has %d bytes; a definition may have at most %d", file, info.Size(), longestDefinition)
	}
	return os.ReadFile(filepath.Clean(file))
}

// parseOwn parses a definition of the repository. The name inside must be the name of the file,
// because sessions store the name only.
func parseOwn(data []byte, wanted string) (*workflow.Definition, error) {
	d, err := workflow.Parse(data, WorkflowFile(wanted))
	if err != nil {
		return nil, Usage("`git checkpoint workflow check FILE` checks a definition", "%v", err)
	}
	if d.Name != wanted {
		return nil, Usage("the file must be named after the workflow", "workflow %q is in the file for %q", name.Clip(d.Name, name.Said), wanted)
	}
	return d, nil
}

// OwnWorkflows returns the names of the definitions in .checkpoint/workflows of the worktree, valid
// or not.
func OwnWorkflows(repo *git.Repo) ([]string, error) {
	dir := filepath.Join(repo.WorkTree, ".checkpoint", "workflows")
	if err := staysInside(repo, dir); err != nil {
		return nil, err
	}
	files, err := os.ReadDir(dir)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	var out []string
	for _, f := range files {
		if n, ok := strings.CutSuffix(f.Name(), ".json"); ok {
			out = append(out, n)
		}
	}
	return out, err
}

// DefinitionOf returns the workflow of a session by its name. A session that does not exist yet
// gets the configured one.
func (s *Rules) DefinitionOf(ctx context.Context, session name.Session) (*workflow.Definition, error) {
	st, err := s.Store.State(ctx, session)
	if errors.Is(err, store.ErrNoSession) {
		return s.Definition("")
	}
	if err != nil {
		return nil, err
	}
	return s.DefinitionFor(ctx, st)
}

// DefinitionFor returns the workflow that a session was started with. If its file is not in the
// worktree, the definition comes from the newest checkpoint whose files contain a valid one.
func (s *Rules) DefinitionFor(ctx context.Context, st *journal.State) (*workflow.Definition, error) {
	if st.Workflow == "" {
		return workflow.Default(), nil
	}
	d, err := s.Definition(st.Workflow)
	if errors.Is(err, errNoWorkflow) {
		if lent := lent(ctx, s.Repo, st); lent != nil {
			return lent, nil
		}
	}
	return d, err
}

// lent returns the definition from the newest checkpoint whose files contain a valid one, or nil.
// Discarded checkpoints count too; pruned ones have no objects to read.
func lent(ctx context.Context, repo *git.Repo, st *journal.State) *workflow.Definition {
	if name.Slug(st.Workflow) != st.Workflow {
		return nil
	}
	looked := 0
	for i, c := range st.Backward() {
		if c.Dead {
			continue
		}
		if looked++; looked > mostLenders {
			break
		}
		e := st.At(i)
		found, err := repo.Objects.Batch().Typed(ctx, string(e.Event().Commit)+":"+WorkflowFile(st.Workflow), "blob")
		if err != nil {
			continue
		}
		if d, err := parseOwn(found.Data, st.Workflow); err == nil {
			return d
		}
	}
	return nil
}

// mostLenders is how many checkpoints lent and lastValid look at before they give up. It keeps the
// search short in sessions with thousands of checkpoints.
const mostLenders = 100

// ReadableDefinition returns the workflow of a session for commands that only read or roll back. It
// never fails because of the definition: it warns and falls back to the one in the newest
// checkpoint, then to the default. A rollback has to work without the definition, and a broken
// definition may be the very thing that the user wants to roll back.
func (s *Rules) ReadableDefinition(ctx context.Context, st *journal.State) (*workflow.Definition, error) {
	d, err := s.DefinitionFor(ctx, st)
	if err == nil {
		return d, nil
	}
	if !errors.Is(err, errNoWorkflow) {
		if lent := lent(ctx, s.Repo, st); lent != nil {
			s.Store.Warn(err.Error() + "; the rules in the newest checkpoint are used instead")
			return lent, nil
		}
	}
	s.Store.Warn(err.Error() + "; its rules are left out")
	return workflow.Default(), ctx.Err()
}

// BuiltIn is the origin of a definition that comes with the program, where others have the path of
// a file.
const BuiltIn = "built-in"

// WorkflowFile returns the path, relative to the top of the worktree, of the repository's own
// definition with a name.
func WorkflowFile(name string) string { return ".checkpoint/workflows/" + name + ".json" }
