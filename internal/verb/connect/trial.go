package connect

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"

	"git-checkpoint/internal/core/agent"
	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/sys/command"
)

// Trial is the result of a trial of an agent's hooks: a step, or a problem.
type Trial struct {
	Step    string `json:"step"` // its label; empty: none was made
	Problem string `json:"problem"`
}

// Try sends a prompt that changes a file to the hooks that this program writes for an agent, in a scratch
// repository. Nothing that stands in its settings is run. nil means that these have no hooks.
func (p *Plan) Try(ctx context.Context, d *agent.Definition) *Trial {
	place := placeOf(p.s.Rules, p.Scope)
	file, err := place.File(d.Hooks.Files)
	calls := d.Calls(file)
	if err != nil || !calls.Any() {
		return nil
	}
	prompt, end := d.HookFor(agent.KindPrompt), d.HookFor(agent.KindTurnEnd)
	if !slices.Contains(calls.Ours, prompt) || !slices.Contains(calls.Ours, end) {
		return &Trial{Problem: "its settings have no hook of git-checkpoint's own for a prompt or for the end of its turn"}
	}
	step, err := tryIn(ctx, p.s, d, place.Command(d, prompt), place.Command(d, end))
	if err != nil {
		return &Trial{Problem: err.Error()}
	}
	return &Trial{Step: step}
}

// sends makes a repository, and gives two payloads to the command lines of two hooks. It unsets the
// variables with which the person's shell may name another repository, and gives the hooks a state
// directory of their own.
const sends = `unset $(git rev-parse --local-env-vars) GIT_CHECKPOINT_SESSION && cd "$1" && git init -q . &&
git config "$2" true && export XDG_STATE_HOME="$1/.git/state" && mkdir -p "$1/.git/state/git-checkpoint" &&
{ test -z "$6" || ln -s "$6" "$1/.git/state/git-checkpoint/bin"; } &&
printf %s "$3" | sh -c "$4" && echo tried >file && printf %s "$3" | sh -c "$5"`

// tryIn returns the label of the step.
func tryIn(ctx context.Context, s *checkpoint.Service, d *agent.Definition, prompt, end string) (label string, err error) {
	const trialPrompt = "a trial of the hooks" // the prompt that a trial sends, and the message of its step
	dir, err := os.MkdirTemp("", "git-checkpoint-trial-")
	if err == nil {
		defer os.RemoveAll(dir) //nolint:errcheck // a directory for temporary files
		dir, err = filepath.EvalSymlinks(dir)
	}
	if err != nil {
		return "", err
	}
	said, err := command.Beginning(ctx, 4<<10, s.Env, "sh", "-c", sends, "sh", dir, ConsentKey(d.Name), string(d.Sample("trial", dir, trialPrompt)), prompt, end, command.Directory(s.Repo.WorkTree))
	if err != nil {
		return "", err
	}
	at, err := checkpoint.OpenAt(ctx, s, dir)
	if err != nil {
		return "", errors.Join(err, errors.New(said))
	}
	defer at.Close()
	return stepOf(ctx, at.Rules, d)
}

// stepOf returns the label of the newest step of a repository, or why its hooks made none.
func stepOf(ctx context.Context, s *checkpoint.Rules, d *agent.Definition) (label string, err error) {
	states, err := checkpoint.States(ctx, s.Store, "")
	if err != nil {
		return "", err
	}
	for _, st := range states {
		for _, c := range st.Checkpoints() {
			if c.Milestone {
				label = c.Label
			}
		}
	}
	on, err := s.Settings.Bool("checkpoint.enabled", true)
	if err == nil && !on {
		return "", errors.New("checkpoint.enabled is false; `git checkpoint config` shows where")
	}
	st, err := standing(s, d)
	switch {
	case err != nil || label != "":
		return label, err
	case st.Problem != "":
		return "", errors.New(st.Problem)
	case st.LastEvent == nil:
		return "", errors.New("its command line did not find git-checkpoint: put the program into a directory of PATH, or into ~/.local/bin")
	}
	return "", errors.New("the hooks ran and made no step; `git checkpoint config` shows what may keep them from it")
}
