package connect

import (
	"cmp"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"git-checkpoint/internal/core/agent"
	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/git"
	"git-checkpoint/internal/storage/store"
	"git-checkpoint/internal/sys/command"
	"git-checkpoint/internal/sys/gather"
)

// Standing is the state of one agent in this repository.
type Standing struct {
	Name      string   `json:"name"`
	Title     string   `json:"title"`
	Installed bool     `json:"installed"` // its executable is in PATH
	Enabled   bool     `json:"enabled"`   // its hooks have consent
	Hooks     []Hooked `json:"hooks"`     // files with our hooks
	// Whether the agent trusts the hooks; null: unknown.
	Trusted   *bool            `json:"trusted"`
	LastEvent *checkpoint.Time `json:"last_event"`
	// What fails of its hooks, since the last one of its kind that worked; empty: nothing.
	Problem  string    `json:"problem"`
	Failures int       `json:"failures"`
	Warnings []Warning `json:"warnings"` // what keeps its hooks from working
	Silent   bool      `json:"silent"`   // a prompt is open, and no event came for a long time
	// When the agent last answered here in a conversation whose hooks did not run; null: none is known.
	Unheard *checkpoint.Time `json:"unheard"`
	// Why its hooks cannot write here now; empty: they can, or have no consent.
	Unwritable string `json:"unwritable,omitempty"`

	lacking  bool // the main worktree has its hooks, and this one, which is linked to it, has none
	older    bool // an older version added its hooks, without those before tools
	anywhere bool // its hooks are in no settings file, because any program may call them
	open     bool // the last event left its turn open
}

// Warning is something that keeps the hooks of an agent from working, and what helps.
type Warning struct {
	Problem string `json:"problem"`
	Remedy  string `json:"remedy"`
}

// warn fills in all that is known to keep the hooks from working.
func (st *Standing) warn(health Health) {
	st.Warnings = []Warning{}
	add := func(is bool, problem, remedy string) {
		if is {
			st.Warnings = append(st.Warnings, Warning{problem, remedy})
		}
	}
	has := len(st.Hooks) > 0 || st.Enabled && (st.anywhere || st.LastEvent != nil) // a plugin's are in no file here
	add(st.lacking, "the main worktree has its hooks, and this one has none", "git checkpoint agent add "+st.Name)
	add(has && !st.Enabled, "its hooks are not enabled here", "git checkpoint agent add "+st.Name)
	if !has || !st.Enabled {
		return
	}
	add(st.Trusted != nil && !*st.Trusted, "it does not trust its hooks yet, and skips them", "type /hooks in "+st.Title)
	add(st.Unwritable != "", "its hooks cannot write here: "+st.Unwritable, "make room, or make the git directory writable for this user")
	for _, kind := range health.Kinds() {
		add(true, "its last "+HookAt(kind)+" failed: "+health[kind].Problem, "<git dir>/checkpoint/agent.log lists all failures")
	}
	add(st.Unheard != nil, "it worked here, and its hooks did not run: no checkpoints", "start it anew, at the top of the worktree, with git-checkpoint in its PATH")
	if st.older {
		add(true, "hooks before tools missing: who did what is unknown", scoped("add "+st.Name, st.Hooks[0].Scope))
	}
	add(st.Silent, "it was given a prompt, and no hook has run for an hour", "if the turn was interrupted, the next prompt closes it")
}

// Foresees reports whether hooks of ours that the agent has include the one before a tool.
func Foresees(s *checkpoint.Rules, d *agent.Definition) bool {
	event := d.HookFor(agent.KindBeforeTool)
	return event != "" && slices.ContainsFunc(hooked(s, d), func(h Hooked) bool { return d.Calls(h.File).Has(event) })
}

// Troubled returns the agents with consent whose hooks do not work.
func Troubled(s *checkpoint.Rules) (found []Standing) {
	for _, d := range agent.All() {
		if !Consented(s.Settings, d.Name) {
			continue
		}
		st, _ := standing(s, d) //nolint:errcheck // only that setting can be wrong
		if len(st.Warnings) > 0 {
			found = append(found, st)
		}
	}
	return found
}

