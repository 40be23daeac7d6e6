// Package report tells reviewers what is behind the commits of a range: the prompts with what each changed,
// the checks that ran, what changed outside agents' tools, and what is unknown.
//
// What it returns leaves the machine, so all of its texts pass the guard's gate: secrets are replaced, and
// absolute paths and mail addresses left out. The same input gives the same bytes: it has no times.
package report

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"git-checkpoint/internal/core/author"
	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/core/clearance"
	"git-checkpoint/internal/format/journal"
	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/format/provenance"
	"git-checkpoint/internal/format/record"
	"git-checkpoint/internal/storage/store"
	"git-checkpoint/internal/sys/gather"
	"git-checkpoint/internal/sys/lazy"
	"git-checkpoint/internal/verb/create"
	"git-checkpoint/internal/verb/why"
	"git-checkpoint/internal/verb/witness"
)

// Request holds the options of `report`.
type Request struct {
	Range    string // as for git log; empty: what the branch has and its upstream does not
	Session  string // only steps of this session; empty: of all
	Progress func(int)
}

// Commit is a commit of the range.
type Commit struct {
	Commit  name.OID `json:"commit"`
	Subject string   `json:"subject"`
}

// Step is a step behind one of the commits.
type Step struct {
	Session    name.Session      `json:"session"`
	Step       int               `json:"step"` // 0: it is no step, but a checkpoint between steps
	Checkpoint name.ID           `json:"checkpoint"`
	Agent      string            `json:"agent"`
	Model      string            `json:"model"`
	Prompt     string            `json:"prompt"`
	Message    string            `json:"message"` // without the prompt: the first words of the answer
	Files      []string          `json:"files"`
	Checks     map[string]string `json:"checks"` // metrics by name
	Commits    []name.OID        `json:"commits"`
	// What the turn used, once for each turn; nil: nothing is known.
	Usage *checkpoint.Spending `json:"usage,omitempty"`
}

// Worker is an agent with a model.
type Worker struct {
	Agent string `json:"agent"`
	Model string `json:"model"`
	Steps int    `json:"steps"`
}

// Saying is what others say of some of the commits.
type Saying struct {
	provenance.Saying
	Commits []name.OID `json:"commits"`
}

// Answer is a report.
type Answer struct {
	Range   string   `json:"range"`
	Commits []Commit `json:"commits"`
	Steps   []Step   `json:"steps"`
	// Lines says how many lines of the commits have which answer. Held has the paths with lines that a checkpoint has, and
	// of which nobody knows who made them.
	Lines why.Counts `json:"lines"`
	Held  []string   `json:"held"`
	// Outside has the paths with lines that no known tool made, Unknown those of which nothing is known.
	Outside []string             `json:"outside"`
	Unknown []string             `json:"unknown"`
	Agents  []Worker             `json:"agents"`
	Says    []Saying             `json:"says,omitempty"`  // has what notes and messages of the commits say, which nothing proves
	Usage   *checkpoint.Spending `json:"usage,omitempty"` // what the steps used together; nil: nothing is known
}

// Make makes the report.
func Make(ctx context.Context, s *checkpoint.Service, req Request) (*Answer, error) {
	commits, err := commitsOf(ctx, s.Store, &req)
	if err != nil {
		return nil, err
	}
	behind, err := why.Commits(ctx, s.Rules, commits, req.Progress)
	if err != nil {
		return nil, err
	}
	prompts, err := s.Settings.Bool("checkpoint.agent.prompts", true)
	if err != nil {
		return nil, err
	}
	gate, err := clearance.OpenTexts(ctx, s)
	if err != nil {
		return nil, err
	}
	m := &making{s: s.Rules, gate: gate, prompts: prompts, out: &Answer{Range: req.Range, Commits: []Commit{}, Steps: []Step{}, Agents: []Worker{}}, at: map[name.ID]int{}, counted: map[name.ID]bool{}}
	others := witness.Open(s.Repo)
	for _, c := range behind {
		others.Commit(ctx, &c)
		m.out.says(c)
		m.out.Commits = append(m.out.Commits, Commit{c.Commit, c.Subject})
		for _, step := range c.Steps {
			if req.Session == "" || string(step.Session) == req.Session {
				m.add(ctx, c.Commit, step)
			}
		}
		m.out.Lines = m.out.Lines.Plus(c.Counts)
		for _, step := range c.Held {
			m.out.Held = append(m.out.Held, name.All[string](step.Files)...)
		}
		m.out.Outside = append(m.out.Outside, name.All[string](c.Outside)...)
		m.out.Unknown = append(m.out.Unknown, name.All[string](c.Unknown)...)
	}
	m.out.Usage = s.Settings.Priced(&m.sum)
	if err := m.out.clean(ctx, gate); err != nil {
		return nil, err
	}
	m.out.finish()
	return m.out, nil
}

