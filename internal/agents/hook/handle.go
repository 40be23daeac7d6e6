package hook

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"git-checkpoint/internal/agents/chat"
	"git-checkpoint/internal/core/agent"
	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/core/clearance"
	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/git/gitconfig"
	"git-checkpoint/internal/verb/connect"
)

// Handle handles an event in a repository and returns what to print for the agent; handled is false
// without consent. run runs the commands that are typed in the chat. An error is logged, with secrets
// replaced.
func Handle(ctx context.Context, s *checkpoint.Service, run chat.Run, def *agent.Definition, event string, happened agent.Event) (out []byte, handled bool) {
	// A cloned repository may bring hooks along. They do nothing until the user has agreed in the
	// local or user configuration.
	if !connect.Consented(s.Settings, def.Name) {
		return nil, false
	}
	// Copilot runs Claude's hooks beside its own, which handle the event already.
	if b := def.Borrower; happened.Borrowed && s.Settings.Getenv(b.Variable) != "" && connect.Connected(s.Rules, b.Agent) {
		return nil, true
	}
	if happened.Plugin && connect.Hears(s.Rules, def) {
		return nil, true
	}
	h := handlerOf(s, def, event, happened)
	h.run = run
	ctx, cancel := context.WithTimeout(ctx, h.limit)
	defer cancel()
	var said agent.Answer
	var err error
	switch {
	case happened.Unread != "":
		err = errors.New(happened.Unread)
		err = errors.Join(err, h.judge(err, said))
	case happened.Kind == agent.KindSaved:
		err = h.saved(ctx)
	default:
		said, err = h.handle(ctx)
	}
	if err != nil {
		log(filepath.Join(s.Repo.GitDir, "checkpoint", "agent.log"), entry{
			Time: s.Store.Now(), Agent: def.Name, Event: event, Problem: clearance.Redacted(s.Rules, "problem", err.Error()),
		})
	}
	if happened.Kind == agent.KindBeforeTool {
		return nil, true
	}
	out, _ = def.Write(event, said) //nolint:errcheck // an answer that cannot be encoded is left out
	return out, true
}

func handlerOf(s *checkpoint.Service, def *agent.Definition, event string, happened agent.Event) *handler {
	// If a privacy setting cannot be read, prompts and transcripts are not kept.
	prompts, err := s.Settings.Bool("checkpoint.agent.prompts", true)
	transcripts, _ := s.Settings.Bool(connect.TranscriptsKey, false) //nolint:errcheck // a value that cannot be read is no consent
	usage, unclear := s.Settings.Bool("checkpoint.agent.usage", true)
	h := &handler{
		memory: memory{agent: def.Name, dir: filepath.Join(s.Repo.GitDir, "checkpoint", "agents"), now: s.Store.Now}, places: placesOf(s.Settings.Getenv),
		health: connect.HealthOf(s.Repo.GitDir, def.Name), s: s, def: def, event: event, e: happened, keepsPrompts: prompts && err == nil, keepsTalk: transcripts, keepsUsage: usage && unclear == nil,
	}
	h.limit, h.help = h.deadline(happened.Kind)
	before, more := h.deadline(agent.KindBeforeTool)
	if h.before = max(before, longestBefore); happened.Kind.OfTool() && h.places.spent(hashed(def.Name, happened)) >= budget {
		h.limit, h.help = min(h.limit, h.before/4), more
	}
	return h
}

// Refused returns what to print if no repository handled an event, and one could not be opened: the reason,
// in place of a command of ours and otherwise once in a conversation. The same is said of a repository beside the
// one that handled it, in which a tool wrote although nobody agreed to hooks there.
func Refused(def *agent.Definition, event string, happened agent.Event, problem error, beside string, getenv func(string) string) []byte {
	if problem == nil && beside == "" {
		return nil
	}
	h := &handler{memory: memory{agent: def.Name}, def: def, event: event, e: happened, places: placesOf(getenv), before: longestBefore}
	var answer agent.Answer
	h.spend(problem != nil)
	if beside != "" {
		h.say(&answer, beside, "git checkpoint: "+oneLine(beside)+" is a repository of its own, and what is written in it is in no checkpoint: `git -C "+name.Quoted(oneLine(beside))+" checkpoint agent add "+def.Name+"`")
	} else if h.isCommand() {
		answer.Block = strings.Join(checkpoint.Lines(problem), "\n")
	} else if errors.Is(problem, ErrSpent) {
		h.say(&answer, "spent", "git checkpoint: "+problem.Error()+" (git checkpoint agent list)")
	} else {
		words := name.Clip(strings.Join(checkpoint.Lines(problem), "; "), 500)
		h.say(&answer, words, noneWords+words)
	}
	out, _ := def.Write(event, answer) //nolint:errcheck // as in Handle
	return out
}