// Hooked is a file with our hooks.
type Hooked struct {
	Scope agent.Scope `json:"scope"`
	File  string      `json:"file"`
}

// List returns the state of every agent.
func List(s *checkpoint.Rules) ([]Standing, error) {
	var all []Standing
	for _, d := range agent.All() {
		st, err := standing(s, d)
		if err != nil {
			return nil, err
		}
		all = append(all, st)
	}
	return all, nil
}

// standing returns the state of one agent.
func standing(s *checkpoint.Rules, d *agent.Definition) (st Standing, err error) {
	st = Standing{Name: d.Name, Title: d.Title, Hooks: hooked(s, d), anywhere: d.Hooks.Shape == "none", Installed: installed(d)}
	if st.Enabled, err = s.Settings.Bool(ConsentKey(d.Name), false); err != nil {
		return st, err
	}
	if st.Enabled {
		if err := TryWrite(s.Repo); err != nil {
			st.Unwritable = err.Error()
		}
	}
	st.lastEvent(s.Store)
	st.unheard(s, d)
	st.lacking = st.Enabled && len(st.Hooks) == 0 && !readsMain(s.Repo, d) && mainHas(s, d)
	st.older = len(st.Hooks) > 0 && d.HookFor(agent.KindBeforeTool) != "" && !Foresees(s, d)
	if d.Hooks.Trust != nil && len(st.Hooks) > 0 {
		st.Trusted = trusted(s.Settings, *d.Hooks.Trust, st.Hooks)
		if since := st.written(); st.LastEvent != nil && st.LastEvent.After(since) {
			st.Trusted = new(true)
		}
	}
	health := HealthOf(s.Repo.GitDir, st.Name)
	for _, kind := range health.Kinds() {
		st.Failures += health[kind].Failures
		st.Problem = cmp.Or(st.Problem, health[kind].Problem)
	}
	st.warn(health)
	return st, nil
}

// installed reports whether one of an agent's programs is in PATH.
func installed(d *agent.Definition) bool {
	return slices.ContainsFunc(d.Programs, func(program string) bool { return command.Find(program) == nil })
}