// says adds what others say of a commit.
func (a *Answer) says(c why.Commit) {
	for _, said := range c.Says {
		lines := said.Lines
		said.Lines = 0
		i := slices.IndexFunc(a.Says, func(s Saying) bool { s.Lines = 0; return s.Saying == said })
		if i < 0 {
			i = len(a.Says)
			a.Says = append(a.Says, Saying{Saying: said})
		}
		a.Says[i].Lines += lines
		a.Says[i].Commits = append(a.Says[i].Commits, c.Commit)
	}
}

// finish puts in order what was cleaned.
func (a *Answer) finish() {
	agents := map[Worker]int{}
	for i := range a.Steps {
		step := &a.Steps[i]
		if step.Prompt != "" {
			// The prompt is the first line of the message.
			step.Prompt, step.Message, _ = strings.Cut(step.Message, "\n")
			step.Message = strings.TrimSpace(step.Message)
		}
		step.Files = slices.Compact(step.Files)
		if step.Agent != "" {
			agents[Worker{Agent: step.Agent, Model: step.Model}]++
		}
	}
	a.Held, a.Outside, a.Unknown = sorted(a.Held), sorted(a.Outside), sorted(a.Unknown)
	for w, n := range agents {
		a.Agents = append(a.Agents, Worker{w.Agent, w.Model, n})
	}
	slices.SortFunc(a.Agents, func(a, b Worker) int { return strings.Compare(a.Agent+"\x00"+a.Model, b.Agent+"\x00"+b.Model) })
}

// commitsOf returns the commits of the range, oldest first.
func commitsOf(ctx context.Context, s *store.Store, req *Request) ([]name.OID, error) {
	if req.Range == "" {
		up, err := s.Repo.Output(ctx, "rev-parse", "--abbrev-ref", "--verify", "--quiet", "@{upstream}")
		if err != nil {
			return nil, checkpoint.Usage("name the range, such as origin/main..", "the branch has no upstream that it could be compared with")
		}
		req.Range = up + ".."
	}
	if req.Session != "" {
		if _, err := checkpoint.State(ctx, s, name.Session(req.Session)); err != nil {
			return nil, err
		}
	}
	return witness.Commits(ctx, s.Repo, req.Range)
}

// making is a report that is being made.
type making struct {
	s       *checkpoint.Rules
	gate    *clearance.Texts
	prompts bool
	out     *Answer
	at      map[name.ID]int
	counted map[name.ID]bool // turns whose usage a step has
	sum     record.Usage
}

// add adds a step behind a commit.
func (m *making) add(ctx context.Context, commit name.OID, step why.Step) {
	i, known := m.at[step.Checkpoint]
	if !known {
		i = len(m.out.Steps)
		m.at[step.Checkpoint] = i
		made := Step{Session: step.Session, Step: step.Step, Checkpoint: step.Checkpoint, Files: []string{}, Checks: map[string]string{}}
		made.Agent, made.Model = step.Claim.Agent, step.Claim.Model
		if m.prompts || step.Claim.Agent == "" {
			made.Prompt, made.Message = step.Claim.Prompt, step.Claim.Message
		}
		m.checks(ctx, &made)
		m.out.Steps = append(m.out.Steps, made)
	}
	made := &m.out.Steps[i]
	for _, path := range step.Files {
		if p := string(path); !slices.Contains(made.Files, p) {
			made.Files = append(made.Files, p)
		}
	}
	made.Commits = append(made.Commits, commit)
}

// checks adds the metrics of a step. It leaves out everything that
// anybody wrote in a checkpoint that was expunged.
func (m *making) checks(ctx context.Context, step *Step) {
	st, err := checkpoint.State(ctx, m.s.Store, step.Session)
	if err != nil {
		return
	}
	e := st.Entry(step.Checkpoint)
	if e == nil {
		return
	}
	rec, err := checkpoint.ReadRecord(ctx, m.s.Store, e)
	if err != nil {
		return
	}
	if m.gate.Expunged(step.Session, step.Checkpoint, e.Event().Commit) {
		step.Prompt, step.Message = "", ""
		return
	}
	if _, is := rec.Agent(); is {
		m.usage(ctx, st, e, step)
	}
	def, err := m.s.DefinitionFor(ctx, st)
	if err != nil {
		return
	}
	var metrics map[string]json.RawMessage
	if json.Unmarshal(create.MetricsOf(def, rec.State), &metrics) != nil {
		return
	}
	for key, value := range metrics {
		step.Checks[key] = strings.Trim(string(value), `"`)
	}
}