// Concerns reports whether a repository that cannot be opened is one in which the person agreed to the hooks:
// the configuration in its git directory says so, or that of the user, or a conversation began there. A
// command of ours concerns every repository that belongs to somebody else.
func Concerns(def *agent.Definition, happened agent.Event, dir string, problem error, environ []string) bool {
	getenv := func(key string) string { return gitconfig.Getenv(environ, key) }
	top, _ := filepath.Abs(dir)
	in := func(p place) bool {
		return p.Dir != "" && strings.HasPrefix(top+string(filepath.Separator), p.Dir+string(filepath.Separator))
	}
	if _, known := placesOf(getenv).find("", in); known {
		return true
	}
	git := filepath.Join(top, ".git")
	for ; ; git = filepath.Join(filepath.Dir(filepath.Dir(git)), ".git") {
		if _, err := os.Lstat(git); err == nil {
			break
		} else if filepath.Dir(git) == filepath.Dir(filepath.Dir(git)) {
			return false // it is in no repository
		}
	}
	for _, local := range []string{filepath.Join(git, "config"), os.DevNull} {
		if c, err := gitconfig.ReadFiles(environ, local); err == nil {
			if on, err := c.Bool(connect.ConsentKey(def.Name), false); err == nil && on {
				return true
			}
		}
	}
	return chat.IsCommand(happened.Prompt) && (errors.Is(problem, fs.ErrPermission) || strings.Contains(problem.Error(), "dubious ownership"))
}

// deadline is how long a hook of a kind may take, and what to say of the setting that gives more, if one does. The user waits
// for a prompt at most 5s, and the agent kills the hook after a while, before which the answer has to be printed.
func (h *handler) deadline(kind agent.Kind) (limit time.Duration, more string) {
	key, limit := "checkpoint.agent.deadline", 10*time.Second
	most := time.Hour
	switch kind {
	case agent.KindBeforeTool:
		key, limit = "checkpoint.agent.beforeDeadline", longestBefore
	case agent.KindWorktreeCreate:
		limit = longestWorktree
	case agent.KindPrompt:
		most = 5 * time.Second
	}
	if value, set := h.s.Settings.Get(key); set {
		if d, err := time.ParseDuration(value); err == nil && d > 0 {
			limit = d
		}
	}
	for _, added := range h.def.Hooks.Events {
		if added.Event == h.event && added.Seconds > 0 {
			most = min(most, time.Duration(added.Seconds)*time.Second-200*time.Millisecond)
		}
	}
	if limit >= most {
		return most, ""
	}
	return limit, fmt.Sprintf("; `git config %s %s` gives it more time", key, 4*limit)
}

// Environ returns an environment without the variables that select a repository or configure git.
// The event says where the agent works, and some agents run hooks with the environment of an
// unrelated terminal.
func Environ(environ []string) []string {
	return slices.DeleteFunc(slices.Clone(environ), func(pair string) bool {
		key, _, _ := strings.Cut(pair, "=")
		switch key {
		case "GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_COMMON_DIR", "GIT_NAMESPACE", "GIT_PREFIX", "GIT_OBJECT_DIRECTORY",
			"GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_CONFIG", "GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_PARAMETERS", "GIT_CONFIG_COUNT":
			return true
		}
		return strings.HasPrefix(key, "GIT_CONFIG_KEY_") || strings.HasPrefix(key, "GIT_CONFIG_VALUE_")
	})
}
