package inspect

// This file lists and checks the definitions of workflows.

import (
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"sort"

	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/core/workflow"
	"git-checkpoint/internal/git"
)

// WorkflowInfo is a definition as `workflow list` and `workflow check` show it.
type WorkflowInfo struct {
	Name     string             `json:"name"`
	Version  string             `json:"version"`
	Title    string             `json:"title"`
	Origin   string             `json:"origin"` // checkpoint.BuiltIn, or the path of its file
	OK       bool               `json:"ok"`
	Problems []workflow.Problem `json:"problems"`
}

// Workflows returns all definitions, built in and of the repository, including invalid ones.
func Workflows(repo *git.Repo) (out []WorkflowInfo, err error) {
	for _, n := range workflow.Names() {
		d, _ := workflow.Builtin(n)
		out = append(out, WorkflowInfo{Name: d.Name, Version: d.Version, Title: d.Title, Origin: checkpoint.BuiltIn, OK: true})
	}
	own, err := checkpoint.OwnWorkflows(repo)
	if err != nil {
		return nil, err
	}
	for _, n := range own {
		file := checkpoint.WorkflowFile(n)
		data, err := checkpoint.ReadWorkflowFile(filepath.Join(repo.WorkTree, filepath.FromSlash(file)))
		// This is the answer if the file cannot be read.
		info := WorkflowInfo{Name: n, Origin: file, Problems: []workflow.Problem{{Text: fmt.Sprint(err)}}}
		if err == nil {
			if info = CheckWorkflow(data, file); info.Name == "" {
				info.Name = n
			}
		}
		out = append(out, info)
	}
	sort.SliceStable(out, func(i, j int) bool { return out[i].Name < out[j].Name })
	return out, nil
}

// CheckWorkflow checks a definition. source is the path of its file: a file among the repository's
// own workflows must also have the right name.
func CheckWorkflow(data []byte, source string) WorkflowInfo {
	info := WorkflowInfo{Origin: source}
	d, err := workflow.Check(data, source)
	if broken, is := errors.AsType[*workflow.DefinitionError](err); is {
		info.Problems = broken.Problems
		return info
	} else if err != nil {
		info.Problems = append(info.Problems, workflow.Problem{Text: err.Error()})
		return info
	}
	info.Name, info.Version, info.Title = d.Name, d.Version, d.Title
	if path, err := filepath.Abs(source); err == nil && filepath.Base(filepath.Dir(path)) == "workflows" &&
		filepath.Base(filepath.Dir(filepath.Dir(path))) == ".checkpoint" {
		// Sessions store only the name of their workflow, and find the file by it.
		if want := d.Name + ".json"; filepath.Base(path) != want {
			info.Problems = append(info.Problems, workflow.Problem{Line: 1, Member: "name", Text: fmt.Sprintf("%q must be in a file called %s", d.Name, want)})
		}
		if _, taken := workflow.Builtin(d.Name); taken {
			info.Problems = append(info.Problems, workflow.Problem{Line: 1, Member: "name", Text: fmt.Sprintf("%q is the name of a built-in workflow, and that one is used", d.Name)})
		}
	}
	info.OK = len(info.Problems) == 0
	return info
}

// Workflow returns a definition as JSON, ready to be copied and changed.
func Workflow(s *checkpoint.Rules, wanted string) (json.RawMessage, error) {
	d, err := s.Definition(wanted)
	if err != nil {
		return nil, err
	}
	return d.JSON(), nil
}