// TryWrite writes a file where hooks and saves write theirs, and removes it. A file of the same kind that a
// killed process leaves is swept as any temporary file.
func TryWrite(repo *git.Repo) error {
	for _, dir := range []string{filepath.Join(repo.GitDir, "checkpoint", "agents"), filepath.Join(repo.CommonDir, "objects"), filepath.Join(repo.CommonDir, "refs")} {
		for _, err := os.Lstat(dir); errors.Is(err, fs.ErrNotExist); _, err = os.Lstat(dir) {
			dir = filepath.Dir(dir) // the hook makes it
		}
		file, err := os.CreateTemp(dir, store.TempPrefix+"*.lock") // git takes no such name for a ref
		if err == nil {
			_, err = file.WriteString("x")
			err = errors.Join(err, file.Close(), os.Remove(file.Name()))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// Connected reports whether an agent's hooks have consent and are in one of its settings files.
func Connected(s *checkpoint.Rules, name string) bool {
	d, err := agent.Find(name)
	if err != nil {
		return false
	}
	return Consented(s.Settings, name) && len(hooked(s, d)) > 0
}

// Hears reports whether hooks in settings files get the events of an agent that runs here, so that
// those of its plugin have nothing to do. The project's are not read where the agent was started
// elsewhere.
func Hears(s *checkpoint.Rules, d *agent.Definition) bool {
	started := s.Settings.Getenv(d.ProjectVariable)
	here := d.ProjectVariable == "" || started == "" || resolved(started) == resolved(s.Repo.WorkTree)
	return slices.ContainsFunc(hooked(s, d), func(h Hooked) bool { return here || h.Scope == agent.ScopeUser })
}

// Doubled returns the agents with consent that have installed their plugin and have hooks in settings
// files, too.
func Doubled(s *checkpoint.Rules) (found []*agent.Definition) {
	return gather.Those(agent.All(), func(d *agent.Definition) bool { return Connected(s, d.Name) && d.Bundles(home(s.Settings)) })
}

// hooked returns the files with our hooks.
func hooked(s *checkpoint.Rules, d *agent.Definition) []Hooked {
	found := []Hooked{}
	for _, scope := range []agent.Scope{agent.ScopeProject, agent.ScopeLocal, agent.ScopeUser} {
		if file, err := placeOf(s, scope).File(d.Hooks.Files); err == nil && d.Calls(file).Any() {
			found = append(found, Hooked{scope, file})
		}
	}
	return found
}

// readsMain reports whether the agent reads the hooks of the main worktree here.
func readsMain(repo *git.Repo, d *agent.Definition) bool {
	info, err := os.Stat(filepath.Join(repo.WorkTree, d.Hooks.Linked))
	return d.Hooks.Linked != "" && err == nil && info.IsDir()
}

// mainHas reports whether this is a linked worktree and the main one has our hooks in its files.
func mainHas(s *checkpoint.Rules, d *agent.Definition) bool {
	if s.Repo.GitDir == s.Repo.CommonDir || filepath.Base(s.Repo.CommonDir) != ".git" {
		return false
	}
	for _, scope := range []agent.Scope{agent.ScopeProject, agent.ScopeLocal} {
		place := agent.Place{Worktree: filepath.Dir(s.Repo.CommonDir), Home: home(s.Settings), Scope: scope}
		if file, err := place.File(d.Hooks.Files); err == nil && d.Calls(file).Any() {
			return true
		}
	}
	return false
}

// News returns the agents whose hooks came with the repository, in the project's files, and have no
// consent. Each is returned only once.
func News(s *checkpoint.Rules) (news []string, err error) {
	const toldFile = "hooks-told.json" // remembers the agents about which the person was told, see News
	var told []string
	if _, err := checkpoint.Recall(s.Repo, toldFile, &told); err != nil {
		return nil, err
	}
	for _, d := range agent.All() {
		file, err := placeOf(s, agent.ScopeProject).File(d.Hooks.Files)
		if err == nil && !Consented(s.Settings, d.Name) && !slices.Contains(told, d.Name) && d.Calls(file).Any() {
			news = append(news, d.Name)
		}
	}
	if len(news) == 0 {
		return nil, nil
	}
	return news, checkpoint.Remember(s.Store, toldFile, append(told, news...))
}

// lastEvent reads when an agent last sent an event in this worktree, and how that went,
// from the files of package hook.
func (st *Standing) lastEvent(s *store.Store) {
	const silence = time.Hour // how long an agent may work on a prompt without an event before it counts as silent
	// The directory is not part of the pattern: its name may have a "[".
	dir := os.DirFS(filepath.Join(s.Repo.GitDir, "checkpoint", "agents"))
	names, _ := fs.Glob(dir, st.Name+"-*.json") //nolint:errcheck // the pattern is right
	type heard struct {
		Last time.Time `json:"last"`
		Turn struct {
			Open bool `json:"open"`
		} `json:"turn"`
	}
	var newest heard
	for _, name := range names {
		var h heard
		if data, err := fs.ReadFile(dir, name); err == nil && json.Unmarshal(data, &h) == nil && (st.LastEvent == nil || h.Last.After(newest.Last)) {
			newest, st.LastEvent = h, &checkpoint.Time{Time: h.Last}
		}
	}
	st.open = newest.Turn.Open
	st.Silent = st.open && s.Now().Sub(newest.Last) > silence
}

// trusted reports whether the person trusts all of the hooks, or nil if the file that says so cannot be
// read. It is only read here, because trust is the person's decision.
func trusted(settings *checkpoint.Settings, trust agent.Trust, hooks []Hooked) *bool {
	dir := cmp.Or(settings.Getenv(trust.Variable), filepath.Join(home(settings), trust.Home))
	data, err := os.ReadFile(filepath.Join(dir, trust.File))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return new(!slices.ContainsFunc(hooks, func(h Hooked) bool { return !strings.Contains(string(data), h.File+":") }))
}
