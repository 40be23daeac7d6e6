package checkpoint

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"git-checkpoint/internal/journal"
	"git-checkpoint/internal/name"
	"git-checkpoint/internal/store"
	"git-checkpoint/internal/workflow"
)

// Where the definition of a workflow comes from.

// errNoWorkflow says that a definition is nowhere to be found.
var errNoWorkflow = errors.New("it is neither built in nor in .checkpoint/workflows")

// Definition finds a workflow: built in, or a file of this repository. "" is the
// configured one.
func (s *Service) Definition(wanted string) (*workflow.Definition, error) {
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
		Hints: []string{"`git checkpoint workflow list` shows what there is"},
	}
	if name.Slug(wanted) != wanted {
		return nil, unknown
	}
	file := filepath.Join(s.Repo.WorkTree, ".checkpoint", "workflows", wanted+".json")
	data, err := ReadWorkflowFile(file)
	if errors.Is(err, os.ErrNotExist) {
		return nil, unknown
	}
	if err != nil {
		return nil, &Error{Kind: KindFailed, Err: err}
	}
	return parseOwn(data, wanted)
}

// longestDefinition is more than anybody writes into one.
const longestDefinition = 1 << 20

// ReadWorkflowFile reads a file that the repository brings: a link to a device, or a pipe, would
// never end.
func ReadWorkflowFile(file string) ([]byte, error) {
	info, err := os.Stat(file)
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("read %q: it is no file", file)
	case info.Size() > longestDefinition:
		return nil, fmt.Errorf("read %q: it has %d bytes, and a definition at most %d", file, info.Size(), longestDefinition)
	}
	return os.ReadFile(filepath.Clean(file))
}

func parseOwn(data []byte, wanted string) (*workflow.Definition, error) {
	d, err := workflow.Parse(data, WorkflowFile(wanted))
	if err != nil {
		return nil, Usage("`git checkpoint workflow check FILE` checks a definition", "%v", err)
	}
	if d.Name != wanted {
		return nil, Usage("file and name have to agree", "workflow %q stands in the file of %q", name.Clip(d.Name, name.Said), wanted)
	}
	return d, nil
}

// OwnWorkflows lists the definitions that the repository brings.
func (s *Service) OwnWorkflows() ([]string, error) {
	files, err := os.ReadDir(filepath.Join(s.Repo.WorkTree, ".checkpoint", "workflows"))
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	var out []string
	for _, f := range files {
		if n, ok := strings.CutSuffix(f.Name(), ".json"); ok {
			out = append(out, n)
		}
	}
	return out, Classify(err)
}

// DefinitionOf gives the workflow of a session, the configured one for a new one.
func (s *Service) DefinitionOf(ctx context.Context, session name.Session) (*workflow.Definition, error) {
	st, err := s.Store.State(ctx, session)
	if errors.Is(err, store.ErrNoSession) {
		return s.Definition("")
	}
	if err != nil {
		return nil, Classify(err)
	}
	return s.DefinitionFor(ctx, st)
}

// DefinitionFor gives the workflow that a session was started with. Where its file is not
// in the worktree, as on another branch or in another clone, the newest checkpoint that
// has it lends it.
func (s *Service) DefinitionFor(ctx context.Context, st *journal.State) (*workflow.Definition, error) {
	if st.Workflow == "" {
		return workflow.Default(), nil
	}
	d, err := s.Definition(st.Workflow)
	if errors.Is(err, errNoWorkflow) {
		if lent := lent(ctx, s, st); lent != nil {
			return lent, nil
		}
	}
	return d, err
}

// lent is the definition that the newest checkpoint has in its files, of those that can
// be used; nil where none has.
func lent(ctx context.Context, s *Service, st *journal.State) *workflow.Definition {
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
		found, err := s.Repo.Batch().Typed(ctx, string(e.Event().Commit)+":"+WorkflowFile(st.Workflow), "blob")
		if err != nil {
			continue
		}
		if d, err := parseOwn(found.Data, st.Workflow); err == nil {
			return d
		}
	}
	return nil
}

// mostLenders bounds how many checkpoints are asked for a definition.
const mostLenders = 100

// ReadableDefinition gives the workflow of a session to what only reads or goes back: without its
// definition there is still a worktree to be had, and a broken one may be what somebody
// wants to get rid of.
func (s *Service) ReadableDefinition(ctx context.Context, st *journal.State) (*workflow.Definition, error) {
	d, err := s.DefinitionFor(ctx, st)
	if err == nil {
		return d, nil
	}
	if !errors.Is(err, errNoWorkflow) {
		if lent := lent(ctx, s, st); lent != nil {
			s.Warn(err.Error() + "; what the newest checkpoint has is used")
			return lent, nil
		}
	}
	s.Warn(err.Error() + "; its rules are left out")
	return workflow.Default(), ctx.Err()
}

// BuiltIn is the origin of a definition that the program brings along.
const BuiltIn = "built-in"

// WorkflowFile is where a repository keeps a definition of its own.
func WorkflowFile(name string) string { return ".checkpoint/workflows/" + name + ".json" }