// usage adds what the turn of a step used. A checkpoint within a turn, such as one that the agent
// committed itself, belongs to the turn that ends after it. A turn with which the agent went on has
// several ends, of the same step.
func (m *making) usage(ctx context.Context, st *journal.State, e *journal.Entry, step *Step) {
	read := func(e *journal.Entry) *record.Record {
		rec, _ := checkpoint.ReadRecord(ctx, m.s.Store, e) //nolint:errcheck // nothing is known of it
		return rec
	}
	turn, rec := author.TurnOf(st, e, read)
	if rec == nil || turn.Event().Trigger != journal.TriggerTurn {
		return
	}
	sum := m.unreportedUsage(rec)
	for _, way := range []int{-1, 1} {
		for at := turn.Place + way; at >= 0 && at < st.Len(); at += way {
			if st.Standing(at).Dead || st.At(at).Event().Trigger != journal.TriggerTurn {
				continue
			}
			end := read(st.At(at))
			if end == nil || author.SameConversation(end, rec) && end.Step != rec.Step {
				break
			}
			if author.SameConversation(end, rec) {
				sum.Join(m.unreportedUsage(end))
			}
		}
	}
	m.sum.Join(sum)
	step.Usage = m.s.Settings.Priced(&sum)
}

// unreportedUsage returns what the end of a turn used, unless a step has it already.
func (m *making) unreportedUsage(end *record.Record) (used record.Usage) {
	if by, _ := end.Agent(); by.Usage != nil && !m.counted[end.ID] {
		used = *by.Usage
	}
	m.counted[end.ID] = true
	return used
}

func sorted(all []string) []string {
	return append([]string{}, slices.Compact(slices.Sorted(slices.Values(all)))...)
}

// each changes all texts.
func (a *Answer) each(change func(string) string) {
	all := []*string{&a.Range}
	for i := range a.Commits {
		all = append(all, &a.Commits[i].Subject)
	}
	for i := range a.Steps {
		s := &a.Steps[i]
		s.Session = name.Session(change(string(s.Session)))
		all = append(all, &s.Agent, &s.Model, &s.Prompt, &s.Message)
		checks := map[string]string{}
		for key, value := range s.Checks {
			checks[change(key)] = change(value)
		}
		s.Checks = checks
		rename(s.Usage, change)
	}
	rename(a.Usage, change)
	for i := range a.Says {
		s := &a.Says[i]
		all = append(all, &s.Agent, &s.Model, &s.Conversation, &s.Text, &s.Problem)
	}
	for _, p := range all {
		*p = change(*p)
	}
	lists := [][]string{a.Held, a.Outside, a.Unknown}
	lists = append(lists, gather.List(a.Steps, func(s Step) []string { return s.Files })...)
	for _, list := range lists {
		for i := range list {
			list[i] = change(list[i])
		}
	}
}

// rename changes the names of models.
func rename(u *checkpoint.Spending, change func(string) string) {
	if u == nil {
		return
	}
	models := map[string]record.Tokens{}
	for model, t := range u.Models {
		models[change(model)] = models[change(model)].Plus(t)
	}
	u.Models = models
}

// clean makes all texts such that they may leave this machine.
func (a *Answer) clean(ctx context.Context, gate *clearance.Texts) error {
	met := map[string]string{}
	a.each(func(text string) string { met[text] = ""; return text })
	was := slices.Sorted(maps.Keys(met))
	now := slices.Clone(was)
	if err := gate.Clean(ctx, now); err != nil {
		return err
	}
	for i, text := range was {
		met[text] = shorn(now[i])
	}
	a.each(func(text string) string { return met[text] })
	return nil
}

var places = lazy.Pattern(`file://\S+|[A-Za-z]:\\[^\s"'<>]+|~/[^\s"'<>` + "`" + `)]+|(^|[^\w./:~-]|[=:,(])/[\w.@+~-]+(?:/[^\s"'<>` + "`" + `):,]*)+`)

var addresses = lazy.Pattern(`[\w.+%-]+@[\w-]+(?:\.[\w-]+)+`)

// shorn returns a text without absolute paths and mail addresses.
func shorn(text string) string {
	const longest = 4000 // how long a text may be, in characters
	text = addresses().ReplaceAllString(text, "[address]")
	text = places().ReplaceAllString(text, "${1}[path]")
	return name.Clip(text, longest)
}
