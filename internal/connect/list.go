package connect

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strings"
	"time"

	"git-checkpoint/internal/agent"
	"git-checkpoint/internal/checkpoint"
	"git-checkpoint/internal/command"
)

// Standing is how one agent stands here.
type Standing struct {
	Name      string           `json:"name"`
	Title     string           `json:"title"`
	Installed bool             `json:"installed"` // its program is in PATH
	Enabled   bool             `json:"enabled"`   // its hooks have consent
	Hooks     []Hooked         `json:"hooks"`     // where they are
	Trusted   *bool            `json:"trusted"`   // whether the agent trusts them; null where that is not known
	LastEvent *checkpoint.Time `json:"last_event"`
	Problem   string           `json:"problem"` // of the last event; empty when it went well
	Failures  int              `json:"failures"`
	Silent    bool             `json:"silent"` // a prompt is worked on, and no event came for long
}

// silence is how long an agent may work on a prompt without an event before that is said.
const silence = time.Hour

// Trouble is what keeps the hooks of an agent from working, and the remedy; both are empty when
// nothing is known to.
func (st Standing) Trouble() (problem, remedy string) {
	switch {
	case len(st.Hooks) == 0:
		return "", ""
	case !st.Enabled:
		return "its hooks have no consent here", "git checkpoint agent add " + st.Name
	case st.Trusted != nil && !*st.Trusted:
		return "it does not trust its hooks yet, and skips them", "type /hooks in " + st.Title
	case st.Problem != "":
		return "its last hook failed: " + st.Problem, "<git dir>/checkpoint/agent.log has all failures"
	case st.Silent:
		return "it was given a prompt, and no hook has run for an hour", "its next prompt closes the turn, if it was interrupted"
	}
	return "", ""
}

// Troubled are the agents with consent whose hooks do not work.
func Troubled(s *checkpoint.Service) ([]Standing, error) {
	var found []Standing
	for _, name := range agent.Names() {
		if on, err := s.Settings.Bool(ConsentKey(name), false); err != nil || !on {
			continue // a wrong setting is told of elsewhere
		}
		st, err := standing(s, name)
		if err != nil {
			return nil, err
		}
		if problem, _ := st.Trouble(); problem != "" {
			found = append(found, st)
		}
	}
	return found, nil
}

// Hooked is a file that holds hooks of ours.
type Hooked struct {
	Scope agent.Scope `json:"scope"`
	File  string      `json:"file"`
}

// List tells how every agent stands.
func List(s *checkpoint.Service) ([]Standing, error) {
	var all []Standing
	for _, name := range agent.Names() {
		st, err := standing(s, name)
		if err != nil {
			return nil, err
		}
		all = append(all, st)
	}
	return all, nil
}

func standing(s *checkpoint.Service, name string) (Standing, error) {
	d, err := agent.Find(name)
	if err != nil {
		return Standing{}, err
	}
	st := Standing{Name: d.Name, Title: d.Title, Hooks: hooked(s, d)}
	for _, program := range d.Programs {
		st.Installed = st.Installed || command.Find(program) == nil
	}
	if st.Enabled, err = s.Settings.Bool(ConsentKey(d.Name), false); err != nil {
		return st, err
	}
	st.lastEvent(s)
	if d.Name == "codex" && len(st.Hooks) > 0 {
		st.Trusted = trusted(s, st.Hooks)
	}
	return st, nil
}

// hooked finds the files that hold hooks of ours.
func hooked(s *checkpoint.Service, d *agent.Definition) []Hooked {
	found := []Hooked{}
	for _, scope := range []agent.Scope{agent.ScopeProject, agent.ScopeLocal, agent.ScopeUser} {
		if file, err := placeOf(s, scope).File(d.Hooks.Files); err == nil && agent.Holds(file) {
			found = append(found, Hooked{scope, file})
		}
	}
	return found
}

// toldFile remembers of which agents a person was told.
const toldFile = "hooks-told.json"

// News names the agents whose hooks a repository brought along without the person's consent, each once.
func News(s *checkpoint.Service) ([]string, error) {
	var told, news []string
	if _, err := s.Recall(toldFile, &told); err != nil {
		return nil, err
	}
	for _, name := range foreign(s) {
		if !slices.Contains(told, name) {
			news = append(news, name)
		}
	}
	if len(news) == 0 {
		return nil, nil
	}
	return news, s.Remember(toldFile, append(told, news...))
}

// foreign lists agents with hooks here that the person did not consent to.
func foreign(s *checkpoint.Service) (names []string) {
	for _, name := range agent.Names() {
		d, err := agent.Find(name)
		if err != nil {
			continue
		}
		file, err := placeOf(s, agent.ScopeProject).File(d.Hooks.Files)
		on, _ := s.Settings.Bool(ConsentKey(name), false) //nolint:errcheck // then it is not on
		if err == nil && !on && agent.Holds(file) {
			names = append(names, name)
		}
	}
	return names
}

// lastEvent reads when an agent was last heard of in this worktree, and how that went.
func (st *Standing) lastEvent(s *checkpoint.Service) {
	names, _ := filepath.Glob(filepath.Join(s.Repo.GitDir, "checkpoint", "agents", st.Name+"-*.json")) //nolint:errcheck // the pattern is right
	type heard struct {
		Last     time.Time `json:"last"`
		Failures int       `json:"failures"`
		Problem  string    `json:"problem"`
		Turn     struct {
			Open bool `json:"open"`
		} `json:"turn"`
	}
	var all []heard
	for _, name := range names {
		var h heard
		if data, err := os.ReadFile(name); err == nil && json.Unmarshal(data, &h) == nil {
			all = append(all, h)
		}
	}
	if len(all) == 0 {
		return
	}
	sort.Slice(all, func(i, j int) bool { return all[i].Last.After(all[j].Last) })
	st.LastEvent = &checkpoint.Time{Time: all[0].Last}
	st.Silent = all[0].Turn.Open && s.Now().Sub(all[0].Last) > silence
	if st.Failures = all[0].Failures; st.Failures > 0 {
		st.Problem = all[0].Problem
	}
}

// trusted reads, and only reads, whether Codex has the person's trust in the hooks: its configuration
// then names their file.
func trusted(s *checkpoint.Service, hooks []Hooked) *bool {
	dir := s.Getenv("CODEX_HOME")
	if dir == "" {
		dir = filepath.Join(home(s), ".codex")
	}
	data, err := os.ReadFile(filepath.Join(dir, "config.toml"))
	is := err == nil
	for _, h := range hooks {
		is = is && strings.Contains(string(data), h.File+":")
	}
	return &is
}
